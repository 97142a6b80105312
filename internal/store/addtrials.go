package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/analysis/history"
	"github.com/linerate/linerate/record"
)

// insertTrials keeps the results of a run, several rows a statement.
func (s *Store) insertTrials(ctx context.Context, tx *sql.Tx, run int64, results []history.Result) error {
	numbers, err := numbersOf(ctx, tx, results)
	if err != nil {
		return err
	}
	rows := make([][]any, 0, len(results))
	for i, r := range results {
		rows = append(rows, []any{
			numbers[plainKey(r.Key)], run, i, r.Started.UnixNano(), float64(r.Goodput), float64(r.Low), float64(r.High), float64(r.Ceiling), plain(string(r.Cause)),
		})
	}
	for part := range slices.Chunk(rows, s.kind.rows) {
		if err := insertRows(ctx, tx, part); err != nil {
			return err
		}
	}
	return nil
}

func insertRows(ctx context.Context, tx *sql.Tx, rows [][]any) error {
	var text strings.Builder
	text.WriteString(`INSERT INTO trials (series, run, trial, started_ns, goodput_bps, goodput_low_bps, goodput_high_bps, ceiling_bps, cause) VALUES `)
	var args []any
	for i, row := range rows {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteByte('(')
		for j, value := range row {
			if j > 0 {
				text.WriteString(", ")
			}
			args = append(args, value)
			fmt.Fprintf(&text, "$%d", len(args))
		}
		text.WriteByte(')')
	}
	_, err := tx.ExecContext(ctx, text.String(), args...)
	return err
}

// pairsAtOnce is how many pairs of hosts one statement asks for.
const pairsAtOnce = 500

// numbersOf are the numbers of the keys of results. A key that has none is given
// one.
func numbersOf(ctx context.Context, tx *sql.Tx, results []history.Result) (map[history.Key]int64, error) {
	numbers := make(map[history.Key]int64)
	for part := range slices.Chunk(pairsOf(results), pairsAtOnce) {
		if err := knownNumbers(ctx, tx, part, numbers); err != nil {
			return nil, err
		}
	}
	var last int64
	for _, r := range results {
		k := plainKey(r.Key)
		if _, known := numbers[k]; known {
			continue
		}
		if last == 0 {
			if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(number), 0) FROM series`).Scan(&last); err != nil {
				return nil, err
			}
		}
		last++
		numbers[k] = last
		if _, err := tx.ExecContext(ctx, `INSERT INTO series (number, from_host, to_host, direction, streams, protocol, tool, setting, phase) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			last, k.From, k.To, string(k.Direction), k.Streams, k.Protocol, k.Tool, k.Setting, string(k.Phase)); err != nil {
			return nil, err
		}
	}
	return numbers, nil
}

// plainKey is a key of texts that both databases take.
func plainKey(k history.Key) history.Key {
	k.From, k.To, k.Direction, k.Protocol, k.Tool, k.Setting, k.Phase = plain(k.From), plain(k.To), flow.Direction(plain(string(k.Direction))), plain(k.Protocol), plain(k.Tool), plain(k.Setting), record.Phase(plain(string(k.Phase)))
	return k
}

// pairsOf are the pairs of hosts that results are between, each once.
func pairsOf(results []history.Result) (pairs [][2]string) {
	seen := make(map[[2]string]bool)
	for _, r := range results {
		if pair := [2]string{plain(r.From), plain(r.To)}; !seen[pair] {
			seen[pair] = true
			pairs = append(pairs, pair)
		}
	}
	return pairs
}

// knownNumbers adds the numbers that keys of some pairs have.
func knownNumbers(ctx context.Context, tx *sql.Tx, pairs [][2]string, numbers map[history.Key]int64) error {
	var args []any
	var words []string
	for _, p := range pairs {
		args = append(args, p[0], p[1])
		words = append(words, fmt.Sprintf("($%d, $%d)", len(args)-1, len(args)))
	}
	rows, err := tx.QueryContext(ctx, `SELECT `+seriesColumns+` FROM series WHERE (from_host, to_host) IN (VALUES `+strings.Join(words, ", ")+`)`, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		number, key, err := scanSeries(rows)
		if err != nil {
			return err
		}
		numbers[key] = number
	}
	return rows.Err()
}
