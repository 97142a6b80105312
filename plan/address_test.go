package plan_test

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// TestAddress: an address comes and goes, and is refused where it is not what
// the step says.
func TestAddress(t *testing.T) {
	own, alias := netip.MustParsePrefix("10.7.0.1/24"), netip.MustParsePrefix("10.77.0.1/32")
	h := netstate.Host{Name: "h", Links: []netstate.Link{{Name: "eth0", Up: true, Addresses: []netip.Prefix{own}}}}
	p := plan.Plan{Host: "h", Steps: []plan.Step{{Kind: plan.Address, Link: "eth0", Address: alias, Old: plan.Absent, New: plan.Present, Disruption: plan.Online}}}
	after, err := plan.Apply(h, p)
	if err != nil || !slices.Equal(after.Links[0].Addresses, []netip.Prefix{own, alias}) {
		t.Fatalf("%v, %v", after.Links, err)
	}
	back, err := plan.Apply(after, p.Rollback())
	if err != nil || !slices.Equal(back.Links[0].Addresses, h.Links[0].Addresses) {
		t.Errorf("undone: %v, %v", back.Links, err)
	}
	if _, err := plan.Apply(after, p); err == nil {
		t.Error("added twice")
	}
	if _, err := plan.Apply(h, plan.Plan{Steps: []plan.Step{{Kind: plan.Address, Link: "eth1", Address: alias, Old: plan.Absent, New: plan.Present}}}); err == nil {
		t.Error("added to a link that is not there")
	}
	if got, want := p.Steps[0].Command(), "ip address add 10.77.0.1/32 dev eth0"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := p.Steps[0].Rollback().Command(), "ip address del 10.77.0.1/32 dev eth0"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
