package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// guardPause is between two looks of the guard at its entry.
const guardPause = 200 * time.Millisecond

// Guard is the dead man: it waits until the entry is confirmed or taken back,
// and takes it back itself when its deadline passes, when the process that
// applies it dies before it is through (of a temporary change, whenever it
// dies), or when ctx ends. It tells the one
// that started it that it is armed, before anything else. It runs in a
// process of its own that outlives a closed terminal, in the entry's network
// namespace, and ends by the entry's deadline and the time the way back takes.
// A nil error means that the entry is confirmed or all taken back.
func Guard(ctx context.Context, c Config, id string) error {
	a, err := New(c)
	if err != nil {
		return err
	}
	e, err := a.find(id)
	if err != nil {
		return err
	}
	if err := a.journal.arm(id, a.self); err != nil {
		return fmt.Errorf("arm guard: %w", err)
	}
	defer a.journal.disarm(id)
	// The wait is by the monotonic clock: setting the time of day moves no
	// deadline.
	deadline := time.NewTimer(time.Until(e.Deadline))
	defer deadline.Stop()
	for {
		// What cannot be read must not disarm: the last that could be counts.
		if now, err := a.find(id); err == nil {
			e = now
		}
		switch {
		case !e.State.pending():
			return nil
		case (e.State == Open || e.Temporary) && !e.Owner.Alive():
			return a.guardRollback(ctx, e, "its process died")
		}
		select {
		case <-deadline.C:
			return a.guardRollback(ctx, e, "nobody confirmed in time")
		case <-ctx.Done():
			return a.guardRollback(ctx, e, "its guard was told to end")
		case <-time.After(guardPause):
		}
	}
}

// guardRollback waits for whoever is at the entry now, and takes back what is
// then still pending.
func (a *Applier) guardRollback(ctx context.Context, e Entry, reason string) error {
	ctx = context.WithoutCancel(ctx)
	unlock, err := a.waitLock(ctx, "guard")
	if err != nil {
		return err
	}
	defer unlock()
	if now, err := a.find(e.ID); err == nil {
		e = now
	}
	if !e.State.pending() {
		return nil
	}
	_, err = a.takeBackEntry(ctx, e, reason)
	return err
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

// readArmed is the guard of an entry; fs.ErrNotExist when there is none.
func (j *Journal) readArmed(id string) (Owner, error) {
	var o Owner
	if !validID(id) {
		return o, fs.ErrNotExist
	}
	b, err := os.ReadFile(j.armedPath(id))
	if err != nil {
		return o, err
	}
	return o, json.Unmarshal(b, &o)
}
