package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/statefile"
)

// guardPause is between two looks of the guard at its entry.
const guardPause = 200 * time.Millisecond

// A guard glances in between whether its entry is another file than before, so that
// who ends the entry has to wait no longer for it to go; guardLeaves is how long it
// may take.
const (
	guardGlance = 20 * time.Millisecond
	guardLeaves = 2 * time.Second
)

// Guard is the dead man: it waits until the entry is confirmed or taken back,
// and rolls it back itself when its deadline passes, when the process that
// applies it dies before it is through (of a temporary change, whenever it
// dies), or when ctx ends. A way back that was cut short it goes on with, and
// a confirmation that was cut short it finishes. It tells the one that started
// it that it is armed, before anything else. It runs in a process of its own
// that outlives a closed terminal, in the entry's network namespace, and ends
// by the entry's deadline and the time the way back takes. It may be started
// again when it was killed: it goes by what the journal says. A nil error
// means that the entry is confirmed or all taken back.
func Guard(ctx context.Context, c Config, id string) error {
	a, err := New(c)
	if err != nil {
		return err
	}
	e, err := a.find(id)
	if err != nil {
		return err
	}
	if !e.State.Pending() {
		return nil
	}
	// For reading: a disk that has a file open for writing is not made read-only.
	lock, err := a.openLock(os.O_RDONLY)
	if err != nil {
		return err
	}
	defer lock.Close()
	// On a full disk nobody is told; before the first step that must not be.
	if err := a.journal.arm(id, a.self); err != nil && !e.Begun() {
		return fmt.Errorf("arm guard: %w", err)
	}
	defer a.journal.disarm(id)
	// The wait is by the monotonic clock: setting the time of day moves no
	// deadline, also of a guard that is started again.
	deadline := time.Now().Add(e.left())
	for {
		was := a.journal.stamp(id)
		// What cannot be read must not disarm: the last that could be counts.
		if now, err := a.find(id); err == nil {
			e = now
		}
		if !e.State.Pending() {
			return nil
		}
		if due(ctx, e, deadline) != "" {
			ended, err := a.guardAct(ctx, lock, e, deadline)
			if ended || err != nil {
				return err
			}
		}
		end := time.Now().Add(min(guardPause, max(time.Until(deadline), time.Millisecond)))
		for ctx.Err() == nil && time.Now().Before(end) && !a.journal.rewritten(id, was) {
			select {
			case <-ctx.Done(): // due at the next look
			case <-time.After(min(guardGlance, time.Until(end))):
			}
		}
	}
}

// dismiss returns when the guard of an entry that has ended is gone: it would go on
// by what it read before, should the journal get lost now. One that does not go, as it
// is stopped or waits for the lock, is ended. It is called with the lock held, so that
// the guard is not at the host.
func (a *Applier) dismiss(e *Entry) {
	g := e.guard
	if g.PID == 0 || g == a.self {
		return
	}
	for end := time.Now().Add(guardLeaves); g.Alive(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			err := g.end()
			a.journal.disarm(e.ID)
			a.cfg.Log.Warn("a guard did not go though its change has ended: it is ended", "journal", e.ID, "pid", g.PID, "err", err)
			return
		}
	}
}

// Begun reports whether some step may have happened.
func (e *Entry) Begun() bool {
	for _, s := range e.Steps {
		if s.Progress != agentapi.StepPending {
			return true
		}
	}
	return e.State != agentapi.ChangeOpen
}

// unseen is for an entry that was read some time ago and cannot be now: any step
// may have begun since; a rollback reads whether it did.
func (e *Entry) unseen() {
	e.Steps = slices.Clone(e.Steps)
	for i := range e.Steps {
		if e.Steps[i].Progress == agentapi.StepPending {
			e.Steps[i].Progress = agentapi.StepBegun
		}
	}
}

// due is why a guard has to act on the entry now, "" when it has not.
func due(ctx context.Context, e Entry, deadline time.Time) string {
	switch {
	case e.State == agentapi.ChangeConfirming || e.State == agentapi.ChangeReverting:
		return "it was cut short"
	case (e.State == agentapi.ChangeOpen || e.Temporary) && !e.Owner.Alive():
		return agentapi.ReasonDied
	case !time.Now().Before(deadline):
		return "nobody confirmed in time"
	case ctx.Err() != nil:
		return "its guard was told to end"
	}
	return ""
}

// guardAct waits for whoever is at the entry now, and does what is then still
// due. ended is false when it turns out that nothing is.
func (a *Applier) guardAct(ctx context.Context, lock *os.File, e Entry, deadline time.Time) (ended bool, err error) {
	held := context.WithoutCancel(ctx)
	unlock, err := a.guardLock(held, lock, e, deadline)
	if errors.Is(err, ErrLocked) { // who has the lock has ended it
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer unlock()
	if now, err := a.find(e.ID); err == nil {
		e = now
	} else {
		e.unseen()
	}
	reason := due(ctx, e, deadline)
	switch {
	case !e.State.Pending():
		return true, nil
	case reason == "":
		return false, nil
	case e.State == agentapi.ChangeConfirming:
		return true, a.finish(&e)
	case e.State == agentapi.ChangeReverting && e.Reason != "":
		return true, a.goOn(held, e)
	}
	_, err = a.takeBackEntry(held, e, reason)
	return true, err
}

func (j *Journal) armedPath(id string) string { return filepath.Join(j.dir, id+armedSuffix) }

func (j *Journal) arm(id string, o Owner) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return j.replace(id+armedSuffix, append(b, '\n'))
}

func (j *Journal) disarm(id string) { _ = os.Remove(j.armedPath(id)) }

// maxArmed is more than a guard's words have.
const maxArmed = 4096

// readArmed is the guard of an entry; fs.ErrNotExist when there is none.
func (j *Journal) readArmed(id string) (Owner, error) {
	var o Owner
	if !validID(id) {
		return o, fs.ErrNotExist
	}
	b, err := statefile.Read(j.armedPath(id), maxArmed)
	if err != nil {
		return o, err
	}
	return o, json.Unmarshal(b, &o)
}
