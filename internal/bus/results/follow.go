package results

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/linerate/linerate/internal/bus"
	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/record"
)

// mostOpen bounds the trials whose parts are not all there: whose controller died
// never are.
const mostOpen = 64

// Follow calls each for every trial that was kept since a moment, the oldest
// first, and goes on with those that are kept meanwhile, until ctx ends. Each is
// called by one goroutine; run is unique in the fleet, with its user's name.
func Follow(ctx context.Context, conn *nats.Conn, since time.Time, each func(run string, t record.Trial)) error {
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	consumer, err := js.OrderedConsumer(ctx, bus.TrialsStream, jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverByStartTimePolicy, OptStartTime: &since})
	if err != nil {
		return fmt.Errorf("follow trials: %w", err)
	}
	f := followed{each: each, wholes: make(map[string]*bus.Whole)}
	consuming, err := consumer.Consume(f.take)
	if err != nil {
		return fmt.Errorf("follow trials: %w", err)
	}
	<-ctx.Done()
	consuming.Stop()
	<-consuming.Closed()
	return nil
}

// followed puts trials together from messages.
type followed struct {
	each   func(string, record.Trial)
	wholes map[string]*bus.Whole
	order  []string // of wholes, the oldest first
}

// take takes one message. What is no part of a trial is not ours to judge.
func (f *followed) take(m jetstream.Msg) {
	run, ok := bus.RunOf(m.Subject())
	if !ok {
		return
	}
	p, err := bus.ParsePart(m.Headers().Get, m.Data(), bus.MostReply)
	if err != nil {
		return
	}
	key := strings.Join([]string{run, m.Headers().Get(headerTrial)}, " ")
	w := f.wholes[key]
	if w == nil {
		w = &bus.Whole{}
		f.wholes[key], f.order = w, append(f.order, key)
		if len(f.order) > mostOpen {
			f.forget(f.order[0])
		}
	}
	text, done, err := w.Add(p)
	if err == nil && !done {
		return
	}
	f.forget(key)
	var t record.Trial
	if err == nil && json.Unmarshal(text, &t) == nil {
		plaintext.Fields(&t)
		f.each(run, t)
	}
}

func (f *followed) forget(key string) {
	delete(f.wholes, key)
	for i, k := range f.order {
		if k == key {
			f.order = append(f.order[:i], f.order[i+1:]...)
			return
		}
	}
}
