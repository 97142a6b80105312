package predict

import (
	"fmt"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// unlike is two hosts with two links of 10 Gbit/s each: a of a system, with a bond
// of these parameters and these addresses, and a Linux host.
func unlike(t *testing.T, system, parameters, addresses, far string) Fabric {
	t.Helper()
	text := fmt.Sprintf(`
linerate: v1
hosts:
  a:
    system: %s
    network:
      ethernets: {p0: {}, p1: {}}
      bonds: {b0: {interfaces: [p0, p1], parameters: {%s}, addresses: [%s]}}
    hardware: {links: {p0: {speed: 10G}, p1: {speed: 10G}}}
  b:
    network:
      ethernets: {p0: {}, p1: {}}
      bonds: {b0: {interfaces: [p0, p1], parameters: {mode: 802.3ad, transmit-hash-policy: layer3+4}, addresses: [%s]}}
    hardware: {links: {p0: {speed: 10G}, p1: {speed: 10G}}}
paths: [{between: [a, b], rtt: 100us, switch_hash: layer3+4}]
`, system, parameters, addresses, far)
	file, err := fabric.Parse("unlike.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	f := Fabric{Hosts: map[string]netstate.Host{}, Paths: file.EffectivePaths()}
	for _, h := range file.Hosts {
		if f.Hosts[h.Name], err = file.State(h.Name); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// TestUnlikeSystems predicts both ways between a host of another system and a Linux
// host: how many of two links flows use, in the mean and, where a rule is not
// published, at the least, and what is said of more.
func TestUnlikeSystems(t *testing.T) {
	const one, two = 10e9 * 1448 / 1538, 2 * 10e9 * 1448 / 1538
	const near1, near2 = "10.0.0.1/24", "10.0.0.1/24, 10.0.0.4/24"
	const far1, far2, far3 = "10.0.0.2/24", "10.0.0.2/24, 10.0.0.3/24", "10.0.0.2/24, 10.0.0.6/24"
	for _, c := range []struct {
		name, system, parameters, near, far string
		streams                             int
		send, sendLow                       float64 // by a; zero low: certain
		receive                             float64 // by a
		limit                               record.Cause
		says                                string
	}{
		{"IP hash, one pair", "esxi", "mode: iphash", near1, far1, 8, one, 0, two, record.SingleLink, "linerate steer addresses --system esxi"},
		{"IP hash, addresses that differ", "esxi", "mode: iphash", near1, far2, 8, two, 0, two, record.LineRate, ""},
		{"IP hash, addresses alike", "esxi", "mode: iphash", near1, far3, 8, one, 0, two, record.HashImbalance, "IP hash takes both IP addresses"},
		{"port ID, one adapter", "esxi", "mode: portid", near1, far2, 8, one, 0, one, record.SingleLink, "-l iphash"},
		{"port ID, two adapters", "esxi", "mode: portid", near2, far1, 8, two, one, two, record.LineRate, ""},
		{"explicit", "esxi", "mode: explicit", near2, far2, 8, one, 0, one, record.SingleLink, "esxcli"},
		{"LACP, two flows", "esxi", "mode: lacp", near1, far1, 2, two * .75, 0, two, record.HashImbalance, "not published"},
		{"Dynamic", "windows", "mode: SwitchIndependent, transmit-hash-policy: Dynamic", near1, far1, 8, two, one, one, record.LineRate, ""},
		{"HyperVPort", "windows", "mode: SET, transmit-hash-policy: HyperVPort", near1, far1, 8, one, 0, one, record.SingleLink, "vNICs with an address each (SMB multichannel"},
		{"HyperVPort, two vNICs", "windows", "mode: SET, transmit-hash-policy: HyperVPort", near2, far1, 8, two, one, two, record.LineRate, ""},
		{"TransportPorts", "windows", "mode: SwitchIndependent, transmit-hash-policy: TransportPorts", near1, far1, 2, two * .75, 0, one, record.HashImbalance, "iSCSI MPIO"},
		{"TransportPorts with LACP", "windows", "mode: Lacp, transmit-hash-policy: TransportPorts", near1, far1, 2, two * .75, 0, two, record.HashImbalance, ""},
		{"IPAddresses", "windows", "mode: Lacp, transmit-hash-policy: IPAddresses", near1, far2, 8, two, one, two, record.LineRate, ""},
		{"MacAddresses", "windows", "mode: Lacp, transmit-hash-policy: MacAddresses", near2, far2, 8, one, 0, two, record.SingleLink, "Set-NetLbfoTeam"},
		{"lagg", "freebsd", "mode: lacp", near1, far1, 2, two * .75, 0, two, record.HashImbalance, ""},
		{"lagg l2", "freebsd", "mode: lacp, transmit-hash-policy: l2", near1, far1, 8, one, 0, two, record.SingleLink, "lagghash l3,l4"},
		{"lagg failover", "freebsd", "mode: failover", near1, far1, 8, one, 0, one, record.SingleLink, "ifconfig b0 laggproto lacp"},
		{"AIX default", "aix", "mode: 8023ad", near1, far1, 8, one, 0, two, record.SingleLink, "hash_mode=src_dst_port"},
		{"AIX default, two peers", "aix", "mode: 8023ad", near1, far2, 8, two, 0, two, record.LineRate, ""},
		{"AIX by ports", "aix", "mode: 8023ad, transmit-hash-policy: src_dst_port", near1, far1, 2, two, 0, two, record.LineRate, ""},
	} {
		f := unlike(t, c.system, c.parameters, c.near, c.far)
		p := mustPredict(t, f, Traffic{Streams: c.streams})
		if !near(p.Rate, c.send, 1e-6) || p.Limit != c.limit || c.sendLow != 0 && !near(p.RateLow, c.sendLow, 1e-6) || c.sendLow == 0 && p.RateLow != 0 && p.RateLow < p.Rate {
			t.Errorf("%s: sends %v (at least %v), limited by %s, want %.4g, %.4g and %s", c.name, p.Rate, p.RateLow, p.Limit, c.send/1e9, c.sendLow/1e9, c.limit)
		}
		back := mustPredict(t, f, Traffic{Streams: c.streams, Direction: flow.Reverse})
		if !near(back.Rate, c.receive, 1e-6) {
			t.Errorf("%s: receives %v, want %.4g", c.name, back.Rate, c.receive/1e9)
		}
		var text []string
		for _, l := range p.Limits {
			text = append(text, l.Why)
		}
		all := strings.Join(text, "\n")
		if !strings.Contains(all, c.says) {
			t.Errorf("%s: does not say %q:\n%s", c.name, c.says, all)
		}
		for _, linux := range []string{"xmit_hash_policy", "balance-", "active-backup"} {
			if strings.Contains(all, linux) {
				t.Errorf("%s: %q of Linux:\n%s", c.name, linux, all)
			}
		}
	}
}
