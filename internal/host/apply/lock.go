package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/statefile"
)

// ErrLocked: another process is changing this host and namespace.
var ErrLocked = errors.New("another change is under way")

// LockedError says who holds the lock and since when.
type LockedError struct {
	Holder LockHolder
}

// LockHolder is what the lock file says.
type LockHolder struct {
	Owner
	What  string    `json:"what"`
	Since time.Time `json:"since"`
}

func (e *LockedError) Error() string {
	if e.Holder.PID == 0 {
		return ErrLocked.Error()
	}
	return fmt.Sprintf("%v: %s by process %d, for %v", ErrLocked, e.Holder.What, e.Holder.PID,
		time.Since(e.Holder.Since).Round(time.Second))
}

// Is makes a LockedError an ErrLocked.
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// recovering is the word of whoever looks for what dead processes left behind:
// every program does so when it starts, and has nothing to do most of the time.
const recovering = "recover"

// recoverPatience is how long such a look is waited for.
const recoverPatience = 3 * time.Second

// lock takes the host's and namespace's lock. It waits for no change, but a moment
// for whoever only looks at what was left behind.
func (a *Applier) lock(ctx context.Context, what string) (unlock func(), err error) {
	end := time.Now().Add(recoverPatience)
	return a.lockAfter(ctx, what, func(holder LockHolder) bool {
		return holder.What == recovering && time.Now().Before(end)
	})
}

// waitLock is lock with patience, for those who have to come through.
func (a *Applier) waitLock(ctx context.Context, what string) (unlock func(), err error) {
	return a.lockAfter(ctx, what, func(LockHolder) bool { return true })
}

// lockAfter waits for a holder of the lock as long as patient says of it.
func (a *Applier) lockAfter(ctx context.Context, what string, patient func(LockHolder) bool) (unlock func(), err error) {
	return retryLock(ctx, func() (func(), error) { return a.tryLock(ctx, what) }, patient)
}

// retryLock tries to lock until nobody else holds it, patient has enough of the
// holder, or ctx ends.
func retryLock(ctx context.Context, try func() (unlock func(), err error), patient func(LockHolder) bool) (unlock func(), err error) {
	for {
		unlock, err = try()
		locked := (*LockedError)(nil)
		if !errors.As(err, &locked) || !patient(locked.Holder) {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err)
		case <-time.After(lockPause):
		}
	}
}

// tryLock takes the lock or fails at once. The system frees it when the process
// ends, however it ends; the file stays, for its words.
func (a *Applier) tryLock(ctx context.Context, what string) (unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := a.openLock(os.O_RDWR)
	if err != nil {
		return nil, err
	}
	if err := a.hold(f, what); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

// openLock opens the file that is locked, with os.O_RDWR for whoever writes words
// into it, with os.O_RDONLY else. A disk that has become read-only, as
// after an error of it, takes no words and locks all the same: a rollback
// must be possible.
func (a *Applier) openLock(flag int) (*os.File, error) {
	if err := a.journal.makeDir(); err != nil {
		return nil, err
	}
	path := a.lockPath()
	f, err := statefile.Open(path, flag|os.O_CREATE, 0o600)
	if isReadOnly(err) {
		f, err = statefile.Open(path, os.O_RDONLY, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	return f, nil
}

func (a *Applier) lockPath() string {
	name := "lock"
	if a.cfg.Namespace != "" {
		name += "." + strings.ReplaceAll(a.cfg.Namespace, string(filepath.Separator), "_")
	}
	return filepath.Join(a.cfg.Dir, name)
}

// hold locks an opened file; a LockedError when somebody else has it.
func (a *Applier) hold(f *os.File, what string) error {
	held, err := tryLock(f)
	if err != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	if !held {
		locked := &LockedError{}
		// The holder may be writing these words just now: then they are unknown.
		_ = json.NewDecoder(io.NewSectionReader(f, 0, 4096)).Decode(&locked.Holder)
		return locked
	}
	a.sayHolder(f, what)
	return nil
}

// sayHolder writes who has the lock. The words are for others alone: on a full
// disk they are missing, and the lock holds.
func (a *Applier) sayHolder(f *os.File, what string) {
	b, _ := json.Marshal(LockHolder{Owner: a.self, What: what, Since: time.Now().UTC()})
	_ = errors.Join(f.Truncate(0), writeAt(f, append(b, '\n')))
}

// guardLock waits for the lock as a guard does, on the file that it opened when it
// was armed: by its deadline the journal may be read-only, moved, gone or no longer
// believed, and the host has to be rolled back nevertheless. Where another file has the
// lock's name by then, that one is waited for too, if it can be locked at all.
// A holder that is stopped past the deadline is ended, and not waited for where it is
// frozen even so; one that has ended the entry
// itself is not waited for: it waits for the guard to go (ErrLocked).
func (a *Applier) guardLock(ctx context.Context, kept *os.File, e Entry, deadline time.Time) (unlock func(), err error) {
	const what = "guard"
	stopped := stoppedHolder{a: a, deadline: deadline, entry: e.Owner}
	waits := func(h LockHolder) bool {
		stopped.seen(h.Owner)
		now, err := a.find(e.ID)
		return !stopped.dead && (err != nil || now.State.Pending())
	}
	_, err = retryLock(ctx, func() (func(), error) { return nil, a.hold(kept, what) }, waits)
	if stopped.dead {
		a.cfg.Log.Warn("who has the lock is dead and frozen: the guard acts without it", "journal", e.ID)
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	free := func() { _ = releaseLock(kept) }
	if stillNamed(kept, a.lockPath()) {
		if f, err := a.openLock(os.O_RDWR); err == nil {
			a.sayHolder(f, what)
			f.Close()
		}
		return free, nil
	}
	named, err := a.waitLock(ctx, what)
	if err != nil {
		a.cfg.Log.Warn("the journal cannot be locked: the guard acts without it", "err", err)
		return free, nil
	}
	return func() { named(); free() }, nil
}

func writeAt(f *os.File, b []byte) error {
	_, err := f.WriteAt(b, 0)
	return err
}

// lockPause is between two tries for the lock.
const lockPause = 100 * time.Millisecond
