package host

import (
	"net/netip"
	"testing"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

func off() *bool { b := false; return &b }

// single makes the second port a link of its own: what is said of a bond's
// ports is not said of it.
func single(change func(*netstate.Link)) func(*netstate.Host) {
	return func(h *netstate.Host) {
		h.Links[bond0].Bond.Ports = []string{"eth0"}
		h.Links[bond0].Bond.AD.Ports = 1
		h.Links[port1].Port, h.Links[port1].Master = nil, ""
		change(&h.Links[port1])
	}
}

var linkCases = []kindCase{
	{"half duplex", HalfDuplex, Fault, single(func(l *netstate.Link) { l.Duplex, l.Speed = "half", 100e6 }), single(func(l *netstate.Link) { l.Duplex, l.Driver = "half", "virtio_net" })},
	{"no negotiation", AutonegOff, Warning, single(func(l *netstate.Link) { l.Speed, l.Device.Autoneg, l.Device.FastestOwn = 1e9, off(), 1e9 }), single(func(l *netstate.Link) { l.Device.Autoneg = off() })},
	{"slower than both", SlowLink, Warning, single(func(l *netstate.Link) { l.Speed = 10e9 }), single(func(l *netstate.Link) { l.Speed, l.Device.FastestPartner = 10e9, 10e9 })},
	{"slower than own, far end unknown", SlowLink, Warning, single(func(l *netstate.Link) { l.Speed = 1e9 }), single(func(l *netstate.Link) { l.Speed, l.Device.FastestPartner = 1e9, 0 })},
	{"check sums", LinkErrors, Warning, port(func(l *netstate.Link) { l.Counters.RxCRC = 5000 }), port(func(l *netstate.Link) { l.Counters.RxCRC = 12 })},
	{"symbol errors", LinkErrors, Warning, statistic("rx_symbol_err_phy", 1e6), statistic("rx_corrected_bits_phy", 1e9)},
	{"flapping", LinkFlapping, Info, single(func(l *netstate.Link) { l.Extra["carrier_changes"] = "80" }), single(func(l *netstate.Link) { l.Extra["carrier_changes"] = "6" })},
	{"gro off", OffloadOff, Warning, port(func(l *netstate.Link) { l.Offloads["gro"] = false }), port(func(l *netstate.Link) { l.Offloads["gro"] = false; l.Device.Fixed = []string{"gro"} })},
	{"tso off at 1G", OffloadOff, Info, atSpeed(1e9, "tso"), port(func(l *netstate.Link) { l.Offloads = nil })},
	{"gro off at 2.5G", OffloadOff, Warning, atSpeed(2500e6, "gro"), func(h *netstate.Host) {}},
	{"gro off at 1G", OffloadOff, Info, atSpeed(1e9, "gro"), func(h *netstate.Host) {}},
	{"tso off at 2.5G", OffloadOff, Info, atSpeed(2500e6, "tso"), func(h *netstate.Host) {}},
	{"lro and forwarding", LROForwards, Warning, all(port(func(l *netstate.Link) { l.Offloads["lro"] = true }), set("net.ipv4.ip_forward", "1")), port(func(l *netstate.Link) { l.Offloads["lro"] = true })},
	{"ring", RingDrops, Warning, port(func(l *netstate.Link) { l.Counters.RxMissed = 50_000 }), port(func(l *netstate.Link) { l.Counters.RxMissed = 90 })},
	{"ring, by the driver", RingDrops, Warning, statistic("rx_out_of_buffer", 50_000), statistic("tx_dropped", 50_000)},
	{"pause", PauseFrames, Warning, statistic("rx_pause_ctrl_phy", 1e7), all(statistic("rx_pause_ctrl_phy", 1e7), port(func(l *netstate.Link) { l.Device.Pause.Rx = false }))},
	{"pause, how long", PauseFrames, Warning, statistic("rx_prio0_pause", 1e7), statistic("rx_prio0_pause_duration", 1e8)},
	{"allowance", CloudCap, Info, statistic("bw_in_allowance_exceeded", 1e6), statistic("bw_in_allowance_exceeded", 20)},
	{"VLAN's MTU", VLANMTU, Fault, vlanOn("bond0", 9100), vlanOn("bond0", 1500)},
	{"slot", CardSlot, Warning, func(h *netstate.Host) { h.Cards[0].Generation, h.Cards[0].Lanes = 3, 4 }, func(h *netstate.Host) { h.Cards[0].Generation = 0 }},
	{"slot, enough", CardBelow, Info, func(h *netstate.Host) { h.Cards[0].Lanes = 8 }, func(h *netstate.Host) { h.Cards[0].Lanes, h.Cards[0].MaxLanes = 8, 8 }},
}

// atSpeed sets both ports to a speed, without an offload.
func atSpeed(speed unit.BitRate, offload string) func(*netstate.Host) {
	return func(h *netstate.Host) {
		for _, i := range []int{port0, port1} {
			h.Links[i].Speed, h.Links[i].Device.FastestOwn, h.Links[i].Offloads[offload] = speed, speed, false
		}
	}
}

func TestLinkKinds(t *testing.T) { checkKinds(t, linkCases) }

func qdisc(q netstate.Qdisc) func(*netstate.Host) {
	return func(h *netstate.Host) { h.Links[bond0].Qdiscs = []netstate.Qdisc{q} }
}

func oneQueue(kind string) func(*netstate.Host) {
	return port(func(l *netstate.Link) {
		l.Qdiscs = []netstate.Qdisc{{Kind: kind, Handle: "1:", Parent: "root"}}
	})
}

func fromRule(from string, table int) func(*netstate.Host) {
	return func(h *netstate.Host) {
		h.Rules = append(h.Rules, netstate.Rule{Priority: 100, From: netip.MustParsePrefix(from), Table: table})
	}
}

func multipath(dead bool) func(*netstate.Host) {
	return func(h *netstate.Host) {
		h.Routes = append(h.Routes, netstate.Route{Dst: netip.MustParsePrefix("10.7.0.0/16"), Hops: []netstate.NextHop{{Link: "bond0", Weight: 1}, {Link: "eth2", Weight: 1, Dead: dead}}})
	}
}

func endpoint(address string, flags netstate.MPTCPFlags, subflows int) func(*netstate.Host) {
	return func(h *netstate.Host) {
		h.MPTCP = &netstate.MPTCP{Subflows: subflows, Endpoints: []netstate.MPTCPEndpoint{{ID: 1, Addr: netip.MustParseAddr(address), Flags: flags}}}
	}
}

// strict is a second link in the first's subnet, or with a worse default
// route, with a strict filter.
func strict(value string) func(*netstate.Host) { return set("net.ipv4.conf.eth2.rp_filter", value) }

func secondDefault(h *netstate.Host) {
	h.Routes = append(h.Routes, netstate.Route{Dst: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("10.1.0.254"), Link: "eth2", Metric: 200, Table: 254})
}

var hostCases = []kindCase{
	{"one subnet", SharedSubnet, Warning, second("10.0.0.2/24"), second("10.1.0.2/24")},
	{"one subnet, in a VRF", SharedSubnet, Warning, second("10.0.0.2/24"), all(second("10.0.0.2/24"), func(h *netstate.Host) {
		h.Links[len(h.Links)-1].Master = "red"
		h.Links = append(h.Links, netstate.Link{Name: "red", Kind: "vrf", Up: true, MTU: 65575})
	})},
	{"one subnet, with a rule", SharedSubnet, Warning, second("10.0.0.2/24"), all(second("10.0.0.2/24"), fromRule("10.0.0.2/32", 100))},
	{"strict, one subnet", StrictFilter, Fault, all(second("10.0.0.2/24"), strict("1")), all(second("10.1.0.2/24"), strict("1"))},
	{"strict, the other default route", StrictFilter, Warning, all(second("10.1.0.2/24"), secondDefault, strict("1")), all(second("10.1.0.2/24"), secondDefault, strict("2"))},
	{"strict, with a rule", StrictFilter, Warning, all(second("10.1.0.2/24"), secondDefault, strict("1")), all(second("10.1.0.2/24"), secondDefault, strict("1"), fromRule("10.1.0.2/32", 100))},
	{"loose by all", StrictFilter, Warning, all(second("10.1.0.2/24"), secondDefault, strict("1")), all(second("10.1.0.2/24"), secondDefault, strict("1"), set("net.ipv4.conf.all.rp_filter", "2"))},
	{"arp_ignore alone", LooseARP, Info, all(second("10.1.0.2/24"), set("net.ipv4.conf.all.arp_ignore", "1")), all(second("10.1.0.2/24"), set("net.ipv4.conf.all.arp_ignore", "1"), set("net.ipv4.conf.all.arp_announce", "2"))},
	{"conf/default", FutureOnly, Info, set("net.ipv4.conf.default.rp_filter", "2"), all(set("net.ipv4.conf.default.rp_filter", "2"), set("net.ipv4.conf.bond0.rp_filter", "2"))},
	{"one core", SoftirqOneCore, Warning, func(h *netstate.Host) { h.Softnet[2].Processed = 1e12 }, func(h *netstate.Host) {
		for i := range h.Softnet {
			h.Softnet[i] = netstate.Softnet{Core: i}
		}
		h.Softnet[2].Processed = 1e5
	}},
	{"one core, one queue", SoftirqOneCore, Warning, func(h *netstate.Host) { h.Softnet[2].Processed = 1e12 }, func(h *netstate.Host) {
		h.Softnet[2].Processed = 1e12
		h.Links[port0].Device.Channels.Combined, h.Links[port1].Device.Channels.Combined = 1, 1
	}},
	{"far interrupts", IRQFarNode, Warning, port(func(l *netstate.Link) { l.Device.IRQs = []netstate.IRQ{{Number: 90, Cores: []int{2, 3}}} }), func(h *netstate.Host) {
		h.Links[port1].Device.IRQs, h.CoreNodes = []netstate.IRQ{{Number: 90, Cores: []int{2, 3}}}, nil
	}},
	{"governor", Governor, Info, func(h *netstate.Host) { h.CPU.Governor = "powersave" }, func(h *netstate.Host) {
		h.CPU.Governor = "powersave"
		h.Links[port0].Speed, h.Links[port1].Speed = 1e9, 1e9
		h.Links[port0].Device, h.Links[port1].Device = nil, nil
	}},
	{"backlog", BacklogDrops, Warning, func(h *netstate.Host) { h.Softnet[0].Dropped = 1e6 }, func(h *netstate.Host) { h.Softnet[0].Dropped = 20 }},
	{"squeeze", TimeSqueeze, Info, func(h *netstate.Host) { h.Softnet[0].Squeezed = 1e8 }, none},
	{"forgotten netem", ShaperLeft, Fault, qdisc(netstate.Qdisc{Kind: "netem", Handle: "1:", Parent: "root", Loss: 0.01}), func(h *netstate.Host) {
		h.Links = append(h.Links, netstate.Link{Name: "veth0", Kind: "veth", Up: true, MTU: 1500, Qdiscs: []netstate.Qdisc{{Kind: "netem", Handle: "1:", Parent: "root", Delay: time.Millisecond}}})
	}},
	{"forgotten tbf", ShaperLeft, Warning, qdisc(netstate.Qdisc{Kind: "tbf", Handle: "1:", Parent: "root", Rate: unit.Gbps}), qdisc(netstate.Qdisc{Kind: "htb", Handle: "1:", Parent: "root", Rate: unit.Gbps})},
	{"BBR without fq", QdiscPacing, Info, all(set("net.ipv4.tcp_congestion_control", "bbr"), set("net.core.default_qdisc", "fq_codel"), oneQueue("fq_codel")), set("net.ipv4.tcp_congestion_control", "bbr")},
	{"not the default", QdiscDefault, Info, oneQueue("pfifo_fast"), oneQueue("mqprio")},
	{"no queue", NoQueue, Info, oneQueue("noqueue"), qdisc(netstate.Qdisc{Kind: "noqueue", Handle: "0:", Parent: "root"})},
	{"ECMP by addresses", ECMPHash, Warning, multipath(false), all(multipath(false), set("net.ipv4.fib_multipath_hash_policy", "1"))},
	{"a dead leg", ECMPDead, Fault, multipath(true), all(multipath(false), set("net.ipv4.fib_multipath_hash_policy", "1"))},
	{"endpoint without address", MPTCPAbsent, Warning, endpoint("10.0.0.77", netstate.MPTCPSubflow, 2), endpoint("10.0.0.1", netstate.MPTCPSubflow, 2)},
	{"no subflows allowed", MPTCPLimits, Warning, endpoint("10.0.0.1", netstate.MPTCPSubflow, 0), endpoint("10.0.0.1", netstate.MPTCPSignal, 0)},
}

func TestHostKinds(t *testing.T) { checkKinds(t, hostCases) }
