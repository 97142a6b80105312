package socket

import (
	"errors"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// What a socket is asked for is what it is granted, UDP without what TCP alone has.
func TestConfigure(t *testing.T) {
	asked := record.Socket{SndBuf: 64 << 10, RcvBuf: 96 << 10, Congestion: "reno", MSS: 1000, NoDelay: true, Pacing: 40 * unit.Mbps, DSCP: 46, Device: "lo"}
	for _, a := range []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()} {
		for kind, want := range map[int]record.Socket{
			syscall.SOCK_STREAM: asked,
			syscall.SOCK_DGRAM:  {SndBuf: asked.SndBuf, RcvBuf: asked.RcvBuf, Pacing: asked.Pacing, DSCP: asked.DSCP, Device: asked.Device},
		} {
			fd, err := Open(a, kind)
			if err != nil {
				t.Skip(err)
			}
			if err := Configure(fd, a, kind == syscall.SOCK_STREAM, asked); err != nil {
				t.Errorf("%v: %v", a, err)
			}
			got := Granted(fd, a.Is6())
			want.SndBuf, want.RcvBuf = 2*want.SndBuf, 2*want.RcvBuf
			got.MSS, want.MSS = 0, 0 // before it is connected the kernel tells another
			if got != want {
				t.Errorf("%v: granted %+v, want %+v", a, got, want)
			}
			syscall.Close(fd)
		}
	}
}

// All addresses get one port; one that is taken leaves no socket open.
func TestListenAll(t *testing.T) {
	four, six := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")
	var opened []int
	open := func(at netip.AddrPort) (int, error) {
		fd, err := Open(at.Addr(), syscall.SOCK_DGRAM)
		if err == nil {
			opened = append(opened, fd)
			err = Bind(fd, at)
		}
		return fd, err
	}
	l, err := ListenAll([]netip.Addr{four, six}, 0, open)
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range l.FDs {
		defer syscall.Close(fd)
		if near, err := Near(fd); int(near.Port()) != l.Port || err != nil {
			t.Errorf("%v, want port %d: %v", near, l.Port, err)
		}
	}
	opened = nil
	_, err = ListenAll([]netip.Addr{netip.MustParseAddr("127.0.0.3"), six}, l.Port, open)
	if !errors.Is(err, agentapi.ErrPortTaken) || !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a port in use: %v", err)
	}
	if _, err := Near(opened[0]); err == nil {
		t.Error("the first address stays bound")
	}
	syscall.Close(opened[1])
	if _, err := ListenAll(nil, 0, open); err == nil {
		t.Error("no address is taken for one")
	}
	l.Shut()
	l.Shut()
	select {
	case <-l.Closed:
	case <-time.After(time.Second):
		t.Error("not closed")
	}
}
