//go:build !linux

package sockdiag

import (
	"errors"
	"fmt"
)

// Connections lists connections on Linux only.
func Connections() ([]Detail, error) {
	return nil, fmt.Errorf("list connections: %w", errors.ErrUnsupported)
}
