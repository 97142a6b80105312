//go:build linux && !portable

package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"syscall"

	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// configure asks for a socket's options, before it is connected or listens.
func configure(fd int, a netip.Addr, opts socketOptions) error {
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return fmt.Errorf("set SO_REUSEADDR: %w", err)
	}
	if opts.Congestion != "" {
		if err := sys.SetCongestion(fd, opts.Congestion); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("set congestion control: this kernel has no %s (net.ipv4.tcp_available_congestion_control lists what it has): %w", opts.Congestion, errors.ErrUnsupported)
		} else if err != nil {
			return err
		}
	}
	if opts.MSS > 0 {
		if err := sys.SetSegmentSize(fd, opts.MSS); err != nil {
			return err
		}
	}
	if opts.NoDelay {
		if err := sys.SetNoDelay(fd); err != nil {
			return err
		}
	}
	return configureDatagrams(fd, a, opts.Socket) // what TCP and UDP have in common
}

func (c *rawConn) granted() record.Socket { return grantedOf(c.fd, c.here.Addr().Is6()) }

// grantedOf is a socket as the kernel made it; what it does not say stays
// zero.
func grantedOf(fd int, v6 bool) record.Socket {
	number := func(option int) unit.Bytes {
		n, _ := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, option)
		return unit.Bytes(n)
	}
	s := record.Socket{
		SndBuf: number(syscall.SO_SNDBUF), RcvBuf: number(syscall.SO_RCVBUF), NoDelay: sys.NoDelay(fd),
		Pacing: unit.BitRate(sys.Pacing(fd)) * 8, DSCP: sys.DSCP(fd, v6), Device: sys.Device(fd),
	}
	s.MSS, _ = sys.SegmentSize(fd)
	s.Congestion, _ = sys.Congestion(fd)
	return s
}

func (c *rawConn) eager(bytes int) { _ = sys.SetReceiveLowWater(c.fd, bytes) }
