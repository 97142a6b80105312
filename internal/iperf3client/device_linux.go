package iperf3client

import (
	"context"
	"net"
	"net/netip"
	"strconv"
	"syscall"
)

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

// zoneOf is the number of a link-local address's link; zero for none.
func zoneOf(a netip.Addr) uint32 {
	if a.Zone() == "" {
		return 0
	}
	if n, err := strconv.ParseUint(a.Zone(), 10, 32); err == nil {
		return uint32(n)
	}
	link, err := net.InterfaceByName(a.Zone())
	if err != nil {
		return 0
	}
	return uint32(link.Index)
}
