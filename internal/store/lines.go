package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/history"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Query asks for what one path carried over time. Of what is left empty all is
// meant, but both hosts are named.
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
	rows, err := s.db.QueryContext(ctx, `SELECT number, from_host, to_host, direction, streams, protocol, tool, setting, phase
		FROM series WHERE (from_host = $1 AND to_host = $2) OR (from_host = $2 AND to_host = $1)`, from, to)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := make(map[int64]history.Key)
	for rows.Next() {
		var number int64
		var k history.Key
		if err := rows.Scan(&number, &k.From, &k.To, &k.Direction, &k.Streams, &k.Protocol, &k.Tool, &k.Setting, &k.Phase); err != nil {
			return nil, err
		}
		if k.From != from {
			k = k.Turned()
		}
		if q.wants(k) {
			out[number] = k
		}
	}
	return out, rows.Err()
}

func (q Query) wants(k history.Key) bool {
	return (q.Direction == "" || q.Direction == k.Direction) && (q.Streams == 0 || q.Streams == k.Streams) &&
		(q.Protocol == "" || q.Protocol == k.Protocol) && (q.Tool == "" || q.Tool == k.Tool)
}

// points are the results of series, the oldest first.
func (s *Store) points(ctx context.Context, span Span, keys map[int64]history.Key) (map[history.Key][]history.Point, error) {
	var numbers []string
	for number := range keys {
		numbers = append(numbers, strconv.FormatInt(number, 10))
	}
	slices.Sort(numbers) // the same question is the same text
	since, until := span.ends()
	rows, err := s.db.QueryContext(ctx, `SELECT t.series, r.name, t.started_ns, t.goodput_bps, t.goodput_low_bps, t.goodput_high_bps, t.ceiling_bps, t.predicted_bps, t.window_s, t.cause
		FROM trials AS t JOIN runs AS r ON r.number = t.run
		WHERE t.series IN (`+strings.Join(numbers, ", ")+`) AND t.started_ns >= $1 AND t.started_ns < $2 ORDER BY t.started_ns, t.run, t.trial`, since, until)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := make(map[history.Key][]history.Point)
	for rows.Next() {
		var series, started int64
		var goodput, low, high, ceiling, predicted float64
		var cause string
		var p history.Point
		if err := rows.Scan(&series, &p.Run, &started, &goodput, &low, &high, &ceiling, &predicted, &p.Window, &cause); err != nil {
			return nil, err
		}
		p.Started, p.Cause = time.Unix(0, started).UTC(), record.Cause(cause)
		p.Goodput, p.Low, p.High, p.Ceiling, p.Predicted = unit.BitRate(goodput), unit.BitRate(low), unit.BitRate(high), unit.BitRate(ceiling), unit.BitRate(predicted)
		out[keys[series]] = append(out[keys[series]], p)
	}
	return out, rows.Err()
}
