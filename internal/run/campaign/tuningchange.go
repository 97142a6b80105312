package campaign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/advise/tune"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/unit"
)

// unconfirmed is how long a change may stand while it is being proven; then
// the host rolls itself back. It is longer than a proof of the longest window
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
			for _, d := range []plan.Disruption{s.Disruption, s.DisruptionOfRollback} {
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

// Changeable makes sure, before anything is measured, that each reached host
// can be changed and changed back: that its journal takes an entry, and that no
// other change is pending there. What a dead run left is put back first.
func (c *Campaign) Changeable(ctx context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(c.hosts)) {
		if _, err := ask.Call(ctx, c.hosts[name], agentapi.Apply, agentapi.ApplyRequest{Check: true}); err != nil {
			return fmt.Errorf("no change can be journalled: %w", err)
		}
	}
	if err := c.tellCutShort(ctx); err != nil {
		return err
	}
	return c.Observe(ctx)
}

// tellCutShort says of the newest run on these hosts, where its program was killed,
// that what it had confirmed until then stands.
func (c *Campaign) tellCutShort(ctx context.Context) error {
	var last agentapi.JournalEntry
	stands := map[string]int{} // by run
	for _, name := range slices.Sorted(maps.Keys(c.hosts)) {
		reply, err := ask.Call(ctx, c.hosts[name], agentapi.Journal, agentapi.Empty{})
		if err != nil {
			return fmt.Errorf("read journal: %w", err)
		}
		for _, e := range reply.Entries {
			if e.Started.After(last.Started) {
				last = e
			}
			if e.State == agentapi.ChangeConfirmed {
				stands[e.Group]++
			}
		}
	}
	if n := stands[last.Group]; last.Group != "" && last.Reason == agentapi.ReasonDied && n > 0 {
		c.cfg.Tell(Event{Kind: Noted, Note: fmt.Sprintf("an earlier run (%s) was killed, and %s of it stands: `linerate rollback %s %s` rolls that back",
			last.Title, unit.Counted(n, "change"), c.cfg.Fabric.File, last.Group)})
	}
	return nil
}

// carryOut carries the plans out as the request says, its plan left out, host
// by host; when one fails the others are put back, and the one too, should its
// answer have been lost on the way. Where that fails as well the error is
// ErrNotPutBack, and not ErrRolledBack.
func (c *Campaign) carryOut(ctx context.Context, plans []plan.Plan, how agentapi.ApplyRequest) ([]change, error) {
	var done []change
	for _, pl := range plans {
		how.Plan = pl
		reply, err := ask.Call(ctx, c.hosts[pl.Host], agentapi.Apply, how)
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
		return nil, refusal(err, c.revert(done))
	}
	return done, nil
}

// The errors of changes that did not come to stay.
var (
	// ErrRolledBack did not hold and was put back.
	ErrRolledBack = errors.New("change rolled back")
	// ErrNotPutBack holds, all of it or a part, although it was to be put back:
	// a host is neither as it was found nor as it was wanted.
	ErrNotPutBack = errors.New("a change could not be rolled back")
)

// refusal is why a change was not carried out, and what came of putting it back.
func refusal(why, undo error) error {
	switch {
	case undo != nil && errors.Is(why, context.Canceled):
		return errors.Join(why, undo)
	case undo != nil: // whatever went back, not all of it did
		return fmt.Errorf("%w (after: %v)", undo, why)
	case errors.Is(why, agentapi.ErrHalf):
		return fmt.Errorf("%w: %w", ErrNotPutBack, why)
	}
	return why
}

// revert puts changes back, newest first, also when the run was interrupted.
// What does not go back is ErrNotPutBack; the others go back all the same.
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
		reply, err := ask.Call(ctx, c.hosts[ch.host], agentapi.Rollback, agentapi.RollbackRequest{Journal: ch.journal})
		if ch.journal == "" && errors.Is(err, fs.ErrNotExist) {
			err = nil // it had not come to a change
		}
		errs = append(errs, wentBack(ch.host, reply, err, ch.otherwise()))
	}
	return c.observed(ctx, errors.Join(errs...))
}

// revertRun puts all back that a run has changed on these hosts, with one
// rollback a host: its journal says of all entries that they are to go back
// before the first is touched, whatever ends this program meanwhile.
func (c *Campaign) revertRun(group string, hosts []string) error {
	if len(hosts) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(len(hosts))*fullRun)
	defer cancel()
	var errs []error
	for _, host := range hosts {
		reply, err := ask.Call(ctx, c.hosts[host], agentapi.Rollback, agentapi.RollbackRequest{Group: group})
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, agentapi.ErrState) {
			err = nil // nothing of it is left there
		}
		errs = append(errs, wentBack(host, reply, err, change{confirmed: true}.otherwise()))
	}
	return c.observed(ctx, errors.Join(errs...))
}

// TakeBack puts all back that the campaign's tune has kept, as one rollback a
// host. Without a tune it does nothing.
func (c *Campaign) TakeBack() error {
	if c.record.Tuning == nil {
		return nil
	}
	return c.revertRun(c.record.Tuning.Group, slices.Sorted(maps.Keys(c.hosts)))
}

// fullRun is how long a host may take to put all of a run back.
const fullRun = 3 * time.Minute

// wentBack is nil where a rollback roll all back, else ErrNotPutBack with what is
// known of the host.
func wentBack(host string, reply agentapi.RollbackReply, err error, otherwise string) error {
	switch {
	case err == nil && len(reply.Left) == 0:
		return nil
	case err == nil:
		return fmt.Errorf("%w: %s: left as somebody else set it: %s", ErrNotPutBack, host, strings.Join(reply.Left, "; "))
	case answered(err): // the host tried
		otherwise = "`linerate rollback` tries it again"
	}
	return fmt.Errorf("%w: %w (%s)", ErrNotPutBack, err, otherwise)
}

// observed looks at the hosts again after a way back that did not fail.
func (c *Campaign) observed(ctx context.Context, err error) error {
	if err != nil {
		return err
	}
	return c.Observe(ctx)
}

// confirm keeps changes, on all hosts or on none: when one cannot be reached
// any more, all are put back. An interrupt does not come in between.
func (c *Campaign) confirm(changes []change) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for i, ch := range changes {
		changes[i].confirmed = true // or nobody knows, where the answer is lost
		if _, err := ask.Call(ctx, c.hosts[ch.host], agentapi.Confirm, agentapi.ConfirmRequest{Journal: ch.journal}); err != nil {
			if undo := c.revert(changes); undo != nil {
				return refusal(fmt.Errorf("confirm change: %w", err), undo)
			}
			return fmt.Errorf("confirm change: %w: %w", ErrRolledBack, err)
		}
	}
	return nil
}
