package host

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// busyHost is healthy() with everything read of it that can be, and nothing wrong: a
// server that has moved data for a long time.
func busyHost() netstate.Host {
	h := healthy()
	on, node := true, 0
	h.CPU = netstate.CPU{Cores: 4, Governor: "performance"}
	h.Memory = 64 * unit.GiB
	h.CoreNodes = []int{0, 0, 1, 1}
	for i := range 4 {
		h.Softnet = append(h.Softnet, netstate.Softnet{Core: i, Processed: 1e9, Squeezed: 1000})
	}
	for _, i := range []int{port0, port1} {
		l := &h.Links[i]
		l.Duplex, l.Driver, l.Card = "full", "mlx5_core", "c0"
		l.PermanentMAC = flow.MAC{0, 1, 2, 3, 4, byte(i)}
		l.Counters = netstate.Counters{RxPackets: 1e9, TxPackets: 1e9}
		l.Offloads = map[string]bool{"gro": true, "gso": true, "tso": true, "rx": true, "tx": true, "sg": true, "lro": false}
		l.Qdiscs = []netstate.Qdisc{{Kind: "mq", Handle: "1:", Parent: "root"}, {Kind: "fq", Handle: "2:", Parent: "1:1"}}
		l.Extra = map[string]string{"carrier_changes": "2"}
		l.Device = &netstate.Device{Autoneg: &on, FastestOwn: 25e9, FastestPartner: 25e9,
			Rings: &netstate.Rings{Rx: 1024, Tx: 1024, RxMax: 8192, TxMax: 8192}, Channels: &netstate.Channels{Combined: 4, CombinedMax: 64},
			Pause: &netstate.Pause{Rx: true, Tx: true}, Node: &node, Statistics: map[string]uint64{},
			IRQs: []netstate.IRQ{{Number: 90, Cores: []int{0}}, {Number: 91, Cores: []int{1}}}}
		l.Port.PartnerMAC, l.Port.PartnerKey = flow.MAC{2, 0, 0, 0, 0, 1}, 7
		l.Port.ActorChurn, l.Port.PartnerChurn = "none", "none"
	}
	h.Cards = []netstate.Card{{Name: "c0", Generation: 4, Lanes: 16, MaxPayload: 256, MaxGeneration: 4, MaxLanes: 16}}
	h.Links[bond0].MAC = h.Links[port0].PermanentMAC
	h.Routes = []netstate.Route{
		{Dst: netip.MustParsePrefix("10.0.0.0/24"), Link: "bond0", Table: 254, Protocol: "kernel"},
		{Dst: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("10.0.0.254"), Link: "bond0", Table: 254},
	}
	h.Sysctls = make(map[string]netstate.Sysctl)
	for key, value := range map[string]string{
		"net.ipv4.tcp_mem": "760000 1010000 1520000", "net.ipv4.udp_mem": "1520000 2030000 3040000",
		"net.ipv4.tcp_rmem": "4096 131072 6291456", "net.ipv4.tcp_wmem": "4096 16384 4194304",
		"net.core.rmem_max": "212992", "net.core.wmem_max": "212992", "net.core.rmem_default": "212992", "net.core.wmem_default": "212992",
		"net.ipv4.tcp_congestion_control": "cubic", "net.core.default_qdisc": "fq", "net.core.somaxconn": "4096",
		"net.ipv4.ip_local_port_range": "32768 60999", "net.ipv4.ip_local_reserved_ports": "", "net.core.netdev_max_backlog": "1000", "net.core.netdev_budget": "300",
		"net.ipv4.tcp_window_scaling": "1", "net.ipv4.tcp_sack": "1", "net.ipv4.tcp_dsack": "1", "net.ipv4.tcp_timestamps": "1", "net.ipv4.tcp_moderate_rcvbuf": "1",
		"net.ipv4.tcp_recovery": "1", "net.ipv4.tcp_tso_rtt_log": "9", "net.ipv4.tcp_notsent_lowat": "4294967295", "net.ipv4.tcp_limit_output_bytes": "1048576",
		"net.ipv4.tcp_no_metrics_save": "0", "net.ipv4.tcp_mtu_probing": "1", "net.core.high_order_alloc_disable": "0", "net.ipv4.ip_no_pmtu_disc": "0",
		"net.ipv4.tcp_max_tw_buckets": "262144", "net.ipv4.tcp_max_orphans": "262144", "net.ipv4.udp_wmem_min": "4096", "net.ipv4.tcp_adv_win_scale": "1",
		"net.ipv4.tcp_low_latency": "0", "net.ipv4.tcp_fack": "0", "net.ipv4.ipfrag_low_thresh": "3145728", "net.netfilter.nf_conntrack_count": "100", "net.netfilter.nf_conntrack_max": "262144",
		"net.ipv4.conf.all.rp_filter": "0", "net.ipv4.conf.default.rp_filter": "0", "net.ipv4.conf.bond0.rp_filter": "1",
		"net.ipv4.conf.all.arp_ignore": "0", "net.ipv4.conf.all.arp_announce": "0", "net.ipv4.fib_multipath_hash_policy": "0", "net.ipv4.ip_forward": "0",
	} {
		h.Sysctls[key] = netstate.Sysctl{Value: value, Scope: netstate.ScopeNamespace}
	}
	h.MPTCP = &netstate.MPTCP{Subflows: 2}
	h.Protocols = map[string]uint64{"IpExt.InPkts": 1e9}
	return h
}

func set(key, value string) func(*netstate.Host) {
	return func(h *netstate.Host) { h.Sysctls[key] = netstate.Sysctl{Value: value} }
}

func all(changes ...func(*netstate.Host)) func(*netstate.Host) {
	return func(h *netstate.Host) {
		for _, c := range changes {
			c(h)
		}
	}
}

func port(change func(*netstate.Link)) func(*netstate.Host) {
	return func(h *netstate.Host) { change(&h.Links[port1]) }
}

func bond(change func(*netstate.Bond)) func(*netstate.Host) {
	return func(h *netstate.Host) { change(h.Links[bond0].Bond) }
}

func statistic(name string, count uint64) func(*netstate.Host) {
	return port(func(l *netstate.Link) { l.Device.Statistics[name] = count })
}

// second adds a link with an address of its own.
func second(address string) func(*netstate.Host) {
	return func(h *netstate.Host) {
		p := netip.MustParsePrefix(address)
		h.Links = append(h.Links, netstate.Link{Name: "eth2", Up: true, Carrier: true, MTU: 9000, Addresses: []netip.Prefix{p}})
		h.Routes = append(h.Routes, netstate.Route{Dst: p.Masked(), Link: "eth2", Table: 254, Protocol: "kernel"})
		set("net.ipv4.conf.eth2.rp_filter", "0")(h)
	}
}

func kindsOf(found []Finding) []string {
	var out []string
	for _, f := range found {
		out = append(out, f.Kind)
	}
	return out
}

// kindCase is a change that must give a finding, and one nearly like it that
// must not.
type kindCase struct {
	name          string
	kind          string
	severity      Severity
	trigger, near func(*netstate.Host)
}

// checkKinds holds each case to its word: the trigger gives that finding and
// nothing graver of another kind, the near miss gives nothing above Info and
// not that kind.
func checkKinds(t *testing.T, cases []kindCase) {
	t.Helper()
	for _, c := range cases {
		h := busyHost()
		c.trigger(&h)
		found := Judge(h)
		at := slices.IndexFunc(found, func(f Finding) bool { return f.Kind == c.kind })
		if at < 0 {
			t.Errorf("%s: no %s, but %v", c.name, c.kind, kindsOf(found))
			continue
		}
		f := found[at]
		if f.Severity != c.severity || f.What == "" || f.Remedy == "" || len(f.Evidence) == 0 {
			t.Errorf("%s: %+v, want %s", c.name, f, c.severity)
		}
		for _, e := range f.Evidence {
			if e.What == "" || e.Value == "" || e.Source == "" {
				t.Errorf("%s: evidence %+v is incomplete", c.name, e)
			}
		}
		h = busyHost()
		c.near(&h)
		for _, f := range Judge(h) {
			if f.Kind == c.kind || f.Severity != Info {
				t.Errorf("%s: the near miss gives %s %s: %s", c.name, f.Severity, f.Kind, f.What)
			}
		}
	}
}

func TestBusyHostIsHealthy(t *testing.T) {
	if found := Judge(busyHost()); len(found) > 0 {
		t.Errorf("findings: %+v", found)
	}
}

// Every kind has a case; those of two hosts have theirs in pair_test.go.
func TestEveryKindHasACase(t *testing.T) {
	have := map[string]bool{PathMTU: true, PairMTU: true, PairHash: true, BufferForBDP: true}
	for _, c := range slices.Concat(bondCases, linkCases, hostCases) {
		have[c.kind] = true
	}
	for _, row := range sysctlCases {
		have[row.kind] = true
	}
	for _, k := range kinds {
		if !have[k] {
			t.Errorf("no case triggers %s", k)
		}
	}
}

var none = func(*netstate.Host) {}

var bondCases = []kindCase{
	{"a port is down", BondPortDown, Fault, port(func(l *netstate.Link) { l.Carrier = false }), all(port(func(l *netstate.Link) { l.Carrier = false }), func(h *netstate.Host) { h.Links[bond0].Up = false })},
	{"nobody answers", BondNoPartner, Fault, all(bond(func(b *netstate.Bond) { b.AD.PartnerMAC = flow.MAC{} }), port(func(l *netstate.Link) { l.Port.PartnerMAC = flow.MAC{} })), bond(func(b *netstate.Bond) { b.AD = nil })},
	{"another aggregator", BondPortOutside, Fault, port(func(l *netstate.Link) { l.Port.AggregatorID = 2 }), port(func(l *netstate.Link) { l.Port.AggregatorID = 0 })},
	{"two aggregators, nobody says which carries", BondPortOutside, Fault, all(bond(func(b *netstate.Bond) { b.AD = nil }), port(func(l *netstate.Link) { l.Port.AggregatorID = 2 })), bond(func(b *netstate.Bond) { b.AD = nil })},
	{"no active aggregator", BondPortOutside, Fault, func(h *netstate.Host) {
		h.Links[bond0].Bond.AD = &netstate.Aggregator{}
		h.Links[port0].Port.AggregatorID, h.Links[port1].Port.AggregatorID = 0, 0
	}, bond(func(b *netstate.Bond) { b.AD = nil })},
	{"two switches", BondTwoPartners, Fault, port(func(l *netstate.Link) { l.Port.AggregatorID, l.Port.PartnerMAC = 2, flow.MAC{2, 0, 0, 0, 0, 9} }), port(func(l *netstate.Link) { l.Port.PartnerMAC = flow.MAC{} })},
	{"two groups of one switch", BondTwoPartners, Fault, port(func(l *netstate.Link) { l.Port.AggregatorID, l.Port.PartnerKey = 2, 8 }), none},
	{"a port hears nobody", BondPortOutside, Fault, port(func(l *netstate.Link) {
		l.Port.AggregatorID, l.Port.ActorState, l.Port.PartnerState = 2, 69, 1
		l.Port.PartnerMAC, l.Port.PartnerKey = flow.MAC{}, 1
	}), none},
	{"miimon 0", BondUnwatched, Fault, bond(func(b *netstate.Bond) { b.Miimon = 0 }), bond(func(b *netstate.Bond) { b.Miimon, b.Options = 0, map[string]string{"arp_interval": "100"} })},
	{"a port's MTU", BondPortMTU, Fault, port(func(l *netstate.Link) { l.MTU = 1500 }), port(func(l *netstate.Link) { l.MTU = 0 })},
	{"the far end churns", BondChurn, Warning, port(func(l *netstate.Link) { l.Port.PartnerChurn = "churned" }), port(func(l *netstate.Link) { l.Port.PartnerChurn = "monitoring" })},
	{"not distributing", BondChurn, Warning, port(func(l *netstate.Link) { l.Port.ActorState = 0x0f }), port(func(l *netstate.Link) { l.Port.ActorState = 0x3f })},
	{"both ends passive", BondPassive, Fault, all(port(func(l *netstate.Link) { l.Port.ActorState, l.Port.PartnerState = 142, 54 })), port(func(l *netstate.Link) { l.Port.ActorState, l.Port.PartnerState = 62, 63 })},
	{"one port flaps", BondFlapping, Warning, port(func(l *netstate.Link) { l.Port.FailureCount = 9 }), func(h *netstate.Host) { h.Links[port0].Port.FailureCount, h.Links[port1].Port.FailureCount = 9, 9 }},
	{"both ports flap", BondFlapping, Warning, func(h *netstate.Host) {
		h.Links[port0].Port.FailureCount, h.Links[port1].Port.FailureCount = 92028, 71524
	}, func(h *netstate.Host) { h.Links[port0].Port.FailureCount, h.Links[port1].Port.FailureCount = 30, 31 }},
	{"layer2+3, one address", BondOneLink, Warning, bond(func(b *netstate.Bond) { b.HashPolicy = netstate.Layer23 }), bond(func(b *netstate.Bond) { b.HashPolicy = netstate.Encap34 })},
	{"layer2 through a gateway", BondLayer2Gateway, Warning, bond(func(b *netstate.Bond) { b.HashPolicy = netstate.Layer2 }), bond(func(b *netstate.Bond) { b.HashPolicy, b.Mode = netstate.Layer2, netstate.ActiveBackup })},
	{"speeds differ", BondUnequal, Warning, port(func(l *netstate.Link) { l.Speed = 10e9; l.Device = nil }), port(func(l *netstate.Link) { l.Speed = 0 })},
	{"updelay", BondDelay, Info, bond(func(b *netstate.Bond) { b.UpDelay = 250 * time.Millisecond }), bond(func(b *netstate.Bond) { b.UpDelay, b.DownDelay = 200*time.Millisecond, 300*time.Millisecond })},
	{"min_links 0", BondMinLinks, Info, bond(func(b *netstate.Bond) { b.MinLinks = 0 }), bond(func(b *netstate.Bond) { b.MinLinks, b.Mode = 0, netstate.BalanceXOR })},
	{"an address on a port", BondPortAddress, Warning, port(func(l *netstate.Link) { l.Addresses = []netip.Prefix{netip.MustParsePrefix("10.5.0.1/24")} }), port(func(l *netstate.Link) { l.Addresses = []netip.Prefix{netip.MustParsePrefix("fe80::5/64")} })},
	{"a VLAN on a port", BondPortVLAN, Warning, vlanOn("eth1", 9000), vlanOn("bond0", 9000)},
	{"an address made up", BondForeignMAC, Info, func(h *netstate.Host) {
		h.Links[bond0].Owner, h.Links[bond0].MAC = "systemd-networkd", flow.MAC{0xaa, 1}
	},
		func(h *netstate.Host) { h.Links[bond0].MAC = flow.MAC{0xaa, 1} }},
	{"two owners", TwoOwners, Warning, func(h *netstate.Host) {
		h.Links[bond0].Owner, h.Links[port0].Owner = "NetworkManager", "systemd-networkd"
	},
		func(h *netstate.Host) { h.Links[bond0].Owner = "NetworkManager" }},
	{"a cloud's second interface", ReturnPath, Warning, func(h *netstate.Host) {
		h.Rules = []netstate.Rule{{Priority: 0, Table: 255}, {Priority: 32766, Table: 254}}
		h.Links = append(h.Links, netstate.Link{Name: "ens6", Driver: "ena", Up: true, Carrier: true, MTU: 9001, Addresses: []netip.Prefix{netip.MustParsePrefix("198.51.100.11/24")}})
	}, func(h *netstate.Host) {
		h.Links = append(h.Links, netstate.Link{Name: "ens6", Driver: "ena", Up: true, Carrier: true, MTU: 9001, Addresses: []netip.Prefix{netip.MustParsePrefix("198.51.100.11/24")}})
		h.Rules = []netstate.Rule{{Priority: 0, Table: 255}, {Priority: 100, From: netip.MustParsePrefix("198.51.100.11/32"), Table: 100}, {Priority: 32766, Table: 254}}
	}},
	{"a cloud's second interface, rules not read", ReturnPath, Info, func(h *netstate.Host) {
		h.Links = append(h.Links, netstate.Link{Name: "eth9", Driver: "hv_netvsc", Up: true, Carrier: true, MTU: 1500, Addresses: []netip.Prefix{netip.MustParsePrefix("198.51.100.11/24")}})
	}, func(h *netstate.Host) { // a storage network of a host of one's own
		h.Links = append(h.Links, netstate.Link{Name: "eth9", Driver: "ixgbe", Up: true, Carrier: true, MTU: 1500, Addresses: []netip.Prefix{netip.MustParsePrefix("198.51.100.11/24")}})
	}},
	{"a second interface and a filter that dropped", ReturnPath, Warning, secondNetwork("1", 12), secondNetwork("2", 12)},
	{"a second interface and a strict filter", ReturnPath, Info, secondNetwork("1", 0), secondNetwork("0", 0)},
	{"one address of two steered", SharedSubnet, Warning, oneSteered("eth9"), oneSteered("bond0")},
	{"Azure's own address by the second", HostRoute, Warning, hostRoute("168.63.129.16/32", "eth9"), hostRoute("168.63.129.16/32", "bond0")},
	{"a host route of one's own", HostRoute, Warning, hostRoute("168.63.129.16/32", "eth9"), hostRoute("203.0.113.7/32", "eth9")},
	{"a tuner", TwoOwners, Info, func(h *netstate.Host) { h.Owners = []string{"NetworkManager", "bpftune"} }, func(h *netstate.Host) { h.Owners = []string{"NetworkManager", "netplan"} }},
	{"use_carrier 0", BondUnwatched, Warning, bond(func(b *netstate.Bond) { b.Options = map[string]string{"use_carrier": "0"} }), bond(func(b *netstate.Bond) { b.Options = map[string]string{"use_carrier": "1"} })},
	{"two owners, a guest's end", TwoOwners, Warning, func(h *netstate.Host) { h.Links[bond0].Owner, h.Links[port0].Owner = "ifupdown", "wicked" }, func(h *netstate.Host) {
		h.Links = append(h.Links, netstate.Link{Name: "br0", Kind: "bridge", Up: true, MTU: 1500, Owner: "NetworkManager"}, netstate.Link{Name: "vnet0", Kind: "tun", Up: true, MTU: 1500, Master: "br0", Owner: "libvirt"})
	}},
}

// secondNetwork is an interface with a network and no gateway, with its reverse path
// filter and how many packets such filters have dropped.
func secondNetwork(filter string, dropped uint64) func(*netstate.Host) {
	return func(h *netstate.Host) {
		h.Rules = []netstate.Rule{{Priority: 0, Table: 255}, {Priority: 32766, Table: 254}}
		h.Links = append(h.Links, netstate.Link{Name: "eth9", Kind: "veth", Up: true, Carrier: true, MTU: 1500, Addresses: []netip.Prefix{netip.MustParsePrefix("198.51.100.11/24")}})
		h.Sysctls["net.ipv4.conf.eth9.rp_filter"] = netstate.Sysctl{Value: filter}
		h.Protocols["TcpExt.IPReversePathFilter"] = dropped
	}
}

// oneSteered is a second interface in bond0's subnet that alone has a rule, while the
// subnet's first route is that link's.
func oneSteered(first string) func(*netstate.Host) {
	return func(h *netstate.Host) {
		h.Links = append(h.Links, netstate.Link{Name: "eth9", Driver: "ixgbe", Up: true, Carrier: true, MTU: 1500, Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.11/24")}})
		h.Rules = []netstate.Rule{{Priority: 0, Table: 255}, {Priority: 100, From: netip.MustParsePrefix("10.0.0.11/32"), Table: 100}, {Priority: 32766, Table: 254}}
		h.Routes[0].Link = first
	}
}

// hostRoute is a route to one address by a link.
func hostRoute(to, link string) func(*netstate.Host) {
	return func(h *netstate.Host) {
		h.Links = append(h.Links, netstate.Link{Name: "eth9", Driver: "ixgbe", Up: true, Carrier: true, MTU: 1500, Addresses: []netip.Prefix{netip.MustParsePrefix("198.51.100.11/24")}})
		h.Routes = append(h.Routes, netstate.Route{Dst: netip.MustParsePrefix(to), Link: link, Table: 254})
	}
}

func vlanOn(parent string, mtu int) func(*netstate.Host) {
	return func(h *netstate.Host) {
		h.Links = append(h.Links, netstate.Link{Name: "lan", Kind: "vlan", Up: true, Carrier: true, MTU: mtu, VLAN: &netstate.VLAN{ID: 5, Parent: parent}})
	}
}

func TestBondKinds(t *testing.T) { checkKinds(t, bondCases) }

func TestKindsAreDistinct(t *testing.T) {
	all := slices.Clone(kinds[:])
	slices.Sort(all)
	if fmt.Sprint(all) != fmt.Sprint(slices.Compact(slices.Clone(all))) {
		t.Errorf("a kind is there twice: %v", all)
	}
}

// TestNoFalseAlarms: hosts as they come, about which there is nothing to say
// above Info.
func TestNoFalseAlarms(t *testing.T) {
	linux := func(links ...netstate.Link) netstate.Host {
		return netstate.Host{Name: "alpha", Kernel: netstate.Kernel{OS: "linux", Release: "6.12.0"}, CPU: netstate.CPU{Cores: 2}, Memory: 2 * unit.GiB,
			Links: append([]netstate.Link{{Name: "lo", Kind: "loopback", Up: true, Carrier: true, MTU: 65536}}, links...),
			Sysctls: map[string]netstate.Sysctl{
				"net.ipv4.tcp_mem": {Value: "21537 28719 43074"}, "net.ipv4.udp_mem": {Value: "43077 57438 86154"},
				"net.ipv4.tcp_rmem": {Value: "4096 131072 6291456"}, "net.ipv4.tcp_wmem": {Value: "4096 16384 4194304"},
				"net.ipv4.tcp_max_tw_buckets": {Value: "8192"}, "net.ipv4.tcp_max_orphans": {Value: "8192"}, "net.core.somaxconn": {Value: "4096"},
				"net.core.default_qdisc": {Value: "fq_codel"}, "net.ipv4.tcp_congestion_control": {Value: "cubic"},
				"net.ipv4.conf.all.rp_filter": {Value: "2"}, "net.ipv4.conf.default.rp_filter": {Value: "2"}, "net.ipv4.tcp_adv_win_scale": {Value: "1"},
			}, MPTCP: &netstate.MPTCP{Subflows: 2}}
	}
	prefix := netip.MustParsePrefix
	no, one := false, &netstate.Channels{Combined: 4, CombinedMax: 4}
	vm := netstate.Link{Name: "ens3", Driver: "virtio_net", Up: true, Carrier: true, MTU: 1500, Duplex: "unknown", Addresses: []netip.Prefix{prefix("192.0.2.5/24")},
		Offloads: map[string]bool{"gro": true, "gso": true, "tso": true, "rx": true, "tx": true, "sg": true, "lro": true}, Qdiscs: []netstate.Qdisc{{Kind: "mq", Parent: "root"}, {Kind: "fq_codel", Parent: "1:1"}},
		Device: &netstate.Device{Autoneg: &no, Channels: one, Rings: &netstate.Rings{Rx: 256, Tx: 256, RxMax: 256, TxMax: 256}}, Extra: map[string]string{"carrier_changes": "1"}}
	ena := vm
	ena.Name, ena.Driver, ena.MTU = "ens5", "ena", 9001
	ena.Offloads = map[string]bool{"gro": true, "gso": true, "tso": false, "rx": true, "tx": true, "sg": true}
	ena.Device = &netstate.Device{Fixed: []string{"tso", "lro"}, Channels: one, Statistics: map[string]uint64{"bw_out_allowance_exceeded": 3}}
	ena.Counters = netstate.Counters{RxPackets: 1e7, TxPackets: 1e7}
	bridge := netstate.Link{Name: "docker0", Kind: "bridge", Up: true, MTU: 1500, Addresses: []netip.Prefix{prefix("172.17.0.1/16")}}
	veth := netstate.Link{Name: "veth1", Kind: "veth", Up: true, Carrier: true, MTU: 1500, Master: "docker0", Speed: 10e9, Duplex: "full", Qdiscs: []netstate.Qdisc{{Kind: "noqueue", Parent: "root"}}}
	inside := netstate.Link{Name: "eth0", Kind: "veth", Up: true, Carrier: true, MTU: 1450, Speed: 10e9, Addresses: []netip.Prefix{prefix("10.244.0.5/32")}, Qdiscs: []netstate.Qdisc{{Kind: "noqueue", Parent: "root"}}}
	shaped := inside
	shaped.Qdiscs = []netstate.Qdisc{{Kind: "tbf", Parent: "root", Rate: unit.Gbps}, {Kind: "netem", Parent: "1:1", Delay: time.Millisecond, Loss: 0.01}}
	unplugged := netstate.Link{Name: "eno2", Driver: "igb", Up: true, MTU: 1500, Device: &netstate.Device{Autoneg: &no, FastestOwn: 1e9}}
	for name, h := range map[string]netstate.Host{
		"a fresh virtual machine":   linux(vm),
		"a cloud instance":          linux(ena),
		"a host of containers":      linux(vm, bridge, veth),
		"a container":               linux(inside),
		"a lab's shaped link":       linux(shaped),
		"a port without a cable":    linux(vm, unplugged),
		"a host known by its links": {Links: []netstate.Link{vm, bridge}},
		"another system":            {Kernel: netstate.Kernel{OS: "freebsd"}, Links: []netstate.Link{vm}, Sysctls: map[string]netstate.Sysctl{"net.ipv4.tcp_sack": {Value: "0"}}},
	} {
		for _, f := range Judge(h) {
			if f.Severity != Info {
				t.Errorf("%s: %s %s: %s", name, f.Severity, f.Kind, f.What)
			}
		}
	}
}

// TestLACPWhy: the states that two Linux bonds were measured in (6.1).
func TestLACPWhy(t *testing.T) {
	for _, c := range []struct {
		actor, partner uint8
		want           string
	}{
		{63, 63, ""}, {61, 61, ""}, {61, 60, ""}, {0, 0, ""}, // healthy, or not read
		{69, 1, "hears no partner"}, {71, 0, "hears no partner"}, {79, 0, "hears no partner"}, {143, 3, "hears no partner"},
		{13, 69, "does not hear this host"}, {7, 69, "does not hear this host"}, {63, 143, "does not hear this host"},
		{7, 15, "chose another group"}, {5, 13, "chose another group"},
		{15, 7, "refuses"},
	} {
		why, remedy := lacpWhy(netstate.Link{Name: "eth0", Port: &netstate.BondPort{ActorState: c.actor, PartnerState: c.partner}})
		if !strings.Contains(why, c.want) || (c.want == "") != (why == "") || (why == "") != (remedy == "") {
			t.Errorf("%d and %d: %q, %q; want %q", c.actor, c.partner, why, remedy, c.want)
		}
	}
}
