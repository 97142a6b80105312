package measure

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/traffic/sampling"
	"github.com/linerate/linerate/plan"
)

// Failing is a link to take down while a trial's window is open.
type Failing struct {
	Host, Link string
	// At is the time from the window's opening until it goes down, For how long
	// it stays so.
	At, For time.Duration
}

// failPoll is how often a round in which a link is made to fail is sampled:
// what a stream feels is known to that.
const failPoll = 20 * time.Millisecond

// poll is how often the round's window is sampled.
func (r *round) poll() time.Duration {
	if r.failing {
		return failPoll
	}
	return r.usualPoll()
}

// changer is an endpoint that can be changed.
type changer interface {
	Apply(context.Context, agentapi.ApplyRequest) (agentapi.ApplyReply, error)
	Rollback(context.Context, agentapi.RollbackRequest) (agentapi.RollbackReply, error)
}

// failLinks takes the links down and up as the specs ask, each once. Stop,
// which must be called when the window is over, puts back what is still down
// and returns what went wrong; the end of ctx puts it back too.
func (r *round) failLinks(ctx context.Context) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(map[Failing]chan error)
	for _, t := range r.trials {
		f := t.spec.Fail
		if f == nil || r.stalled || f.Host != t.spec.From && f.Host != t.spec.To || done[*f] != nil {
			continue
		}
		if !r.failing { // the window that At counts from opens now, not when it became steady
			r.failing = true
			s := r.series()
			r.open(s, len(s))
		}
		result := make(chan error, 1)
		done[*f] = result
		r.late.begin(f.At)
		if t.spec.Silent != nil {
			t.silent = &silence{linkName: linkName{f.Host, f.Link}}
			go func() { result <- r.silence(ctx, *f, t.spec.Silent, t.silent) }()
			continue
		}
		go func() { result <- r.fail(ctx, *f) }()
	}
	return func() error {
		cancel()
		var errs []error
		for _, result := range done {
			errs = append(errs, <-result)
		}
		return errors.Join(errs...)
	}
}

// putBackTime is how long putting a link back may take, whatever ended; the
// host does it by itself when it is over.
const putBackTime = 10 * time.Second

// calm is how long the traffic has before the link goes to get over what arming
// the dead man does to a busy machine.
const calm = 700 * time.Millisecond

// fail takes one link down for its time. The change is journalled and guarded
// like any other, and it ends with this process: whatever happens to the run,
// the link comes back.
func (r *round) fail(ctx context.Context, f Failing) (err error) {
	at, ok := r.cfg.Network.Endpoints[f.Host].(changer)
	if !ok {
		return fmt.Errorf("take %s of %s down: %w", f.Link, f.Host, errors.ErrUnsupported)
	}
	lead := min(f.At, calm)
	defer r.late.end() // also when it does not come about
	if sampling.Pause(ctx, f.At-lead) != nil {
		return nil // the window was over before
	}
	down := plan.Step{Kind: plan.LinkState, Link: f.Link, Old: plan.Up, New: plan.Down, Disruption: plan.PortFlap, Why: "a link failure was asked for"}
	reply, err := at.Apply(ctx, agentapi.ApplyRequest{
		Plan: plan.Plan{Host: f.Host, Steps: []plan.Step{down}}, Deadline: lead + f.For + putBackTime, Temporary: true, Pause: lead,
	})
	switch {
	case ctx.Err() != nil && err != nil:
		return nil // it is up again: Apply undoes what it had begun
	case err != nil:
		return fmt.Errorf("take %s of %s down: %w", f.Link, f.Host, err)
	case reply.RolledBack != "":
		return fmt.Errorf("take %s of %s down: %s", f.Link, f.Host, reply.RolledBack)
	}
	r.late.end()
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), putBackTime)
		defer cancel()
		back, e := at.Rollback(ctx, agentapi.RollbackRequest{Journal: reply.Journal})
		if e == nil && len(back.Left) > 0 {
			e = errors.New(back.Left[0])
		}
		if errors.Is(e, agentapi.ErrState) {
			e = nil // its guard was faster: the link is up again
		}
		if e != nil {
			err = errors.Join(err, fmt.Errorf("put %s of %s back up: %w", f.Link, f.Host, e))
		}
	}()
	_ = sampling.Pause(ctx, f.For)
	return nil
}

// lateness is by how much a failure comes later than it was asked for: a busy
// host takes its time to arm the dead man. The window is that much longer. The
// zero value is not late.
type lateness struct {
	mu    sync.Mutex
	due   time.Time
	fixed bool
	late  time.Duration
}

// begin notes a failure that is due in a while.
func (l *lateness) begin(in time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if due := time.Now().Add(in); due.After(l.due) {
		l.due = due
	}
}

// end notes that it has come.
func (l *lateness) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.fixed {
		l.late, l.fixed = max(time.Since(l.due), 0), true
	}
}

// now is how late it is so far.
func (l *lateness) now() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.due.IsZero():
		return 0
	case l.fixed:
		return l.late
	}
	return max(time.Since(l.due), 0)
}
