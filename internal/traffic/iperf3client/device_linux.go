package iperf3client

import (
	"context"
	"net/netip"
	"strconv"
	"syscall"

	"github.com/linerate/linerate/internal/kernel/sys"
)

// numbered is an address whose zone is a link's number, as the calling thread's
// namespace counts them: the standard library remembers names from elsewhere.
func numbered(a netip.AddrPort) (netip.AddrPort, error) {
	link, err := sys.Zone(a.Addr().Zone())
	if err != nil || link == 0 {
		return a, err
	}
	return netip.AddrPortFrom(a.Addr().WithZone(strconv.FormatUint(uint64(link), 10)), a.Port()), nil
}

// onDevice has a dialled socket leave by one link only; "" is any.
func onDevice(device string) func(context.Context, string, string, syscall.RawConn) error {
	if device == "" {
		return nil
	}
	return func(_ context.Context, _, _ string, c syscall.RawConn) error {
		var err error
		if e := c.Control(func(fd uintptr) { err = syscall.BindToDevice(int(fd), device) }); e != nil {
			return e
		}
		return err
	}
}
