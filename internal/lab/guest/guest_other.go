//go:build !linux

package guest

import (
	"context"
	"fmt"
)

// Installed is always ErrNoKernel: the lab needs a Linux machine.
func Installed() error { return fmt.Errorf("%w: the lab needs Linux", ErrNoKernel) }

// Emulator is always ErrNoEmulator: the lab needs a Linux machine.
func Emulator() error { return fmt.Errorf("%w: the lab needs Linux", ErrNoEmulator) }

// Run is always ErrNoKernel.
func Run(context.Context, Command) (Exit, error) { return Exit{}, Installed() }

// IsInit is always false.
func IsInit() bool { return false }

// Init does nothing.
func Init() {}
