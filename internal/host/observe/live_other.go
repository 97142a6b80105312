//go:build !linux

package observe

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"

	"github.com/linerate/linerate/netstate"
)

// observeLive tells what package net knows on every system.
func observeLive(ctx context.Context, _ Config) (netstate.Host, error) {
	host := netstate.Host{
		Kernel:  netstate.Kernel{OS: runtime.GOOS, Arch: runtime.GOARCH, BigEndian: binary.NativeEndian.Uint16([]byte{1, 0}) != 1},
		CPU:     netstate.CPU{Cores: runtime.NumCPU()},
		Missing: []string{"speeds, bonds, routes, queues, counters and sysctls: not read on " + runtime.GOOS},
	}
	host.Name, _ = os.Hostname()
	interfaces, err := net.Interfaces()
	if err != nil {
		return netstate.Host{}, fmt.Errorf("observe host: %w", err)
	}
	for _, i := range interfaces {
		l := netstate.Link{Name: i.Name, Index: i.Index, MTU: i.MTU, Up: i.Flags&net.FlagUp != 0, Carrier: i.Flags&net.FlagRunning != 0}
		if i.Flags&net.FlagLoopback != 0 {
			l.Kind = "loopback"
		}
		if len(i.HardwareAddr) == len(l.MAC) {
			copy(l.MAC[:], i.HardwareAddr)
		}
		addresses, err := i.Addrs()
		if err != nil {
			host.Missing = append(host.Missing, fmt.Sprintf("%s: addresses: %v", i.Name, err))
		}
		for _, a := range addresses {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				l.Addresses = append(l.Addresses, p)
			}
		}
		host.Links = append(host.Links, l)
	}
	return host, ctx.Err()
}
