//go:build !linux && !darwin && !freebsd

package apply

import (
	"errors"
	"os"
)

// tryLock is errors.ErrUnsupported here, where no plan can be carried out
// either.
func tryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }

// tryShare likewise.
func tryShare(*os.File) (bool, error) { return false, errors.ErrUnsupported }

// releaseLock likewise.
func releaseLock(*os.File) error { return errors.ErrUnsupported }

// isReadOnly is false: nothing is locked here.
func isReadOnly(error) bool { return false }
