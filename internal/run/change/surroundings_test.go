package change

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
)

func twoHosts(a, b map[string][]string) predict.Fabric {
	host := func(links map[string][]string) netstate.Host {
		var h netstate.Host
		for _, name := range []string{"bond0", "bond0.100", "eth2"} {
			l := netstate.Link{Name: name, Up: true, MTU: 1500}
			for _, p := range links[name] {
				prefix := netip.MustParsePrefix(p)
				l.Addresses = append(l.Addresses, prefix)
				h.Routes = append(h.Routes, netstate.Route{Dst: prefix.Masked(), Link: name, Table: 254, Protocol: "kernel"})
			}
			h.Links = append(h.Links, l)
		}
		return h
	}
	return predict.Fabric{Hosts: map[string]netstate.Host{"a": host(a), "b": host(b)}, Paths: []fabric.Path{{From: "a", To: "b"}}}
}

// TestWays: a VLAN, another family and another link are ways of their own;
// aliases are not.
func TestWays(t *testing.T) {
	state := twoHosts(
		map[string][]string{"bond0": {"10.0.0.1/24", "10.0.0.11/24", "fd00::1/64"}, "bond0.100": {"10.1.0.1/24"}, "eth2": {"10.9.0.1/24"}},
		map[string][]string{"bond0": {"10.0.0.2/24", "10.0.0.12/24", "fd00::2/64"}, "bond0.100": {"10.1.0.2/24"}})
	a := state.Hosts["a"]
	a.Routes = append(a.Routes, netstate.Route{Dst: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("10.0.0.254"), Link: "bond0"})
	state.Hosts["a"] = a
	c := &Change{hosts: map[string]*fleet.Host{"a": {}, "b": {}}, order: []string{"a"}}
	var got []string
	for _, w := range c.ways(state) {
		got = append(got, w.String())
	}
	want := []string{
		"a to b (10.0.0.2)", "a to b (10.1.0.2)", "a to b (fd00::2)", "b to a (10.0.0.1)", "b to a (10.1.0.1)", "b to a (fd00::1)",
		"a to gateway 10.0.0.254",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ways (-want +got):\n%s", diff)
	}
}

// TestWayStands: what the change itself takes away need not answer any more.
func TestWayStands(t *testing.T) {
	before := twoHosts(map[string][]string{"bond0": {"10.0.0.1/24"}}, map[string][]string{"bond0": {"10.0.0.2/24"}})
	after := twoHosts(map[string][]string{"bond0": {"10.0.0.3/24"}}, map[string][]string{"bond0": {"10.0.0.2/24"}})
	c := &Change{hosts: map[string]*fleet.Host{"a": {}, "b": {}}, order: []string{"a"}}
	ways := c.ways(before)
	if len(ways) != 2 {
		t.Errorf("%d ways, want one each way: %v", len(ways), ways)
	}
	for _, w := range ways {
		if !w.stands(before) || w.stands(after) {
			t.Errorf("%s: stands before %v, after %v", w, w.stands(before), w.stands(after))
		}
	}
	gateway := way{from: "a", to: netip.MustParseAddr("10.0.0.254")}
	if gateway.stands(after) {
		t.Error("a gateway that no route names stands")
	}
}
