package inspect

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/host/observe"
	"github.com/linerate/linerate/internal/kernel/sysctl"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// rich is a host with some of everything that is read.
func rich() netstate.Host {
	p, a := netip.MustParsePrefix, netip.MustParseAddr
	on, node := false, 1
	partner, second := flow.MAC{2, 0, 0, 0, 9, 1}, flow.MAC{2, 0, 0, 0, 9, 2}
	h := netstate.Host{
		Name: "rbx", Kernel: netstate.Kernel{OS: "linux", Release: "6.1.0", Arch: "x86_64"}, CPU: netstate.CPU{Cores: 64, Governor: "powersave"},
		Memory: 256 * unit.GiB, CoreNodes: []int{0, 0, 1, 1}, Machine: &netstate.Machine{Vendor: "Dell Inc.", Product: "PowerEdge R750", Provider: "ovh"},
		Owners: []string{"systemd-networkd"}, MPTCP: &netstate.MPTCP{Subflows: 8, AddAddrAccepted: 8, Endpoints: []netstate.MPTCPEndpoint{{Addr: a("10.0.0.2"), Link: "ens2f0", Flags: netstate.MPTCPSubflow}}},
		Links: []netstate.Link{
			{Name: "ens2f0", Up: true, Carrier: true, Speed: 10e9, MTU: 9000, Driver: "mlx5_core", Master: "bond0", Owner: "systemd-networkd", Duplex: "half",
				Port:     &netstate.BondPort{Bond: "bond0", Active: true, MIIUp: true, AggregatorID: 1, ActorState: 0x3d, PartnerState: 0x3d, PartnerMAC: partner, PartnerKey: 15, ActorChurn: "none", PartnerChurn: "none"},
				Counters: netstate.Counters{RxCRC: 12}, Offloads: map[string]bool{"gro": true, "lro": false},
				Qdiscs: []netstate.Qdisc{{Kind: "mq", Parent: "root"}, {Kind: "fq_codel", Parent: ":1"}, {Kind: "fq_codel", Parent: ":2"}, {Kind: "clsact", Parent: "ingress"}},
				Device: &netstate.Device{
					Firmware: "20.34.1002", Autoneg: &on, FastestOwn: 25e9, FastestPartner: 25e9, Rings: &netstate.Rings{Rx: 1024, Tx: 8192, RxMax: 8192, TxMax: 8192},
					Channels: &netstate.Channels{Combined: 8, CombinedMax: 64}, Coalescing: map[string]int{"adaptive-rx": 1, "rx-usecs": 8, "tx-usecs": 0}, Pause: &netstate.Pause{Rx: true},
					Statistics: map[string]uint64{"a_err": 1, "b_err": 2, "c_err": 3, "d_err": 4, "e_err": 5, "f_err": 6, "g_err": 7}, Fixed: []string{"lro"},
					Node: &node, IRQs: []netstate.IRQ{{Number: 1, Cores: []int{2}}, {Number: 2, Cores: []int{3, 9}}}, RPS: []netstate.QueueCores{{Queue: 0, Cores: []int{1}}},
				}},
			{Name: "ens2f1", Up: true, Carrier: true, MTU: 9000, Master: "bond0",
				Port: &netstate.BondPort{Bond: "bond0", MIIUp: true, AggregatorID: 2, ActorState: 0x45, PartnerState: 0x01, PartnerMAC: second, PartnerKey: 16, ActorChurn: "churned", PartnerChurn: "churned"}},
			{Name: "bond0", Kind: "bond", Up: true, Carrier: true, MTU: 9000, Addresses: []netip.Prefix{p("10.0.0.2/24"), p("2001:db8:1234:5678:216:3eff:fe12:3456/64")},
				Bond: &netstate.Bond{Mode: netstate.LACP, Ports: []string{"ens2f0", "ens2f1"}, AD: &netstate.Aggregator{ID: 1, Ports: 1, PartnerMAC: partner}, Options: map[string]string{"ad_select": "stable"}}},
			{Name: "br0", Kind: "bridge", Up: true, MTU: 1500, Bridge: &netstate.Bridge{Options: map[string]string{"stp_state": "1", "vlan_filtering": "0"}}},
			{Name: "team0", Kind: "team", MTU: 1500},
		},
		Routes: []netstate.Route{
			{Dst: p("0.0.0.0/0"), Gateway: a("10.0.0.1"), Link: "bond0", Table: 254, Metric: 100, Protocol: "dhcp"},
			{Dst: p("10.0.0.0/24"), Link: "bond0", Table: 254, Protocol: "kernel", Source: a("10.0.0.2")},
			{Dst: p("10.9.0.0/16"), Table: 101, Protocol: "static", Hops: []netstate.NextHop{{Gateway: a("10.0.0.8"), Link: "bond0", Weight: 1}, {Gateway: a("10.0.0.9"), Link: "bond0", Weight: 2, Dead: true}}},
			{Dst: p("192.0.2.0/24"), Type: "blackhole", Table: 254},
		},
		Rules:   []netstate.Rule{{Priority: 0, Table: 255, Family: "ipv4"}, {Priority: 100, From: p("10.0.0.2/32"), Table: 101}, {Priority: 32766, Table: 254}},
		Sysctls: map[string]netstate.Sysctl{"net.ipv4.tcp_sack": {Value: "0", Scope: netstate.ScopeNamespace}, "net.core.netdev_budget": {Value: "600", Scope: netstate.ScopeGlobal}, "net.ipv4.tcp_dsack": {Value: "1", Scope: netstate.ScopeNamespace}, "net.ipv4.tcp_wmem": {Value: "4096 16384 67108864", Scope: netstate.ScopeNamespace}},
	}
	for i := range 30 {
		h.Links = append(h.Links, netstate.Link{Name: fmt.Sprintf("veth%d", i), Kind: "veth", MTU: 1500, Master: "br0"})
	}
	return h
}

func shown(t *testing.T, h netstate.Host, all bool) string {
	t.Helper()
	var out bytes.Buffer
	if err := printInspected((&console.Console{Stdout: &out, Stderr: &out}), inspected{Host: h}, all); err != nil {
		t.Fatal(err)
	}
	fits(t, out.String())
	return out.String()
}

func TestInspectShowsWhatMatters(t *testing.T) {
	text := shown(t, rich(), false)
	joined := strings.Join(strings.Fields(text), " ")
	for _, want := range []string{
		"Dell Inc. PowerEdge R750, at ovh, 256 GiB of memory, 2 memory nodes, governor powersave",
		"and 30 veth links without an address (--all lists them)",
		"ens2f0: managed by systemd-networkd; firmware 20.34.1002; autonegotiation off; could run at 25.0 Gbit/s; the partner offers up to 25.0 Gbit/s; rings rx 1024 of 8192 tx 8192; channels combined 8 of 64; moderation adaptive-rx 1 rx-usecs 8; pause rx on tx off; memory node 1; 2 interrupts on cores 2-3,9; RPS of 1 queue to core 1; counted: g_err 7, f_err 6, e_err 5, d_err 4, c_err 3, b_err 2 and 1 more; half duplex; 12 CRC errors",
		"0 ens2f0: up, in the active aggregator 1 ens2f1:",
		"1 ens2f1: up, in aggregator 2, not the active one, partner 02:00:00:00:09:02 key 16, no partner heard, this end churn churned, the partner churn churned",
		"bridge br0: 30 ports; spanning tree", "team team0: ports -",
		"route default via 10.0.0.1 dev bond0 metric 100 proto dhcp",
		"route 10.9.0.0/16 table 101 proto static nexthop via 10.0.0.8 dev bond0 weight 1 nexthop via 10.0.0.9 dev bond0 weight 2 (left out: its link is down)",
		"route blackhole 192.0.2.0/24", "rule 100: from 10.0.0.2/32 lookup 101",
		"MPTCP: 8 subflows, 8 announced addresses accepted", "endpoint 10.0.0.2 dev ens2f0 subflow",
		"qdisc mq (fq_codel): ens2f0",
		"net.ipv4.tcp_wmem = 4096 16384 67108864 (kernel: 4096 16384 4194304)",
		"sysctls of this network namespace that are not the kernel's defaults: net.ipv4.tcp_sack = 0 (kernel: 1)",
		"sysctls of the whole machine that are not the kernel's defaults: net.core.netdev_budget = 600 (kernel: 300)",
	} {
		if !strings.Contains(joined, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, not := range []string{"proto kernel", "rule 0:", "veth1", "tcp_dsack", "offloads on", "ad_select", "states:"} {
		if strings.Contains(text, not) {
			t.Errorf("too much is said: %q in\n%s", not, text)
		}
	}
}

func TestInspectAllShowsEverything(t *testing.T) {
	text := shown(t, rich(), true)
	joined := strings.Join(strings.Fields(text), " ")
	for _, want := range []string{
		"veth29", "a_err 1", "tx-usecs 0", "offloads on: gro; off: lro (fixed)", "options: ad_select=stable", "options: stp_state=1 vlan_filtering=0",
		"partner 02:00:00:00:09:01 key 15", "states: active, aggregatable, in sync, collecting, distributing / active, aggregatable, in sync, collecting, distributing",
		"proto kernel", "rule 0: from all lookup local", "rule 32766: from all lookup main", "net.ipv4.tcp_dsack = 1",
	} {
		if !strings.Contains(joined, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestKernelDefaults: in a table of keys a wrong name would never be seen.
func TestKernelDefaults(t *testing.T) {
	h, err := observe.Observe(t.Context(), observe.Config{})
	if err != nil {
		t.Fatal(err)
	}
	known := 0
	for key := range kernelDefaults {
		if _, err := sysctl.Canonical(strings.Replace(key, "*", "all", 1)); err != nil {
			t.Errorf("%s: %v", key, err)
		}
		if _, ok := h.Sysctls[strings.Replace(key, "*", "all", 1)]; ok {
			known++
		}
	}
	if len(h.Sysctls) > 0 && known*10 < len(kernelDefaults)*7 {
		t.Errorf("only %d of %d keys of the table are read on this host", known, len(kernelDefaults))
	}
	if got := changedText("net.ipv4.conf.eth0/100.rp_filter", "2"); got != " (kernel: 0)" {
		t.Errorf("a link's key: %q", got)
	}
	if got := changedText("net.ipv4.tcp_mem", "1 2 3"); got != "" {
		t.Errorf("what hangs on memory: %q", got)
	}
}
