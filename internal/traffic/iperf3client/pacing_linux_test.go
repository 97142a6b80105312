package iperf3client

import (
	"net"
	"net/netip"
	"syscall"
	"testing"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Peers 9: what is asked for with --pacing holds on this end's own sockets, not
// only at the server.
func TestPacingOfOwnSockets(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	at := l.Addr().(*net.TCPAddr).AddrPort()
	for _, udp := range []bool{false, true} {
		s, err := openSocket(netns.Namespace{}, netip.AddrPortFrom(loopback, 0), at, kindOf(agentapi.IPerf3OpenRequest{UDP: udp}), record.Socket{Pacing: 40 * unit.Mbps})
		if err != nil {
			t.Fatal(err)
		}
		if got := sys.Pacing(s.FD); got != 5_000_000 {
			t.Errorf("UDP %v: %d bytes/s, want 5,000,000", udp, got)
		}
		syscall.Close(s.FD)
	}
}
