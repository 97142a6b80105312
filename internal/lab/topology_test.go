package lab

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// TestScenarioFabrics: what a scenario declares is what it builds.
func TestScenarioFabrics(t *testing.T) {
	seen := make(map[string]bool)
	for _, s := range Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			if seen[s.Name] || s.Title == "" || len(s.Streams) == 0 {
				t.Errorf("name twice, no title or no streams: %+v", s)
			}
			seen[s.Name] = true
			f, err := fabric.Parse(s.Name, []byte(s.Net.Fabric(s.Streams, s.Ports)))
			if err != nil {
				t.Fatalf("%v\n%s", err, s.Net.Fabric(s.Streams, s.Ports))
			}
			checkMeasure(t, s, f)
			for _, h := range s.Net.Hosts {
				state, err := f.State(h.Name)
				if err != nil {
					t.Fatal(err)
				}
				checkHost(t, s.Net, h, state)
			}
		})
	}
}

func checkMeasure(t *testing.T, s Scenario, f fabric.Fabric) {
	t.Helper()
	want := []fabric.Path{{From: s.Net.Hosts[0].Name, To: s.Net.Hosts[1].Name, RTT: s.Net.RTT, SwitchHash: s.Net.Switch.Hash.String(), Declared: true}}
	if diff := cmp.Diff(want, f.Paths); diff != "" {
		t.Errorf("paths (-want +got)\n%s", diff)
	}
	if !slices.Equal(f.Measure.Streams, s.Streams) || f.Measure.Ports != s.Ports || !slices.Equal(f.Measure.Directions, flow.Directions()) {
		t.Errorf("measure is %+v, want streams %v, ports %s, every direction", f.Measure, s.Streams, s.Ports)
	}
	for _, h := range f.Hosts {
		if want := "netns:" + Namespace(h.Name); fmt.Sprint(h.Reach) != want {
			t.Errorf("%s is reached by %v, want %s", h.Name, h.Reach, want)
		}
	}
}

func checkHost(t *testing.T, net Topology, h Host, state netstate.Host) {
	t.Helper()
	mtu := h.MTU
	if mtu == 0 {
		mtu = 1500
	}
	holder := Port(0)
	if h.Bond != nil {
		holder = bondName
	}
	link, ok := state.LinkWith(h.Addresses[0].Addr())
	if !ok || link.Name != holder || link.MTU != mtu || !slices.Equal(link.Addresses, h.Addresses) {
		t.Errorf("%s: addresses on %+v, want them on %s with MTU %d", h.Name, link, holder, mtu)
	}
	below, tags, bond := state.Below(holder)
	if len(below) != h.Links || tags != 0 || (bond != nil) != (h.Bond != nil) {
		t.Fatalf("%s: %d links below %s, want %d", h.Name, len(below), holder, h.Links)
	}
	for i, l := range below {
		if l.Name != Port(i) || l.Speed != net.LinkRate || l.Framing != netstate.FramingL2 || l.MTU != mtu {
			t.Errorf("%s: port %d is %+v, want %s at %v counted from the Ethernet header, MTU %d", h.Name, i, l, Port(i), net.LinkRate, mtu)
		}
	}
	if h.Bond == nil {
		return
	}
	policy := netstate.Layer2 // the driver's default
	if h.Bond.HashPolicy != nil {
		policy = *h.Bond.HashPolicy
	}
	if bond.Bond.Mode != h.Bond.Mode || bond.Bond.HashPolicy != policy {
		t.Errorf("%s: bond is %+v, want %v %v", h.Name, bond.Bond, h.Bond.Mode, policy)
	}
}

// TestFabricShapes: hosts and rates that no scenario has.
func TestFabricShapes(t *testing.T) {
	address := func(s string) []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix(s)} }
	net := Topology{
		Hosts: []Host{
			{Name: "a", Links: 4, Bond: &Bond{Mode: netstate.BalanceXOR, HashPolicy: policy(netstate.Layer23)}, MTU: 9000, Addresses: append(address("10.0.0.1/24"), address("fd00::1/64")...)},
			{Name: "b", Links: 1, Addresses: address("10.0.0.2/24"), MTU: 9000},
			{Name: "c", Links: 2, Bond: &Bond{Mode: netstate.ActiveBackup}, Addresses: address("10.0.0.3/24")},
		},
		Switch:   Switch{Hash: netstate.Layer2, MTU: 9000},
		LinkRate: 1.25 * unit.Gbps, RTT: 1500 * time.Microsecond,
	}
	text := net.Fabric([]int{3}, "chosen")
	f, err := fabric.Parse("shapes", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, h := range net.Hosts {
		state, err := f.State(h.Name)
		if err != nil {
			t.Fatal(err)
		}
		if h.Name != "c" { // of active-backup one port is usable
			checkHost(t, net, h, state)
		}
	}
	if len(f.Paths) != 2 || f.Paths[1].To != "c" || f.Paths[1].RTT != net.RTT {
		t.Errorf("paths are %+v, want a-b and a-c at %v", f.Paths, net.RTT)
	}
}

func TestNamed(t *testing.T) {
	for _, s := range Scenarios() {
		if got, ok := Named(s.Name); !ok || got.Name != s.Name {
			t.Errorf("%s: got %q, %v", s.Name, got.Name, ok)
		}
	}
	if _, ok := Named("no such"); ok {
		t.Error("found a scenario that is not there")
	}
}

func TestParseBackEnd(t *testing.T) {
	for _, b := range []BackEnd{Auto, Local, UML} {
		if got, err := ParseBackEnd(string(b)); err != nil || got != b {
			t.Errorf("%s: %s, %v", b, got, err)
		}
	}
	for _, s := range []string{"", "HOST", "qemu "} {
		if got, err := ParseBackEnd(s); err == nil {
			t.Errorf("%q was read as %s", s, got)
		}
	}
}
