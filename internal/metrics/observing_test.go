package metrics

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/linerate/linerate/internal/agent/nats/natsagent"
	"github.com/linerate/linerate/netstate"
)

func observing(h netstate.Host) func(context.Context) (netstate.Host, error) {
	return func(context.Context) (netstate.Host, error) { return h, nil }
}

// Several readers cost a host no more than one.
func TestObservedRarely(t *testing.T) {
	var times atomic.Int32
	a := Agent(AgentConfig{Counts: func() natsagent.Counts { return natsagent.Counts{} }, Observe: func(context.Context) (netstate.Host, error) {
		times.Add(1)
		return bonded(), nil
	}})
	for range 3 {
		all(t, scrape(t, "", a))
	}
	if times.Load() != 1 {
		t.Errorf("observed %d times", times.Load())
	}
}

// A host that cannot be read leaves the rest.
func TestUnobserved(t *testing.T) {
	said := scrape(t, "", Agent(AgentConfig{Counts: func() natsagent.Counts { return natsagent.Counts{} }, Observe: func(context.Context) (netstate.Host, error) {
		return netstate.Host{}, errors.New("no netlink")
	}}))
	if said == "" {
		t.Error("nothing is said")
	}
}
