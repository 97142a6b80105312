package plan

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/netstate"
)

// theirs is a host with routes of programs: Cilium marks its own as the kernel's.
func theirs() netstate.Host {
	p, a := netip.MustParsePrefix, netip.MustParseAddr
	return netstate.Host{
		Links: []netstate.Link{
			{Name: "eth0", Up: true, MTU: 1500, Addresses: []netip.Prefix{p("192.0.2.10/24")}, NoBroadcast: []netip.Prefix{p("192.0.2.10/24")}},
			{Name: "mv0", Kind: "macvlan", Up: true, MTU: 1500, Extra: map[string]string{"link": "eth0"}},
		},
		Routes: []netstate.Route{
			{Dst: p("192.0.2.0/24"), Link: "eth0", Source: a("192.0.2.10"), Table: 254, Protocol: "kernel"},
			{Dst: p("10.0.1.0/24"), Gateway: a("192.0.2.2"), Link: "eth0", Table: 254, Protocol: "kernel"},
			{Dst: p("10.0.0.1/32"), Link: "eth0", Table: 2005, Protocol: "kernel"},
			{Dst: p("169.254.169.254/32"), Gateway: a("192.0.2.1"), Link: "eth0", Table: 254, Protocol: "dhcp"},
		},
	}
}

// TestRoutesMarkedAsTheKernels: those that no address brings back are added again
// after their link was down.
func TestRoutesMarkedAsTheKernels(t *testing.T) {
	h := theirs()
	for i, want := range []bool{true, false, false, false} {
		if got := restored(h, h.Routes[i]); got != want {
			t.Errorf("restored(%s) = %v", h.Routes[i].Words(nil), got)
		}
	}
	want := h.Clone()
	want.Links[0].Up = false
	p, err := Between(h, want)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range h.Routes[1:] {
		gone := slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Kind == Route && routeKey(*s.Route) == routeKey(r) && s.New == Absent })
		if !gone {
			t.Errorf("no step takes %s, which goes with the link, and undo cannot add it again:\n%s", r.Words(nil), p.Text(80))
		}
	}
}

// TestAddressWithoutBroadcast: it comes back without one.
func TestAddressWithoutBroadcast(t *testing.T) {
	h := theirs()
	h.Routes = h.Routes[:1]
	want := h.Clone()
	want.Links[0].Addresses = []netip.Prefix{}
	p, err := Between(h, want)
	if err != nil || len(p.Steps) != 1 || !p.Steps[0].NoBroadcast || !p.Rollback().Steps[0].NoBroadcast {
		t.Errorf("%v\n%+v", err, p.Steps)
	}
}

// TestMTUOfMacvlan: it goes down with its link by a step of its own, or the plan is
// refused, for the kernel lowers it and never raises it again.
func TestMTUOfMacvlan(t *testing.T) {
	h := theirs()
	want := h.Clone()
	want.Links[0].MTU = 1400
	if _, err := Between(h, want); err == nil || !strings.Contains(err.Error(), "mv0 mtu") {
		t.Errorf("lowered under its macvlan: %v", err)
	}
	want.Links[1].MTU = 1400
	p, err := Between(h, want)
	if err != nil || len(p.Steps) != 2 || p.Steps[0].Link != "mv0" {
		t.Errorf("%v\n%s", err, p.Text(80))
	}
}

// TestBarredGateway: where a rule refuses the lookup of a gateway, a route over it
// in another table than main cannot be added again, so that none takes it away.
func TestBarredGateway(t *testing.T) {
	h := theirs()
	r := netstate.Route{Dst: netip.MustParsePrefix("10.9.0.0/16"), Gateway: netip.MustParseAddr("192.0.2.9"), Link: "eth0", Table: 100, Protocol: "static"}
	h.Routes = append(h.Routes[:1:1], r)
	want := h.Clone()
	want.Routes = h.Routes[:1:1]
	for selectors, refused := range map[string]bool{"not": true, "": false, "fwmark 0x1": false, "none": false} {
		h.Rules = []netstate.Rule{{Priority: 100, Family: "ipv4", To: netip.MustParsePrefix("10.100.0.0/16"), Action: "unreachable", Selectors: selectors}}
		if selectors == "none" {
			h.Rules = nil
		}
		want.Rules = h.Rules
		if _, err := Between(h, want); (err != nil) != refused {
			t.Errorf("rule %q: %v", selectors, err)
		}
	}
}
