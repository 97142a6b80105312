package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// Group names a run that changes a host in several steps, each with an entry
// of its own: what it changed goes back as one.
type Group struct {
	// ID is the run's, of letters, digits, dots and hyphens; "" is no group.
	ID string `json:"id"`
	// Title says what ran, for people.
	Title string `json:"title,omitempty"`
}

// maxTitle bounds a title that came from a controller.
const maxTitle = 200

func (g Group) check() error {
	switch {
	case g.ID == "" && g.Title == "":
		return nil
	case !validID(g.ID):
		return fmt.Errorf("no name of a group: %.80q", g.ID)
	case len(g.Title) > maxTitle:
		return fmt.Errorf("title of %d bytes, at most %d", len(g.Title), maxTitle)
	case strings.ContainsFunc(g.Title, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("title %q does not print on one line", g.Title)
	}
	return nil
}

// RollbackGroup takes back every entry of a group that is not taken back yet,
// confirmed and pending ones, the newest first, and waits for the lock while
// ctx lasts. That all of them are to go back is on the disk before the first is
// touched: a way back that is cut short is gone on with for all of them. The
// results are in the order in which the entries went back; an error in one does
// not keep the others. All back already is ErrState, an unknown group
// fs.ErrNotExist.
func (a *Applier) RollbackGroup(ctx context.Context, id string) ([]Result, error) {
	unlock, err := a.waitLock(ctx, "rollback")
	if err != nil {
		return nil, err
	}
	defer unlock()
	all, _, err := a.List()
	if err != nil {
		return nil, err
	}
	group := ofGroup(all, id)
	if len(group) == 0 {
		return nil, fmt.Errorf("journal group %.80q: %w", id, fs.ErrNotExist)
	}
	group = slices.DeleteFunc(group, func(e Entry) bool { return e.State == agentapi.ChangeRolledBack })
	if len(group) == 0 {
		return nil, fmt.Errorf("roll back %s: %w: it is rolled back already", id, ErrState)
	}
	slices.Reverse(group)
	return a.takeBackTogether(ctx, group, "a rollback was asked for")
}

// ofGroup are the entries of a group, in the order given.
func ofGroup(entries []Entry, id string) []Entry {
	var out []Entry
	for _, e := range entries {
		if id != "" && e.Group.ID == id {
			out = append(out, e)
		}
	}
	return out
}

// takeBackTogether undoes entries, the newest first as given, with the lock
// held.
func (a *Applier) takeBackTogether(ctx context.Context, entries []Entry, why string) ([]Result, error) {
	if slices.ContainsFunc(entries, func(e Entry) bool { return len(e.Files) > 0 }) {
		a.armBoot(&entries[0])
	}
	a.ask(entries, why)
	var results []Result
	var failures []error
	for _, e := range entries {
		r, err := a.takeBackEntry(ctx, e, e.Reason)
		results = append(results, r)
		if err != nil {
			failures = append(failures, fmt.Errorf("roll back %s: %w", e.ID, err))
		}
	}
	return results, errors.Join(failures...)
}

// ask writes that entries are to go back: one write, of the first, says it of
// all, so that no crash leaves some asked and some not; then each gets the
// word. As everywhere on the way back, a disk that takes no write does not stop
// it.
func (a *Applier) ask(entries []Entry, why string) {
	first := &entries[0]
	first.With = nil
	for _, e := range entries[1:] {
		first.With = append(first.With, e.ID)
	}
	for i := range entries {
		if e := &entries[i]; i == 0 || e.State != agentapi.ChangeReverting {
			a.askOne(e, why)
		}
	}
}

// askOne gives one entry the word. One whose way back was begun already keeps
// that it was.
func (a *Applier) askOne(e *Entry, why string) {
	if e.State != agentapi.ChangeReverting {
		e.State, e.Reason, e.Asked = agentapi.ChangeReverting, note(why), true
	}
	if err := a.journal.write(e); err != nil {
		a.cfg.Log.Warn("write journal", "journal", e.ID, "err", err)
	}
}

// spread gives the word that a cut rollback left with one entry to the others
// that were to go back with it. The entries change in place.
func (a *Applier) spread(entries []Entry) {
	for _, asked := range slices.Clone(entries) {
		if asked.State != agentapi.ChangeReverting {
			continue
		}
		for i := range entries {
			if e := &entries[i]; slices.Contains(asked.With, e.ID) && e.State != agentapi.ChangeRolledBack && e.State != agentapi.ChangeReverting {
				a.askOne(e, asked.Reason)
			}
		}
	}
}

// goOn ends the way back of an entry that was cut short, and of all that were
// to go back with it, with the lock held.
func (a *Applier) goOn(ctx context.Context, cut Entry) error {
	entries, _, err := a.List()
	if err != nil || cut.Group.ID == "" {
		_, err = a.takeBackEntry(ctx, cut, cut.Reason)
		return err
	}
	group := ofGroup(entries, cut.Group.ID)
	a.spread(group)
	var failures []error
	for _, e := range slices.Backward(group) {
		if e.State != agentapi.ChangeReverting {
			continue
		}
		if _, err := a.takeBackEntry(ctx, e, e.Reason); err != nil {
			failures = append(failures, fmt.Errorf("roll back %s: %w", e.ID, err))
		}
	}
	return errors.Join(failures...)
}

// heldByGroup are the targets that a newer entry of e's group holds, with its
// ID: it was to go back first and could not. What they are now is no stranger's.
func (a *Applier) heldByGroup(e Entry) map[string]string {
	held := make(map[string]string)
	if e.Group.ID == "" {
		return held
	}
	all, _, err := a.List()
	if err != nil {
		return held
	}
	for _, newer := range ofGroup(all, e.Group.ID) {
		if newer.ID <= e.ID || newer.State != agentapi.ChangeFailed && newer.State != agentapi.ChangeReverting {
			continue
		}
		for i, s := range newer.Plan.Steps {
			if p := newer.Steps[i].Progress; p == agentapi.StepBegun || p == agentapi.StepDone {
				held[s.Target()] = newer.ID
			}
		}
	}
	return held
}

// outlivesReboot reports whether a reboot brings back what an entry did: when
// the entry, or another one of its group, has written files.
func (a *Applier) outlivesReboot(e Entry) bool {
	if len(e.Files) > 0 || e.Group.ID == "" {
		return len(e.Files) > 0
	}
	all, _, err := a.List()
	if err != nil {
		return true // looking at the host shows what there is to undo
	}
	return slices.ContainsFunc(ofGroup(all, e.Group.ID), func(o Entry) bool { return len(o.Files) > 0 })
}
