//go:build !linux

package iperf3server

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
)

// Listener is an open port; here there is none.
type Listener struct{}

// Listen is errors.ErrUnsupported: the server is Linux's.
func Listen(Config) (*Listener, error) {
	return nil, fmt.Errorf("listen for iperf3 clients: %w on this system", errors.ErrUnsupported)
}

// Addrs is where it listens.
func (l *Listener) Addrs() []netip.AddrPort { return nil }

// Serve takes clients.
func (l *Listener) Serve(context.Context) error { return nil }
