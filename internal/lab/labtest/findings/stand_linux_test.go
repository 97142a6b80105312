package findings

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
)

const jumbo = 9000

// stand is two hosts with two LACP bonds of two links each, through a switch
// with a bridge for each bond.
type stand struct {
	alpha, beta, sw floor.Space
	hosts           map[string]*fleet.Host
}

func lacp() rtnl.BondSpec {
	policy, fast := netstate.Layer34, netstate.LACPFast
	return rtnl.BondSpec{Mode: netstate.LACP, HashPolicy: &policy, LACPRate: &fast, Miimon: 100 * time.Millisecond, MinLinks: 1}
}

func build(t *testing.T) *stand {
	t.Helper()
	s := &stand{floor.NewSpace(t, "alpha"), floor.NewSpace(t, "beta"), floor.NewSpace(t, "sw"), map[string]*fleet.Host{}}
	for i, host := range []floor.Space{s.alpha, s.beta} {
		letter := string("ab"[i])
		floor.Must(t, host.Builder.Up("lo"))
		for b := range 2 {
			name, far := fmt.Sprintf("bond%d", b), fmt.Sprintf("to-%s%d", letter, b)
			own, other := s.cables(t, host, letter, 2*b, 2)
			floor.Must(t, host.Builder.Bond(name, lacp(), own))
			floor.Must(t, s.sw.Builder.Bond(far, lacp(), other))
			floor.Must(t, s.sw.Builder.MTU(far, jumbo))
			floor.Must(t, host.Builder.MTU(name, jumbo))
			floor.Must(t, host.Builder.Address(name, netip.MustParsePrefix(fmt.Sprintf("10.7.%d.%d/24", b, i+1))))
		}
	}
	for b := range 2 {
		floor.Must(t, s.sw.Builder.Bridge(fmt.Sprintf("bridge%d", b), []string{fmt.Sprintf("to-a%d", b), fmt.Sprintf("to-b%d", b)}))
	}
	for name, space := range map[string]floor.Space{"alpha": s.alpha, "beta": s.beta} {
		s.hosts[name] = reach(t, name, space)
	}
	return s
}

// cables lays cables between a host and the switch, and names their ends.
func (s *stand) cables(t *testing.T, host floor.Space, letter string, first, n int) (own, far []string) {
	t.Helper()
	for i := first; i < first+n; i++ {
		a, b := fmt.Sprintf("eth%d", i), fmt.Sprintf("%s%d", letter, i)
		floor.Must(t, host.Builder.Veth(a, s.sw.Builder, b))
		own, far = append(own, a), append(far, b)
	}
	return own, far
}

func reach(t *testing.T, name string, space floor.Space) *fleet.Host {
	t.Helper()
	h, err := fleet.Dial(t.Context(), name, "netns:"+space.NS.Name, fleet.Config{Version: "test", Unguarded: true, JournalDir: t.TempDir()})
	floor.Must(t, err)
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// observe reads the hosts.
func (s *stand) observe(t *testing.T) predict.Fabric {
	t.Helper()
	f := predict.Fabric{Hosts: map[string]netstate.Host{}}
	for name, h := range s.hosts {
		f.Hosts[name] = look(t, h)
	}
	return f
}

func look(t *testing.T, h *fleet.Host) netstate.Host {
	t.Helper()
	reply, err := h.Observe(t.Context())
	floor.Must(t, err)
	reply.Host.Name = h.Name
	return reply.Host
}

// pingers are the hosts as pathmtu takes them.
func (s *stand) pingers() map[string]ask.Host {
	out := map[string]ask.Host{}
	for name, h := range s.hosts {
		out[name] = h
	}
	return out
}

// within waits until a condition holds, and fails the test where it does not
// come about.
func within(t *testing.T, longest time.Duration, what string, holds func() bool) {
	t.Helper()
	end := time.Now().Add(longest)
	for !holds() {
		if time.Now().After(end) {
			t.Fatalf("waited %s for %s", longest, what)
		}
		floor.Pause()
	}
}
