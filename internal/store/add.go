package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/analysis/history"
	"github.com/linerate/linerate/record"
)

// State is what adding a record changed.
type State string

// The states.
const (
	// New: the run was not kept before.
	New State = "new"
	// Grown: the run was kept with fewer trials, or said otherwise.
	Grown State = "grown"
	// Known: all of it was kept already.
	Known State = "known"
)

// Added is what became of a record.
type Added struct {
	// Run is the name that the run is kept under: the record's id, unless another
	// run has that.
	Run    string `json:"run"`
	State  State  `json:"state"`
	Trials int    `json:"trials_count"`
}

// mostBytes is how large a record may be: both databases take half a gigabyte
// in one piece.
const mostBytes = 512 << 20

// Add keeps a record. Text is its JSON as it is to be given back; nil is the
// record's own. A run is kept once: of its records the one with more trials, of
// equally many the last. Errors: ErrNoTime, ErrTooLarge and those of Open.
func (s *Store) Add(ctx context.Context, r record.Record, text []byte) (Added, error) {
	added, err := s.add(ctx, r, text)
	if err != nil {
		return added, fmt.Errorf("keep record %s in %s: %w", r.ID, s.place, err)
	}
	return added, nil
}

func (s *Store) add(ctx context.Context, r record.Record, text []byte) (added Added, err error) {
	if !Datable(r.Started) {
		return added, ErrNoTime
	}
	if text == nil {
		if text, err = json.Marshal(r); err != nil {
			return added, err
		}
	}
	e := entry{record: r, identity: identity(r), text: text, results: history.Of(r)}
	if r.ID == "" {
		e.record.ID = e.identity[:16]
	}
	if e.packed, err = pack(text); err != nil {
		return added, err
	}
	sum := sha256.Sum256(text)
	e.sum = hex.EncodeToString(sum[:])
	err = s.write(ctx, func(tx *sql.Tx) error {
		added, err = s.insert(ctx, tx, e)
		return err
	})
	return added, err
}

// Datable reports a time that a history has a place for: not the zero time, and
// one that nanoseconds since 1970 can say.
func Datable(t time.Time) bool { return t.Year() >= 1970 && t.Year() < 2262 }

// entry is a record on its way into the store.
type entry struct {
	record   record.Record
	identity string // of the run, also of one that goes on
	sum      string // of the text
	text     []byte
	packed   []byte
	results  []history.Result
}

// identity stands for a run: what its record says from its first trial on. Two
// controllers may begin in the same millisecond, and their ids are times.
func identity(r record.Record) string {
	var hosts []string
	for _, h := range r.Environment.Hosts {
		hosts = append(hosts, h.Name)
	}
	of := []any{r.ID, r.Started.UnixNano(), r.Fabric, r.Environment.BackEnd, hosts}
	if r.ID == "" {
		of = append(of, r) // another tool's: nothing but itself tells it
	}
	text, err := json.Marshal(of)
	if err != nil {
		text = []byte(r.ID) // no number: it was not read from JSON
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func pack(text []byte) ([]byte, error) {
	if len(text) > mostBytes {
		return nil, ErrTooLarge
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(text)
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// kept is a run that is in the store already.
type kept struct {
	number int64
	name   string
	trials int
	sum    string
}

func (s *Store) insert(ctx context.Context, tx *sql.Tx, e entry) (Added, error) {
	out := Added{State: New, Trials: len(e.results)}
	old, err := find(ctx, tx, e.identity)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		old.name, err = freeName(ctx, tx, e)
		if err == nil {
			err = tx.QueryRowContext(ctx, `SELECT coalesce(max(number), 0) + 1 FROM runs`).Scan(&old.number)
		}
	case err == nil && (old.sum == e.sum || old.trials > len(e.results)):
		return Added{Run: old.name, State: Known, Trials: old.trials}, nil
	case err == nil:
		out.State = Grown
		_, err = tx.ExecContext(ctx, `DELETE FROM runs WHERE number = $1`, old.number)
	}
	out.Run = old.name
	if err != nil {
		return out, err
	}
	if err := s.insertRun(ctx, tx, old, e); err != nil {
		return out, err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO records (run, sha256, bytes_count, json_gzip) VALUES ($1, $2, $3, $4)`, old.number, e.sum, len(e.text), e.packed); err != nil {
		return out, err
	}
	return out, s.insertTrials(ctx, tx, old.number, e.results)
}

func find(ctx context.Context, tx *sql.Tx, identity string) (k kept, err error) {
	err = tx.QueryRowContext(ctx, `SELECT number, name, trials_count, sha256 FROM runs JOIN records ON run = number WHERE identity = $1`, identity).Scan(&k.number, &k.name, &k.trials, &k.sum)
	return k, err
}

// freeName is the record's id, or that and the beginning of its identity where
// another run has the id.
func freeName(ctx context.Context, tx *sql.Tx, e entry) (string, error) {
	name := plain(e.record.ID)
	var taken int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM runs WHERE name = $1`, name).Scan(&taken); err != nil {
		return "", err
	}
	if taken > 0 {
		name += "-" + e.identity[:8]
	}
	return name, nil
}

func (s *Store) insertRun(ctx context.Context, tx *sql.Tx, k kept, e entry) error {
	r := e.record
	missing := 0
	if r.Interrupted() {
		missing = r.Unfinished()
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO runs (number, name, identity, id, started_ns, added_ns, linerate, kernel, back_end, hosts, trials_count, missing_count, failures_count)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		k.number, k.name, e.identity, plain(r.ID), r.Started.UnixNano(), s.now().UnixNano(), plain(r.Linerate), plain(r.Environment.Kernel), plain(r.Environment.BackEnd), plain(hostsOf(e.results)), len(e.results), missing, len(r.Failures))
	return err
}

// hostsOf are the hosts that results are between, in the order they appear.
func hostsOf(results []history.Result) string {
	var names []string
	seen := make(map[string]bool)
	for _, r := range results {
		for _, host := range []string{r.From, r.To} {
			if !seen[host] {
				seen[host] = true
				names = append(names, host)
			}
		}
	}
	return strings.Join(names, ", ")
}

// plain is a text that both databases take: PostgreSQL keeps neither a NUL nor
// what is not UTF-8.
func plain(s string) string {
	const replacement = "\uFFFD"
	return strings.ReplaceAll(strings.ToValidUTF8(s, replacement), "\x00", replacement)
}
