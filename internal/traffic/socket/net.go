//go:build !linux || portable

package socket

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/record"
)

// Refuse is errors.ErrUnsupported where package net cannot do what is asked for.
func Refuse(ns netns.Namespace, want record.Socket) error {
	if ns.Name != "" || want.Congestion != "" || want.MSS != 0 || want.Pacing != 0 || want.DSCP != 0 || want.Device != "" {
		return fmt.Errorf("choose namespace, congestion control, MSS, pacing, DSCP or device: only Linux's own engine can: %w", errors.ErrUnsupported)
	}
	return nil
}

// Dial connects by "tcp" or "udp" from an address, or from any where that is
// invalid, and asks for what package net can; a limit of zero is none. Errors are
// those of BindError and ConnectError, by the call that failed.
func Dial(ctx context.Context, network string, near, far netip.AddrPort, limit time.Duration, want record.Socket) (net.Conn, error) {
	d := net.Dialer{Timeout: limit}
	if near.Addr().IsValid() {
		d.LocalAddr = net.TCPAddrFromAddrPort(near)
		if network == "udp" {
			d.LocalAddr = net.UDPAddrFromAddrPort(near)
		}
	}
	// Plain TCP: a measurement must not turn into MPTCP by a default.
	d.SetMultipathTCP(false)
	c, err := d.DialContext(ctx, network, far.String())
	if err != nil {
		var call *os.SyscallError
		var late net.Error
		if errors.As(err, &call) && call.Syscall == "connect" || errors.As(err, &late) && late.Timeout() {
			return nil, ConnectError(err)
		}
		return nil, BindError(err)
	}
	if err := Ask(c, want); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Ask asks a connection for its buffers and TCP's no-delay.
func Ask(c net.Conn, want record.Socket) error {
	var errs []error
	if b, ok := c.(interface{ SetReadBuffer(int) error }); ok && want.RcvBuf > 0 {
		errs = append(errs, b.SetReadBuffer(int(want.RcvBuf)))
	}
	if b, ok := c.(interface{ SetWriteBuffer(int) error }); ok && want.SndBuf > 0 {
		errs = append(errs, b.SetWriteBuffer(int(want.SndBuf)))
	}
	if t, ok := c.(*net.TCPConn); ok { // package net has Nagle's algorithm off unless told otherwise
		errs = append(errs, t.SetNoDelay(want.NoDelay))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("set socket options: %w", err)
	}
	return nil
}
