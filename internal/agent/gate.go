package agent

import (
	"context"
	"fmt"
	"sync"

	"github.com/linerate/linerate/internal/agentapi"
)

// gates are changes that wait, armed, for the word to begin. Whoever comes first
// makes one: the request that arms it, or the one that waits for that.
type gates struct {
	mu  sync.Mutex
	all map[string]*gate
}

type gate struct {
	armed, open, over chan struct{}
	arming, opening   sync.Once
	abandoned         bool // set before open is closed
}

// mostGates bounds the changes that are waited for at a time.
const mostGates = 64

func (g *gates) named(name string) (*gate, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all == nil {
		g.all = make(map[string]*gate)
	}
	if g.all[name] == nil {
		if len(g.all) >= mostGates {
			return nil, fmt.Errorf("wait for a change: %w: %d wait already", agentapi.ErrBusy, mostGates)
		}
		g.all[name] = &gate{armed: make(chan struct{}), open: make(chan struct{}), over: make(chan struct{})}
	}
	return g.all[name], nil
}

// end says that the change is over, however: nobody waits for it any longer.
func (g *gates) end(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if one := g.all[name]; one != nil {
		close(one.over)
		delete(g.all, name)
	}
}

// wait is what an armed change does before its first step.
func (g *gate) wait(ctx context.Context) error {
	g.arming.Do(func() { close(g.armed) })
	select {
	case <-g.open:
		if g.abandoned {
			return fmt.Errorf("begin change: %w", context.Canceled)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// armed answers when the change is armed.
func (a *Agent) armed(ctx context.Context, req agentapi.ArmedRequest) (agentapi.ArmedReply, error) {
	g, err := a.gates.named(req.Gate)
	if err != nil {
		return agentapi.ArmedReply{}, err
	}
	select {
	case <-g.armed:
		return agentapi.ArmedReply{}, nil
	case <-g.over:
		return agentapi.ArmedReply{}, fmt.Errorf("arm change: %w: it is over", agentapi.ErrState)
	case <-ctx.Done():
		return agentapi.ArmedReply{}, ctx.Err()
	}
}

// begin lets an armed change begin, or has it abandoned.
func (a *Agent) begin(_ context.Context, req agentapi.BeginRequest) (agentapi.BeginReply, error) {
	g, err := a.gates.named(req.Gate)
	if err != nil {
		return agentapi.BeginReply{}, err
	}
	select {
	case <-g.armed:
	default:
		if !req.Abandon {
			return agentapi.BeginReply{}, fmt.Errorf("begin change: %w: it is not armed", agentapi.ErrState)
		}
	}
	g.opening.Do(func() {
		g.abandoned = req.Abandon
		close(g.open)
	})
	return agentapi.BeginReply{}, nil
}
