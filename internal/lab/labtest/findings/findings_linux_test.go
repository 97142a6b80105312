package findings

import (
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	diagnosehost "github.com/linerate/linerate/diagnose/host"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/pathmtu"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
)

// settle is the longest a bond may take to find its partner.
const settle = 30 * time.Second

func kinds(found []diagnosehost.Finding) string {
	var out []string
	for _, f := range found {
		out = append(out, string(f.Severity)+" "+f.Kind)
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ", ")
}

// TestFindings builds a healthy network and sick hosts, whose bonds find their
// partners at the same time.
func TestFindings(t *testing.T) {
	well, sick := build(t), buildSick(t)
	t.Run("healthy", func(t *testing.T) { well.healthy(t) })
	t.Run("broken", func(t *testing.T) { well.broken(t) })
	t.Run("sick", func(t *testing.T) { sick.sick(t) })
}

// healthy: two hosts with two bonds each, every way probed: nothing to say,
// not even for information.
func (s *stand) healthy(t *testing.T) {
	var f predict.Fabric
	wrong := func() (found []diagnosehost.Finding) {
		f = s.observe(t)
		for _, h := range f.Hosts {
			found = append(found, diagnosehost.Judge(h)...)
		}
		return found
	}
	within(t, settle, "a healthy network", func() bool { return len(wrong()) == 0 })
	probes, err := pathmtu.Fabric(t.Context(), f, s.pingers())
	floor.Must(t, err)
	if len(probes) != 4 {
		t.Errorf("%d ways probed, want 4: %+v", len(probes), probes)
	}
	for _, p := range probes {
		if !p.Proven() || p.MTU != jumbo || p.Passes != jumbo || p.Sent < 6 {
			t.Errorf("not proven: %+v", p)
		}
	}
	if found := slices.Concat(wrong(), diagnosehost.Pairs(f, probes)); len(found) > 0 {
		t.Fatalf("on a healthy network: %s: %+v", kinds(found), found)
	}
	for _, h := range f.Hosts {
		checkRead(t, h)
	}
}

// checkRead: what findings are made of was read at all.
func checkRead(t *testing.T, h netstate.Host) {
	t.Helper()
	for _, name := range []string{"eth0", "eth3"} {
		l, _ := h.Link(name)
		if l.Port == nil || l.Port.PartnerMAC.IsZero() || l.Port.PartnerKey == 0 || l.Port.ActorChurn == "" {
			t.Errorf("%s of %s: partner not read: %+v", name, h.Name, l.Port)
		}
	}
	if len(h.Softnet) == 0 || h.Protocols["IpExt.InPkts"]+h.Protocols["Ip.InReceives"] == 0 {
		t.Errorf("%s: counters not read: %v %v", h.Name, h.Softnet, h.Protocols)
	}
}

// broken changes MTUs on the way, one at a time.
func (s *stand) broken(t *testing.T) {
	for _, c := range []struct {
		name    string
		spoil   func() error
		repair  func() error
		from    string
		kinds   string
		says    string
		passes  int
		partial bool
	}{
		{"a switch port's MTU", func() error { return s.sw.Builder.MTU("to-b0", 1500) }, func() error { return s.sw.Builder.MTU("to-b0", jumbo) },
			"alpha", "fault path-mtu", "without a word: no more than 1504 pass", 1504, false},
		{"of one link of the switch's bond", func() error { return s.sw.Builder.MTU("a1", 1500) }, func() error { return s.sw.Builder.MTU("a1", jumbo) },
			"alpha", "fault path-mtu", "only some packets of 9000 bytes", 1504, true},
		{"of one end", func() error { return s.alpha.Builder.MTU("bond0", 1500) }, func() error { return s.alpha.Builder.MTU("bond0", jumbo) },
			"beta", "fault pair-mtu", "bond0 of beta has MTU 9000", 1504, false},
		{"of one port of a bond", func() error { return s.beta.Builder.MTU("eth0", 1500) }, func() error { return s.beta.Builder.MTU("eth0", jumbo) },
			"", "fault bond-port-mtu", "eth0 has another MTU than bond0", 0, false},
	} {
		floor.Must(t, c.spoil())
		f := s.observe(t)
		var probes []diagnosehost.PathProbe
		ways, err := pathmtu.Ways(f, "alpha", "beta")
		floor.Must(t, err)
		for _, w := range ways {
			if w.From != c.from || w.Link != "bond0" {
				continue
			}
			p, err := pathmtu.Prove(t.Context(), s.hosts[w.From], w)
			floor.Must(t, err)
			if p.Passes != c.passes || (p.Passed > 0) != c.partial {
				// An answer may come too late on a busy machine, not twice.
				t.Logf("%s, asked again: %+v", c.name, p)
				p, err = pathmtu.Prove(t.Context(), s.hosts[w.From], w)
				floor.Must(t, err)
			}
			if p.Passes != c.passes || (p.Passed > 0) != c.partial {
				t.Errorf("%s: %+v", c.name, p)
			}
			probes = append(probes, p)
		}
		found := slices.Concat(diagnosehost.Judge(f.Hosts["alpha"]), diagnosehost.Judge(f.Hosts["beta"]), diagnosehost.Pairs(f, probes))
		if kinds(found) != c.kinds || !strings.Contains(fmt.Sprint(found), c.says) {
			t.Errorf("%s: %s, want %s: %+v", c.name, kinds(found), c.kinds, found)
		}
		floor.Must(t, c.repair())
	}
}

// buildSick makes hosts with everything wrong that a kernel lets be wrong.
func buildSick(t *testing.T) *stand {
	t.Helper()
	s := &stand{alpha: floor.NewSpace(t, "gamma"), beta: floor.NewSpace(t, "delta"), sw: floor.NewSpace(t, "sick-sw")}
	gamma := s.alpha
	floor.Must(t, gamma.Builder.Up("lo"))

	lone := lacp() // ports to switch ports without LACP
	own, far := s.cables(t, gamma, "g", 0, 2)
	floor.Must(t, gamma.Builder.Bond("lone", lone, own))
	s.up(t, far...)

	own, far = s.cables(t, gamma, "g", 2, 2) // ports to two switches
	floor.Must(t, gamma.Builder.Bond("torn", lacp(), own))
	floor.Must(t, s.sw.Builder.Bond("left", lacp(), far[:1]))
	floor.Must(t, s.sw.Builder.Bond("right", lacp(), far[1:]))

	own, far = s.cables(t, gamma, "g", 4, 2) // one port that the switch has not in the group
	floor.Must(t, gamma.Builder.Bond("half", lacp(), own))
	floor.Must(t, s.sw.Builder.Bond("group", lacp(), far[:1]))
	s.up(t, far[1])

	// Straight cables to delta: other policies at the two ends, nobody watches,
	// and somebody forgot a netem.
	policies := [2]netstate.HashPolicy{netstate.Layer34, netstate.Layer2}
	spec := lacp()
	spec.Mode, spec.MinLinks, spec.LACPRate = netstate.BalanceXOR, 0, nil
	for i := range 2 {
		floor.Must(t, gamma.Builder.Veth(fmt.Sprintf("x%d", i), s.beta.Builder, fmt.Sprintf("x%d", i)))
	}
	for i, b := range []floor.Space{gamma, s.beta} {
		spec.HashPolicy, spec.Miimon = &policies[i], time.Duration(1-i)*100*time.Millisecond
		floor.Must(t, b.Builder.Bond("straight", spec, []string{"x0", "x1"}))
		floor.Must(t, b.Builder.Address("straight", netip.MustParsePrefix(fmt.Sprintf("10.8.0.%d/24", i+1))))
	}
	floor.Must(t, gamma.Builder.Lose("straight", 0, 0.01, 1000, false))

	// Two links in one subnet, the filter strict on the second.
	own, far = s.cables(t, gamma, "g", 6, 2)
	s.up(t, far...)
	for i, name := range own {
		floor.Must(t, gamma.Builder.Up(name))
		floor.Must(t, gamma.Builder.Address(name, netip.MustParsePrefix(fmt.Sprintf("10.9.0.%d/24", i+1))))
	}
	floor.Must(t, gamma.NS.Do(func() error {
		return os.WriteFile("/proc/sys/net/ipv4/conf/eth7/rp_filter", []byte("1"), 0o644)
	}))
	floor.Must(t, gamma.NS.Do(func() error { return os.WriteFile("/proc/sys/net/ipv4/tcp_sack", []byte("0"), 0o644) }))

	return s
}

// sick: what is wrong is found, and nothing else.
func (s *stand) sick(t *testing.T) {
	gamma := s.alpha
	sick, other := reach(t, "gamma", gamma), reach(t, "delta", s.beta)
	want := map[string]string{
		"gamma": "fault bond-no-partner, fault bond-port-outside, fault bond-two-partners, fault rp-filter, fault shaper-left, warning shared-subnet, warning sysctl-slow",
		"delta": "fault bond-unwatched, warning bond-one-link",
	}
	got := ""
	var host netstate.Host
	within(t, settle, "what is wrong to show", func() bool {
		host = look(t, sick)
		if now := kinds(diagnosehost.Judge(host)); now != got {
			got = now
			t.Logf("gamma: %s", got)
		}
		return got == want["gamma"]
	})
	peer := look(t, other)
	if got := kinds(diagnosehost.Judge(peer)); got != want["delta"] {
		t.Errorf("delta: %s, want %s", got, want["delta"])
	}
	f := predict.Fabric{Hosts: map[string]netstate.Host{"gamma": host, "delta": peer}}
	if got := kinds(diagnosehost.Pairs(f, nil)); got != "warning pair-hash" {
		t.Errorf("between them: %s", got)
	}
	// The remedy that the finding names makes it go.
	floor.Must(t, gamma.NS.Do(func() error {
		return os.WriteFile("/proc/sys/net/ipv4/conf/eth7/rp_filter", []byte("2"), 0o644)
	}))
	if got := kinds(diagnosehost.Judge(look(t, sick))); strings.Contains(got, diagnosehost.StrictFilter) {
		t.Errorf("with rp_filter=2: %s", got)
	}
}

// up sets switch ports up.
func (s *stand) up(t *testing.T, ports ...string) {
	t.Helper()
	for _, p := range ports {
		floor.Must(t, s.sw.Builder.Up(p))
	}
}
