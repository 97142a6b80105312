package apply

import (
	"context"
	"errors"
	"fmt"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// Confirm keeps an applied change and writes the plan's files; "" is the newest
// pending one. All that could go wrong goes wrong before anything is
// confirmed: a file whose text is not what the plan saw is a *FileError with
// ErrChanged, one that cannot be written (a full disk, a read-only one) a
// *FileError too, and the change stays applied and pending. From then on a
// crash is made good by going on: whoever recovers finishes the files. An
// entry in another state, so also one that the guard or a reboot has taken back, is
// ErrState; one that is confirming already is finished.
func (a *Applier) Confirm(ctx context.Context, id string) error {
	unlock, err := a.waitLock(ctx, "confirm")
	if err != nil {
		return err
	}
	defer unlock()
	e, err := a.find(id)
	if err != nil {
		return err
	}
	e.guard, _ = a.journal.readArmed(e.ID)
	switch {
	case e.State == agentapi.ChangeConfirming:
		return a.finish(&e)
	case e.State != agentapi.ChangeApplied:
		return fmt.Errorf("confirm %s: %w: it is %s", e.ID, ErrState, e.State)
	case e.Boot != a.self.Boot:
		return errRebooted(e.ID)
	case len(e.Plan.Files) > 0:
		return a.confirmFiles(&e)
	}
	e.State = agentapi.ChangeConfirmed
	if err := a.journal.write(&e); err != nil {
		return a.notConfirmed(&e, fmt.Errorf("write journal: %w", err))
	}
	a.ended(&e)
	return nil
}

// errRebooted is ErrState for a change that a reboot removed before anybody
// confirmed it: kept now, its files would say what the host is not.
func errRebooted(id string) error {
	return fmt.Errorf("confirm %s: %w: it is gone with a reboot: apply it again", id, ErrState)
}

// confirmFiles drafts the files, so that none lacks room later, says in the
// journal that they come, and puts them in place.
func (a *Applier) confirmFiles(e *Entry) error {
	states, err := filesAsPlanned(e.Root, e.Plan.Files)
	if err != nil {
		return fmt.Errorf("confirm %s: %w", e.ID, err)
	}
	e.Files = states
	if err := e.draftFiles(); err != nil {
		return fmt.Errorf("confirm %s: %w", e.ID, err)
	}
	a.journal.pass()
	e.State = agentapi.ChangeConfirming
	err = a.journal.write(e)
	if err == nil {
		if err = a.writeFiles(e, true); err == nil {
			return a.finished(e)
		}
		if again := a.restoreFiles(e); again != nil {
			// Some are new and some are old: it stays confirming, and whoever
			// comes next goes on.
			return fmt.Errorf("confirm %s: %w", e.ID, errors.Join(err, again))
		}
	}
	return a.notConfirmed(e, err)
}

// notConfirmed is a confirmation that failed: what the journal says last is what
// is done when nobody comes any more.
func (a *Applier) notConfirmed(e *Entry, err error) error {
	e.dropDrafts()
	e.State, e.Files = agentapi.ChangeApplied, nil
	if again := a.journal.write(e); again != nil {
		err = errors.Join(err, fmt.Errorf("write journal: %w", again))
	}
	return fmt.Errorf("confirm %s: %w", e.ID, err)
}

// finish ends what a confirmation began that was cut short: the far end had
// confirmed. What cannot be written now leaves the entry confirming, for the
// next try.
func (a *Applier) finish(e *Entry) error {
	if err := a.writeFiles(e, false); err != nil {
		return errors.Join(fmt.Errorf("confirm %s: %w", e.ID, err), a.journal.write(e))
	}
	return a.finished(e)
}

func (a *Applier) finished(e *Entry) error {
	e.State = agentapi.ChangeConfirmed
	if err := a.journal.write(e); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	a.ended(e)
	return nil
}

// ended is called when nothing has to happen to an entry any more, before anybody
// is told so.
func (a *Applier) ended(e *Entry) {
	r := e.result()
	a.dismiss(e)
	a.cfg.Log.Info("change ended", "journal", e.ID, "state", e.State, "undone", r.RolledBack, "left", r.Left, "reason", e.Reason)
	a.disarmBoot()
}
