package plan_test

import (
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// odd draws a host such as no kernel shows: links that name missing ones or
// ride on themselves, bonds of unknown modes, without ports or with ports that
// know nothing of it, and maps that are not there.
func odd(t *rapid.T, label string) netstate.Host {
	names := []string{"a", "b", "c", "d", "", "gone"}
	one := func(what string) string { return rapid.SampledFrom(names).Draw(t, label+what) }
	flip := func(what string) bool { return rapid.Bool().Draw(t, label+what) }
	address := func(what string) netip.Prefix {
		return rapid.SampledFrom([]netip.Prefix{{}, prefix("10.0.0.1/24"), prefix("10.0.0.2/24"), prefix("10.0.0.1/0"), prefix("fd00::1/64"), prefix("fe80::1/64"), prefix("0.0.0.0/0"), prefix("::/0")}).Draw(t, label+what)
	}
	var h netstate.Host
	if flip("sysctls") {
		h.Sysctls = map[string]netstate.Sysctl{}
		for _, key := range []string{"net.ipv4.ip_forward", "net.ipv6.conf.all.disable_ipv6", "net.ipv6.conf.a.disable_ipv6", "net.ipv6.conf..mtu", "x", "net.ipv4.conf.default.rp_filter"} {
			h.Sysctls[key] = netstate.Sysctl{Value: rapid.SampledFrom([]string{"", "0", "1", "1 2", "\t"}).Draw(t, label+key)}
		}
	}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names[:4]), 0, 4, func(s string) string { return s }).Draw(t, label+"links") {
		l := netstate.Link{Name: name, Up: flip(name + "up"), MTU: rapid.SampledFrom([]int{0, -1, 68, 1500, 70000}).Draw(t, label+name+"mtu"),
			Master: one(name + "master"), Kind: rapid.SampledFrom([]string{"", "dummy", "bond", "vlan", "bridge", "wireguard"}).Draw(t, label+name+"kind")}
		if flip(name + "mac") {
			l.MAC = flow.MAC{2, 0, 0, 0, 0, 1}
		}
		for range rapid.IntRange(0, 2).Draw(t, label+name+"addresses") {
			l.Addresses = append(l.Addresses, address(name+"address"))
		}
		if flip(name + "leased") {
			l.Leases = []netip.Prefix{address(name + "lease")}
		}
		if flip(name + "bond") {
			l.Bond = &netstate.Bond{Mode: netstate.BondMode(rapid.IntRange(0, 8).Draw(t, label+name+"mode")), Miimon: time.Duration(rapid.IntRange(-1, 1).Draw(t, label+name+"miimon")) * 50 * time.Millisecond, Active: one(name + "active")}
			for range rapid.IntRange(0, 3).Draw(t, label+name+"ports") {
				l.Bond.Ports = append(l.Bond.Ports, one(name+"port"))
			}
			if flip(name + "options") {
				l.Bond.Options = map[string]string{"primary": one(name + "primary"), "arp_interval": "x", "unknown": ""}
			}
		}
		if flip(name + "vlan") {
			l.VLAN = &netstate.VLAN{ID: rapid.IntRange(-1, 4096).Draw(t, label+name+"id"), Parent: one(name + "parent")}
		}
		if flip(name + "port") {
			l.Port = &netstate.BondPort{Bond: one(name + "port bond"), Priority: -3, QueueID: 70000}
		}
		if flip(name + "device") {
			l.Device = &netstate.Device{Coalescing: map[string]int{"rx-usecs": 3}}
			l.Offloads = map[string]bool{"gro": flip(name + "gro")}
		}
		if flip(name + "qdisc") {
			l.Qdiscs = []netstate.Qdisc{{Kind: rapid.SampledFrom([]string{"", "fq", "htb", "cake", "tbf"}).Draw(t, label+name+"qdisc kind"), Parent: "root"}}
		}
		h.Links = append(h.Links, l)
	}
	for range rapid.IntRange(0, 3).Draw(t, label+"routes") {
		r := netstate.Route{Dst: address("dst"), Link: one("route link"), Gateway: address("gateway").Addr(), Source: address("source").Addr(), Table: rapid.SampledFrom([]int{-1, 0, 254, 255, 7}).Draw(t, label+"table"),
			Protocol: rapid.SampledFrom([]string{"", "static", "kernel", "ra", "dhcp", "9"}).Draw(t, label+"protocol")}
		if flip("hops") {
			r.Hops = []netstate.NextHop{{}, {Link: one("hop"), Gateway: address("hop gateway").Addr()}}
		}
		h.Routes = append(h.Routes, r)
		h.Rules = append(h.Rules, netstate.Rule{Priority: rapid.IntRange(-1, 2).Draw(t, label+"priority"), From: address("from"), Table: r.Table})
	}
	if flip("mptcp") {
		h.MPTCP = &netstate.MPTCP{Subflows: 9, Endpoints: []netstate.MPTCPEndpoint{{Addr: address("endpoint").Addr(), Link: one("endpoint link")}}}
	}
	if flip("absent") {
		h.Absent = []string{one("absent 1"), one("absent 2")}
	}
	return h
}

// TestOddHosts: whatever is observed and wanted, a plan or an error comes of
// it, soon, and what is planned can be done on the model and undone.
func TestOddHosts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		observed, desired := odd(t, "observed "), odd(t, "desired ")
		observed.Absent = nil
		begun := time.Now()
		p, err := plan.Between(observed, desired)
		if took := time.Since(begun); took > 10*time.Second {
			t.Fatalf("took %v", took)
		}
		if err != nil {
			return
		}
		_ = p.Text(80)
		after, err := plan.Apply(observed, p)
		if err != nil {
			t.Fatalf("apply: %v\n%s", err, p.Text(80))
		}
		if _, err := plan.Apply(after, p.Rollback()); err != nil {
			t.Fatalf("undo: %v\n%s", err, p.Text(80))
		}
	})
}

// A rare draw of TestOddHosts: two VLANs that are parents of each other.
func TestParentsOfEachOther(t *testing.T) {
	observed := netstate.Host{Links: []netstate.Link{
		{Name: "v1", Kind: "vlan", MTU: 1500, VLAN: &netstate.VLAN{ID: 1, Parent: "v2"}},
		{Name: "v2", Kind: "vlan", MTU: 1500, VLAN: &netstate.VLAN{ID: 2, Parent: "v1"}},
	}}
	desired := observed.Clone()
	desired.Links[0].MTU, desired.Links[0].Up = 1400, true
	_, _ = plan.Between(observed, desired) // an error or not, but an end
}
