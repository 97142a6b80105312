package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
)

// longestRevert bounds the way back: hosts that do not answer put themselves
// back at their deadline, but those that were asked to keep the change and may
// have. These are tried again, with pauses.
const (
	longestRevert = time.Minute
	askPause      = time.Second
)

// revert takes back what was changed, newest first, also when the run was
// interrupted.
func (c *Change) revert(out *Outcome) error {
	ctx, cancel := context.WithTimeout(context.Background(), longestRevert)
	defer cancel()
	var errs []error
	for i := len(out.Hosts) - 1; i >= 0; i-- {
		h := &out.Hosts[i]
		if h.State != agentapi.ChangeApplied && h.State != agentapi.ChangeConfirmed {
			continue
		}
		c.cfg.Tell("roll back " + h.Host)
		err := c.putBack(ctx, c.hosts[h.Host], h)
		if errors.Is(err, fleet.ErrUnreachable) {
			// The connection may have died of the change, or of the steps that
			// were taken back already, and the host answer all the same.
			err = c.putBackAnew(ctx, h)
		}
		for h.asked && err != nil && ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-time.After(askPause):
				err = c.putBackAnew(ctx, h)
			}
		}
		switch {
		case err == nil:
			h.State = agentapi.ChangeRolledBack
			errs = append(errs, fmt.Errorf("%s: %w", h.Host, ErrRolledBack))
		case h.State == agentapi.ChangeConfirmed:
			errs = append(errs, fmt.Errorf("roll back %s, which had kept the change: %w", h.Host, err))
		case h.asked:
			errs = append(errs, fmt.Errorf("%w: %s was asked to and does not answer, see its journal: %w", ErrUnknown, h.Host, err))
		default:
			errs = append(errs, fmt.Errorf("%w: %s will roll back by itself by %s: %w", ErrRolledBack, h.Host, h.by.Format(time.TimeOnly), err))
		}
	}
	return errors.Join(errs...)
}

func (c *Change) putBackAnew(ctx context.Context, h *HostOutcome) error {
	host, err := fleet.Dial(ctx, h.Host, c.reach[h.Host], c.dialing(h.Host, true))
	if err != nil {
		return err
	}
	defer host.Close()
	return c.putBack(ctx, host, h)
}

// putBack takes a host's part back, unless its guard has done so already.
func (c *Change) putBack(ctx context.Context, host *fleet.Host, h *HostOutcome) error {
	reply, err := ask.Call(ctx, host, agentapi.Rollback, agentapi.RollbackRequest{Journal: h.Journal})
	switch {
	case err == nil:
		h.Left = reply.Left
		return nil
	case h.Journal == "" && errors.Is(err, fs.ErrNotExist):
		return nil // it had not come to a change
	case h.Journal != "" && isBack(ctx, host, h.Journal):
		return nil
	}
	return err
}

// isBack reports that the host's journal calls a change rolled back.
func isBack(ctx context.Context, host *fleet.Host, id string) bool {
	journal, err := ask.Call(ctx, host, agentapi.Journal, agentapi.Empty{})
	if err != nil {
		return false
	}
	for _, e := range journal.Entries {
		if e.ID == id {
			return e.State == agentapi.ChangeRolledBack
		}
	}
	return false
}
