//go:build !linux

package lldp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/linerate/linerate/netstate"
)

// Listen is errors.ErrUnsupported.
func Listen(context.Context, []Port, time.Duration) ([]netstate.Neighbor, error) {
	return nil, fmt.Errorf("listen for LLDP: %w", errors.ErrUnsupported)
}
