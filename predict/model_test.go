package predict

import (
	"fmt"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/testfabric"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestModes: what each mode and policy makes of two, four and eight streams
// of one pair of addresses, and of four aliases, with the receiver's links
// filled by the same policy where a switch would.
func TestModes(t *testing.T) {
	const one = 1e9 * 1448 / 1538
	ports, packet := "layer3+4", ""
	const rr = 2 * (1 - stripeCost*stripeUnit/1448) // out of order
	rr1 := 1 + math.Pow(2, stripeOlder)/2           // one stream, between cards
	for _, c := range []struct {
		mode    netstate.BondMode
		policy  netstate.HashPolicy
		dynamic bool
		sw      string
		// links in use for 1, 2 and 8 streams on one lane, and 8 on 4 lanes
		links [4]float64
		limit record.Cause // for 8 streams on one lane
	}{
		{netstate.LACP, netstate.Layer2, true, "layer2", [4]float64{1, 1, 1, 1}, record.SingleLink},
		{netstate.LACP, netstate.Layer23, true, "layer2+3", [4]float64{1, 1, 1, 2}, record.SingleLink},
		{netstate.LACP, netstate.Layer34, true, ports, [4]float64{1, 2, 2, 2}, record.LineRate},
		{netstate.LACP, netstate.Encap23, true, "layer2+3", [4]float64{1, 1, 1, 2}, record.SingleLink},
		{netstate.LACP, netstate.Encap34, true, packet, [4]float64{1, 1.5, 2 - 1.0/128, 2 - 1.0/128}, record.LineRate},
		{netstate.LACP, netstate.VLANSrcMAC, true, ports, [4]float64{1, 1, 1, 1}, record.SingleLink},
		{netstate.BalanceXOR, netstate.Layer2, true, ports, [4]float64{1, 1, 1, 1}, record.SingleLink},
		{netstate.BalanceXOR, netstate.Layer34, true, ports, [4]float64{1, 2, 2, 2}, record.LineRate},
		{netstate.ActiveBackup, netstate.Layer34, true, ports, [4]float64{1, 1, 1, 1}, record.SingleLink},
		{netstate.Broadcast, netstate.Layer34, true, ports, [4]float64{1, 1, 1, 1}, record.SingleLink},
		{netstate.BalanceRR, netstate.Layer2, true, packet, [4]float64{rr1, rr, rr, rr}, record.Reordering},
		{netstate.BalanceRR, netstate.Layer2, true, "layer2", [4]float64{1, 1, 1, 1}, record.SingleLink},
		{netstate.BalanceTLB, netstate.Layer34, true, ports, [4]float64{1, 1, 1, 1}, record.SingleLink}, // receives on one
		{netstate.BalanceALB, netstate.Layer34, true, packet, [4]float64{1, 1, 1, 2}, record.SingleLink},
		{netstate.BalanceALB, netstate.Layer34, false, packet, [4]float64{1, 1, 1, 2}, record.SingleLink},
	} {
		for i, n := range []int{1, 2, 8, 8} {
			aliases := 1
			if i == 3 {
				aliases = 4
			}
			a := testfabric.Bond{Name: "a", Ports: 2, Speed: 1e9, Mode: c.mode, Policy: c.policy, Mtu: 1500, Kernel: "6.1", Dynamic: c.dynamic}
			b := a
			b.Name = "b"
			for k := range aliases {
				a.Addrs = append(a.Addrs, fmt.Sprintf("10.0.0.%d/24", 1+2*k))
				b.Addrs = append(b.Addrs, fmt.Sprintf("10.0.0.%d/24", 101+k))
			}
			p := mustPredict(t, JoinedHosts(a.Host(), b.Host(), time.Millisecond, c.sw), Traffic{Streams: n})
			if !near(p.Rate, c.links[i]*one, 1e-6) || i == 2 && p.Limit != c.limit {
				t.Errorf("%s %s, %d streams, %d lanes: %.3f links, %s; want %.3f (%s for 8 on one)\n%+v",
					c.mode, c.policy, n, aliases, float64(p.Rate)/one, p.Limit, c.links[i], c.limit, p.Limits)
			}
		}
	}
}

// TestTransmitByLoad: balance-tlb towards a host with one fast link.
func TestTransmitByLoad(t *testing.T) {
	a := testfabric.Bond{Name: "a", Addrs: []string{"10.0.0.1/24"}, Ports: 2, Speed: 1e9, Mode: netstate.BalanceTLB, Policy: netstate.Layer34, Mtu: 1500, Kernel: "6.1", Dynamic: true}
	f := JoinedHosts(a.Host(), testfabric.Plain("b", 10e9, 1500, "10.0.0.2/24"), time.Millisecond, "")
	p := mustPredict(t, f, Traffic{Streams: 4})
	const one = 1e9 * 1448 / 1538
	if !near(p.Rate, 2*one, 1e-6) || !near(p.RateLow, one, 1e-6) {
		t.Errorf("got %v (low %v); want two links, low one", p.Rate, p.RateLow)
	}
	p = mustPredict(t, f, Traffic{Streams: 4, Direction: flow.Reverse})
	if !near(p.Rate, one, 1e-6) || p.Limit != record.SingleLink || !strings.HasPrefix(p.Limits[0].Where, "a: bond0") {
		t.Errorf("back: got %v, %s at %s; want a's one receiving link", p.Rate, p.Limit, p.Limits[0].Where)
	}
}

// TestCollidingAddresses: two aliases that layer2+3 puts on one link.
func TestCollidingAddresses(t *testing.T) {
	a := testfabric.Bond{Name: "a", Addrs: []string{"10.0.0.1/24", "10.0.0.3/24"}, Ports: 2, Speed: 1e9, Mode: netstate.LACP, Policy: netstate.Layer23, Mtu: 1500, Kernel: "6.1"}
	b := a
	b.Name, b.Addrs = "b", []string{"10.0.0.101/24", "10.0.0.103/24"}
	p := mustPredict(t, JoinedHosts(a.Host(), b.Host(), time.Millisecond, "layer3+4"), Traffic{Streams: 4})
	if !near(p.Rate, 1e9*1448/1538, 1e-6) || p.Limit != record.HashImbalance {
		t.Errorf("got %v, %s; want one link, hash-imbalance", p.Rate, p.Limit)
	}
}

// TestOneStreamIntoOneLink: where the other end's only link is as fast,
// nothing is left to gain.
func TestOneStreamIntoOneLink(t *testing.T) {
	a := testfabric.Bond{Name: "a", Addrs: []string{"10.0.0.1/24"}, Ports: 2, Speed: 1e9, Mode: netstate.LACP, Policy: netstate.Layer34, Mtu: 1500, Kernel: "6.1"}
	f := JoinedHosts(a.Host(), testfabric.Plain("b", 1e9, 1500, "10.0.0.2/24"), time.Millisecond, "")
	p := mustPredict(t, f, Traffic{Streams: 1})
	if p.Limit != record.LineRate || p.Rate != p.Ceiling {
		t.Errorf("got %v of %v, %s; want line-rate", p.Rate, p.Ceiling, p.Limit)
	}
}

// ovh is the published cross-region set: LACP layer3+4, VLAN, MTU 9000, 25
// Gb/s a path and a link.
func ovh(rtt time.Duration, rmem string) Fabric {
	b := testfabric.Bond{Ports: 2, Speed: 25e9, Mode: netstate.LACP, Policy: netstate.Layer34, Mtu: 9000, Kernel: "5.15.0-47-generic", Vlan: 1907}
	a, z := b, b
	a.Name, a.Addrs = "a", []string{"10.119.250.103/16"}
	z.Name, z.Addrs = "b", []string{"10.119.250.101/16"}
	f := JoinedHosts(a.Host(), z.Host(), rtt, "unknown")
	f.Paths[0].Rate = 25e9
	wmem := "4096 16384 4194304"
	if rmem != "4096 131072 6291456" {
		wmem = rmem
	}
	for _, h := range []string{"a", "b"} {
		f = f.Set(h, "net.ipv4.tcp_rmem", rmem).Set(h, "net.ipv4.tcp_wmem", wmem)
	}
	return f
}

func TestPublishedCrossRegion(t *testing.T) {
	const stock, tuned = "4096 131072 6291456", "8192 1048576 33554432"
	for _, c := range []struct {
		rtt       time.Duration
		rmem      string
		streams   int
		published float64
		limit     record.Cause
	}{
		{8900 * time.Microsecond, stock, 1, 2.7e9, record.ReceiveWindow},
		{10600 * time.Microsecond, stock, 1, 2.3e9, record.ReceiveWindow},
		{3800 * time.Microsecond, stock, 1, 6.1e9, record.ReceiveWindow},
		{8900 * time.Microsecond, stock, 2, 5.4e9, record.ReceiveWindow},
		{8900 * time.Microsecond, stock, 4, 10.8e9, record.ReceiveWindow},
		{10600 * time.Microsecond, stock, 8, 18.2e9, record.ReceiveWindow},
		{8900 * time.Microsecond, tuned, 1, 14.8e9, record.ReceiveWindow},
		{10600 * time.Microsecond, tuned, 1, 12.5e9, record.ReceiveWindow},
		{3800 * time.Microsecond, tuned, 1, 24.7e9, record.Shaper},
		{3800 * time.Microsecond, tuned, 2, 24.7e9, record.Shaper},
	} {
		p := mustPredict(t, ovh(c.rtt, c.rmem), Traffic{Streams: c.streams})
		if !near(p.Rate, c.published, 0.05) || p.Limit != c.limit {
			t.Errorf("%v, %s, %d streams: %v, %s; published %v, want %s", c.rtt, c.rmem, c.streams, p.Rate, p.Limit, unit.BitRate(c.published), c.limit)
		}
		if !near(p.Ceiling, 25e9*8948/9014, 1e-6) {
			t.Errorf("ceiling %v; want the path's rate", p.Ceiling)
		}
	}
}

// ibm is the published pair: two interfaces in one subnet, a route to a
// single address each, whose next hop is the interface's own address.
func ibm(mtu int) Fabric {
	a := testfabric.Plain("a", 16e9, mtu, "172.16.0.4/24", "172.16.0.5/24")
	b := testfabric.Plain("b", 16e9, mtu, "172.16.0.104/24", "172.16.0.105/24")
	for _, h := range []*netstate.Host{&a, &b} {
		peer := &b
		if h == &b {
			peer = &a
		}
		for i := range h.Links {
			far := peer.Links[i].Addresses[0].Addr()
			h.Routes = append(h.Routes, netstate.Route{Dst: netip.PrefixFrom(far, 32), Gateway: h.Links[i].Addresses[0].Addr(), Link: h.Links[i].Name, Table: 254})
		}
	}
	return JoinedHosts(a, b, 0, "")
}

func TestTwoInterfaces(t *testing.T) {
	const one = 16e9 * 8948 / 9038
	p := mustPredict(t, ibm(9000), Traffic{Streams: 2})
	if !near(p.Rate, 2*one, 1e-6) || p.Limit != record.LineRate || !near(p.Ceiling, 2*one, 1e-6) {
		t.Errorf("got %v of %v, %s; want both interfaces", p.Rate, p.Ceiling, p.Limit)
	}
	p = mustPredict(t, ibm(9000), Traffic{Streams: 1})
	if !near(p.Rate, one, 1e-6) || p.Limit != record.SingleLink {
		t.Errorf("one stream: %v, %s; want one interface, single-link", p.Rate, p.Limit)
	}
	lane := []flow.Lane{{Src: netip.MustParseAddr("172.16.0.5"), Dst: netip.MustParseAddr("172.16.0.105")}}
	p = mustPredict(t, ibm(9000), Traffic{Streams: 4, Lanes: lane})
	if !near(p.Rate, one, 1e-6) || !near(p.Ceiling, 2*one, 1e-6) {
		t.Errorf("one lane: %v of %v; want one interface of two", p.Rate, p.Ceiling)
	}
}

// TestAsymmetricRoute: without the routes the first interface of the subnet
// carries everything.
func TestAsymmetricRoute(t *testing.T) {
	f := ibm(9000)
	for name, h := range f.Hosts {
		h.Routes = nil
		f.Hosts[name] = h
	}
	const one = 16e9 * 8948 / 9038
	p := mustPredict(t, f, Traffic{Streams: 4})
	if !near(p.Rate, one, 1e-6) || p.Limit != record.AsymmetricRoute || !near(p.Ceiling, 2*one, 1e-6) {
		t.Errorf("got %v of %v, %s; want one interface of two, asymmetric-route", p.Rate, p.Ceiling, p.Limit)
	}
	for name, h := range f.Hosts {
		for i, l := range h.Links {
			h.Rules = append(h.Rules, netstate.Rule{Priority: 100 + i, From: netip.PrefixFrom(l.Addresses[0].Addr(), 32), Table: 100 + i})
			h.Routes = append(h.Routes, netstate.Route{Dst: l.Addresses[0].Masked(), Link: l.Name, Table: 100 + i})
		}
		f.Hosts[name] = h
	}
	p = mustPredict(t, f, Traffic{Streams: 4})
	if !near(p.Rate, 2*one, 1e-6) || p.Limit != record.LineRate {
		t.Errorf("with rules: %v, %s; want both interfaces", p.Rate, p.Limit)
	}
}

// TestSharedSlot: a dual-port 10G card in a slot of PCIe 2.0 x4 moves 13.9
// Gb/s of frames (published: 13.9), a second card doubles it.
func TestSharedSlot(t *testing.T) {
	b := testfabric.Bond{Ports: 2, Speed: 10e9, Mode: netstate.BalanceRR, Mtu: 9000, Kernel: "3.10", Card: "c0"}
	a, z := b, b
	a.Name, a.Addrs = "a", []string{"10.0.0.1/24"}
	z.Name, z.Addrs = "b", []string{"10.0.0.2/24"}
	f := JoinedHosts(a.Host(), z.Host(), 0, "")
	card := netstate.Card{Name: "c0", Generation: 2, Lanes: 4, MaxPayload: 256}
	for name, h := range f.Hosts {
		h.Cards = []netstate.Card{card}
		f.Hosts[name] = h
	}
	p := mustPredict(t, f, Traffic{Streams: 1})
	if p.Limit != record.CardSlot || !near(p.Rate, 13.9e9, .02) || p.RateLow > p.Rate || p.RateHigh < 13.9e9 {
		t.Errorf("one card: %v (%v to %v), %s; want 13.9 Gbit/s, card", p.Rate, p.RateLow, p.RateHigh, p.Limit)
	}
	for name, h := range f.Hosts {
		second := card
		second.Name = "c1"
		h = h.Clone()
		h.Cards = append(h.Cards, second)
		for i := range h.Links {
			if h.Links[i].Name == name+"1" {
				h.Links[i].Card = "c1"
			}
		}
		f.Hosts[name] = h
	}
	p = mustPredict(t, f, Traffic{Streams: 1})
	if !near(p.Rate, 20e9*8948/9038, 0.01) || p.Limit != record.LineRate {
		t.Errorf("two cards: %v, %s; want both ports' rate", p.Rate, p.Limit)
	}
	if !strings.Contains(fmt.Sprint(p.Limits), "order") {
		t.Errorf("no limit mentions the order of packets: %+v", p.Limits)
	}
}

func TestProcessor(t *testing.T) {
	f := JoinedHosts(testfabric.Plain("a", 100e9, 9000, "10.0.0.1/24"), testfabric.Plain("b", 100e9, 9000, "10.0.0.2/24"), 0, "")
	h := f.Hosts["b"]
	h.CPU = netstate.CPU{Cores: 2, StreamRate: 30e9}
	f.Hosts["b"] = h
	for streams, want := range map[int]float64{1: 30e9, 2: 60e9, 8: 60e9} {
		p := mustPredict(t, f, Traffic{Streams: streams})
		if !near(p.Rate, want, 1e-6) || p.Limit != record.ReceiverCPU || !near(p.Ceiling, 100e9*8948/9038, 1e-6) {
			t.Errorf("%d streams: %v of %v, %s; want %v, receiver-cpu", streams, p.Rate, p.Ceiling, p.Limit, unit.BitRate(want))
		}
	}
}

func TestShapers(t *testing.T) {
	base := func() Fabric {
		return JoinedHosts(testfabric.Plain("a", 10e9, 1500, "10.0.0.1/24"), testfabric.Plain("b", 10e9, 1500, "10.0.0.2/24"), 0, "")
	}
	qdisc := func(f Fabric, speed unit.BitRate) Fabric {
		h := f.Hosts["a"]
		h.Links[0].Speed = speed
		h.Links[0].Qdiscs = []netstate.Qdisc{{Kind: "tbf", Handle: "1:", Parent: "root", Rate: 500e6}, {Kind: "netem", Parent: "1:1"}}
		return f
	}
	hostRate := base()
	h := hostRate.Hosts["b"]
	h.Rate = 2e9
	hostRate.Hosts["b"] = h
	for _, c := range []struct {
		name  string
		f     Fabric
		d     flow.Direction
		want  float64
		limit record.Cause
	}{
		{"host", hostRate, flow.Forward, 2e9 * 1448 / 1514, record.Shaper},
		{"qdisc", qdisc(base(), 10e9), flow.Forward, 500e6 * 1448 / 1514, record.Shaper},
		{"qdisc, other way", qdisc(base(), 10e9), flow.Reverse, 10e9 * 1448 / 1538, record.LineRate},
		{"qdisc, speed unknown", qdisc(base(), 0), flow.Forward, 500e6 * 1448 / 1514, record.Shaper},
		{"qdisc faster than the link", qdisc(base(), 100e6), flow.Forward, 100e6 * 1448 / 1538, record.LineRate},
	} {
		p := mustPredict(t, c.f, Traffic{Streams: 2, Direction: c.d})
		if !near(p.Rate, c.want, 1e-6) || p.Limit != c.limit {
			t.Errorf("%s: %v, %s; want %v, %s", c.name, p.Rate, p.Limit, unit.BitRate(c.want), c.limit)
		}
	}
}

func TestLACPDown(t *testing.T) {
	f := demo(netstate.Layer34, 9000)
	h := f.Hosts["a"].Clone()
	l, _ := h.Link("a1")
	port := *l.Port
	port.AggregatorID = 2
	l.Port = &port
	h.SetLink(l)
	f.Hosts["a"] = h
	const one = 500e6 * 8948.0 / 9014
	for _, d := range []flow.Direction{flow.Forward, flow.Reverse} {
		p := mustPredict(t, f, Traffic{Streams: 4, Direction: d})
		if !near(p.Rate, one, 1e-6) || p.Limit != record.LACPDown || !near(p.Ceiling, one, 1e-6) {
			t.Errorf("%s: %v of %v, %s; want one link, lacp-down", d, p.Rate, p.Ceiling, p.Limit)
		}
	}
}

func TestMultipathTCP(t *testing.T) {
	p := mustPredict(t, ibm(1500), Traffic{Streams: 1, Protocol: "mptcp"})
	if !near(p.Rate, 2*16e9*1428/1538, 1e-6) || p.Limit != record.LineRate {
		t.Errorf("one connection: %v, %s; want both interfaces", p.Rate, p.Limit)
	}
	u := mustPredict(t, ibm(1500), Traffic{Streams: 2, Protocol: "udp"})
	if !near(u.Rate, 2*16e9*1472/1538, 1e-6) || !near(u.Rate, float64(u.Ceiling), 1e-9) {
		t.Errorf("udp: %v of %v", u.Rate, u.Ceiling)
	}
}
