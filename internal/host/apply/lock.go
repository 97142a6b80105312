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
	for {
		unlock, err = a.tryLock(ctx, what)
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
	if err := a.journal.makeDir(); err != nil {
		return nil, err
	}
	name := "lock"
	if a.cfg.Namespace != "" {
		name += "." + strings.ReplaceAll(a.cfg.Namespace, string(filepath.Separator), "_")
	}
	f, err := statefile.Open(filepath.Join(a.cfg.Dir, name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	held, err := tryLock(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	if !held {
		defer f.Close()
		locked := &LockedError{}
		// The holder may be writing these words just now: then they are unknown.
		_ = json.NewDecoder(io.LimitReader(f, 4096)).Decode(&locked.Holder)
		return nil, locked
	}
	b, _ := json.Marshal(LockHolder{Owner: a.self, What: what, Since: time.Now().UTC()})
	// Words for others alone: on a full disk they are missing, and the lock
	// holds.
	_ = errors.Join(f.Truncate(0), writeAt(f, append(b, '\n')))
	return func() { f.Close() }, nil
}

func writeAt(f *os.File, b []byte) error {
	_, err := f.WriteAt(b, 0)
	return err
}

// lockPause is between two tries for the lock.
const lockPause = 100 * time.Millisecond
