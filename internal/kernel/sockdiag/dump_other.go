//go:build !linux

package sockdiag

import (
	"errors"
	"fmt"
)

// Sockets lists sockets on Linux only.
func Sockets(q Query) ([]Socket, error) {
	return nil, fmt.Errorf("list %s sockets: %w", q.Proto, errors.ErrUnsupported)
}
