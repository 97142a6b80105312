package authority

import (
	"context"
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
