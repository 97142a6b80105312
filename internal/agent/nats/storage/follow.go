package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/record"
)

// Bounds of trials whose parts are not all there: whose controller died never
// are.
const (
	mostOpen     = 64
	mostBuffered = 64 << 20 // bytes
)

// betweenStreams is how often a new user's stream is looked for.
const betweenStreams = 3 * time.Second

// Follow calls each for every trial that was kept since a moment, each user's
// oldest first, and goes on with those that are kept meanwhile, until ctx ends.
// One call is made at a time; run is unique in the fleet, with its user's name.
func (s *Storage) Follow(ctx context.Context, since time.Time, each func(run string, t record.Trial)) error {
	f := &followed{each: each, wholes: make(map[string]*wire.Assembly)}
	var consuming []jetstream.ConsumeContext
	defer func() {
		for _, c := range consuming {
			c.Stop()
			<-c.Closed()
		}
	}()
	for have := make(map[string]bool); ; {
		names := s.js.StreamNames(ctx, jetstream.WithStreamListSubject(keptPrefix+">"))
		for name := range names.Name() {
			if have[name] || !strings.HasPrefix(name, streamPrefix) {
				continue
			}
			consumer, err := s.js.OrderedConsumer(ctx, name, jetstream.OrderedConsumerConfig{
				FilterSubjects: []string{keptPrefix + strings.TrimPrefix(name, streamPrefix) + ".*.t.*.*"},
				DeliverPolicy:  jetstream.DeliverByStartTimePolicy, OptStartTime: &since,
			})
			if err != nil {
				return fmt.Errorf("follow trials: %w", err)
			}
			c, err := consumer.Consume(f.take)
			if err != nil {
				return fmt.Errorf("follow trials: %w", err)
			}
			have[name], consuming = true, append(consuming, c)
		}
		if err := names.Err(); err != nil && ctx.Err() == nil {
			s.log.Warn("follow trials", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(betweenStreams):
		}
	}
}

// followed puts trials together from messages.
type followed struct {
	each func(string, record.Trial)

	mu     sync.Mutex
	wholes map[string]*wire.Assembly
	order  []string // of wholes, the oldest first
	held   int      // bytes of all
}

// take takes one message. What is no part of a trial is not ours to judge.
func (f *followed) take(m jetstream.Msg) {
	words := strings.Split(strings.TrimPrefix(m.Subject(), keptPrefix), ".")
	var p wire.StoreParams
	if len(words) != 5 || json.Unmarshal([]byte(m.Headers().Get(wire.HeaderParams)), &p) != nil || p.Part == nil {
		return
	}
	part, err := p.Part.With(m.Data()).Checked(wire.MostTrial)
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	key := strings.Join([]string{words[0], words[1], words[3]}, ".")
	w := f.wholes[key]
	if w == nil || !w.Same(part) { // what was broken off is begun anew
		f.forget(key)
		w = &wire.Assembly{}
		f.wholes[key], f.order = w, append(f.order, key)
	}
	before := w.Buffered()
	text, done, err := w.Add(part)
	f.held += w.Buffered() - before
	for len(f.order) > mostOpen || f.held > mostBuffered && len(f.order) > 1 {
		f.forget(f.order[0])
	}
	if err == nil && !done {
		return
	}
	f.forget(key)
	if err != nil {
		return
	}
	if t, err := wire.ParseTrial(text); err == nil {
		f.each(words[0]+"."+words[1], t)
	}
}

func (f *followed) forget(key string) {
	if w := f.wholes[key]; w != nil {
		f.held -= w.Buffered()
	}
	delete(f.wholes, key)
	for i, k := range f.order {
		if k == key {
			f.order = append(f.order[:i], f.order[i+1:]...)
			return
		}
	}
}
