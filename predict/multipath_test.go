package predict

import (
	"net/netip"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/testfabric"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestMultipathRoute: a host with its address on a dummy and two uplinks to
// routers. By addresses (policy 0) a pair's flows take one; by ports (1) they
// spread, by luck where the key is the kernel's own, and by choice with a seed.
func TestMultipathRoute(t *testing.T) {
	const one = 1e9 * 1448 / 1538
	build := func(policy, seed string) Fabric {
		a := testfabric.Plain("a", 1e9, 1500, "10.1.0.1/31", "10.2.0.1/31")
		a.Kernel.Release = "6.12"
		a.Sysctls = map[string]netstate.Sysctl{
			"net.ipv4.fib_multipath_hash_policy": {Value: policy}, "net.ipv4.fib_multipath_hash_seed": {Value: seed},
		}
		a.Links = append(a.Links, netstate.Link{Name: "dummy0", Kind: "dummy", Up: true, Carrier: true, MTU: 1500,
			Addresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}})
		a.Routes = []netstate.Route{{Dst: netip.MustParsePrefix("198.51.100.0/24"), Table: 254, Source: netip.MustParseAddr("192.0.2.1"), Hops: []netstate.NextHop{
			{Gateway: netip.MustParseAddr("10.1.0.0"), Link: "ens3", Weight: 1}, {Gateway: netip.MustParseAddr("10.2.0.0"), Link: "ens4", Weight: 1}}}}
		b := testfabric.Plain("b", 10e9, 1500, "198.51.100.7/24")
		return JoinedHosts(a, b, time.Millisecond, "")
	}
	lane := Traffic{Streams: 4}
	lane.Lanes = append(lane.Lanes, laneOf("192.0.2.1", "198.51.100.7"))
	for _, c := range []struct {
		policy, seed string
		want         float64
		limit        record.Cause
	}{
		{"0", "0", one, record.LineRate}, {"1", "0", 1.875 * one, record.HashImbalance}, {"1", "12345", 2 * one, record.LineRate},
	} {
		p := mustPredict(t, build(c.policy, c.seed), lane)
		if !near(p.Rate, c.want, 1e-3) || c.policy != "0" && p.Limit != c.limit || p.Rate > p.Ceiling {
			t.Errorf("policy %s, seed %s: %v of %v, %s; want %v, %s", c.policy, c.seed, p.Rate, p.Ceiling, p.Limit, unit.BitRate(c.want), c.limit)
		}
	}
}

func laneOf(src, dst string) flow.Lane {
	return flow.Lane{Src: netip.MustParseAddr(src), Dst: netip.MustParseAddr(dst)}
}
