package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/history"
)

// insertTrials keeps the results of a run, several rows a statement.
func (s *Store) insertTrials(ctx context.Context, tx *sql.Tx, run int64, results []history.Result) error {
	rows := make([][]any, 0, len(results))
	numbers := make(map[history.Key]int64)
	for i, r := range results {
		series, known := numbers[r.Key]
		if !known {
			var err error
			if series, err = seriesNumber(ctx, tx, r.Key); err != nil {
				return err
			}
			numbers[r.Key] = series
		}
		rows = append(rows, []any{
			series, run, i, r.Started.UnixNano(), float64(r.Goodput), float64(r.Low), float64(r.High), float64(r.Ceiling), float64(r.Predicted), r.Window, string(r.Cause),
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
	text.WriteString(`INSERT INTO trials (series, run, trial, started_ns, goodput_bps, goodput_low_bps, goodput_high_bps, ceiling_bps, predicted_bps, window_s, cause) VALUES `)
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

// seriesNumber is the number of a key, which is given one when it has none.
func seriesNumber(ctx context.Context, tx *sql.Tx, k history.Key) (number int64, err error) {
	of := []any{plain(k.From), plain(k.To), string(k.Direction), k.Streams, plain(k.Protocol), plain(k.Tool), plain(k.Setting), plain(string(k.Phase))}
	err = tx.QueryRowContext(ctx, `SELECT number FROM series WHERE from_host = $1 AND to_host = $2 AND direction = $3 AND streams = $4 AND protocol = $5 AND tool = $6 AND setting = $7 AND phase = $8`, of...).Scan(&number)
	if !errors.Is(err, sql.ErrNoRows) {
		return number, err
	}
	if err = tx.QueryRowContext(ctx, `SELECT coalesce(max(number), 0) + 1 FROM series`).Scan(&number); err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO series (from_host, to_host, direction, streams, protocol, tool, setting, phase, number) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, append(of, number)...)
	return number, err
}
