package rtnl

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

func n8(v uint8) []byte   { return []byte{v} }
func n16(v uint16) []byte { return binary.NativeEndian.AppendUint16(nil, v) }
func n32(v uint32) []byte { return binary.NativeEndian.AppendUint32(nil, v) }
func n64(v uint64) []byte { return binary.NativeEndian.AppendUint64(nil, v) }

func linkMessage(index, flags uint32, attributes ...[]byte) []byte {
	m := make([]byte, linkHead)
	copy(m[4:], n32(index))
	copy(m[8:], n32(flags))
	return append(m, slices.Concat(attributes...)...)
}

func slaveMessage(index, master uint32, name string, attributes ...[]byte) []byte {
	return linkMessage(index, flagUp|flagLowerUp,
		nlattr.Encode(iflaName, []byte(name+"\x00")), nlattr.Encode(iflaMaster, n32(master)),
		nlattr.Encode(iflaAddress, []byte{2, 0, 0, 0, 0, 9}),
		nlattr.Encode(iflaLinkInfo, slices.Concat(nlattr.Encode(infoKind, []byte("veth\x00")),
			nlattr.Encode(infoSlaveKind, []byte("bond\x00")), nlattr.Encode(infoSlaveData, slices.Concat(attributes...)))))
}

func testLinks(t *testing.T) []rawLink {
	t.Helper()
	var raw []rawLink
	for _, m := range [][]byte{
		linkMessage(1, flagUp|flagLoopback|flagLowerUp, nlattr.Encode(iflaName, []byte("lo\x00")), nlattr.Encode(iflaMTU, n32(65536)),
			nlattr.Encode(iflaAddress, make([]byte, 6))),
		slaveMessage(2, 5, "eth0", nlattr.Encode(slaveState, n8(0)), nlattr.Encode(slaveMIIStatus, n8(0)),
			nlattr.Encode(slaveFailureCount, n32(3)), nlattr.Encode(slavePermanentMAC, []byte{2, 0, 0, 0, 0, 1}),
			nlattr.Encode(5, n16(7)), nlattr.Encode(slaveAggregatorID, n16(1)),
			nlattr.Encode(slaveActorState, n8(63)), nlattr.Encode(slavePartnerState, n16(61)), nlattr.Encode(99, []byte{1, 2})),
		slaveMessage(3, 5, "eth1", nlattr.Encode(slaveState, n8(1)), nlattr.Encode(slaveMIIStatus, n8(1)), nlattr.Encode(slaveAggregatorID, n16(2))),
		linkMessage(5, flagUp, nlattr.Encode(iflaName, []byte("bond1\x00")), nlattr.Encode(iflaMTU, n32(9000)), nlattr.Encode(iflaMaxMTU, n32(65535)),
			nlattr.Encode(iflaAddress, []byte{2, 0, 0, 0, 0, 9}), nlattr.Encode(120, make([]byte, 40)), nlattr.Encode(iflaTxQueueLen, n32(1000)),
			nlattr.Encode(iflaOperState, n8(6)),
			nlattr.Encode(iflaStats64, slices.Concat(n64(1), n64(2), n64(3), n64(4), n64(5), n64(6), n64(7), n64(8), n64(9))),
			nlattr.Encode(iflaLinkInfo, slices.Concat(nlattr.Encode(infoKind, []byte("bond\x00")), nlattr.Encode(infoData, slices.Concat(
				nlattr.Encode(1, n8(4)), nlattr.Encode(3, n32(100)), nlattr.Encode(4, n32(200)), nlattr.Encode(5, n32(300)),
				nlattr.Encode(14, n8(1)), nlattr.Encode(18, n32(1)), nlattr.Encode(21, n8(1)), nlattr.Encode(11, n32(3)),
				nlattr.Encode(20, n32(1)), nlattr.Encode(27, n8(1)), nlattr.Encode(8, nlattr.Encode(0, []byte{10, 0, 0, 1})),
				nlattr.Encode(9, n32(3)), nlattr.Encode(22, n8(2)), nlattr.Encode(24, n16(65535)), nlattr.Encode(26, make([]byte, 6)), nlattr.Encode(200, []byte{9}),
				nlattr.Encode(bondADInfo, slices.Concat(nlattr.Encode(adAggregator, n16(1)), nlattr.Encode(adPorts, n16(1)), nlattr.Encode(adActorKey, n16(15)),
					nlattr.Encode(adPartnerKey, n16(16)), nlattr.Encode(adPartnerMAC, []byte{2, 0, 0, 0, 9, 9}))),
			))))),
		linkMessage(6, flagUp, nlattr.Encode(iflaName, []byte("lan\x00")), nlattr.Encode(iflaLink, n32(5)),
			nlattr.Encode(iflaLinkInfo, slices.Concat(nlattr.Encode(infoKind, []byte("vlan\x00")), nlattr.Encode(infoData, nlattr.Encode(vlanID, n16(1904)))))),
		linkMessage(8, flagUp, nlattr.Encode(iflaName, []byte("vx0\x00")), nlattr.Encode(iflaLinkInfo, slices.Concat(
			nlattr.Encode(infoKind, []byte("vxlan\x00")), nlattr.Encode(infoData, slices.Concat(
				nlattr.Encode(vxlanAttributes.id, n32(77)), nlattr.Encode(vxlanAttributes.link, n32(6)), nlattr.Encode(vxlanAttributes.local[0], []byte{192, 0, 2, 1}),
				nlattr.Encode(vxlanAttributes.remote[1], netip.MustParseAddr("2001:db8::2").AsSlice()), nlattr.Encode(vxlanAttributes.remote[0], []byte{1, 2})))))),
		linkMessage(9, flagUp, nlattr.Encode(iflaName, []byte("vx1\x00")), nlattr.Encode(iflaLinkInfo, slices.Concat(
			nlattr.Encode(infoKind, []byte("vxlan\x00")), nlattr.Encode(infoData, slices.Concat(
				nlattr.Encode(vxlanAttributes.link, n32(99)), nlattr.Encode(vxlanAttributes.id, []byte{1}), nlattr.Encode(vxlanAttributes.local[0], make([]byte, 4))))))),
		linkMessage(7, 0, nlattr.Encode(iflaName, []byte("ens1\x00")), nlattr.Encode(iflaParentName, []byte("0000:01:00.0\x00")),
			nlattr.Encode(iflaParentBus, []byte("pci\x00")), nlattr.Encode(iflaPermanentAddress, []byte{2, 0, 0, 0, 0, 7}),
			nlattr.Encode(iflaPropList, slices.Concat(nlattr.Encode(iflaAltName, []byte("enp1s0\x00")), nlattr.Encode(iflaAltName, []byte("enx02\x00"))))),
	} {
		r, err := decodeLink(m)
		if err != nil {
			t.Fatal(err)
		}
		raw = append(raw, r)
	}
	return raw
}

func TestDecodeLinks(t *testing.T) {
	mac := flow.MAC{2, 0, 0, 0, 0, 9}
	want := []netstate.Link{
		{Name: "lo", Index: 1, Kind: "loopback", MTU: 65536, Up: true, Carrier: true},
		{Name: "eth0", Index: 2, Kind: "veth", MAC: mac, PermanentMAC: flow.MAC{2, 0, 0, 0, 0, 1}, Up: true, Carrier: true, Master: "bond1",
			Port:  &netstate.BondPort{Bond: "bond1", Active: true, MIIUp: true, FailureCount: 3, QueueID: 7, AggregatorID: 1, ActorState: 63, PartnerState: 61},
			Extra: map[string]string{"bond_mii_status": "up", "ifla-bond-slave-99": "0102"}},
		{Name: "eth1", Index: 3, Kind: "veth", MAC: mac, Up: true, Carrier: true, Master: "bond1",
			Port: &netstate.BondPort{Bond: "bond1", AggregatorID: 2}, Extra: map[string]string{"bond_mii_status": "going down"}},
		{Name: "bond1", Index: 5, Kind: "bond", MAC: mac, MTU: 9000, MaxMTU: 65535, Up: true,
			Counters: netstate.Counters{RxPackets: 1, TxPackets: 2, RxBytes: 3, TxBytes: 4, RxErrors: 5, TxErrors: 6, RxDropped: 7, TxDropped: 8},
			Bond: &netstate.Bond{Mode: netstate.LACP, HashPolicy: netstate.Layer34, LACPRate: netstate.LACPFast,
				Miimon: 100 * time.Millisecond, UpDelay: 200 * time.Millisecond, DownDelay: 300 * time.Millisecond,
				MinLinks: 1, PacketsPerSlave: 1, TLBDynamic: true, Ports: []string{"eth0", "eth1"},
				AD: &netstate.Aggregator{ID: 1, Ports: 1, ActorKey: 15, PartnerKey: 16, PartnerMAC: flow.MAC{2, 0, 0, 0, 9, 9}},
				Options: map[string]string{"arp_ip_target": "10.0.0.1", "arp_validate": "all", "ad_select": "count",
					"ad_actor_sys_prio": "65535", "ad_actor_system": "00:00:00:00:00:00", "primary": "eth1", "ifla-bond-200": "09"}},
			Extra: map[string]string{"qlen": "1000", "operstate": "up", "ifla-120": "0000000000000000000000000000000000000000000000000000000000000000..."}},
		{Name: "lan", Index: 6, Kind: "vlan", Up: true, VLAN: &netstate.VLAN{ID: 1904, Parent: "bond1"}},
		{Name: "vx0", Index: 8, Kind: "vxlan", Up: true, Tunnel: &netstate.Tunnel{Kind: "vxlan", ID: 77, Lower: "lan", Local: netip.MustParseAddr("192.0.2.1"), Remote: netip.MustParseAddr("2001:db8::2")}},
		{Name: "vx1", Index: 9, Kind: "vxlan", Up: true, Tunnel: &netstate.Tunnel{Kind: "vxlan"}},
		{Name: "ens1", Index: 7, PCI: "0000:01:00.0", PermanentMAC: flow.MAC{2, 0, 0, 0, 0, 7}, Extra: map[string]string{"altnames": "enp1s0 enx02"}},
	}
	got := assemble(testLinks(t))
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if usable := (netstate.Host{Links: got}).UsablePorts("bond1"); !slices.Equal(usable, []string{"eth0"}) {
		t.Errorf("usable ports %v", usable)
	}
}

func TestInOrder(t *testing.T) {
	for _, tc := range []struct{ have, told, want []string }{
		{[]string{"a", "b", "c"}, []string{"c", "a", "b"}, []string{"c", "a", "b"}},
		{[]string{"a", "b", "new"}, []string{"b", "a", "gone"}, []string{"b", "a", "new"}},
		{nil, []string{"x"}, nil},
	} {
		if got := inOrder(tc.have, tc.told); !slices.Equal(got, tc.want) {
			t.Errorf("inOrder(%v, %v) = %v, want %v", tc.have, tc.told, got, tc.want)
		}
	}
}

func TestDecodeAddress(t *testing.T) {
	message := func(family, bits byte, attributes ...[]byte) []byte {
		m := []byte{family, bits, 0, 0, 0, 0, 0, 0}
		copy(m[4:], n32(4))
		return append(m, slices.Concat(attributes...)...)
	}
	v6 := netip.MustParseAddr("fd00::1")
	for _, tc := range []struct {
		name    string
		message []byte
		want    netip.Prefix
	}{
		{"plain", message(2, 24, nlattr.Encode(ifaAddress, []byte{10, 0, 0, 1}), nlattr.Encode(ifaLocal, []byte{10, 0, 0, 1})), netip.MustParsePrefix("10.0.0.1/24")},
		{"peer", message(2, 32, nlattr.Encode(ifaAddress, []byte{10, 0, 0, 2}), nlattr.Encode(ifaLocal, []byte{10, 0, 0, 1})), netip.MustParsePrefix("10.0.0.1/32")},
		{"ipv6", message(10, 64, nlattr.Encode(ifaAddress, v6.AsSlice())), netip.MustParsePrefix("fd00::1/64")},
		{"length too long", message(2, 33, nlattr.Encode(ifaLocal, []byte{10, 0, 0, 1})), netip.Prefix{}},
		{"family and size differ", message(10, 24, nlattr.Encode(ifaLocal, []byte{10, 0, 0, 1})), netip.Prefix{}},
		{"no address", message(2, 24), netip.Prefix{}},
		{"cut short", []byte{2, 24}, netip.Prefix{}},
	} {
		a, ok := decodeAddress(tc.message)
		index, got := a.index, a.prefix
		if got != tc.want && (ok || tc.want.IsValid()) || ok != tc.want.IsValid() || ok && index != 4 {
			t.Errorf("%s: %v %v %v, want %v", tc.name, index, got, ok, tc.want)
		}
	}
}

func qdiscMessage(kind string, handle, parent uint32, options []byte, more ...[]byte) []byte {
	m := make([]byte, tcHead)
	copy(m[4:], n32(3))
	copy(m[8:], n32(handle))
	copy(m[12:], n32(parent))
	return slices.Concat(m, nlattr.Encode(tcaKind, []byte(kind+"\x00")), nlattr.Encode(tcaOptions, options), slices.Concat(more...))
}

func rateBytes(bytesPerSecond uint32) []byte { return append(make([]byte, 8), n32(bytesPerSecond)...) }

func TestDecodeQdiscs(t *testing.T) {
	const second = 15625000 // ticks
	tbf := nlattr.Encode(tbfParms, slices.Concat(rateBytes(12_500_000), make([]byte, 12), n32(1<<20), n32(second/100), n32(0)))
	stats := nlattr.Encode(tcaStats2, nlattr.Encode(statsQueue, slices.Concat(n32(1), n32(1500), n32(4), n32(5), n32(6))))
	old := nlattr.Encode(tcaStats, slices.Concat(n64(0), n32(0), n32(7), n32(8), n32(0), n32(0), n32(1), n32(900)))
	for _, tc := range []struct {
		name    string
		message []byte
		want    netstate.Qdisc
	}{
		{"tbf", qdiscMessage("tbf", 1<<16, parentRoot, tbf, stats), netstate.Qdisc{Kind: "tbf", Handle: "1:", Parent: "root",
			Rate: 100 * unit.Mbps, Burst: 125000, Limit: 1 << 20, Drops: 4, Requeues: 5, Overlimits: 6, Backlog: 1500}},
		{"tbf above 34 Gbit/s", qdiscMessage("tbf", 1<<16, parentRoot, slices.Concat(tbf, nlattr.Encode(tbfRate64, n64(12_500_000_000)))),
			netstate.Qdisc{Kind: "tbf", Handle: "1:", Parent: "root", Rate: 100 * unit.Gbps, Burst: 125000000, Limit: 1 << 20}},
		{"netem", qdiscMessage("netem", 0x10<<16, 1<<16|1, slices.Concat(n32(second/1000), n32(10000), n32(0x80000000), make([]byte, 12),
			nlattr.Encode(netemRate, slices.Concat(n32(1_250_000), make([]byte, 12))), nlattr.Encode(netemLatency64, n64(4_450_000)))),
			netstate.Qdisc{Kind: "netem", Handle: "10:", Parent: "1:1", Rate: 10 * unit.Mbps, Delay: 4450 * time.Microsecond, LimitPackets: 10000, Loss: 0.5}},
		{"netem of an old kernel", qdiscMessage("netem", 0, parentRoot, slices.Concat(n32(second/1000), n32(7), make([]byte, 16))),
			netstate.Qdisc{Kind: "netem", Handle: "0:", Parent: "root", Delay: time.Millisecond, LimitPackets: 7}},
		{"fq with a cap per flow", qdiscMessage("fq", 2<<16, 5, slices.Concat(nlattr.Encode(fqLimit, n32(10000)), nlattr.Encode(fqMaxRate, n32(125_000_000)))),
			netstate.Qdisc{Kind: "fq", Handle: "2:", Parent: ":5", LimitPackets: 10000, FlowRate: unit.Gbps}},
		{"fq without", qdiscMessage("fq", 2<<16, parentRoot, nlattr.Encode(fqMaxRate, n32(0xffffffff))), netstate.Qdisc{Kind: "fq", Handle: "2:", Parent: "root"}},
		{"cake", qdiscMessage("cake", 2<<16, parentRoot, nlattr.Encode(cakeBaseRate, n64(125_000))), netstate.Qdisc{Kind: "cake", Handle: "2:", Parent: "root", Rate: unit.Mbps}},
		{"fq_codel", qdiscMessage("fq_codel", 0, parentRoot, nlattr.Encode(fqCodelLimit, n32(10240))), netstate.Qdisc{Kind: "fq_codel", Handle: "0:", Parent: "root", LimitPackets: 10240}},
		{"pfifo", qdiscMessage("pfifo", 0, parentRoot, n32(1000)), netstate.Qdisc{Kind: "pfifo", Handle: "0:", Parent: "root", LimitPackets: 1000}},
		{"bfifo", qdiscMessage("bfifo", 0, parentRoot, n32(1000)), netstate.Qdisc{Kind: "bfifo", Handle: "0:", Parent: "root", Limit: 1000}},
		{"old statistics", qdiscMessage("pfifo_fast", 0, parentIngress, nil, old), netstate.Qdisc{Kind: "pfifo_fast", Handle: "0:", Parent: "ingress", Drops: 7, Overlimits: 8, Backlog: 900}},
		{"options cut short", qdiscMessage("tbf", 0, parentRoot, tbf[:10]), netstate.Qdisc{Kind: "tbf", Handle: "0:", Parent: "root"}},
	} {
		got, err := decodeQdisc(tc.message)
		if err != nil || got.index != 3 {
			t.Errorf("%s: index %d, %v", tc.name, got.index, err)
		}
		if diff := cmp.Diff(tc.want, got.qdisc, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tc.name, diff)
		}
	}
}

func TestDecodeHTB(t *testing.T) {
	class := func(handle, parent, ceil uint32) rawQdisc {
		parms := slices.Concat(rateBytes(1), rateBytes(ceil), n32(1), n32(15625), make([]byte, 12))
		c, err := decodeQdisc(qdiscMessage("htb", handle, parent, nlattr.Encode(htbParms, parms)))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	root := func(fallback uint32) rawQdisc {
		q, err := decodeQdisc(qdiscMessage("htb", 5<<16, parentRoot, nlattr.Encode(htbInit, slices.Concat(n32(3), n32(10), n32(fallback), n32(0), n32(0)))))
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	classes := []rawQdisc{class(5<<16|1, parentRoot, 12_500_000), class(5<<16|0x10, 5<<16|1, 1_250_000), class(6<<16|1, parentRoot, 99)}
	q := root(0x10)
	if open := decodeHTB(&q, classes); open || q.qdisc.Rate != 100*unit.Mbps || q.qdisc.Burst != 12500 {
		t.Errorf("with a default class: open %v, %+v", open, q.qdisc)
	}
	for name, fallback := range map[string]uint32{"no default": 0, "default without a class": 0x99} {
		q := root(fallback)
		if open := decodeHTB(&q, classes); !open || q.qdisc.Rate != 0 {
			t.Errorf("%s: open %v, rate %v; unclassified traffic is not limited", name, open, q.qdisc.Rate)
		}
	}
}

func testName(index int) string { return map[int]string{2: "eth0", 3: "eth1"}[index] }

func routeMessage(family, dstBits, srcBits, table, protocol, kind byte, flags uint32, attributes ...[]byte) []byte {
	m := []byte{family, dstBits, srcBits, 0, table, protocol, 0, kind}
	return slices.Concat(m, n32(flags), slices.Concat(attributes...))
}

func TestDecodeRoutes(t *testing.T) {
	hop := func(index uint32, weight byte, gateway ...byte) []byte {
		a := nlattr.Encode(rtaGateway, gateway)
		return slices.Concat(n16(uint16(hopHead+len(a))), []byte{0, weight - 1}, n32(index), a)
	}
	for _, tc := range []struct {
		name    string
		message []byte
		want    netstate.Route
		none    bool
	}{
		{name: "default", message: routeMessage(2, 0, 0, 254, 16, 1, 0, nlattr.Encode(rtaGateway, []byte{10, 0, 0, 254}), nlattr.Encode(rtaOif, n32(2)), nlattr.Encode(rtaPriority, n32(100))),
			want: netstate.Route{Dst: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("10.0.0.254"), Link: "eth0", Table: 254, Metric: 100, Protocol: "dhcp"}},
		{name: "on-link with metrics in a high table", message: routeMessage(2, 16, 0, 252, 4, 1, hopOnLink, nlattr.Encode(rtaDst, []byte{10, 2, 0, 0}), nlattr.Encode(rtaTable, n32(1001)),
			nlattr.Encode(rtaPrefSrc, []byte{10, 0, 0, 1}), nlattr.Encode(rtaMetrics, slices.Concat(nlattr.Encode(2, n32(1400)), nlattr.Encode(8, n32(1360)), nlattr.Encode(16, []byte("bbr\x00"))))),
			want: netstate.Route{Dst: netip.MustParsePrefix("10.2.0.0/16"), Source: netip.MustParseAddr("10.0.0.1"), Table: 1001, Protocol: "static", OnLink: true,
				MTU: 1400, Metrics: map[string]string{"advmss": "1360", "congctl": "bbr"}, Extra: map[string]string{"scope": "0"}}}, // link is what ip-route(8) gives it
		{name: "two hops", message: routeMessage(2, 24, 0, 254, 3, 1, 0, nlattr.Encode(rtaDst, []byte{10, 3, 0, 0}),
			nlattr.Encode(rtaMultipath, slices.Concat(hop(2, 1, 10, 0, 0, 1), hop(3, 2, 10, 0, 1, 1)))),
			want: netstate.Route{Dst: netip.MustParsePrefix("10.3.0.0/24"), Table: 254, Protocol: "boot", Hops: []netstate.NextHop{
				{Gateway: netip.MustParseAddr("10.0.0.1"), Link: "eth0", Weight: 1}, {Gateway: netip.MustParseAddr("10.0.1.1"), Link: "eth1", Weight: 2}}}},
		{name: "ipv6 gateway of an ipv4 route", message: routeMessage(2, 32, 0, 254, 77, 1, 0, nlattr.Encode(rtaDst, []byte{10, 3, 0, 1}),
			nlattr.Encode(rtaVia, slices.Concat(n16(familyIPv6), netip.MustParseAddr("fe80::1").AsSlice()))),
			want: netstate.Route{Dst: netip.MustParsePrefix("10.3.0.1/32"), Gateway: netip.MustParseAddr("fe80::1"), Table: 254, Protocol: "77"}},
		{name: "blackhole", message: routeMessage(10, 8, 0, 254, 2, 6, 0, nlattr.Encode(rtaDst, netip.MustParseAddr("fd00::").AsSlice())),
			want: netstate.Route{Dst: netip.MustParsePrefix("fd00::/8"), Table: 254, Type: "blackhole", Protocol: "kernel"}},
		{name: "local", message: routeMessage(2, 32, 0, 255, 2, 2, 0, nlattr.Encode(rtaDst, []byte{10, 0, 0, 1})), none: true},
		{name: "cached", message: routeMessage(10, 128, 0, 254, 2, 1, routeCloned), none: true},
		{name: "length too long", message: routeMessage(2, 64, 0, 254, 2, 1, 0, nlattr.Encode(rtaDst, []byte{10, 0, 0, 1})), none: true},
		{name: "cut short", message: []byte{2, 0, 0}, none: true},
	} {
		got, ok := decodeRoute(tc.message, testName)
		if ok == tc.none {
			t.Errorf("%s: is a route: %v", tc.name, ok)
			continue
		}
		if diff := cmp.Diff(tc.want, got, cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); ok && diff != "" {
			t.Errorf("%s (-want +got)\n%s", tc.name, diff)
		}
	}
}

func TestDecodeRules(t *testing.T) {
	for _, tc := range []struct {
		name    string
		message []byte
		want    netstate.Rule
	}{
		{"local", routeMessage(2, 0, 0, 255, 0, 1, 0, nlattr.Encode(fraTable, n32(255))), netstate.Rule{Table: 255, Family: "ipv4"}},
		{"from", routeMessage(2, 0, 32, 0, 0, 1, 0, nlattr.Encode(fraSrc, []byte{10, 0, 0, 2}), nlattr.Encode(fraPriority, n32(101)), nlattr.Encode(fraTable, n32(1001)),
			nlattr.Encode(fraSuppress, n32(0xffffffff)), nlattr.Encode(fraProtocol, n8(4))),
			netstate.Rule{Priority: 101, From: netip.MustParsePrefix("10.0.0.2/32"), Table: 1001, Family: "ipv4", Protocol: "static"}},
		{"marked", routeMessage(2, 0, 0, 100, 0, 1, 0, nlattr.Encode(fraFwmark, n32(0x51820)), nlattr.Encode(fraFwmask, n32(0xffffffff))), netstate.Rule{Table: 100, Family: "ipv4", Selectors: "fwmark 0x51820"}},
		{"everything", routeMessage(10, 64, 0, 0, 0, 7, ruleInvert, nlattr.Encode(fraDst, netip.MustParseAddr("fd00::").AsSlice()), nlattr.Encode(fraIif, []byte("eth0\x00")),
			nlattr.Encode(fraOif, []byte("lo\x00")), nlattr.Encode(fraFwmark, n32(1)), nlattr.Encode(fraFwmask, n32(3)), nlattr.Encode(fraSuppress, n32(0)), nlattr.Encode(fraIPProto, n8(6)),
			nlattr.Encode(fraDport, slices.Concat(n16(80), n16(90))), nlattr.Encode(fraUIDRange, slices.Concat(n32(0), n32(99))), nlattr.Encode(77, n8(1))),
			netstate.Rule{To: netip.MustParsePrefix("fd00::/64"), Family: "ipv6", Action: "unreachable",
				Selectors: "not iif eth0 oif lo suppress_prefixlength 0 ipproto 6 dport 80-90 uidrange 0-99 fra-77 01 fwmark 0x1/0x3"}},
	} {
		got, ok := decodeRule(tc.message)
		if diff := cmp.Diff(tc.want, got, cmpopts.EquateComparable(netip.Prefix{})); !ok || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", tc.name, ok, diff)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(linkMessage(1, 1, nlattr.Encode(iflaName, []byte("bond0\x00")), nlattr.Encode(iflaLinkInfo, slices.Concat(nlattr.Encode(infoKind, []byte("bond\x00")), nlattr.Encode(infoData, nlattr.Encode(1, n8(4)))))))
	f.Add(slaveMessage(2, 5, "eth0", nlattr.Encode(slaveState, n8(0))))
	f.Add(qdiscMessage("tbf", 1, parentRoot, nlattr.Encode(tbfParms, make([]byte, tbfParmSize))))
	f.Add(qdiscMessage("netem", 1, parentRoot, make([]byte, netemHead)))
	f.Add(routeMessage(2, 24, 0, 254, 3, 1, 0, nlattr.Encode(rtaMultipath, make([]byte, 16))))
	f.Fuzz(func(t *testing.T, m []byte) {
		if r, err := decodeLink(m); err == nil {
			if r.link.Name == "" || r.link.Index <= 0 {
				t.Errorf("a link without name or index: %+v", r.link)
			}
			assemble([]rawLink{r, r})
		}
		decodeAddress(m)
		if q, err := decodeQdisc(m); err == nil {
			if q.qdisc.Rate < 0 || q.qdisc.Loss < 0 || q.qdisc.Loss > 1 {
				t.Errorf("out of range: %+v", q.qdisc)
			}
			decodeHTB(&q, []rawQdisc{q})
			var c LinkCounters
			c.addQueues(q.index, []rawQdisc{q})
		}
		if r, ok := decodeRoute(m, testName); ok && !r.Dst.IsValid() {
			t.Errorf("a route to nowhere: %+v", r)
		}
		decodeRule(m)
		_ = hardwareAddress(m)
		_ = addressList(m)
	})
}
