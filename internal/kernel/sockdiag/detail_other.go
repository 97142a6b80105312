//go:build !linux

package sockdiag

import (
	"errors"
	"fmt"
	"net/netip"
)

// ConnectionsAt lists connections on Linux only.
func ConnectionsAt(_, _ uint16) ([]Detail, error) {
	return nil, fmt.Errorf("list connections: %w", errors.ErrUnsupported)
}

// ConnectionsBut lists connections on Linux only.
func ConnectionsBut(_ []netip.Prefix, _ bool, _ func(Message)) error {
	return fmt.Errorf("list connections: %w", errors.ErrUnsupported)
}

// CountTo counts connections on Linux only.
func CountTo(_ []netip.Prefix) (int, error) {
	return 0, fmt.Errorf("list connections: %w", errors.ErrUnsupported)
}

// Unanswered lists connections on Linux only.
func Unanswered() ([]Detail, error) {
	return nil, fmt.Errorf("list connections: %w", errors.ErrUnsupported)
}

// Follower follows connections on Linux only.
type Follower struct{}

// Follow follows connections on Linux only.
func Follow() (*Follower, error) {
	return nil, fmt.Errorf("follow connections: %w", errors.ErrUnsupported)
}

// Close does nothing.
func (f *Follower) Close() {}

// Look sees connections on Linux only.
func (f *Follower) Look(_ Detail) (Detail, bool, error) {
	return Detail{}, false, fmt.Errorf("follow connection: %w", errors.ErrUnsupported)
}
