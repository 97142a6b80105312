//go:build !linux

package sockdiag

import (
	"errors"
	"fmt"
)

// Connections lists connections on Linux only.
func Connections() ([]Detail, error) { return ConnectionsAt(0, 0) }

// ConnectionsAt lists connections on Linux only.
func ConnectionsAt(_, _ uint16) ([]Detail, error) {
	return nil, fmt.Errorf("list connections: %w", errors.ErrUnsupported)
}
