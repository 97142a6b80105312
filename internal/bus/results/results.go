// Package results keeps a run on NATS: every finished trial as a message of a
// stream, once, and what the run is asked for in a bucket, so that another
// controller can go on with it.
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

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/linerate/linerate/internal/bus"
	"github.com/linerate/linerate/internal/bus/link"
	"github.com/linerate/linerate/internal/plaintext"
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

// mostRecord bounds what is read back of one run.
const mostRecord = 1 << 30

// RunName is a record's ID as a token of subjects and keys.
func RunName(id string) string { return strings.ReplaceAll(id, ".", "-") }

// Run is one run that is kept. It is for one goroutine at a time.
type Run struct {
	conn *link.Conn
	js   jetstream.JetStream
	user string
	name string
	log  *slog.Logger

	kept map[string]bool // trials, by ID
	base head            // of the rest, as it was kept
	at   time.Time       // when
}

// Keeper keeps a user's run of that name on conn. Errors: bus.ErrName.
func Keeper(conn *link.Conn, name string, log *slog.Logger) (*Run, error) {
	if err := bus.CheckName("run", name); err != nil {
		return nil, err
	}
	js, err := jetstream.New(conn.Conn)
	if err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Run{conn: conn, js: js, user: conn.Who.Name, name: name, log: log, kept: make(map[string]bool)}, nil
}

// Keep keeps what the record has that was not kept before. It waits for a
// cluster that is just choosing a leader, and sends again what got lost: the
// stream takes each trial once.
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
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	parts := bus.Split(text, r.conn.Room())
	for _, p := range parts {
		m := nats.NewMsg(bus.Trial(r.user, r.name))
		m.Header.Set(headerTrial, id)
		for k, v := range p.Headers() {
			m.Header.Set(k, v)
		}
		m.Data = p.Body
		msgID := fmt.Sprintf("%s.%s.%s.%d", r.user, r.name, id, p.Number)
		err := r.again(ctx, func(ctx context.Context) error {
			_, err := r.js.PublishMsg(ctx, m, jetstream.WithMsgID(msgID), jetstream.WithRetryAttempts(0))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

const headerTrial = "Linerate-Trial"

// again tries until it is done, refused for good, or a cluster had its time.
func (r *Run) again(ctx context.Context, try func(context.Context) error) error {
	deadline := time.Now().Add(keepWithin)
	denied := make(chan string, 1)
	defer r.conn.Denied(func(subject string) {
		select {
		case denied <- subject:
		default:
		}
	})()
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		trying, cancel := context.WithTimeout(ctx, oneTry)
		err := try(trying)
		cancel()
		if err == nil || ctx.Err() != nil || time.Now().After(deadline) {
			return err
		}
		r.log.Warn("the result is not kept yet", "run", r.name, "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case subject := <-denied:
			return fmt.Errorf("%w: %s may not publish to %s", fs.ErrPermission, r.user, subject)
		case <-time.After(pause):
		}
	}
}

// head says which parts a base has. It is written after them.
type head struct {
	Started time.Time `json:"started"`
	Version string    `json:"version"` // of the parts: begins their keys
	Of      int       `json:"parts_count"`
	Size    int       `json:"size_bytes"`
	Sum     string    `json:"sha256"`
	Fabric  string    `json:"fabric,omitempty"`
	Asked   int       `json:"trials_count,omitempty"`
}

func (r *Run) key(words ...string) string {
	return r.user + "." + r.name + "." + strings.Join(words, ".")
}

// keepBase keeps the record without its trials, where it is not as it was.
func (r *Run) keepBase(ctx context.Context, rec record.Record) error {
	text, err := json.Marshal(rec)
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
	parts := bus.Split(packed.Bytes(), r.conn.Room())
	if parts[0].Sum == r.base.Sum {
		return nil
	}
	h := head{Started: rec.Started, Version: parts[0].Sum[:12], Of: len(parts), Size: packed.Len(), Sum: parts[0].Sum, Fabric: rec.Fabric.File}
	if rec.Asked != nil {
		h.Asked = rec.Asked.Trials
	}
	for _, p := range parts {
		if err := r.put(ctx, r.key(h.Version, fmt.Sprint(p.Number)), p.Body); err != nil {
			return err
		}
	}
	body, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := r.put(ctx, r.key("head"), body); err != nil {
		return err
	}
	r.drop(r.base)
	r.base = h
	return nil
}

// drop removes the parts that a head no longer names. Those that stay cost
// room and nothing else.
func (r *Run) drop(old head) {
	for n := 1; n <= old.Of; n++ {
		m := nats.NewMsg("$KV." + bus.RunsBucket + "." + r.key(old.Version, fmt.Sprint(n)))
		m.Header.Set("KV-Operation", "PURGE")
		m.Header.Set("Nats-Rollup", "sub")
		if err := r.conn.PublishMsg(m); err != nil {
			r.log.Debug("an old part of the run stays", "run", r.name, "error", err)
		}
	}
}

// put is a bucket's, without asking about the bucket first.
func (r *Run) put(ctx context.Context, key string, value []byte) error {
	return r.again(ctx, func(ctx context.Context) error {
		_, err := r.js.Publish(ctx, "$KV."+bus.RunsBucket+"."+key, value, jetstream.WithRetryAttempts(0))
		return err
	})
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

// passing reports an error that may be over in a moment.
func passing(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) || errors.Is(err, nats.ErrNoResponders)
}

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

func (r *Run) readBase(ctx context.Context) (record.Record, error) {
	var rec record.Record
	kv, err := r.js.KeyValue(ctx, bus.RunsBucket)
	if err != nil {
		return rec, err
	}
	get := func(key string) ([]byte, error) {
		e, err := kv.Get(ctx, key)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			return nil, fmt.Errorf("%s: %w", key, fs.ErrNotExist)
		}
		if err != nil {
			return nil, err
		}
		return e.Value(), nil
	}
	text, err := get(r.key("head"))
	if err != nil {
		return rec, err
	}
	var h head
	if err := json.Unmarshal(text, &h); err != nil {
		return rec, err
	}
	var w bus.Whole
	var packed []byte
	for n := 1; n <= h.Of; n++ {
		body, err := get(r.key(h.Version, fmt.Sprint(n)))
		if err != nil {
			return rec, err
		}
		if packed, _, err = w.Add(bus.Part{Number: n, Of: h.Of, Size: h.Size, Sum: h.Sum, Body: body}); err != nil {
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
	r.base = h
	return record.Decode(text)
}

// readTrials reads the stream's messages of the run, each trial once and in
// the order in which they came.
func (r *Run) readTrials(ctx context.Context) ([]record.Trial, error) {
	stream, err := r.js.Stream(ctx, bus.TrialsStream)
	if err != nil {
		return nil, err
	}
	var out []record.Trial
	have := make(map[string]bool)
	wholes := make(map[string]*bus.Whole)
	for seq := uint64(1); ; {
		m, err := stream.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(bus.Trial(r.user, r.name)))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		seq = m.Sequence + 1
		id := m.Header.Get(headerTrial)
		p, err := bus.ParsePart(m.Header.Get, m.Data, bus.MostReply)
		if err != nil || have[id] {
			continue // not one of ours, or twice
		}
		if wholes[id] == nil {
			wholes[id] = &bus.Whole{}
		}
		text, done, err := wholes[id].Add(p)
		if err != nil || !done {
			continue
		}
		var t record.Trial
		if err := json.Unmarshal(text, &t); err != nil {
			return nil, fmt.Errorf("trial %s: %w", id, err)
		}
		plaintext.Fields(&t)
		out = append(out, t)
		have[id] = true
		delete(wholes, id)
	}
}
