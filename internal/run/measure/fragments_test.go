package measure

import (
	"net/netip"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/record"
)

func TestFragments(t *testing.T) {
	v4, v6 := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	for _, c := range []struct {
		name         string
		payload, mtu int
		src          netip.Addr
		want         int
	}{
		{"fits exactly", 1472, 1500, v4, 1},
		{"one byte more", 1473, 1500, v4, 2},
		{"two full ones", 2952, 1500, v4, 2},
		{"sixty thousand", 60000, 1500, v4, 41},
		{"fits IPv6", 1452, 1500, v6, 1},
		{"one byte more of IPv6", 1453, 1500, v6, 2},
		{"nothing asked", 0, 1500, v4, 0},
		{"MTU not known", 60000, 0, v4, 0},
	} {
		s := Spec{Protocol: "udp", Datagrams: &agentapi.Datagrams{Payload: c.payload}}
		out := record.Trial{MTU: c.mtu, Lanes: []record.Lane{{Lane: flow.Lane{Src: c.src}}}}
		if got := fragments(s, out); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
