package paths

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

func (s *stand) dial(host string) *fleet.Host {
	s.t.Helper()
	h, err := fleet.Dial(s.t.Context(), host, "netns:"+s.spaces[host].NS.Name, fleet.Config{Version: "test", Unguarded: true})
	floor.Must(s.t, err)
	s.t.Cleanup(func() { h.Close() })
	return h
}

// held are a host's addresses in a subnet, and how many routes it has there.
func (s *stand) held(host, subnet string) (addresses, routes int) {
	s.t.Helper()
	within := netip.MustParsePrefix(subnet)
	reply, err := s.dial(host).Observe(context.Background())
	floor.Must(s.t, err)
	for _, l := range reply.Host.Links {
		for _, p := range l.Addresses {
			if within.Contains(p.Addr()) {
				addresses++
			}
		}
	}
	for _, r := range reply.Host.Routes {
		if within.Overlaps(r.Dst) && r.Dst.Bits() >= within.Bits() {
			routes++
		}
	}
	return addresses, routes
}

// TestAliases: what 254 lanes carry together is what the wire carries, however
// much their senders claim; and the addresses are gone afterwards.
func TestAliases(t *testing.T) {
	const rate = 1 * unit.Gbps
	s := newStand(t, "a", "b")
	s.cable("a", "eth0", "10.7.0.1/24", "b", "eth0", "10.7.0.2/24", rate)
	c := s.campaign(s.fabric("a", "b"), nil)
	var plans []plan.Plan
	floor.Must(t, c.AliasSweep(t.Context(), campaign.Matrix{Ports: "kernel", Duration: time.Second}, campaign.Aliases{
		Counts: []int{1, 254}, Subnet: netip.MustParsePrefix("10.77.0.0/23"), Direction: flow.Forward,
		Approve: func(p []plan.Plan, _ []string) (bool, error) { plans = p; return true, nil },
	}))
	if len(plans) != 2 || plans[0].Host != "a" || len(plans[0].Steps) != 254 || plans[1].Host != "b" || len(plans[1].Steps) != 254 {
		t.Fatalf("plans %v", plans)
	}
	for i, step := range plans[1].Steps { // the others of the subnet keep their way
		if step.Route.Dst != plans[0].Steps[i].Address || !step.Route.Dst.IsSingleIP() {
			t.Errorf("b: a route to %s for %s", step.Route.Dst, plans[0].Steps[i].Address)
		}
	}
	r := c.Record()
	if len(r.Trials) != 2 || len(r.Sweeps) != 1 || len(r.Sweeps[0].Values) != 2 {
		t.Fatalf("%d trials, sweeps %+v, failures %+v", len(r.Trials), r.Sweeps, r.Failures)
	}
	for _, trial := range r.Trials {
		t.Logf("%s: claimed %v, arrived %v, wire %v, ceiling %v", trial.Variant, trial.Claimed, trial.Goodput, trial.Wire, trial.Ceiling)
		if trial.Goodput > trial.Ceiling*1.005 || trial.Wire > rate*1.005 {
			t.Errorf("%s: %v arrived, %v on the wire, of a link of %v", trial.Variant, trial.Goodput, trial.Wire, rate)
		}
		if trial.Claimed < trial.Goodput*0.9 {
			t.Errorf("%s: senders claim %v, %v arrived", trial.Variant, trial.Claimed, trial.Goodput)
		}
		if in, ok := trial.ShareOfIngress(); !ok || in > 1.01 {
			t.Errorf("%s: %.3f of what the link took in", trial.Variant, in)
		}
	}
	many := r.Trials[1]
	sources := make(map[netip.Addr]bool)
	for _, l := range many.Lanes {
		sources[l.Src] = true
	}
	if len(sources) != 254 {
		t.Errorf("%d addresses sent", len(sources))
	}
	excess := func(t record.Trial) float64 { return float64(t.Claimed / t.Goodput) }
	if excess(many) < 1.02 || excess(many) < excess(r.Trials[0]) {
		t.Errorf("254 senders claim %.3f of what arrived, one %.3f: not the artefact", excess(many), excess(r.Trials[0]))
	}
	if n, _ := s.held("a", "10.77.0.0/23"); n != 0 {
		t.Errorf("%d addresses are left", n)
	}
	if _, n := s.held("b", "10.77.0.0/23"); n != 0 {
		t.Error("the route back is left")
	}
}

// TestAliasesInUse: an address that somebody answers for is left alone, and a
// subnet without room is refused with nothing touched.
func TestAliasesInUse(t *testing.T) {
	s := newStand(t, "a", "b")
	s.cable("a", "eth0", "10.7.0.1/29", "b", "eth0", "10.7.0.2/29", 0)
	f := s.fabric("a", "b")
	s.must("b", "ip address add 10.7.0.3/29 dev eth0", "sysctl -q -w net.ipv4.icmp_echo_ignore_all=1")
	for _, c := range []struct {
		count int
		want  error
	}{{3, nil}, {4, campaign.ErrNoAddresses}} {
		run := s.campaign(f, nil)
		// The fabric was observed before b had its second address.
		state := run.State().Hosts["b"]
		link, _ := state.Link("eth0")
		link.Addresses = link.Addresses[:1]
		state.SetLink(link)
		var got []netip.Addr
		err := run.AliasSweep(t.Context(), campaign.Matrix{}, campaign.Aliases{Counts: []int{c.count}, Direction: flow.Forward, Approve: func(p []plan.Plan, _ []string) (bool, error) {
			for _, step := range p[0].Steps {
				got = append(got, step.Address.Addr())
			}
			return false, nil
		}})
		if c.want == nil && !errors.Is(err, campaign.ErrDeclined) || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%d aliases: %v, want %v", c.count, err, c.want)
		}
		for _, a := range got {
			if a == netip.MustParseAddr("10.7.0.3") {
				t.Errorf("%d aliases: %s is in use", c.count, a)
			}
		}
		if n, _ := s.held("a", "10.7.0.0/29"); n != 1 {
			t.Errorf("%d aliases: a holds %d addresses", c.count, n)
		}
	}
}

// TestAliasesRouted: a subnet behind a gateway is refused before anything is
// sent there.
func TestAliasesRouted(t *testing.T) {
	s := newStand(t, "a", "b")
	s.cable("a", "eth0", "10.7.0.1/29", "b", "eth0", "10.7.0.2/29", 0)
	s.must("a", "ip route add 10.78.0.0/24 via 10.7.0.2")
	run := s.campaign(s.fabric("a", "b"), nil)
	err := run.AliasSweep(t.Context(), campaign.Matrix{}, campaign.Aliases{
		Counts: []int{2}, Subnet: netip.MustParsePrefix("10.78.0.0/24"), Direction: flow.Forward,
		Approve: func([]plan.Plan, []string) (bool, error) { return false, nil },
	})
	if !errors.Is(err, campaign.ErrRouted) || !strings.Contains(err.Error(), "a sends to 10.78.0.1 by 10.7.0.2 on eth0") {
		t.Errorf("a subnet by a gateway: %v", err)
	}
}

// TestAliasesKilled kills the whole program with SIGKILL while it measures:
// the addresses and the route go within seconds, long before any deadline.
func TestAliasesKilled(t *testing.T) {
	s := newStand(t, "a", "b")
	s.cable("a", "eth0", "10.7.0.1/24", "b", "eth0", "10.7.0.2/24", linkRate)
	dir := t.TempDir()
	run := exec.Command("/proc/self/exe", "measure", "netns:"+s.spaces["a"].NS.Name, "netns:"+s.spaces["b"].NS.Name,
		"--aliases", "3", "--alias-subnet", "10.77.0.0/24", "--duration", "60s", "--yes", "--journal", dir)
	var said strings.Builder
	run.Stderr = &said
	floor.Must(t, run.Start())
	wait := func(what string, cond func() bool) bool {
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); floor.Pause() {
			if cond() {
				return true
			}
		}
		t.Errorf("waited in vain for %s; it said:\n%s", what, said.String())
		return false
	}
	there := wait("the addresses and the route", func() bool {
		n, _ := s.held("a", "10.77.0.0/24")
		_, routes := s.held("b", "10.77.0.0/24")
		return n == 3 && routes == 3
	})
	floor.Must(t, run.Process.Kill())
	_ = run.Wait()
	if !there {
		return
	}
	killed := time.Now()
	wait("the addresses and the route to go", func() bool {
		n, _ := s.held("a", "10.77.0.0/24")
		_, routes := s.held("b", "10.77.0.0/24")
		return n == 0 && routes == 0
	})
	t.Logf("gone %v after the kill", time.Since(killed).Round(10*time.Millisecond))
	wait("the guards to end", func() bool { return guards(dir) == 0 })
}

// guards counts the processes that look after a journal.
func guards(dir string) int {
	n := 0
	commands, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, c := range commands {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(c)))
		b, err := os.ReadFile(c)
		if err == nil && pid != os.Getpid() && strings.Contains(string(b), "guard\x00--dir\x00"+dir) {
			n++
		}
	}
	return n
}
