//go:build !linux

package lab

import (
	"context"
	"fmt"
)

// Up is ErrNoBackEnd: a lab needs Linux.
func Up(context.Context, Topology) (func() error, error) {
	return nil, fmt.Errorf("start lab: %w: it needs Linux", ErrNoBackEnd)
}

// Up is ErrNoBackEnd.
func (Blueprint) Up(ctx context.Context) (func() error, error) { return Up(ctx, Topology{}) }

// Owns is false: there is no lab.
func Owns(string) bool { return false }
