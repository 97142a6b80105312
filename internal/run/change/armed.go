package change

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/unit"
)

// carryOut applies every part: all are armed before the first begins, so that each
// host can put itself back whatever becomes of the links between them; then they
// change one after the other. When one fails those before it are still to be
// reverted; so is it, should its answer have been lost on the way. Those after it
// have done nothing.
func (c *Change) carryOut(ctx context.Context, out *Outcome, o Options) error {
	var all []*carried
	for _, part := range c.parts {
		if len(part.Plan.Steps)+len(part.Plan.Files) > 0 {
			all = append(all, c.start(ctx, part, o))
		}
	}
	err := arm(ctx, all)
	next := 0
	for _, part := range c.parts {
		if len(part.Plan.Steps)+len(part.Plan.Files) == 0 {
			out.Hosts = append(out.Hosts, HostOutcome{Host: part.Name, State: Unchanged})
			continue
		}
		one := all[next]
		next++
		if err != nil {
			err = errors.Join(err, one.abandon())
			continue
		}
		c.cfg.Tell(fmt.Sprintf("change %s: %s", part.Name, unit.Counted(len(part.Plan.Steps), "step")))
		var host *HostOutcome
		if host, err = one.carry(ctx, o); host != nil {
			out.Hosts = append(out.Hosts, *host)
		}
	}
	return err
}

// carried is one host's part while it is carried out.
type carried struct {
	host  *fleet.Host
	gate  string
	done  chan struct{} // closed when the two below hold
	reply agentapi.ApplyReply
	err   error
}

// start has a host arm its part.
func (c *Change) start(ctx context.Context, part Host, o Options) *carried {
	one := &carried{host: c.hosts[part.Name], gate: rand.Text(), done: make(chan struct{})}
	c.cfg.Tell("arm " + part.Name)
	go func() {
		defer close(one.done)
		one.reply, one.err = ask.Call(ctx, one.host, agentapi.Apply, agentapi.ApplyRequest{Plan: part.Plan, Deadline: o.Deadline, Gate: one.gate, Group: o.Group, Title: o.Title})
	}()
	return one
}

// arm waits until every part is armed. The error is that of the first that is not.
func arm(ctx context.Context, all []*carried) error {
	for _, one := range all {
		armed := make(chan error, 1)
		go func() {
			_, err := ask.Call(ctx, one.host, agentapi.Armed, agentapi.ArmedRequest{Gate: one.gate})
			armed <- err
		}()
		select {
		case err := <-armed:
			if err != nil {
				return one.refusal(err)
			}
		case <-one.done: // refused before it was armed
			return one.refusal(nil)
		}
	}
	return nil
}

// refusal is why a part was not armed: what its change said, else the word of who
// waited for it.
func (one *carried) refusal(word error) error {
	select {
	case <-one.done:
	case <-time.After(abandonWait):
		return word
	}
	if one.err == nil {
		return fmt.Errorf("%s: %w: it was over before it was armed", one.host.Name, agentapi.ErrState)
	}
	return one.err
}

// abandonWait is how long a host may take to say that it ends what it has not begun.
const abandonWait = 10 * time.Second

// abandon ends a part of which nothing was done, also when the run was interrupted.
// The error is that of a host that did not answer: its part ends at its deadline.
func (one *carried) abandon() error {
	ctx, cancel := context.WithTimeout(context.Background(), abandonWait)
	defer cancel()
	_, err := ask.Call(ctx, one.host, agentapi.Begin, agentapi.BeginRequest{Gate: one.gate, Abandon: true})
	select {
	case <-one.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: its change, of which nothing was done, ends at its deadline: %w", one.host.Name, errors.Join(err, ctx.Err()))
	}
}

// carry lets an armed part begin and says what became of it; nil is that nothing
// was done.
func (one *carried) carry(ctx context.Context, o Options) (*HostOutcome, error) {
	if _, err := ask.Call(ctx, one.host, agentapi.Begin, agentapi.BeginRequest{Gate: one.gate}); err != nil {
		// Its answer may have been lost, and the part be done.
		_ = one.abandon()
	}
	<-one.done
	host := &HostOutcome{Host: one.host.Name, Journal: one.reply.Journal, Applied: one.reply.Applied, State: agentapi.ChangeApplied, by: time.Now().Add(o.Deadline)}
	var answered *agentapi.Error
	switch {
	case one.err == nil && one.reply.RolledBack == "":
		return host, nil
	case one.err == nil:
		host.State = agentapi.ChangeRolledBack
		return host, fmt.Errorf("%s: %w: %s", one.host.Name, ErrRolledBack, one.reply.RolledBack)
	case errors.As(one.err, &answered):
		return nil, one.err
	}
	return host, one.err // nobody knows: the newest pending one, if any
}
