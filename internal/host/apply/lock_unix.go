//go:build linux || darwin || freebsd

package apply

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the file's lock (flock(2)); false when somebody has it.
func tryLock(f *os.File) (bool, error) { return flock(f, syscall.LOCK_EX) }

// tryShare takes the file's lock together with others that share it, in place
// of the one held before; false when somebody has it alone, and then none is
// held.
func tryShare(f *os.File) (bool, error) { return flock(f, syscall.LOCK_SH) }

// isReadOnly reports the error of a file that is opened for writing on a read-only
// file system.
func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

// releaseLock lets go of the file's lock and leaves the file open.
func releaseLock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

func flock(f *os.File, how int) (bool, error) {
	err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
