package apply

import (
	"context"
	"fmt"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// Keepable looks, without changing anything, whether Confirm of an entry could
// keep it: nil, or the error that Confirm would begin with. "" is the newest
// pending one. Who changes several hosts asks all before confirming the first.
func (a *Applier) Keepable(ctx context.Context, id string) error {
	unlock, err := a.waitLock(ctx, "confirm")
	if err != nil {
		return err
	}
	defer unlock()
	e, err := a.find(id)
	switch {
	case err != nil:
		return err
	case e.State == agentapi.ChangeConfirming:
		return nil
	case e.State != agentapi.ChangeApplied:
		return fmt.Errorf("confirm %s: %w: it is %s", e.ID, ErrState, e.State)
	case e.Boot != a.self.Boot:
		return errRebooted(e.ID)
	}
	if e.Files, err = filesAsPlanned(e.Root, e.Plan.Files); err == nil {
		err = e.draftFiles()
		e.dropDrafts()
	}
	if err != nil {
		return fmt.Errorf("confirm %s: %w", e.ID, err)
	}
	return nil
}
