//go:build !linux

package lab

import (
	"context"
	"fmt"
	"io"

	"github.com/linerate/linerate/internal/lab/guest"
)

func noStanding() error { return fmt.Errorf("start lab: %w: it needs Linux", ErrNoBackEnd) }

// StandUp is ErrNoBackEnd: a lab needs Linux.
func StandUp(context.Context, Choice, string, string, Blueprint, func(string)) (Standing, error) {
	return Standing{}, noStanding()
}

// TakeDown is ErrNoLab: none can stand.
func TakeDown(_ context.Context, name string) error {
	return fmt.Errorf("end lab %s: %w", name, ErrNoLab)
}

// Run is ErrNoBackEnd.
func (s Standing) Run(guest.Request, guest.Streams) (int, error) { return 1, noStanding() }

// Stand is ErrNoBackEnd.
func Stand(context.Context, Blueprint, io.Writer) error { return noStanding() }

// Keep is ErrNoBackEnd.
func Keep(context.Context, string, string) error { return noStanding() }

func missingNamespace([]Member) string { return "" }
