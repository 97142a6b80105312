package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/linerate/linerate/internal/bus"
	"github.com/linerate/linerate/internal/plaintext"
)

// States are the hosts on NATS by what their agents last said of them, without
// asking one: by name. A host whose agent has gone is there with what it said
// last (State.Written).
func States(ctx context.Context, conn *nats.Conn) (map[string]bus.State, error) {
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, err
	}
	kv, err := js.KeyValue(ctx, bus.HostsBucket)
	if err != nil {
		return nil, fmt.Errorf("read the hosts' states: %w", err)
	}
	w, err := kv.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, fmt.Errorf("read the hosts' states: %w", err)
	}
	out := make(map[string]bus.State)
	var bad []error
	for {
		select {
		case <-ctx.Done():
			return out, errors.Join(ctx.Err(), w.Stop())
		case e := <-w.Updates():
			if e == nil { // all that there was
				return out, errors.Join(append(bad, w.Stop())...)
			}
			var s bus.State
			if err := json.Unmarshal(e.Value(), &s); err != nil {
				bad = append(bad, fmt.Errorf("state of %.70q: %w", e.Key(), err))
				continue
			}
			plaintext.Fields(&s)
			out[e.Key()] = s
		}
	}
}
