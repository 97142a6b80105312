//go:build !linux

package lab

import (
	"context"
	"fmt"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/netstate"
)

// Raised is a network that has been built; there is none but on Linux.
type Raised struct{}

// Raise is ErrNoBackEnd: a lab needs Linux.
func Raise(context.Context, Network) (*Raised, error) {
	return nil, fmt.Errorf("start lab: %w: it needs Linux", ErrNoBackEnd)
}

// Down does nothing.
func (*Raised) Down() error { return nil }

// Shape does nothing.
func (*Raised) Shape(fabric.Fabric) error { return nil }

// Change does nothing.
func (*Raised) Change(context.Context, string, []string, func(*netstate.Host) error) (map[string]int, error) {
	return nil, nil
}

// MTUs are none.
func (*Raised) MTUs() (map[scenario.Port]int, error) { return nil, nil }

// Settle does nothing.
func (*Raised) Settle(context.Context) error { return nil }

// Cable does nothing.
func (*Raised) Cable(scenario.Port) *Cable { return &Cable{} }

// Cable is a host's port's; there is none but on Linux.
type Cable struct{}

// Break is ErrNoBackEnd.
func (*Cable) Break() error { return ErrNoBackEnd }

// Repair is ErrNoBackEnd.
func (*Cable) Repair() error { return ErrNoBackEnd }

// Machine does nothing.
func Machine(map[string]string) error { return nil }
