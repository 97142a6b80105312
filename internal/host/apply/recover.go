package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

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

// Recover ends what dead processes left behind. Entries with steps half done,
// half taken back, and applied ones whose guard died before anybody confirmed
// are taken back; of one that was being confirmed the files are finished. What
// a living process or guard looks after stays. It waits for the lock while ctx
// lasts. To be called when a program starts, before its first plan.
func (a *Applier) Recover(ctx context.Context) (Recovered, error) {
	unlock, err := a.waitLock(ctx, recovering)
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
	a.spread(entries)
	// The newest first: an older change may be what a newer one started from.
	for _, e := range slices.Backward(entries) {
		if !e.State.Pending() || e.State != agentapi.ChangeReverting && e.Boot == a.self.Boot && a.lookedAfter(e) {
			continue
		}
		r, err := a.recoverEntry(ctx, e)
		out.Results = append(out.Results, r)
		if err != nil {
			failures = append(failures, fmt.Errorf("recover %s: %w", e.ID, err))
		}
	}
	a.sweep(entries)
	return out, errors.Join(failures...)
}

// recoverEntry ends an entry that nobody is at any more, with the lock held.
func (a *Applier) recoverEntry(ctx context.Context, e Entry) (Result, error) {
	if e.State == agentapi.ChangeConfirming {
		err := a.finish(&e)
		return e.result(), err
	}
	if e.State == agentapi.ChangeReverting && e.Reason != "" {
		return a.takeBackEntry(ctx, e, e.Reason)
	}
	return a.takeBackEntry(ctx, e, agentapi.ReasonDied)
}

// RecoverBoot ends the entries of earlier boots, of every namespace, before the
// network is configured: it touches files, and no link. What was being
// confirmed is finished; the files of what was being rolled back are restored;
// all else is gone with the reboot, as nothing was written for it. A container that
// was started anew may be on the network that it was on: there the steps wait for
// Recover. It is what the boot unit runs.
func (a *Applier) RecoverBoot(ctx context.Context) (Recovered, error) {
	unlock, err := a.waitLock(ctx, "recover at boot")
	if err != nil {
		return Recovered{}, err
	}
	defer unlock()
	entries, problems, err := a.journal.List()
	if err != nil {
		return Recovered{}, err
	}
	out := Recovered{Problems: problems}
	var failures []error
	a.spread(entries)
	for _, e := range slices.Backward(entries) {
		rebooted := e.Boot != a.self.Boot
		if !e.State.Pending() || !rebooted && (e.First == 0 || e.First == a.first) {
			continue
		}
		r := Result{ID: e.ID, State: e.State}
		switch e.State {
		case agentapi.ChangeConfirming:
			err = a.finish(&e)
			r = e.result()
		default:
			err = a.restoreFiles(&e)
			switch {
			case err == nil && rebooted:
				r, err = a.gone(e)
			case !rebooted:
				err = errors.Join(err, a.journal.write(&e))
				r = e.result()
			}
		}
		out.Results = append(out.Results, r)
		if err != nil {
			failures = append(failures, fmt.Errorf("recover %s: %w", e.ID, err))
		}
	}
	a.disarmBoot()
	return out, errors.Join(failures...)
}

// lookedAfter reports whether somebody alive will still end the entry: the
// guard, or the process that applied it. That process does not count for
// itself when it holds the lock: then it is no longer at it.
func (a *Applier) lookedAfter(e Entry) bool {
	if g, err := a.journal.readArmed(e.ID); err == nil && g.Alive() {
		return true
	}
	return e.State == agentapi.ChangeApplied && e.Owner.Alive() && e.left() > 0
}

// What is kept of changes that have ended: the last KeepEntries of a
// namespace, and none for longer than KeepTime.
const (
	KeepEntries = 200
	KeepTime    = 365 * 24 * time.Hour
)

// staleTemp is the age from which an unfinished file is nobody's.
const staleTemp = time.Hour

// sweep removes unfinished files that a crash left, and entries that ended long
// ago; entries are this namespace's, oldest first.
func (a *Applier) sweep(entries []Entry) {
	kept := 0
	groups := map[string]bool{} // what goes back as one is kept as one
	for _, e := range slices.Backward(entries) {
		if e.State.Pending() {
			groups[e.Group.ID] = e.Group.ID != ""
			continue
		}
		_ = os.Remove(a.journal.sparePath(e.ID))
		kept++
		if old := kept > KeepEntries || e.age() > KeepTime; old && !groups[e.Group.ID] {
			_ = os.Remove(a.journal.path(e.ID))
			continue
		}
		groups[e.Group.ID] = e.Group.ID != ""
	}
	files, err := os.ReadDir(a.cfg.Dir)
	if err != nil {
		return
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || time.Since(info.ModTime()) <= staleTemp {
			continue
		}
		id, spare := strings.CutSuffix(f.Name(), spareSuffix)
		if spare {
			_, err := os.Lstat(a.journal.path(id))
			spare = errors.Is(err, fs.ErrNotExist)
		}
		if spare || strings.HasPrefix(f.Name(), tempPrefix) {
			_ = os.Remove(filepath.Join(a.cfg.Dir, f.Name()))
		}
	}
}
