//go:build !linux

package guest

import (
	"context"
	"fmt"
	"io"
	"net"
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

// Listen is ErrNoKernel.
func Listen(string) (net.Listener, error) { return nil, Installed() }

// Streams are a command's streams here.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Attach is ErrNoKernel.
func Attach(string, Request, Streams) (int, error) { return 1, Installed() }

// EndGroup finds nothing.
func EndGroup(int, int, uint64) (int, error) { return 0, nil }
