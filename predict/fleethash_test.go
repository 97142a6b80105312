package predict

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// TestTogetherHash: many clients that share one port of a bond while its other is idle
// are limited by the hash, not by the line; where the ports share them, by the line.
func TestTogetherHash(t *testing.T) {
	behindRouter := func(policy netstate.HashPolicy) func(Fabric) {
		return func(f Fabric) {
			h := f.Hosts["store"]
			for i, l := range h.Links {
				if l.Bond != nil {
					b := *l.Bond
					b.HashPolicy = policy
					h.Links[i].Bond = &b
				}
			}
			h.Routes = append(h.Routes, netstate.Route{Dst: netip.MustParsePrefix("198.51.100.0/24"), Gateway: netip.MustParseAddr("10.0.0.254"), Link: "bond0"})
			f.Hosts["store"] = h
			for i, p := range f.Paths {
				c := f.Hosts[p.From]
				a := netip.AddrFrom4([4]byte{198, 51, 100, byte(11 + i)})
				c.Links[0].Addresses = []netip.Prefix{netip.PrefixFrom(a, 24)}
				c.Routes = []netstate.Route{{Dst: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("198.51.100.1"), Link: c.Links[0].Name}}
				f.Hosts[p.From] = c
			}
		}
	}
	for _, c := range []struct {
		policy netstate.HashPolicy
		want   record.Cause
	}{{netstate.Layer2, record.SingleLink}, {netstate.Layer34, record.LineRate}} {
		rows, err := Together(star(4, behindRouter(c.policy)), all(star(4), flow.Reverse, 16))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if r.TogetherLimit != c.want {
				t.Errorf("%v: %s by %s: %s", c.policy, r.From, r.TogetherLimit, r.TogetherWhy)
			}
			if named := strings.Contains(r.TogetherWhy, "is idle: layer2"); named != (c.want == record.SingleLink) {
				t.Errorf("%v: %q", c.policy, r.TogetherWhy)
			}
		}
	}
}
