package iperf3client

import (
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/feature"
	"github.com/linerate/linerate/unit"
)

// Peers 12a: a server that has MPTCP is asked for it, each stream is one connection of
// its own subflows, and what is counted is what the server has; one that has none (before
// 3.19) is told, and nothing is measured over plain TCP instead.
func TestMultipath(t *testing.T) {
	if err := feature.Need(feature.MPTCP); err != nil {
		t.Skip(err)
	}
	at := ownServer(t)
	for _, direction := range []flow.Direction{flow.Forward, flow.Reverse, flow.Both} {
		t.Run("listen "+string(direction), func(t *testing.T) { multipath(t, at, direction) })
	}
	// The system's own, and one of those that fetch-peers brought.
	brought, err := filepath.Abs("../../../.lab-peers/sid")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{os.Getenv("PATH"), brought} {
		t.Run("iperf3 of "+filepath.Base(path), func(t *testing.T) {
			t.Setenv("PATH", path+":"+os.Getenv("PATH"))
			server := realServer(t)
			if help, _ := exec.Command("iperf3", "--help").Output(); strings.Contains(string(help), "--mptcp") {
				multipath(t, server, flow.Forward)
				return
			}
			c := New(Config{})
			defer c.Close()
			_, err := c.Open(t.Context(), agentapi.IPerf3OpenRequest{Session: "s", Server: server, Longest: time.Minute, Direction: flow.Forward, Streams: 2, MPTCP: true})
			if !errors.Is(err, ErrFellBack) {
				t.Errorf("a server without MPTCP: %v, want ErrFellBack", err)
			}
		})
	}
}

func multipath(t *testing.T, server netip.AddrPort, direction flow.Direction) {
	t.Helper()
	c := New(Config{})
	defer c.Close()
	_, samples, end := run(t, c, agentapi.IPerf3OpenRequest{
		Server: server, Direction: direction, Streams: 2, MPTCP: true, Rate: 40 * unit.Mbps,
	}, time.Second)
	last := samples[len(samples)-1]
	for i, tcp := range last.TCP {
		if tcp.MPTCP == nil || len(tcp.MPTCP.Subflows) != 1 {
			t.Errorf("stream %d is no MPTCP connection of one subflow: %+v", i, tcp.MPTCP)
		}
	}
	for i, s := range end.Streams {
		if s.Server == 0 || s.Own == 0 {
			t.Errorf("stream %d: %+v", i, s)
		}
		if most := max(s.Server, s.Own); last.Bytes[i] == 0 || last.Bytes[i] > most {
			t.Errorf("stream %d: %d bytes were counted of %d", i, last.Bytes[i], most)
		}
	}
}
