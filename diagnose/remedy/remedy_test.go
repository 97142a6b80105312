package remedy

import (
	"regexp"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// linux are words that a host which does not run Linux knows nothing of.
var linux = regexp.MustCompile(`(?i)/sys/|/proc/|sysfs|net\.(ipv4|ipv6|core)\.|xmit_hash|layer[23]|balance-|802\.3ad|\btc qdisc\b|\bip (link|route|rule|addr)\b|ethtool|netplan|nmcli|\bss -|systemctl|linerate tune`)

// host is a host of a system with one bond of two ports.
func host(name, system, mode, policy string) netstate.Host {
	h := netstate.Host{Name: name, Kernel: netstate.Kernel{OS: system}}
	bond := netstate.Bond{Mode: netstate.ModeUnread, HashPolicy: netstate.PolicyUnread, Ports: []string{"p0", "p1"}, Own: &netstate.OwnRule{Mode: mode, Policy: policy}}
	for _, p := range bond.Ports {
		h.Links = append(h.Links, netstate.Link{Name: p, Up: true, Port: &netstate.BondPort{Bond: "b0", MIIUp: true, Active: true}})
	}
	h.Links = append(h.Links, netstate.Link{Name: "b0", Kind: "bond", Up: true, Bond: &bond})
	return h
}

// Whatever binds, and on whichever side, a host that is not Linux is given no
// command of Linux, and one of Linux keeps its text.
func TestNoLinuxElsewhere(t *testing.T) {
	of := func(host string) record.Remedy {
		return record.Do(HashPorts(host, "bond0"), record.Sysctl(host, "net.ipv4.tcp_rmem", "1")).Or(record.Run(host, "ip", "link", "set", "dev", "bond0", "mtu", "9000"))
	}
	for _, s := range bondopt.Systems() {
		for _, mode := range s.Modes {
			for _, policy := range s.Policies {
				hosts := map[string]netstate.Host{"near": host("near", s.Name, mode.Word, policy.Word), "far": host("far", s.Name, mode.Word, policy.Word), "plain": {Name: "plain", Kernel: netstate.Kernel{OS: bondopt.Linux}}}
				for _, c := range record.Causes() {
					given := of("near").Or(of("far")[0]...)
					got := On(hosts, c, "near", "far", "", given).Text()
					if got == given.Text() || got == "" || linux.MatchString(strings.ReplaceAll(got, "network ip ", "")) {
						t.Errorf("%s, %s %s, %s: %q", s.Name, mode.Word, policy.Word, c, got)
					}
					if strings.Contains(got, "vSwitchN") || strings.Contains(got, "laggX") || strings.Contains(got, "entX") {
						t.Errorf("%s, %s: the bond's name is known, and stands not in %q", s.Name, c, got)
					}
					if got := On(hosts, c, "plain", "plain", "", of("plain")).Text(); got != of("plain").Text() {
						t.Errorf("Linux, %s: %q", c, got)
					}
				}
			}
		}
	}
}

// With two bonds nobody can tell which it is: the names stand for either.
func TestTwoBonds(t *testing.T) {
	for _, s := range bondopt.Systems() {
		h := host("near", s.Name, s.Modes[0].Word, s.Policies[0].Word)
		second := h.Links[2].Clone()
		second.Name = "b1"
		h.Links = append(h.Links, second)
		for _, c := range record.Causes() {
			if got := On(map[string]netstate.Host{"near": h}, c, "near", "far", "", record.ByHand("text")).Text(); got == "" || linux.MatchString(strings.ReplaceAll(got, "network ip ", "")) {
				t.Errorf("%s, %s: %q", s.Name, c, got)
			}
		}
	}
}

// The remedy is for the host that the cause is on.
func TestWhoseRemedy(t *testing.T) {
	hosts := map[string]netstate.Host{
		"esx": host("esx", bondopt.ESXi, "portid", ""), "win": host("win", bondopt.Windows, "Lacp", "IPAddresses"),
		"nas": host("nas", bondopt.FreeBSD, "lacp", "l2"), "power": host("power", bondopt.AIX, "8023ad", "default"),
		"plain": {Name: "plain"},
	}
	const text = "sysctl -w net.ipv4.tcp_rmem=1"
	for _, c := range []struct {
		cause        record.Cause
		from, to, at string
		says         string
	}{
		{record.ReceiveWindow, "plain", "win", "", "autotuninglevel=normal"},
		{record.ReceiveWindow, "win", "plain", "", text},
		{record.SendBuffer, "nas", "plain", "", "net.inet.tcp.sendbuf_max"},
		{record.SendBuffer, "plain", "nas", "", text},
		{record.ReceiveWindow, "nas", "power", "", "rfc1323=1"},
		{record.HashImbalance, "plain", "esx", "esx", "esxcli network vswitch standard policy failover set -v b0 -l iphash"},
		{record.HashImbalance, "plain", "esx", "plain", text},
		{record.SingleLink, "plain", "win", "win", text},
		{record.SingleLink, "win", "plain", "", "Set-NetLbfoTeam -Name 'b0' -LoadBalancingAlgorithm TransportPorts, and several flows (SMB multichannel, or iSCSI MPIO"},
		{record.SingleLink, "nas", "plain", "", "ifconfig b0 lagghash l3,l4"},
		{record.SingleLink, "power", "plain", "", "chdev -l b0 -a hash_mode=src_dst_port"},
		{record.LACPDown, "plain", "win", "win", "Get-NetLbfoTeamMember -Team 'b0'"},
		{record.CardSlot, "esx", "plain", "", "more lanes"},
	} {
		if got := On(hosts, c.cause, c.from, c.to, c.at, record.ByHand(text)).Text(); !strings.Contains(got, c.says) {
			t.Errorf("%s from %s to %s at %q: %q does not say %q", c.cause, c.from, c.to, c.at, got, c.says)
		}
	}
	trial := record.Trial{From: "win", To: "plain", Direction: flow.Reverse}
	if got := OfTrial(hosts, trial, record.ReceiveWindow, Usual(record.ReceiveWindow)).Text(); !strings.Contains(got, "autotuning") {
		t.Errorf("reverse: %q", got)
	}
	if got := OfTrial(hosts, trial, record.ReceiveWindow, record.ByHand("as it was found")).Text(); got != "as it was found" {
		t.Errorf("a text of its own became %q", got)
	}
}
