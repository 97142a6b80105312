package campaign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"time"

	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/tune"
)

// unconfirmed is how long a change may stand while it is being proven; then
// the host puts itself back. It is longer than a proof of the longest window
// with all its repetitions.
const unconfirmed = 3 * time.Minute

// Plans are the steps from what holds to what the proposal wants, by host
// name.
func (c *Campaign) Plans(p tune.Proposal) ([]plan.Plan, error) {
	out, err := plansTo(c.state.Hosts, p.Hosts)
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", p.Name, err)
	}
	return out, nil
}

func plansTo(now, wanted map[string]netstate.Host) ([]plan.Plan, error) {
	var out []plan.Plan
	for name, desired := range wanted {
		pl, err := plan.Between(now[name], desired)
		if err != nil {
			return nil, fmt.Errorf("change %s: %w", name, err)
		}
		pl.Host = name
		if len(pl.Steps) > 0 {
			out = append(out, pl)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Host < out[j].Host })
	return out, nil
}

// worst is what traffic feels most of, of all steps of the plans.
func worst(plans []plan.Plan) plan.Disruption {
	out := plan.Online
	for _, pl := range plans {
		for _, s := range pl.Steps {
			for _, d := range []plan.Disruption{s.Disruption, s.DisruptionUndone} {
				if d != "" && d.Worse(out) {
					out = d
				}
			}
		}
	}
	return out
}

// change is a plan that was carried out and is not yet confirmed.
type change struct {
	host, journal string
	temporary     bool
	// confirmed: the host keeps it until somebody asks.
	confirmed bool
}

// otherwise is how the change goes back where this program could not do it.
func (ch change) otherwise() string {
	switch {
	case ch.confirmed:
		return "`linerate rollback` does it"
	case ch.temporary:
		return "the host does it by itself when this program ends"
	}
	return fmt.Sprintf("the host does it by itself within %v", unconfirmed)
}

// carryOut carries the plans out as the request says, its plan left out, host
// by host; when one fails the others are put back, and the one too, should its
// answer have been lost on the way.
func (c *Campaign) carryOut(ctx context.Context, plans []plan.Plan, how agentapi.ApplyRequest) ([]change, error) {
	var done []change
	for _, pl := range plans {
		how.Plan = pl
		reply, err := c.hosts[pl.Host].Apply(ctx, how)
		if err == nil && reply.RolledBack == "" {
			done = append(done, change{host: pl.Host, journal: reply.Journal, temporary: how.Temporary})
			continue
		}
		var answered *agentapi.Error
		switch {
		case err == nil:
			err = fmt.Errorf("%s: %w: %s", pl.Host, ErrRolledBack, reply.RolledBack)
		case !errors.As(err, &answered):
			done = append(done, change{host: pl.Host, temporary: how.Temporary}) // nobody knows: the newest pending one, if any
		}
		return nil, errors.Join(err, c.revert(done))
	}
	return done, nil
}

// ErrRolledBack is a change that did not hold and was put back.
var ErrRolledBack = errors.New("change rolled back")

// revert puts changes back, newest first, also when the run was interrupted.
func (c *Campaign) revert(changes []change) error {
	if len(changes) == 0 {
		return nil
	}
	// A link that is bounced comes back within half a minute, each time.
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(len(changes))*time.Minute)
	defer cancel()
	var errs []error
	for i := len(changes) - 1; i >= 0; i-- {
		ch := changes[i]
		reply, err := c.hosts[ch.host].Rollback(ctx, agentapi.RollbackRequest{Journal: ch.journal})
		if ch.journal == "" && errors.Is(err, fs.ErrNotExist) {
			err = nil // it had not come to a change
		}
		if err == nil && len(reply.Left) > 0 {
			err = fmt.Errorf("%s: left as somebody else set it: %v", ch.host, reply.Left)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("put back: %w (%s)", err, ch.otherwise()))
		}
	}
	if len(errs) == 0 {
		errs = append(errs, c.Observe(ctx))
	}
	return errors.Join(errs...)
}

// confirm keeps changes, on all hosts or on none: when one cannot be reached
// any more, all are put back. An interrupt does not come in between.
func (c *Campaign) confirm(changes []change) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for i, ch := range changes {
		changes[i].confirmed = true // or nobody knows, where the answer is lost
		if _, err := c.hosts[ch.host].Confirm(ctx, agentapi.ConfirmRequest{Journal: ch.journal}); err != nil {
			return errors.Join(fmt.Errorf("confirm change: %w: %w", ErrRolledBack, err), c.revert(changes))
		}
	}
	return nil
}
