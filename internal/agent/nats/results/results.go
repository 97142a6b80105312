// Package results is the run store as its users see it: a run is kept there,
// every finished trial once, and what the run is asked for, so that another
// controller can go on with it; and what hosts last said of themselves is read.
package results

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/record"
)

// How long a cluster may take to take a result: it chooses a new leader when a
// server dies. One try is shorter.
const (
	keepWithin = 60 * time.Second
	oneTry     = 3 * time.Second
)

// betweenBases is how often the rest of a record is kept where no trial ends.
const betweenBases = 5 * time.Second

// Bounds of what is read back of one run, whoever kept it: bytes beside its trials,
// values in them, and bytes of trials that are not whole.
const (
	mostRecord = 256 << 20
	mostOpen   = 64 << 20
)

// RunName is a record's ID as a token of subjects and keys.
func RunName(id string) string { return strings.ReplaceAll(id, ".", "-") }

// Run is one run that is kept. It is for one goroutine at a time.
type Run struct {
	store asker
	user  string
	name  string
	log   *slog.Logger

	kept map[string]bool // trials, by ID
	base wire.Head       // of the rest, as it was kept
	at   time.Time       // when
}

// Keeper keeps a user's run of that name on conn. Errors: wire.ErrName.
func Keeper(conn *link.Conn, name string, log *slog.Logger) (*Run, error) {
	if err := wire.CheckName("run", name); err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Run{store: asker{conn}, user: conn.Who.Name, name: name, log: log, kept: make(map[string]bool)}, nil
}

// Keep keeps what the record has that was not kept before. It waits for a
// cluster that is just choosing a leader, and sends again what got lost: the
// store takes each trial once.
func (r *Run) Keep(ctx context.Context, rec record.Record) error {
	trials := rec.Trials
	ids := TrialIDs(trials)
	rec.Trials = nil
	// What comes between trials, latencies above all, is kept now and then.
	fresh := slices.ContainsFunc(ids, func(id string) bool { return !r.kept[id] })
	if fresh || time.Since(r.at) > betweenBases {
		if err := r.keepBase(ctx, rec); err != nil {
			return fmt.Errorf("keep run %s: %w", r.name, err)
		}
		r.at = time.Now()
	}
	for i, id := range ids {
		if r.kept[id] {
			continue
		}
		if err := r.keepTrial(ctx, id, trials[i]); err != nil {
			return fmt.Errorf("keep trial %s of run %s: %w", id, r.name, err)
		}
		r.kept[id] = true
	}
	return nil
}

// TrialIDs tell the trials of one run apart, in order: the same trial has the
// same ID whenever it is measured. A second one of what is asked for twice
// has another.
func TrialIDs(trials []record.Trial) []string {
	seen := make(map[string]int)
	out := make([]string, 0, len(trials))
	for _, t := range trials {
		what := fmt.Sprintf("%s|%s|%s|%s|%d|%s|%s|%s", t.Phase, t.From, t.To, t.Direction, t.Streams, t.Protocol, t.Ports, t.Variant)
		seen[what]++
		sum := sha256.Sum256(fmt.Appendf(nil, "%s|%d", what, seen[what]))
		out = append(out, hex.EncodeToString(sum[:12]))
	}
	return out
}

func (r *Run) keepTrial(ctx context.Context, id string, t record.Trial) error {
	text, err := checked(t)
	if err != nil {
		return err
	}
	for _, p := range wire.Split(text, r.store.conn.Room()) {
		if err := r.put(ctx, wire.StoreParams{Key: wire.TrialKey(id, p.Number), Part: p.Without()}, p.Body); err != nil {
			return err
		}
	}
	return nil
}

// checked is a record or a trial as JSON, checked as its reader does.
func checked[T record.Record | record.Trial](v T) ([]byte, error) {
	if err := record.CheckRates(v); err != nil {
		return nil, err
	}
	text, err := json.Marshal(v)
	if err == nil {
		err = wire.CheckValues(text)
	}
	return text, err
}

// put keeps a value of the run: it tries until that is done, refused for good,
// or a cluster had its time.
func (r *Run) put(ctx context.Context, p wire.StoreParams, value []byte) error {
	p.Run = r.name
	// Another's may be read and not written.
	if p.User = r.user; r.user != r.store.conn.Who.Name {
		return fmt.Errorf("keep a run of %s: %w", r.user, fs.ErrPermission)
	}
	deadline := time.Now().Add(keepWithin)
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		trying, cancel := context.WithTimeout(ctx, oneTry)
		_, _, err := r.store.ask(trying, wire.StorePut, p, value)
		cancel()
		if err == nil || ctx.Err() != nil || time.Now().After(deadline) || errors.Is(err, fs.ErrPermission) || errors.Is(err, wire.ErrParts) {
			return err
		}
		r.log.Warn("the result is not kept yet", "run", r.name, "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// keepBase keeps the record without its trials, where it is not as it was.
func (r *Run) keepBase(ctx context.Context, rec record.Record) error {
	text, err := checked(rec)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(text); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	parts := wire.Split(packed.Bytes(), r.store.conn.Room())
	if parts[0].Sum == r.base.Sum {
		return nil
	}
	h := wire.Head{Started: rec.Started, Version: parts[0].Sum[:12], Of: len(parts), Size: packed.Len(), Sum: parts[0].Sum, Fabric: rec.Fabric.File}
	if rec.Asked != nil {
		h.Asked = rec.Asked.Trials
	}
	for _, p := range parts {
		if err := r.put(ctx, wire.StoreParams{Key: wire.BaseKey(h.Version, p.Number)}, p.Body); err != nil {
			return err
		}
	}
	body, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := r.put(ctx, wire.StoreParams{Key: wire.HeadKey}, body); err != nil {
		return err
	}
	r.base = h
	return nil
}

// Read is the record of a run as far as it was kept, for a campaign to go on
// with. Unknown is fs.ErrNotExist. What it read is not kept again.
func (r *Run) Read(ctx context.Context) (record.Record, error) {
	for begin := time.Now(); ; {
		rec, err := r.readOnce(ctx)
		if err == nil || !passing(err) || ctx.Err() != nil || time.Since(begin) > readWithin {
			return rec, err
		}
		r.log.Warn("the run cannot be read yet", "run", r.name, "error", err)
		select {
		case <-ctx.Done():
			return rec, ctx.Err()
		case <-time.After(readPause):
		}
	}
}

// A cluster one of whose servers just died answers nobody until it has chosen
// another leader.
const (
	readWithin = 30 * time.Second
	readPause  = 500 * time.Millisecond
)

func (r *Run) readOnce(ctx context.Context) (record.Record, error) {
	rec, err := r.readBase(ctx)
	if err != nil {
		return rec, fmt.Errorf("read run %s of %s: %w", r.name, r.user, err)
	}
	rec.Trials, err = r.readTrials(ctx)
	if err != nil {
		return rec, fmt.Errorf("read trials of run %s: %w", r.name, err)
	}
	for _, id := range TrialIDs(rec.Trials) {
		r.kept[id] = true
	}
	return rec, nil
}

// get reads one value of the run.
func (r *Run) get(ctx context.Context, key string) ([]byte, error) {
	_, value, err := r.store.ask(ctx, wire.StoreGet, wire.StoreParams{User: r.user, Run: r.name, Key: key}, nil)
	return value, err
}

func (r *Run) readBase(ctx context.Context) (record.Record, error) {
	var rec record.Record
	text, err := r.get(ctx, wire.HeadKey)
	if err != nil {
		return rec, err
	}
	h, err := wire.ParseHead(text)
	if err != nil {
		return rec, err
	}
	var w wire.Assembly
	var packed []byte
	for n := 1; n <= h.Of; n++ {
		body, err := r.get(ctx, wire.BaseKey(h.Version, n))
		if err != nil {
			return rec, err
		}
		part, err := h.Part(n, body).Checked(wire.MostRun)
		if err != nil {
			return rec, err
		}
		if packed, _, err = w.Add(part); err != nil {
			return rec, err
		}
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return rec, err
	}
	if text, err = io.ReadAll(io.LimitReader(z, mostRecord)); err != nil {
		return rec, err
	}
	if err := wire.CheckValues(text); err != nil {
		return rec, err
	}
	r.base = h
	if rec, err = record.Decode(text); err != nil {
		return rec, err
	}
	if err := record.CheckRates(rec); err != nil {
		return rec, fmt.Errorf("%w: %w", wire.ErrParts, err)
	}
	return rec, nil
}

// readTrials reads the parts of the run's trials, each trial once and in the
// order in which they came.
func (r *Run) readTrials(ctx context.Context) ([]record.Trial, error) {
	var out []record.Trial
	wholes, held := make(map[string]*wire.Assembly), 0
	for after := uint64(0); ; {
		p, body, err := r.store.ask(ctx, wire.StoreTrials, wire.StoreParams{User: r.user, Run: r.name, Sequence: after}, nil)
		if errors.Is(err, fs.ErrNotExist) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if p.Sequence <= after {
			return nil, fmt.Errorf("%w: trials out of order", wire.ErrParts)
		}
		after = p.Sequence
		words := strings.Split(p.Key, ".")
		if p.Part == nil || len(words) != 3 {
			continue // not one of ours
		}
		part, err := p.Part.With(body).Checked(wire.MostTrial)
		if err != nil {
			continue
		}
		id := words[1]
		if wholes[id] == nil {
			wholes[id] = &wire.Assembly{}
		}
		held -= wholes[id].Buffered()
		if !wholes[id].Same(part) { // what was broken off is begun anew
			wholes[id] = &wire.Assembly{}
		}
		text, done, err := wholes[id].Add(part)
		if held += wholes[id].Buffered(); held > mostOpen {
			return nil, fmt.Errorf("%w: too many trials are not whole", wire.ErrParts)
		}
		if err != nil || !done {
			continue
		}
		held -= wholes[id].Buffered()
		t, err := wire.ParseTrial(text)
		if err != nil {
			return nil, fmt.Errorf("trial %s: %w", id, err)
		}
		out = append(out, t)
		delete(wholes, id)
	}
}
