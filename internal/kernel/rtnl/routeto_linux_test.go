package rtnl

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/netstate"
)

var sameAddr = cmp.Comparer(func(a, b netip.Addr) bool { return a == b })

func TestDecodeRouteTo(t *testing.T) {
	addr := netip.MustParseAddr
	for _, tc := range []struct {
		name    string
		message []byte
		want    RouteTo
		none    bool
	}{
		{name: "by a gateway", message: routeMessage(2, 32, 0, 254, 0, 1, routeCloned, nlattr.Encode(rtaDst, []byte{10, 2, 0, 1}), nlattr.Encode(rtaOif, n32(2)),
			nlattr.Encode(rtaGateway, []byte{10, 0, 0, 254}), nlattr.Encode(rtaPrefSrc, []byte{10, 0, 0, 1}), nlattr.Encode(rtaMetrics, nlattr.Encode(metricMTU, n32(1400)))),
			want: RouteTo{FlowRoute: netstate.FlowRoute{Link: "eth0", Gateway: addr("10.0.0.254"), Src: addr("10.0.0.1"), MTU: 1400}, Table: 254}},
		{name: "IPv4 by IPv6, in a high table", message: routeMessage(2, 32, 0, 252, 0, 1, 0, nlattr.Encode(rtaOif, n32(3)), nlattr.Encode(rtaTable, n32(1001)),
			nlattr.Encode(rtaVia, slices.Concat(n16(familyIPv6), addr("fe80::1").AsSlice()))),
			want: RouteTo{FlowRoute: netstate.FlowRoute{Link: "eth1", Gateway: addr("fe80::1")}, Table: 1001}},
		{name: "to itself", message: routeMessage(10, 128, 0, 255, 0, routeLocal, 0, nlattr.Encode(rtaOif, n32(2))), want: RouteTo{FlowRoute: netstate.FlowRoute{Link: "eth0"}, Table: 255, Local: true}},
		{name: "no link", message: routeMessage(2, 32, 0, 254, 0, 1, 0), none: true},
		{name: "link unknown", message: routeMessage(2, 32, 0, 254, 0, 1, 0, nlattr.Encode(rtaOif, n32(99))), none: true},
		{name: "lengths wrong", message: routeMessage(2, 32, 0, 254, 0, 1, 0, nlattr.Encode(rtaOif, n32(2)), n16(99), n16(rtaGateway)), none: true},
		{name: "cut short", message: []byte{2, 32}, none: true},
	} {
		got, ok := decodeRouteTo(tc.message, testName)
		if ok == tc.none {
			t.Errorf("%s: ok is %v", tc.name, ok)
		}
		if diff := cmp.Diff(tc.want, got, sameAddr); ok && diff != "" {
			t.Errorf("%s (-want +got)\n%s", tc.name, diff)
		}
	}
}

func neighbourMessage(index uint32, state uint16, attributes ...[]byte) []byte {
	return slices.Concat([]byte{2, 0, 0, 0}, n32(index), n16(state), []byte{0, 1}, slices.Concat(attributes...))
}

func TestDecodeNeighbour(t *testing.T) {
	mac := nlattr.Encode(ndaLLAddr, []byte{2, 0, 0, 0, 0, 7})
	dst := nlattr.Encode(ndaDst, []byte{10, 0, 0, 2})
	entry := Neighbour{Addr: netip.MustParseAddr("10.0.0.2"), Link: "eth0", MAC: flow.MAC{2, 0, 0, 0, 0, 7}, State: NeighbourReachable}
	stale, failed, foreign := entry, entry, entry
	stale.State, failed.State, failed.MAC, foreign.MAC = NeighbourStale, NeighbourFailed, flow.MAC{}, flow.MAC{}
	for _, tc := range []struct {
		name    string
		message []byte
		want    Neighbour
		none    bool
	}{
		{name: "reachable", message: neighbourMessage(2, 2, dst, mac), want: entry},
		{name: "stale", message: neighbourMessage(2, 4, mac, dst, nlattr.Encode(200, []byte{1})), want: stale},
		{name: "failed, with the address it had", message: neighbourMessage(2, 0x20, dst, mac), want: failed},
		{name: "address of another length", message: neighbourMessage(2, 2, dst, nlattr.Encode(ndaLLAddr, make([]byte, 20))), want: foreign},
		{name: "no address", message: neighbourMessage(2, 2, mac), none: true},
		{name: "link unknown", message: neighbourMessage(99, 2, dst, mac), none: true},
		{name: "lengths wrong", message: neighbourMessage(2, 2, dst, n16(3), n16(ndaLLAddr)), none: true},
		{name: "cut short", message: []byte{2, 0, 0}, none: true},
	} {
		got, ok := decodeNeighbour(tc.message, testName)
		if ok == tc.none {
			t.Errorf("%s: ok is %v", tc.name, ok)
		}
		if diff := cmp.Diff(tc.want, got, sameAddr); ok && diff != "" {
			t.Errorf("%s (-want +got)\n%s", tc.name, diff)
		}
	}
}

func TestNeighbourStates(t *testing.T) {
	for i, word := range neighbourWords {
		s := NeighbourState(1 << i)
		if s.String() != word || s.Resolved() == (s == NeighbourIncomplete || s == NeighbourFailed) {
			t.Errorf("%#x: %s, resolved %v; want %s", uint16(s), s, s.Resolved(), word)
		}
	}
	if s := NeighbourState(0); s.String() != "none" || s.Resolved() {
		t.Errorf("no state: %s, resolved %v", s, s.Resolved())
	}
}

// The legs that are down are marked, and a route that names an object.
func TestDecodeMultipath(t *testing.T) {
	hop := func(flags, weight byte, index uint32) []byte {
		return slices.Concat(n16(hopHead), []byte{flags, weight - 1}, n32(index))
	}
	m := routeMessage(2, 0, 0, 254, 3, 1, 0, nlattr.Encode(rtaObject, n32(7)), nlattr.Encode(rtaMultipath, slices.Concat(hop(hopDead|16, 1, 2), hop(16, 2, 3))))
	r, ok := decodeRoute(m, testName)
	if !ok || r.Object != 7 || len(r.Hops) != 2 || !r.Hops[0].Dead || r.Hops[1].Dead || r.Hops[1].Weight != 2 {
		t.Errorf("%v: %+v", ok, r)
	}
}

func FuzzDecodeRouteTo(f *testing.F) {
	f.Add(routeMessage(2, 32, 0, 254, 0, 1, 0, nlattr.Encode(rtaOif, n32(2)), nlattr.Encode(rtaMetrics, nlattr.Encode(metricMTU, n32(1400)))))
	f.Add(neighbourMessage(2, 2, nlattr.Encode(ndaDst, []byte{10, 0, 0, 2}), nlattr.Encode(ndaLLAddr, []byte{2, 0, 0, 0, 0, 7})))
	f.Fuzz(func(t *testing.T, m []byte) {
		if r, ok := decodeRouteTo(m, testName); ok && r.Link == "" {
			t.Errorf("a route by no link: %+v", r)
		}
		if n, ok := decodeNeighbour(m, testName); ok && (n.Link == "" || !n.Addr.IsValid()) {
			t.Errorf("a neighbour without link or address: %+v", n)
		}
	})
}
