package trial

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// TestUnevenHops: a route that prefers one of two like next hops is repaired by equal
// weights; more streams would only try the same luck more often.
func TestUnevenHops(t *testing.T) {
	t.Parallel()
	const even = "ip route replace 10.0.0.0/24 nexthop dev eth0 weight 1 nexthop dev eth1 weight 1"
	for name, c := range map[string]struct {
		policy  string
		change  func(*netstate.Host)
		command bool // that is what is said first
	}{
		"weights of nine to one":                 {"1", func(h *netstate.Host) { h.Routes[len(h.Routes)-1].Hops[0].Weight = 9 }, true},
		"equal weights":                          {"1", func(*netstate.Host) {}, false},
		"the lighter one is full":                {"1", func(h *netstate.Host) { h.Routes[len(h.Routes)-1].Hops[1].Weight = 9 }, false},
		"the addresses decide":                   {"0", func(h *netstate.Host) { h.Routes[len(h.Routes)-1].Hops[0].Weight = 9 }, false},
		"weights as unlike as the links":         {"1", func(h *netstate.Host) { h.Routes[len(h.Routes)-1].Hops[0].Weight = 9; h.Links[1].Speed /= 9 }, false},
		"a nexthop object, whose route has none": {"1", func(h *netstate.Host) { r := &h.Routes[len(h.Routes)-1]; r.Hops[0].Weight = 9; r.Object = 7 }, false},
		"a daemon's, which would put it back":    {"1", func(h *netstate.Host) { r := &h.Routes[len(h.Routes)-1]; r.Hops[0].Weight = 9; r.Protocol = "bgp" }, false},
		"attributes that no command would retain": {"1", func(h *netstate.Host) {
			r := &h.Routes[len(h.Routes)-1]
			r.Hops[0].Weight = 9
			r.Extra = map[string]string{"rta-11": "x"}
		}, false},
	} {
		f := multipathed(c.policy)
		a := f.Hosts["a"].Clone()
		c.change(&a)
		f.Hosts["a"] = a
		got := Judge(f, measured(sent(4, rates(one, 0), rates(one, 0)), func(*record.TCP) {}))
		if said := len(got.Ways) > 0 && len(got.Ways[0]) == 1 && got.Ways[0][0].Host == "a" && got.Ways[0][0].Line() == even; said != c.command {
			t.Errorf("%s: %s: %s: %q", name, got.Cause, got.Summary, got.Remedy)
		} else if said && (!strings.Contains(got.Summary, "weight") || got.Expected < 1.9*one) {
			t.Errorf("%s: %s: expected %v", name, got.Summary, got.Expected)
		}
	}
}

// TestDeclaredSwitch: the hash that the fabric file gives the switch before the receiver is
// named, whatever words it is said in, with what the switch is told; and what that brings is
// both links, not what the old hash left.
func TestDeclaredSwitch(t *testing.T) {
	t.Parallel()
	for _, hash := range []string{"src-mac", "src-dst-ip", "layer2"} {
		f := pair{end: end{links: 2, policy: netstate.Layer34}}.fabric()
		f.Paths[0].SwitchHash = ""
		f.Paths[0].Switches = topology.New([]topology.Switch{{Name: "sw", System: "ovs", Balance: topology.Balance{Hash: hash},
			Ports:    []topology.Port{{Name: "p0", Host: "a", Link: "eth0"}, {Name: "p1", Host: "a", Link: "eth1"}, {Name: "q0", Host: "b", Link: "eth0"}, {Name: "q1", Host: "b", Link: "eth1"}},
			Channels: []topology.Channel{{Name: "bond0", Members: []string{"q0", "q1"}}}}})
		got := Judge(f, measured(sent(4, rates(one/2, one/2), rates(one, 0)), func(*record.TCP) {}))
		declared := false
		for _, e := range got.Evidence {
			declared = declared || e.Value == hash && e.Source == "switches of the fabric file, as declared"
		}
		if got.Cause != record.SingleLink || !declared || !strings.Contains(got.Remedy, "bond_mode=balance-tcp") || got.Expected < 1.9*one {
			t.Errorf("%s: %s: %s; %s; expected %v; %+v", hash, got.Cause, got.Summary, got.Remedy, got.Expected, got.Evidence)
		}
	}
}
