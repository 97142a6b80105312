package agent

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// gates are changes that wait, armed, for the word to begin. Whoever comes first
// makes one: the request that arms it, the one that waits for that, or the word
// that it is given up.
type gates struct {
	mu   sync.Mutex
	all  map[string]*gate
	idle []string // of all, those that nobody uses now: words that came before their change, the oldest first
	over []string // names of changes that are over, the oldest first: no gate is made for them again
}

type gate struct {
	armed, open, over chan struct{}
	arming, opening   sync.Once
	abandoned         bool // set before open is closed
	users             int  // requests that use it; under gates.mu
}

const (
	// mostGates bounds the changes that are waited for at a time.
	mostGates = 64
	// mostOver is how many names of changes that are over are known.
	mostOver = 4 * mostGates
)

// use is the gate of a name until leave is called; without make it has to be
// there. Errors: agentapi.ErrState for a change that is over, or none that is
// there; agentapi.ErrBusy.
func (g *gates) use(name string, make bool) (one *gate, leave func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if slices.Contains(g.over, name) {
		return nil, nil, fmt.Errorf("%w: the change is over", agentapi.ErrState)
	}
	if one = g.all[name]; one == nil && !make {
		return nil, nil, fmt.Errorf("%w: the change is not armed", agentapi.ErrState)
	}
	if one == nil {
		if one, err = g.add(name); err != nil {
			return nil, nil, err
		}
	}
	g.idle = slices.DeleteFunc(g.idle, func(n string) bool { return n == name })
	one.users++
	return one, func() { g.leave(name, one) }, nil
}

// add makes a gate; the oldest that nobody uses gives its place. Under g.mu.
func (g *gates) add(name string) (*gate, error) {
	if g.all == nil {
		g.all = make(map[string]*gate)
	}
	if len(g.all) >= mostGates && len(g.idle) > 0 {
		delete(g.all, g.idle[0])
		g.idle = g.idle[1:]
	}
	if len(g.all) >= mostGates {
		return nil, fmt.Errorf("wait for a change: %w: %d wait already", agentapi.ErrBusy, mostGates)
	}
	one := &gate{armed: make(chan struct{}), open: make(chan struct{}), over: make(chan struct{})}
	g.all[name] = one
	return one, nil
}

// leave is the end of a use. A gate that nobody uses stays only for what was said
// before its change came.
func (g *gates) leave(name string, one *gate) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if one.users--; one.users > 0 || g.all[name] != one {
		return
	}
	select {
	case <-one.open:
		g.idle = append(g.idle, name)
	default:
		delete(g.all, name)
	}
}

// end says that the change is over, however: nobody waits for it any longer, and
// what is said of it later is late.
func (g *gates) end(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if one := g.all[name]; one != nil {
		close(one.over)
		delete(g.all, name)
	}
	g.idle = slices.DeleteFunc(g.idle, func(n string) bool { return n == name })
	if g.over = append(g.over, name); len(g.over) > mostOver {
		g.over = slices.Delete(g.over, 0, len(g.over)-mostOver)
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
func (a *Agent) armed(ctx context.Context, req agentapi.ArmedRequest) (agentapi.Empty, error) {
	g, leave, err := a.gates.use(req.Gate, true)
	if err != nil {
		return agentapi.Empty{}, fmt.Errorf("arm change: %w", err)
	}
	defer leave()
	select {
	case <-g.armed:
		return agentapi.Empty{}, nil
	case <-g.over:
		return agentapi.Empty{}, fmt.Errorf("arm change: %w: it is over", agentapi.ErrState)
	case <-ctx.Done():
		return agentapi.Empty{}, ctx.Err()
	}
}

// begin lets an armed change begin, or has it abandoned. One that is over is
// abandoned already.
func (a *Agent) begin(_ context.Context, req agentapi.BeginRequest) (agentapi.Empty, error) {
	if req.Abandon && a.gates.ended(req.Gate) {
		return agentapi.Empty{}, nil
	}
	g, leave, err := a.gates.use(req.Gate, req.Abandon)
	if err != nil {
		return agentapi.Empty{}, fmt.Errorf("begin change: %w", err)
	}
	defer leave()
	select {
	case <-g.armed:
	default:
		if !req.Abandon {
			return agentapi.Empty{}, fmt.Errorf("begin change: %w: it is not armed", agentapi.ErrState)
		}
	}
	g.opening.Do(func() {
		g.abandoned = req.Abandon
		close(g.open)
	})
	return agentapi.Empty{}, nil
}

func (g *gates) ended(name string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Contains(g.over, name)
}
