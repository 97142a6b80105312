package store

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/analysis/history"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Query asks for what one path carried over time. Of what is left empty all is
// meant; both hosts are named, or neither, which is every path as its first run
// named it.
type Query struct {
	From, To  string
	Direction flow.Direction // as From sees it
	Streams   int
	Protocol  string
	Tool      string
	Span
}

// Lines are the results of a path, a line a key, in the order of keys. Runs
// that named the hosts the other way round are turned.
func (s *Store) Lines(ctx context.Context, q Query) ([]history.Line, error) {
	lines, err := s.lines(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("read history of %s: %w", s.place, s.kind.explain(err))
	}
	return lines, nil
}

func (s *Store) lines(ctx context.Context, q Query) ([]history.Line, error) {
	keys, err := s.series(ctx, q)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	points, err := s.points(ctx, q.Span, keys)
	if err != nil {
		return nil, err
	}
	out := make([]history.Line, 0, len(points))
	for key, of := range points {
		out = append(out, history.Line{Key: key, Points: of})
	}
	slices.SortFunc(out, func(a, b history.Line) int { return a.Key.Compare(b.Key) })
	return out, nil
}

// series are the keys that a query means, as From sees them, by number.
func (s *Store) series(ctx context.Context, q Query) (map[int64]history.Key, error) {
	from, to := plain(q.From), plain(q.To)
	every := q.From == "" && q.To == ""
	of, hosts := ` WHERE (from_host = $1 AND to_host = $2) OR (from_host = $2 AND to_host = $1)`, []any{from, to}
	if every {
		of, hosts = "", nil
	}
	rows, err := s.db.QueryContext(ctx, `SELECT `+seriesColumns+` FROM series`+of, hosts...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := make(map[int64]history.Key)
	for rows.Next() {
		number, k, err := scanSeries(rows)
		if err != nil {
			return nil, err
		}
		if len(out) >= mostSeries {
			return nil, errTooMany
		}
		if k.From != from && !every {
			k = k.Turned()
		}
		if q.wants(k) {
			out[number] = k
		}
	}
	return out, rows.Err()
}

// seriesColumns are what scanSeries reads.
const seriesColumns = `number, from_host, to_host, direction, streams, protocol, tool, setting, phase`

func scanSeries(rows *sql.Rows) (number int64, k history.Key, err error) {
	err = rows.Scan(&number, &k.From, &k.To, &k.Direction, &k.Streams, &k.Protocol, &k.Tool, &k.Setting, &k.Phase)
	return number, k, err
}

func (q Query) wants(k history.Key) bool {
	return (q.Direction == "" || q.Direction == k.Direction) && (q.Streams == 0 || q.Streams == k.Streams) &&
		(q.Protocol == "" || q.Protocol == k.Protocol) && (q.Tool == "" || q.Tool == k.Tool)
}

// walked is the results of one series, the oldest first, and the number of each
// one's run.
type walked struct {
	key    history.Key
	points []history.Point
	runs   []int64
}

// points are the results of series, the oldest first; several series are read
// at once.
func (s *Store) points(ctx context.Context, span Span, keys map[int64]history.Key) (map[history.Key][]history.Point, error) {
	all := make([]walked, 0, len(keys))
	var numbers []int64
	for number, key := range keys {
		all, numbers = append(all, walked{key: key}), append(numbers, number)
	}
	var room atomic.Int64
	room.Store(mostResults)
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(connections)
	for i := range all {
		group.Go(func() error { return s.walk(within, numbers[i], span, &room, &all[i]) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	names, err := s.names(ctx, all)
	if err != nil {
		return nil, err
	}
	out := make(map[history.Key][]history.Point)
	for _, w := range all {
		if len(w.points) == 0 {
			continue
		}
		for i, run := range w.runs {
			w.points[i].Run = names[run]
		}
		both := len(out[w.key]) > 0 // as either host saw it
		out[w.key] = append(out[w.key], w.points...)
		if both {
			slices.SortStableFunc(out[w.key], func(a, b history.Point) int { return a.Started.Compare(b.Started) })
		}
	}
	return out, nil
}

// mostResults bounds the results of one question, and mostSeries the kinds of them: pages of
// a file that lead to each other have rows without end.
const (
	mostResults = 10_000_000
	mostSeries  = 1_000_000
)

var errTooMany = fmt.Errorf("%w: it has more than %d results of what is asked for", ErrNotStore, mostResults)

// rates reports numbers that can be rates.
func rates(all ...float64) bool {
	return !slices.ContainsFunc(all, func(r float64) bool { return math.IsNaN(r) || math.IsInf(r, 0) })
}

// walk reads one series along an index that has all of it: no row is looked up,
// nothing is sorted. Room is how many results there may be yet.
func (s *Store) walk(ctx context.Context, series int64, span Span, room *atomic.Int64, out *walked) error {
	since, until := span.ends()
	rows, err := s.db.QueryContext(ctx, `SELECT started_ns, run, goodput_bps, goodput_low_bps, goodput_high_bps, ceiling_bps, cause
		FROM trials WHERE series = $1 AND started_ns >= $2 AND started_ns < $3 ORDER BY started_ns, run, trial`, series, since, until)
	if err != nil {
		return err
	}
	defer rows.Close()
	var started, run int64
	var goodput, low, high, ceiling float64
	var cause string
	for rows.Next() {
		if err := rows.Scan(&started, &run, &goodput, &low, &high, &ceiling, &cause); err != nil {
			return err
		}
		if !rates(goodput, low, high, ceiling) {
			return fmt.Errorf("%w: a result of run %d has a rate that is none", ErrNotStore, run)
		}
		if room.Add(-1) < 0 {
			return errTooMany
		}
		out.points = append(out.points, history.Point{
			Started: time.Unix(0, started).UTC(), Goodput: unit.BitRate(goodput), Low: unit.BitRate(low), High: unit.BitRate(high), Ceiling: unit.BitRate(ceiling), Cause: record.Cause(cause),
		})
		out.runs = append(out.runs, run)
	}
	return rows.Err()
}

// namesAtOnce is how many runs one statement names.
const namesAtOnce = 5000

// names are those of the runs that results are of, by number.
func (s *Store) names(ctx context.Context, all []walked) (map[int64]string, error) {
	names := make(map[int64]string)
	var unknown []string
	for _, w := range all {
		for _, run := range w.runs {
			if _, known := names[run]; !known {
				names[run] = ""
				unknown = append(unknown, strconv.FormatInt(run, 10))
			}
		}
	}
	for part := range slices.Chunk(unknown, namesAtOnce) {
		if err := s.nameSome(ctx, strings.Join(part, ", "), names); err != nil {
			return nil, err
		}
	}
	return names, nil
}

func (s *Store) nameSome(ctx context.Context, numbers string, names map[int64]string) error {
	rows, err := s.db.QueryContext(ctx, `SELECT number, name FROM runs WHERE number IN (`+numbers+`)`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var number int64
		var name string
		if err := rows.Scan(&number, &name); err != nil {
			return err
		}
		names[number] = name
	}
	return rows.Err()
}
