package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/plan"
)

// rollbackPasses is how often the way back is gone: what could not be undone may
// have waited for something that was undone later.
const rollbackPasses = 3

// undo takes back the files that were written and every step that was begun,
// last one first, and writes the outcome. What is already as it was needs
// nothing; what is no longer as it was written belongs to somebody else now
// and is left, and so is what is gone: a link that was taken out or renamed.
// An error in one step does not keep the others from being undone.
func (a *Applier) rollBackSteps(ctx context.Context, e *Entry) error {
	if e.State == agentapi.ChangeReverting && !e.Asked {
		e.cutShort()
	}
	e.Asked = false
	e.guard, _ = a.journal.readArmed(e.ID)
	// From here on whoever finds the entry goes on with the way back. The host
	// is more important than the record: a full disk must not stop it.
	e.State, e.Reason = agentapi.ChangeReverting, note(e.Reason)
	unwritten := a.journal.write(e)
	problems := []error{a.restoreFiles(e)}
	held := a.heldByGroup(*e)
	patience := patience{a: a, left: a.cfg.Ready}
	for pass := range rollbackPasses {
		problems = problems[:1]
		for i := range slices.Backward(e.Steps) {
			st := &e.Steps[i]
			if st.Progress != agentapi.StepBegun && st.Progress != agentapi.StepDone {
				continue
			}
			err := a.rollBackStep(ctx, e, i, held)
			if err != nil && pass == rollbackPasses-1 {
				if link := a.goneLink(ctx, e.Plan.Steps[i]); link != "" {
					err, st.Progress = nil, agentapi.StepLeft
					st.Note = note(e.Plan.Steps[i].Target() + ": the link " + link + " that it needs is gone: it cannot be as it was")
				}
			}
			if err != nil {
				st.Note = note(err.Error())
				problems = append(problems, fmt.Errorf("roll back %s: %w", e.Plan.Steps[i].Change(), err))
			}
			if err := a.journal.write(e); err != nil {
				unwritten = err
			}
			patience.wait(ctx, e, e.Plan.Steps[i].Rollback())
		}
		if len(problems) == 1 {
			break
		}
	}
	e.State = agentapi.ChangeRolledBack
	err := errors.Join(problems...)
	if err != nil {
		e.State = agentapi.ChangeFailed
	}
	if last := a.journal.write(e); last == nil {
		unwritten = nil
	} else {
		unwritten = last
	}
	a.ended(e)
	if unwritten != nil {
		unwritten = fmt.Errorf("write journal: %w", unwritten)
	}
	return errors.Join(err, unwritten)
}

// cutShort marks the step whose undoing a crash may have cut short: what it is
// now is ours, whatever the kernel made of it.
func (e *Entry) cutShort() {
	for i := range slices.Backward(e.Steps) {
		if p := e.Steps[i].Progress; p == agentapi.StepBegun || p == agentapi.StepDone {
			e.Steps[i].Progress = agentapi.StepBegun
			return
		}
	}
}

func (a *Applier) rollBackStep(ctx context.Context, e *Entry, i int, held map[string]string) error {
	s, st := e.Plan.Steps[i], &e.Steps[i]
	now, err := a.cfg.Kernel.Read(ctx, s)
	switch {
	case errors.Is(err, fs.ErrNotExist) && madeBefore(e.Plan.Steps[:i], s):
		st.Progress = agentapi.StepRolledBack // it went with the link that the plan had made
		return nil
	case errors.Is(err, fs.ErrNotExist):
		st.Progress, st.Note = agentapi.StepLeft, note(s.Target()+": it is gone: nothing to roll back")
		return nil
	case err != nil:
		return err
	case now == s.Old:
		st.Progress, st.Note = agentapi.StepRolledBack, ""
		return nil
	case now != s.New && held[s.Target()] != "":
		return fmt.Errorf("%w: it is rolled back after %s, which set it since and could not be rolled back", ErrState, held[s.Target()])
	// A value that was seen to hold and is another one now was set by somebody
	// else. One whose setting was cut short is ours, whatever the kernel made
	// of it.
	case now != s.New && st.Progress == agentapi.StepDone && !s.Redrawn:
		st.Progress = agentapi.StepLeft
		st.Note = note(fmt.Sprintf("%s: it is %s and not the %s that was written: left as it is", s.Target(), now, s.New))
		return nil
	}
	back := s.Rollback()
	if err := a.cfg.Kernel.Do(ctx, back); err != nil {
		return err
	}
	if err := a.verify(ctx, back); err != nil {
		return err
	}
	st.Progress, st.Note = agentapi.StepRolledBack, ""
	return nil
}

// goneLink is a link that a step's rollback needs and that is not there: that of a
// route, the bond of a port, the parent of a VLAN. "" is none.
func (a *Applier) goneLink(ctx context.Context, s plan.Step) string {
	var needs []string
	if s.Route != nil {
		needs = append(needs, s.Route.Link)
		for _, h := range s.Route.Hops {
			needs = append(needs, h.Link)
		}
	}
	if s.Kind == plan.PortMaster && s.Old != plan.NoMaster {
		needs = append(needs, s.Old)
	}
	if s.Make != nil {
		needs = append(needs, s.Make.Parent)
	}
	for _, link := range needs {
		if link == "" {
			continue
		}
		if _, err := a.cfg.Kernel.Read(ctx, plan.Step{Kind: plan.LinkState, Link: link, New: plan.Up}); errors.Is(err, fs.ErrNotExist) {
			return link
		}
	}
	return ""
}

// Rollback takes back the named entry, "" the newest pending one, and waits
// for the lock while ctx lasts. A confirmed or failed entry can be taken back
// too, its files with it, also after a reboot when it has any; one that is
// taken back already is ErrState, an unknown one fs.ErrNotExist. Result.Left
// names what somebody else has changed since.
func (a *Applier) Rollback(ctx context.Context, id string) (Result, error) {
	return a.rollBack(ctx, id, false)
}

// RollbackUnconfirmed is Rollback of an entry that nobody has confirmed; one that
// somebody has, or is at it, is ErrState.
func (a *Applier) RollbackUnconfirmed(ctx context.Context, id string) (Result, error) {
	return a.rollBack(ctx, id, true)
}

func (a *Applier) rollBack(ctx context.Context, id string, unconfirmed bool) (Result, error) {
	unlock, err := a.waitLock(ctx, "rollback")
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	e, err := a.find(id)
	if err != nil {
		return Result{}, err
	}
	if e.State == agentapi.ChangeRolledBack {
		return e.result(), fmt.Errorf("roll back %s: %w: it is rolled back already", e.ID, ErrState)
	}
	if unconfirmed && (e.State == agentapi.ChangeConfirmed || e.State == agentapi.ChangeConfirming) {
		return e.result(), fmt.Errorf("roll back %s: %w: it is %s", e.ID, ErrState, e.State)
	}
	if len(e.Files) > 0 {
		a.armBoot(&e)
	}
	e.With = nil // this one alone is asked for
	return a.takeBackEntry(ctx, e, "a rollback was asked for")
}

// takeBackEntry undoes an entry found in the journal, with the lock held. One
// of an earlier boot has nothing left to undo where neither it nor another one
// of its group wrote a file: no step outlives a reboot. What files brought back
// is undone like any other.
func (a *Applier) takeBackEntry(ctx context.Context, e Entry, reason string) (Result, error) {
	e.Reason = reason
	if e.Boot != a.self.Boot && !a.outlivesReboot(e) {
		return a.gone(e)
	}
	err := a.rollBackSteps(context.WithoutCancel(ctx), &e)
	return e.result(), err
}

// gone closes an entry that a reboot took back.
func (a *Applier) gone(e Entry) (Result, error) {
	e.dropDrafts()
	e.State, e.Reason = agentapi.ChangeRolledBack, "gone with a reboot"
	err := a.journal.write(&e)
	a.ended(&e)
	return e.result(), err
}

// find returns an entry of this namespace.
func (a *Applier) find(id string) (Entry, error) {
	if id != "" {
		e, err := a.journal.Read(id)
		if err == nil && e.Namespace != a.cfg.Namespace {
			err = fmt.Errorf("journal entry %s: %w: it is of namespace %q", id, ErrState, e.Namespace)
		}
		return e, err
	}
	entries, _, err := a.List()
	if err != nil {
		return Entry{}, err
	}
	for _, e := range slices.Backward(entries) {
		if e.State.Pending() {
			return e, nil
		}
	}
	return Entry{}, fmt.Errorf("pending journal entry: %w", fs.ErrNotExist)
}

// madeBefore reports whether an earlier step makes a link that s is about: its
// things are not there before it and go with it.
func madeBefore(earlier []plan.Step, s plan.Step) bool {
	return slices.ContainsFunc(earlier, func(m plan.Step) bool {
		return m.Kind == plan.LinkPresence && m.New == plan.Present && about(s, m.Link)
	})
}

// reason is an error in the words of whoever reads the journal.
func reason(err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case errors.Is(err, context.DeadlineExceeded):
		return "its time was over"
	}
	return err.Error()
}
