package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// undo takes back every step that was begun, last one first, and writes the
// outcome. What is already as it was needs nothing; what is no longer as it
// was written belongs to somebody else now and is left. An error in one step
// does not keep the others from being undone.
func (a *Applier) undo(ctx context.Context, e *Entry) error {
	var problems, unwritten []error
	for i := len(e.Steps) - 1; i >= 0; i-- {
		st := &e.Steps[i]
		if st.Progress != Begun && st.Progress != Done {
			continue
		}
		if err := a.undoStep(ctx, e, i); err != nil {
			st.Note = err.Error()
			problems = append(problems, fmt.Errorf("undo %s: %w", e.Plan.Steps[i].Change(), err))
		}
		// The host is more important than the record: a full disk must not
		// stop the way back.
		if err := a.journal.write(e); err != nil {
			unwritten = []error{fmt.Errorf("write journal: %w", err)}
		}
	}
	e.State = RolledBack
	if len(problems) > 0 {
		e.State = Failed
	}
	if err := a.journal.write(e); err != nil {
		unwritten = []error{fmt.Errorf("write journal: %w", err)}
	}
	r := e.result()
	a.cfg.Log.Info("change taken back", "journal", e.ID, "state", e.State, "undone", r.Undone, "left", r.Left, "reason", e.Reason)
	return errors.Join(append(problems, unwritten...)...)
}

func (a *Applier) undoStep(ctx context.Context, e *Entry, i int) error {
	s, st := e.Plan.Steps[i], &e.Steps[i]
	now, err := a.cfg.Kernel.Read(ctx, s)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		st.Progress, st.Note = Left, s.Target()+": it is gone"
		return nil
	case err != nil:
		return err
	case now == s.Old:
		st.Progress = Undone
		return nil
	// A value that was seen to hold and is another one now was set by somebody
	// else. One whose setting was cut short is ours, whatever the kernel made
	// of it.
	case now != s.New && st.Progress == Done:
		st.Progress = Left
		st.Note = fmt.Sprintf("%s: it is %s and not the %s that was written: left as it is", s.Target(), now, s.New)
		return nil
	}
	back := s.Undo()
	if err := a.cfg.Kernel.Do(ctx, back); err != nil {
		return err
	}
	if err := a.verify(ctx, back); err != nil {
		return err
	}
	st.Progress = Undone
	return nil
}

// Rollback takes back the named entry, "" the newest pending one, and waits
// for the lock while ctx lasts. A confirmed or failed entry can be taken back
// too; one that is taken back already is ErrState, an unknown one
// fs.ErrNotExist. Result.Left names what somebody else has changed since.
func (a *Applier) Rollback(ctx context.Context, id string) (Result, error) {
	return a.rollback(ctx, id, "asked for")
}

func (a *Applier) rollback(ctx context.Context, id, reason string) (Result, error) {
	unlock, err := a.waitLock(ctx, "rollback")
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	e, err := a.find(id)
	if err != nil {
		return Result{}, err
	}
	if e.State == RolledBack {
		return e.result(), fmt.Errorf("roll back %s: %w: it is rolled back already", e.ID, ErrState)
	}
	return a.takeBackEntry(ctx, e, reason)
}

// takeBackEntry undoes an entry found in the journal, with the lock held. One
// of an earlier boot has nothing left to undo: no step outlives a reboot.
func (a *Applier) takeBackEntry(ctx context.Context, e Entry, reason string) (Result, error) {
	e.Reason = reason
	if e.Boot != a.self.Boot {
		e.State, e.Reason = RolledBack, "gone with a reboot"
		return e.result(), a.journal.write(&e)
	}
	err := a.undo(context.WithoutCancel(ctx), &e)
	return e.result(), err
}

// Confirm keeps an applied change; "" is the newest pending one. An entry in
// another state, so also one that the guard has taken back, is ErrState.
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
	if e.State != Applied {
		return fmt.Errorf("confirm %s: %w: it is %s", e.ID, ErrState, e.State)
	}
	e.State = Confirmed
	if err := a.journal.write(&e); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	a.cfg.Log.Info("change confirmed", "journal", e.ID)
	return nil
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
	for i := len(entries) - 1; i >= 0; i-- {
		if entries[i].State.pending() {
			return entries[i], nil
		}
	}
	return Entry{}, fmt.Errorf("pending journal entry: %w", fs.ErrNotExist)
}

// List returns this namespace's entries, oldest first, and the journal files
// that cannot be read.
func (a *Applier) List() ([]Entry, []Problem, error) {
	all, problems, err := a.journal.List()
	var own []Entry
	for _, e := range all {
		if e.Namespace == a.cfg.Namespace {
			own = append(own, e)
		}
	}
	return own, problems, err
}

// Recovered is what Recover did.
type Recovered struct {
	Results []Result
	// Problems are journal files that cannot be read: nobody can take those
	// changes back but a person.
	Problems []Problem
}

// Recover takes back what dead processes left behind: entries with steps half
// done, and applied ones whose guard died before anybody confirmed. What a
// living process or guard looks after stays. It waits for the lock while ctx
// lasts. To be called when a program starts, before its first plan.
func (a *Applier) Recover(ctx context.Context) (Recovered, error) {
	unlock, err := a.waitLock(ctx, "recover")
	if err != nil {
		return Recovered{}, err
	}
	defer unlock()
	entries, problems, err := a.List()
	if err != nil {
		return Recovered{}, err
	}
	out := Recovered{Problems: problems}
	var failures []error
	// The newest first: an older change may be what a newer one started from.
	for i := len(entries) - 1; i >= 0; i-- {
		e := entries[i]
		if !e.State.pending() || e.Boot == a.self.Boot && a.lookedAfter(e) {
			continue
		}
		r, err := a.takeBackEntry(ctx, e, "its process died")
		out.Results = append(out.Results, r)
		if err != nil {
			failures = append(failures, fmt.Errorf("recover %s: %w", e.ID, err))
		}
	}
	a.sweep()
	return out, errors.Join(failures...)
}

// lookedAfter reports whether somebody alive will still end the entry: the
// guard, or the process that applied it. That process does not count for
// itself when it holds the lock: then it is no longer at it.
func (a *Applier) lookedAfter(e Entry) bool {
	if g, err := a.journal.readArmed(e.ID); err == nil && g.Alive() {
		return true
	}
	return e.State == Applied && e.Owner.Alive() && time.Now().Before(e.Deadline)
}

// staleTemp is the age from which an unfinished file is nobody's.
const staleTemp = time.Hour

// sweep removes unfinished files that a crash left.
func (a *Applier) sweep() {
	files, err := os.ReadDir(a.cfg.Dir)
	if err != nil {
		return
	}
	for _, f := range files {
		info, err := f.Info()
		if err == nil && strings.HasPrefix(f.Name(), tempPrefix) && time.Since(info.ModTime()) > staleTemp {
			_ = os.Remove(filepath.Join(a.cfg.Dir, f.Name()))
		}
	}
}
