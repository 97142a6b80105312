package change

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/plan"
)

// Options say how a change is carried out.
type Options struct {
	// Deadline is how long it may stand unconfirmed before each host puts
	// itself back; zero is apply.DefaultDeadline.
	Deadline time.Duration
	// Unconfirmed leaves the change to be confirmed by somebody else.
	Unconfirmed bool
	// Accept are proofs that may fail (ProofPartner, ...).
	Accept []Proof
	// Group is the run that the change is a step of, Title what it is called:
	// it goes back with the run. "" is a change by itself.
	Group, Title string
}

// Outcome is what became of a change.
type Outcome struct {
	Hosts []HostOutcome
	// Proofs are what was looked at afterwards.
	Proofs []Proved
	// Confirmed: the change is kept. Else, without an error, it stands until
	// ConfirmBy and is then taken back by the hosts.
	Confirmed bool
	ConfirmBy time.Time
}

// Unchanged is the state of a host of which nothing was to change.
const Unchanged agentapi.ChangeState = "unchanged"

// HostOutcome is one host's part.
type HostOutcome struct {
	Host    string `json:"host"`
	Journal string `json:"journal,omitempty"` // "" nothing was to change
	Applied int    `json:"applied_count"`
	// State is ChangeConfirmed, ChangeApplied, ChangeRolledBack, or Unchanged.
	State agentapi.ChangeState `json:"state"`
	// Left are changes that were not taken back, since somebody else has made
	// others to the same things.
	Left []string `json:"left,omitempty"`
	// by is when an unconfirmed change is taken back at the latest.
	by time.Time
	// asked: the host was told to keep its part, and nobody heard whether it did.
	asked bool
}

// Sentinels of Apply.
var (
	// ErrRolledBack is a change that did not hold, or was not proven, and was
	// taken back on every host, or will be by the hosts themselves.
	ErrRolledBack = errors.New("change rolled back")
	// ErrTooLate is a deadline that left no time to look at what was changed.
	ErrTooLate = errors.New("the time to confirm has passed")
	// ErrUnknown is a host that was told to keep a change and was not heard of
	// since: its journal alone knows whether it did.
	ErrUnknown = errors.New("nobody knows whether the change was kept")
)

// Apply carries the plans out, host by host, looks at what holds then, and
// confirms over new connections. On any failure, or when ctx ends, everything
// is taken back, newest first: ErrRolledBack. A change of this host alone is
// left unconfirmed: nobody on it can tell whether it can still be reached.
func (c *Change) Apply(ctx context.Context, o Options) (Outcome, error) {
	if o.Deadline == 0 {
		o.Deadline = apply.DefaultDeadline
	}
	var out Outcome
	for _, p := range c.parts {
		if p.Pending != nil {
			return out, fmt.Errorf("change %s: %w: %s", p.Name, apply.ErrPending, p.Pending.Waiting())
		}
	}
	if c.Empty() {
		out.Confirmed = true
		for _, p := range c.parts {
			out.Hosts = append(out.Hosts, HostOutcome{Host: p.Name, State: Unchanged})
		}
		return out, nil
	}
	before := c.lookAround(ctx, c.before)
	if err := ctx.Err(); err != nil {
		return out, err
	}
	begun := time.Now()
	out.ConfirmBy = begun.Add(o.Deadline)
	err := c.carryOut(ctx, &out, o)
	if err == nil {
		err = c.prove(ctx, &out, before, o)
	}
	if err == nil && (o.Unconfirmed || c.alone()) {
		return out, nil
	}
	if err == nil {
		err = c.confirm(&out)
	}
	if err != nil {
		// Interrupted, whatever else the interrupt led to.
		return out, errors.Join(ctx.Err(), err, c.revert(&out))
	}
	out.Confirmed = true
	return out, nil
}

// alone reports that only this very host is changed and nobody else looks on.
func (c *Change) alone() bool {
	for name := range c.hosts {
		if c.reach[name] != "local:" {
			return false
		}
	}
	return true
}

// Keep confirms a change that Apply left unconfirmed.
func (c *Change) Keep(out *Outcome) error {
	if err := c.confirm(out); err != nil {
		return errors.Join(err, c.revert(out))
	}
	out.Confirmed = true
	return nil
}

// PutBack takes back a change that Apply left unconfirmed; the error is
// ErrRolledBack also where all went well.
func (c *Change) PutBack(out *Outcome) error { return c.revert(out) }

// confirm keeps the change on all hosts, each over a connection made now, or
// fails: an interrupt does not come in between. Every host has been reached and
// has said that it could keep its part before the first one keeps it.
func (c *Change) confirm(out *Outcome) error {
	ctx, cancel := context.WithDeadline(context.Background(), out.ConfirmBy)
	defer cancel()
	c.cfg.Tell("confirm over new connections")
	fresh, errs := make([]*fleet.Host, len(out.Hosts)), make([]error, len(out.Hosts))
	defer func() {
		for _, h := range fresh {
			if h != nil {
				h.Close()
			}
		}
	}()
	fleet.ForEach(len(out.Hosts), func(i int) {
		h := out.Hosts[i]
		if h.Journal == "" {
			return
		}
		if fresh[i], errs[i] = fleet.Dial(ctx, h.Host, c.reach[h.Host], c.dialing(h.Host, true)); errs[i] == nil {
			_, errs[i] = ask.Call(ctx, fresh[i], agentapi.Confirm, agentapi.ConfirmRequest{Journal: h.Journal, Check: true})
		}
	})
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("confirm: %w: %w", ErrRolledBack, err)
	}
	for i := range out.Hosts {
		h := &out.Hosts[i]
		if h.Journal == "" {
			continue
		}
		if _, err := ask.Call(ctx, fresh[i], agentapi.Confirm, agentapi.ConfirmRequest{Journal: h.Journal}); err != nil {
			var answered *agentapi.Error
			if h.asked = !errors.As(err, &answered); h.asked {
				return fmt.Errorf("confirm: no answer from %s: %w", h.Host, err)
			}
			return fmt.Errorf("confirm: %w: %w", ErrRolledBack, err)
		}
		h.State = agentapi.ChangeConfirmed
	}
	return nil
}

// touched are the links of a host that the plan changes, and those that stand
// on them.
func (c *Change) touched(name string) map[string]bool {
	links := map[string]bool{}
	for _, part := range c.parts {
		if part.Name != name {
			continue
		}
		for _, s := range part.Plan.Steps {
			if s.Kind != plan.Sysctl && s.Link != "" {
				links[s.Link] = true
			}
			for _, l := range s.Ready {
				links[l] = true
			}
		}
	}
	return links
}
