//go:build linux || darwin || freebsd

package apply

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the file's lock (flock(2)); false when somebody has it.
func tryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
