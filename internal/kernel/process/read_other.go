//go:build !linux

package process

import (
	"errors"
	"fmt"
)

// Holders finds who holds sockets on Linux only.
func Holders([]uint32) (Holding, error) {
	return Holding{}, fmt.Errorf("list processes: %w", errors.ErrUnsupported)
}

// Threads reads threads' times on Linux only.
func Threads(pid int) ([]Thread, error) {
	return nil, fmt.Errorf("list threads of %d: %w", pid, errors.ErrUnsupported)
}
