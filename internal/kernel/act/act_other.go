//go:build !linux

package act

import (
	"context"
	"errors"
	"fmt"

	"github.com/linerate/linerate/plan"
)

// Do is errors.ErrUnsupported here: changes are made on Linux.
func (Kernel) Do(_ context.Context, s plan.Step) error {
	return fmt.Errorf("set %s: %w", s.Target(), errors.ErrUnsupported)
}

// Read is errors.ErrUnsupported here.
func (Kernel) Read(_ context.Context, s plan.Step) (string, error) {
	return "", fmt.Errorf("read %s: %w", s.Target(), errors.ErrUnsupported)
}

// Ready is errors.ErrUnsupported here.
func (Kernel) Ready(_ context.Context, link string) (string, error) {
	return "", fmt.Errorf("look at %s: %w", link, errors.ErrUnsupported)
}
