package act

import (
	"context"
	"fmt"
)

// Ready is "" when the link carries: it is up, has carrier, and its bond, if it
// has one, uses it; else what it waits for. Errors are as Read's.
func (Kernel) Ready(ctx context.Context, name string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	l, err := findLink(name)
	if err != nil {
		return "", fmt.Errorf("look at %s: %w", name, err)
	}
	switch {
	case !l.up:
		return name + " is down", nil
	case !l.carrier:
		return name + " has no carrier", nil
	}
	return "", nil
}
