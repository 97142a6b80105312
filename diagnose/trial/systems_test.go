package trial

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// of is a pair of which host a, or b, runs another system with a bond of its own
// words.
func of(host, system, mode, policy string) predict.Fabric {
	f := pair{end: end{links: 2, policy: netstate.Layer34}}.fabric()
	h := f.Hosts[host].Clone()
	h.Kernel = netstate.Kernel{OS: system}
	for i := range h.Links {
		if b := h.Links[i].Bond; b != nil {
			b.Own, b.Mode, b.HashPolicy, b.AD = &netstate.OwnRule{Mode: mode, Policy: policy}, netstate.ModeUnread, netstate.PolicyUnread, nil
		}
	}
	f.Hosts[host] = h
	return f
}

// TestOtherSystems: what limits a trial with a host that does not run Linux is said,
// and repaired, in that system's own words.
func TestOtherSystems(t *testing.T) {
	oneOut, oneIn := sent(8, rates(one, 0), rates(one/2, one/2)), sent(8, rates(one/2, one/2), rates(one, 0))
	short := func(rwnd, sndbuf float64) record.Trial {
		return tcpOf(own(sent(2, rates(one/3, one/3), rates(one/3, one/3)), 2*one/3), func(s *record.TCP) { s.RwndLimited, s.SndbufLimited = rwnd, sndbuf })
	}
	for _, r := range []rule{
		{name: "ESXi, port ID", fabric: of("a", bondopt.ESXi, "portid", ""), trial: oneOut, cause: record.SingleLink, summary: "originating virtual port",
			remedy: "esxcli network vswitch standard policy failover set -v bond0 -l iphash", not: "layer3+4", leastSure: 0.9},
		{name: "ESXi, IP hash", fabric: of("a", bondopt.ESXi, "iphash", ""), trial: oneOut, cause: record.SingleLink, summary: "IP hash takes both IP addresses",
			remedy: "linerate steer addresses --system esxi", not: "xmit_hash", leastSure: 0.9},
		{name: "Windows, MAC addresses", fabric: of("a", bondopt.Windows, "Lacp", "MacAddresses"), trial: oneOut, cause: record.SingleLink, summary: "MacAddresses",
			remedy: "Set-NetLbfoTeam -Name 'bond0' -LoadBalancingAlgorithm TransportPorts", not: "layer3+4", leastSure: 0.9},
		{name: "Windows receives on one member", fabric: of("b", bondopt.Windows, "SwitchIndependent", "TransportPorts"), trial: oneIn, cause: record.SingleLink,
			summary: "the one that has the team's MAC address", remedy: "Set-NetLbfoTeam -Name 'bond0' -TeamingMode Lacp", not: "switch's hash", leastSure: 0.9},
		{name: "FreeBSD, l2", fabric: of("a", bondopt.FreeBSD, "lacp", "l2"), trial: oneOut, cause: record.SingleLink, summary: "lagghash l2",
			remedy: "ifconfig bond0 lagghash l3,l4", not: "layer3+4", leastSure: 0.9},
		{name: "AIX, default", fabric: of("a", bondopt.AIX, "8023ad", "default"), trial: oneOut, cause: record.SingleLink, summary: "hash mode default",
			remedy: "chdev -l bond0 -a hash_mode=src_dst_port", not: "layer3+4", leastSure: 0.9},
		{name: "a window of Windows", fabric: of("b", bondopt.Windows, "Lacp", "TransportPorts"), trial: short(0.9, 0), cause: record.ReceiveWindow, remedy: "autotuninglevel=normal", not: "tcp_rmem"},
		{name: "a window of AIX", fabric: of("b", bondopt.AIX, "8023ad", "src_dst_port"), trial: short(0.9, 0), cause: record.ReceiveWindow, remedy: "rfc1323=1", not: "tcp_rmem"},
		{name: "a buffer of FreeBSD", fabric: of("a", bondopt.FreeBSD, "lacp", "l3,l4"), trial: short(0, 0.9), cause: record.SendBuffer, remedy: "net.inet.tcp.sendbuf_max", not: "tcp_wmem"},
		{name: "a window of Linux beside FreeBSD", fabric: of("a", bondopt.FreeBSD, "lacp", "l3,l4"), trial: short(0.9, 0), cause: record.ReceiveWindow, remedy: "on b: `sysctl -w 'net.ipv4.tcp_rmem="},
	} {
		r.expected = Judge(r.fabric, r.trial).Expected
		if byPorts := r.cause == record.SingleLink && (strings.Contains(r.remedy, "hash") || strings.Contains(r.remedy, "TransportPorts")) && !strings.Contains(r.remedy, "esxcli"); byPorts && r.expected < 1.8*one {
			t.Errorf("%s: expects %v with a hash of ports", r.name, r.expected)
		}
		t.Run(r.name, r.check)
	}
}
