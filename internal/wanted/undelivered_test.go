package wanted_test

import (
	"net/netip"
	"testing"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// TestUndeliveredRoutes wants a route that delivers nothing as the kernel shows it, in
// both families: on no link, so that step, proof and undo know it (finding 4).
func TestUndeliveredRoutes(t *testing.T) {
	for _, kind := range []string{"blackhole", "unreachable", "prohibit", "throw"} {
		for _, dst := range []string{"10.40.0.0/16", "2001:db8:a::/64"} {
			p := twice(t, running(), noProfiles+"    network: {ethernets: {eth0: {routes: [{to: \""+dst+"\", type: "+kind+"}]}}}\n")
			if len(p.Steps) != 1 || p.Steps[0].Kind != plan.Route || p.Steps[0].Route.Link != "" || p.Steps[0].Route.Type != kind {
				t.Fatalf("%s to %s:\n%s", kind, dst, p.Text(80))
			}
			// As it reads back, and as a plan of an older release that named the link.
			made := netstate.Route{Dst: netip.MustParsePrefix(dst), Type: kind, Table: 254, Protocol: "static"}
			if made.Dst.Addr().Is6() {
				made.Metric = 1024
			}
			for _, link := range []string{"", "eth0"} {
				h := running()
				h.Routes = append(h.Routes, made)
				s := p.Steps[0].Rollback()
				r := *s.Route
				r.Link = link
				s.Route = &r
				after, err := plan.Apply(h, plan.Plan{Steps: []plan.Step{s}})
				if err != nil || len(after.Routes) != len(running().Routes) {
					t.Errorf("undo of %s to %s on %q: %v, %d routes", kind, dst, link, err, len(after.Routes))
				}
			}
		}
	}
}

// TestRouteMetricsAsKept asks for no more than the kernel keeps, and says so.
func TestRouteMetricsAsKept(t *testing.T) {
	s := must(t, "    network: {ethernets: {eth0: {routes: [{to: 10.41.0.0/16, via: 10.0.0.254, mtu: 65536, advertised-mss: 65500}]}}}\n", false)
	for _, r := range s.Host.Routes {
		if r.Dst.String() == "10.41.0.0/16" && (r.MTU != 65520 || r.Metrics["advmss"] != "65495") {
			t.Errorf("%+v", r)
		}
	}
	said(t, s.Left, "mtu 65536 of the route to 10.41.0.0/16: the kernel has 65520 at most")
}

// TestOwnMetricOfConnectedPrefix plans a route to a link's own network with a metric of
// its own, and to multicast: the kernel makes neither.
func TestOwnMetricOfConnectedPrefix(t *testing.T) {
	for _, route := range []string{"{to: 10.0.0.0/24, scope: link, metric: 9}", "{to: 224.0.0.0/4, scope: link}", "{to: \"ff0e::/16\", scope: link}", "{to: \"fe80::/10\", type: unreachable}"} {
		if p := twice(t, running(), noProfiles+"    network: {ethernets: {eth0: {routes: ["+route+"]}}}\n"); len(p.Steps) != 1 {
			t.Errorf("%s:\n%s", route, p.Text(80))
		}
	}
	if p := twice(t, running(), noProfiles+"    network: {ethernets: {eth0: {routes: [{to: 10.0.0.0/24, scope: link}]}}}\n"); len(p.Steps) != 0 {
		t.Errorf("what is there already:\n%s", p.Text(80))
	}
}
