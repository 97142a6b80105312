package measure

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/netstate"
)

// here is an agent of this machine as an endpoint; blind it cannot list
// sockets, as on another system.
type here struct {
	agent *agent.Agent
	blind bool
	// opened counts attempts to open a source.
	opened *int
}

func (h here) Ask(ctx context.Context, m agentapi.AnyMethod, request, reply any) error {
	switch m {
	case agentapi.OpenSource.Any():
		*h.opened++
	case agentapi.Sockets.Any():
		if h.blind {
			return errors.ErrUnsupported
		}
	}
	return h.agent.Ask(ctx, m, request, reply)
}

// loopbackNetwork is two hosts with bonds, both this machine: alpha has
// 127.0.0.1, beta 127.0.0.2.
func loopbackNetwork() Network {
	alpha, beta := bonded("alpha", 2, 1, 1), bonded("beta", 2, 1, 101)
	for i, h := range []*[]netip.Prefix{&alpha.Links[2].Addresses, &beta.Links[2].Addresses} {
		*h = []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{127, 0, 0, byte(1 + i)}), 8)}
	}
	return networkOf(alpha, beta, "")
}

// loopbackWay is two streams from alpha to beta: predict knows no lanes on
// loopback.
func loopbackWay() way {
	lane := flow.Lane{Src: netip.MustParseAddr("127.0.0.1"), Dst: netip.MustParseAddr("127.0.0.2")}
	return way{name: flow.Forward, from: "alpha", to: "beta", lanes: []flow.Lane{lane}, streams: 2}
}

// connected opens a way of two streams from alpha to beta and returns their
// source ports and how often that was tried.
func connected(t *testing.T, blind bool) (ports []uint16, tries int) {
	t.Helper()
	a := agent.New(agent.Config{Name: "here", Version: "test", JournalDir: t.TempDir()})
	defer a.Close()
	n := loopbackNetwork()
	at := here{agent: a, blind: blind, opened: &tries}
	n.Endpoints = map[string]ask.Host{"alpha": at, "beta": at}
	tr := &trial{cfg: Config{Network: n}, spec: Spec{From: "alpha", To: "beta", Direction: flow.Forward, Streams: 2, Duration: time.Second}, streams: map[flow.Direction][]agentapi.Stream{}}
	defer tr.finish()
	id, key := ask.NewSession()
	if _, err := tr.openWay(t.Context(), loopbackWay(), id, key, map[string]bool{}, nil); err != nil {
		t.Fatal(err)
	}
	for _, s := range tr.streams[flow.Forward] {
		ports = append(ports, s.Sport)
	}
	if len(ports) != 2 || tr.notes != nil {
		t.Errorf("ports %v, notes %q", ports, tr.notes)
	}
	return ports, tries
}

// hold keeps a port of 127.0.0.1 until the test ends.
func hold(t *testing.T, port uint16) {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
}

// TestPortsInUse: a port that a socket of the sender holds is not chosen, and
// where the sender cannot tell, other ports are chosen once it turns out.
func TestPortsInUse(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("loopback has all of 127.0.0.0/8 on Linux only")
	}
	for _, c := range []struct {
		name  string
		blind bool
	}{{"sender lists its sockets", false}, {"sender cannot", true}} {
		free, _ := connected(t, c.blind)
		hold(t, free[0])
		ports, tries := connected(t, c.blind)
		if slices.Contains(ports, free[0]) || c.blind != (tries > 1) {
			t.Errorf("%s: ports %v after %d tries, %d being in use", c.name, ports, tries, free[0])
		}
		near, _ := spread(t, loopbackNetwork(), loopbackWay(), ports, netstate.Layer34)
		if !even(near, 2, 2) {
			t.Errorf("%s: links carry %v", c.name, near)
		}
	}
}

// Reserved ports are left to their services.
func TestReservedPortsAreLeft(t *testing.T) {
	n := networkOf(bonded("alpha", 4, 1, 1), bonded("beta", 4, 1, 101), "layer3+4")
	ports, _, err := choosePorts(n, wayOf(t, n, flow.Forward, 8), 5201, occupied{ports: []uint16{40101}, ranges: []flow.PortRange{{First: 40000, Last: 40100}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ports {
		if p <= 40101 {
			t.Errorf("port %d is reserved or in use", p)
		}
	}
}
