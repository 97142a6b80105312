package campaign

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/fleet"
)

// timed is a host of which it is noted when it was asked for series of echoes.
type timed struct {
	*fleet.Host
	name string
	seen *askedWhen
}

type askedWhen struct {
	sync.Mutex
	from, to map[string]time.Time
}

func (h timed) Call(ctx context.Context, m agentapi.AnyMethod, params json.RawMessage) (reply json.RawMessage, err error) {
	var asked agentapi.PingRequest
	series := m.Name == agentapi.Ping.Name && json.Unmarshal(params, &asked) == nil && asked.Count > 1
	note := func(at map[string]time.Time) {
		h.seen.Lock()
		defer h.seen.Unlock()
		at[h.name] = time.Now()
	}
	if series {
		note(h.seen.from)
		defer note(h.seen.to)
	}
	err = h.Ask(ctx, m, params, &reply)
	return reply, err
}

// A pair waits for one series of echoes, not for two: both ends count at the same time.
// What is kept and told is in the order of the ways.
func TestKernelLatencyBothWaysAtOnce(t *testing.T) {
	f := twoPairs(t)
	var told []string
	c, err := Open(t.Context(), Config{Fabric: f, Fleet: fleet.Config{Version: "test", JournalDir: t.TempDir(), Unguarded: true}, Tell: func(e Event) {
		if e.Kind == Pinged {
			told = append(told, e.Latency.From+e.Latency.To)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s := &askedWhen{from: make(map[string]time.Time), to: make(map[string]time.Time)}
	for name, h := range c.hosts {
		if c.hosts[name], err = fleet.Attach(t.Context(), name, timed{h, name, s}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Latency(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]string{{"a", "b"}, {"c", "d"}} {
		one, other := pair[0], pair[1]
		if !s.from[one].Before(s.to[other]) || !s.from[other].Before(s.to[one]) || s.from[one].IsZero() || s.from[other].IsZero() {
			t.Errorf("%s was asked from %v to %v, %s from %v to %v: one after the other", one, s.from[one], s.to[one], other, s.from[other], s.to[other])
		}
	}
	if got := c.Record().Latency; len(got) != 4 || got[0].From != "a" || got[1].From != "b" || len(told) != 4 || told[0] != "ab" || told[1] != "ba" {
		t.Errorf("told %q, kept %+v", told, got)
	}
}
