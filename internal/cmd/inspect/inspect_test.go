package inspect

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"
	"time"

	diagnosehost "github.com/linerate/linerate/diagnose/host"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// sick is a host about which there is much to say.
func sick() netstate.Host {
	return netstate.Host{
		Name: "alpha", Kernel: netstate.Kernel{OS: "linux", Release: "6.1.0-32-amd64", Arch: "x86_64"},
		CPU: netstate.CPU{Cores: 48, Model: "AMD EPYC"}, Owners: []string{"netplan", "systemd-networkd"},
		Links: []netstate.Link{
			{Name: "eth0", Up: true, Carrier: true, Speed: 25e9, MTU: 9000, Driver: "ice", Master: "bond0", Port: &netstate.BondPort{Bond: "bond0", Active: true, MIIUp: true, AggregatorID: 1, FailureCount: 3},
				Qdiscs: []netstate.Qdisc{{Kind: "tbf", Rate: 500e6, Burst: 65536}, {Kind: "netem", Delay: 4 * time.Millisecond, Loss: 0.01}, {Kind: "fq", FlowRate: 1e9}, {Kind: "noqueue"}}},
			{Name: "eth1", Up: true, MTU: 9000, Master: "bond0", Port: &netstate.BondPort{Bond: "bond0", AggregatorID: 2}},
			{Name: "bond0", Kind: "bond", Up: true, Carrier: true, MTU: 9000, Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/24"), netip.MustParsePrefix("2001:db8::1/64")},
				Bond: &netstate.Bond{Mode: netstate.LACP, Miimon: 100 * time.Millisecond, Ports: []string{"eth0", "eth1", "gone"}, AD: &netstate.Aggregator{ID: 1, Ports: 1, PartnerMAC: flow.MAC{2, 0, 0, 0, 0, 1}}}},
			{Name: "lan", Kind: "vlan", MTU: 9000, VLAN: &netstate.VLAN{ID: 1904, Parent: "bond0"}},
		},
		Sysctls: map[string]netstate.Sysctl{"net.ipv4.tcp_rmem": {Value: "4096 131072 6291456"}},
		Missing: []string{"eth1: speed: the driver does not say"},
	}
}

func TestInspectText(t *testing.T) {
	var out bytes.Buffer
	con := &console.Console{Stdout: &out, Stderr: &out}
	h := sick()
	if err := printInspected(con, inspected{Host: h, Findings: diagnosehost.Judge(h)}, false); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	fits(t, text)
	for _, want := range []string{
		"alpha: linux 6.1.0-32-amd64 x86_64, 48 cores (AMD EPYC)\n",
		"managed by netplan, systemd-networkd\n",
		"eth0   ice                 up          25.0 Gbit/s  9000  bond0   -\n",
		"eth1   -                   no carrier  -            9000  bond0   -\n",
		"lan    vlan 1904 on bond0  down",
		"10.0.0.1/24\n", "2001:db8::1/64\n",
		"bond bond0: 802.3ad, layer2, LACP rate slow, min_links 0, miimon 100 ms\n",
		"  active aggregator 1: 1 ports, partner 02:00:00:00:00:01\n",
		"  0 eth0: up, in the active aggregator, failed 3 times\n",
		"  1 eth1: no carrier, in aggregator 2, not the active one\n",
		"  2 gone: unknown\n",
		"shaper on eth0: tbf 500 Mbit/s, burst 64 KiB\n",
		"shaper on eth0: netem delay 4ms, loss 1 %\n",
		"shaper on eth0: fq 1.00 Gbit/s a flow\n",
		"net.ipv4.tcp_rmem = 4096 131072 6291456\n",
		"not read: eth1: speed: the driver does not say\n",
		"fault: bond0 runs on 1 of 2 ports: eth1 is down\n",
		"IFLA_BOND_XMIT_HASH_POLICY", "  To do: ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "qdisc noqueue") || strings.Contains(text, "shaper on eth0: noqueue") || strings.Contains(text, "nothing found wrong") {
		t.Errorf("too much is said:\n%s", text)
	}
}

// TestCalibrationText: what was measured, its bound, and the line to paste, in
// 80 columns.
func TestCalibrationText(t *testing.T) {
	c := calibration{CoreRateReply: agentapi.CoreRateReply{
		Over: agentapi.OverLoopback, Why: "make a namespace: unshare network namespace: operation not permitted", Sender: 3, Receiver: 2,
		StreamRate: 31.24e9, StreamMost: 48.6e9, PacketRate: 1123456, PacketBytes: 64, Elapsed: 3.21,
		Stream: agentapi.CoreWork{Send: 0.166, Softirq: 0.153, Receive: 0.109}, Packet: agentapi.CoreWork{Send: 1.85e-6, Receive: 9e-7},
		Notes: []string{"other work took 17 % of the busy time of core 0: caches were shared with it"},
	}}
	state := netstate.CPU{Cores: 48, StreamRate: significant(c.StreamRate), PacketRate: float64(significant(unit.BitRate(c.PacketRate)))}
	c.Fabric = coreLine(state)
	var out bytes.Buffer
	printCalibration((&console.Console{Stdout: &out, Stderr: &out}), "alpha", c)
	fits(t, out.String())
	for _, want := range []string{
		"measured for 3.2 s over loopback, sender on core", "  one stream      31.2 Gbit/s with its busier core full\n",
		"  single packets  1120000 a second, 64 bytes each\n", "    a gigabyte    166 ms       153 ms       109 ms\n",
		"    a packet      1.85 us      -            900 ns\n", "operation not permitted", "other work took 17 %", "48.6 Gbit/s", "bounds from above",
		"for the fabric file, below hosts.alpha.hardware:\n  cpu: {cores: 48, stream_rate: 31.2G, packet_rate: 1120000}\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	text := "linerate: v1\nhosts:\n  alpha:\n    reach: 'local:'\n    hardware:\n      " + c.Fabric + "\n"
	f, err := fabric.Parse("pasted.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%s does not parse: %v", c.Fabric, err)
	}
	if got := f.Hosts[0].Hardware.CPU; got != state {
		t.Errorf("pasted it is %+v, measured %+v", got, state)
	}
}
