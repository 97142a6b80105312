package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/record"
)

// Run is one run that is kept, without its results.
type Run struct {
	Name     string    `json:"run"`
	ID       string    `json:"id"` // the record's; Name unless two runs have it
	Started  time.Time `json:"started"`
	Added    time.Time `json:"added"`
	Linerate string    `json:"linerate"`
	Kernel   string    `json:"kernel"`
	BackEnd  string    `json:"back_end,omitempty"`
	Hosts    string    `json:"hosts"`
	Trials   int       `json:"trials_count"`
	// Missing is how many trials an interrupted run lacks.
	Missing  int `json:"missing_count,omitempty"`
	Failures int `json:"failures_count,omitempty"`
}

// Span is a time from Since on until before Until; a zero end is open.
type Span struct{ Since, Until time.Time }

// ends are the span's as the tables have times.
func (s Span) ends() (since, until int64) {
	since, until = 0, 1<<63-1
	if Datable(s.Since) {
		since = s.Since.UnixNano()
	}
	if Datable(s.Until) {
		until = s.Until.UnixNano()
	}
	return since, until
}

// Runs lists the runs of a span, the newest first, at most so many (all when
// zero), and how many there are. Errors are those of Open.
func (s *Store) Runs(ctx context.Context, span Span, most int) (runs []Run, all int, err error) {
	since, until := span.ends()
	wrong := func(err error) ([]Run, int, error) {
		return nil, 0, fmt.Errorf("list runs of %s: %w", s.place, s.kind.explain(err))
	}
	if err := s.db.QueryRowContext(ctx, `SELECT count(*) FROM runs WHERE started_ns >= $1 AND started_ns < $2`, since, until).Scan(&all); err != nil {
		return wrong(err)
	}
	if most <= 0 {
		most = min(all, mostResults)
	}
	rows, err := s.db.QueryContext(ctx, `SELECT name, id, started_ns, added_ns, linerate, kernel, back_end, hosts, trials_count, missing_count, failures_count
		FROM runs WHERE started_ns >= $1 AND started_ns < $2 ORDER BY started_ns DESC, number DESC LIMIT $3`, since, until, most)
	if err != nil {
		return wrong(err)
	}
	defer rows.Close()
	runs = []Run{}
	for rows.Next() {
		var r Run
		var started, added int64
		if err := rows.Scan(&r.Name, &r.ID, &started, &added, &r.Linerate, &r.Kernel, &r.BackEnd, &r.Hosts, &r.Trials, &r.Missing, &r.Failures); err != nil {
			return wrong(err)
		}
		r.Started, r.Added = time.Unix(0, started).UTC(), time.Unix(0, added).UTC()
		runs = append(runs, r)
	}
	if err := rows.Err(); err != nil {
		return wrong(err)
	}
	plaintext.Fields(&runs) // an older program kept names as they came
	return runs, all, nil
}

// Record gives a run's record back, and its JSON as it came. Errors: ErrNoRun,
// ErrNotStore where it is not what was kept.
func (s *Store) Record(ctx context.Context, name string) (r record.Record, text []byte, err error) {
	text, err = s.text(ctx, name)
	if err == nil {
		r, err = record.Decode(text)
	}
	if err != nil {
		return r, nil, fmt.Errorf("read run %s of %s: %w", name, s.place, err)
	}
	return r, text, nil
}

func (s *Store) text(ctx context.Context, name string) ([]byte, error) {
	var sum string
	var size int64
	var packed []byte
	err := s.db.QueryRowContext(ctx, `SELECT sha256, bytes_count, json_gzip FROM records JOIN runs ON number = run WHERE name = $1`, plain(name)).Scan(&sum, &size, &packed)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, ErrNoRun
	case err != nil:
		return nil, s.kind.explain(err)
	}
	text, err := unpack(packed, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotStore, err)
	}
	if got := sha256.Sum256(text); hex.EncodeToString(got[:]) != sum {
		return nil, fmt.Errorf("%w: the record is not what was kept", ErrNotStore)
	}
	return text, nil
}

// unpack refuses to unpack more than was packed.
func unpack(packed []byte, size int64) ([]byte, error) {
	if size < 0 || size > mostBytes {
		return nil, ErrTooLarge
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, size+1))
}
