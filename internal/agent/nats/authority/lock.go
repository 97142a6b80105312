package authority

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gofrs/flock"

	"github.com/linerate/linerate/internal/statefile"
)

// lockFile is held by whoever changes what others may change too. It stays in
// the directory, and the system frees it when its process ends.
const lockFile = "lock"

// Waits for the lock: what is done under it takes milliseconds.
const (
	lockWithin = 30 * time.Second
	lockPause  = 5 * time.Millisecond
)

// alone runs f while nobody else, in this process or another, is in alone for
// this directory: what is read, changed and written again would otherwise lose
// what another wrote in between.
func (a *Authority) alone(f func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), lockWithin)
	defer cancel()
	// The lock's own opening follows links.
	file, err := statefile.Open(a.path(lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		return fmt.Errorf("open lock: %w", err)
	}
	lock := flock.New(a.path(lockFile), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockPause); err != nil {
		return fmt.Errorf("wait for another change of %s: %w", a.dir, err)
	}
	defer lock.Close() // which unlocks
	return f()
}

// servedFile is held by the one server that runs on the directory.
const servedFile = "served"

// ErrServed is a directory that a server runs on.
var ErrServed = errors.New("another `linerate serve` runs on this state directory: stop it first, or give --state another directory")

// Serve takes the directory for one server, which opens its streams, until
// release: two would lose what they acknowledged. Errors: ErrServed.
func (a *Authority) Serve() (release func(), err error) {
	lock := flock.New(a.path(servedFile), flock.SetPermissions(0o600))
	got, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", a.dir, err)
	}
	if !got {
		return nil, fmt.Errorf("serve %s: %w", a.dir, ErrServed)
	}
	return func() { _ = lock.Close() }, nil // which unlocks
}
