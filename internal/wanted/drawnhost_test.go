package wanted_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/linerate/linerate/netstate"
)

// draw is a source of hosts that somebody else set up.
type draw struct {
	*rand.Rand
	h    netstate.Host
	used map[string]bool
}

func (d *draw) chance(percent int) bool { return d.IntN(100) < percent }

func pick[T any](d *draw, all ...T) T { return all[d.IntN(len(all))] }

// drawHost is a host with something of everything that hosts have.
func drawHost(seed uint64) netstate.Host {
	d := &draw{Rand: rand.New(rand.NewPCG(seed, 7)), used: map[string]bool{}}
	d.h = netstate.Host{Name: "h", Kernel: netstate.Kernel{OS: "linux", Release: pick(d, "5.10.0", "6.1.0", "6.12.1", "6.18.44")}, CPU: netstate.CPU{Cores: 4}}
	d.sysctls()
	d.h.Links = append(d.h.Links, netstate.Link{Name: "lo", Kind: "loopback", Up: true, Carrier: true, MTU: 65536, Addresses: d.loopback()})
	for i := range 2 + d.IntN(4) {
		d.link(netstate.Link{Name: fmt.Sprintf("eth%d", i), Kind: pick(d, "", "", "veth"), MTU: pick(d, 1500, 1500, 9000, 1400)})
	}
	d.bonds()
	d.uppers()
	for i := range d.h.Links {
		d.addresses(&d.h.Links[i])
	}
	d.kernelRoutes()
	for range d.IntN(12) {
		d.route()
	}
	d.rules()
	d.mptcp()
	return d.h
}

func (d *draw) loopback() []netip.Prefix {
	all := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/8"), netip.MustParsePrefix("::1/128")}
	if d.chance(30) {
		all = append(all, netip.MustParsePrefix("10.255.0.1/32"), netip.MustParsePrefix("fd00:ff::1/128"))
	}
	return all
}

func (d *draw) sysctls() {
	d.h.Sysctls = map[string]netstate.Sysctl{}
	for key, values := range map[string][]string{
		"net.ipv4.fib_multipath_hash_policy": {"0", "1", ""}, "net.ipv6.fib_multipath_hash_policy": {"0", "1", ""},
		"net.mptcp.enabled": {"0", "1", ""}, "net.ipv4.tcp_rmem": {"4096\t131072\t6291456"}, "net.ipv4.tcp_wmem": {"4096 16384 4194304", ""},
	} {
		if v := values[d.IntN(len(values))]; v != "" {
			d.h.Sysctls[key] = netstate.Sysctl{Value: v, Scope: netstate.ScopeNamespace}
		}
	}
}

func (d *draw) link(l netstate.Link) {
	l.Index = len(d.h.Links) + 1
	l.Up, l.Carrier = d.chance(85), d.chance(90)
	l.MAC[5] = byte(l.Index)
	l.PermanentMAC = l.MAC
	d.h.Links = append(d.h.Links, l)
}

// bonds have none, one or several of the links as ports, in any mode.
func (d *draw) bonds() {
	free := []int{}
	for i, l := range d.h.Links {
		if l.Kind != "loopback" && d.chance(50) {
			free = append(free, i)
		}
	}
	for b := range d.IntN(3) {
		name := fmt.Sprintf("bond%d", b)
		bond := &netstate.Bond{Mode: netstate.BondMode(d.IntN(7)), PacketsPerSlave: pick(d, 1, 1, 3), TLBDynamic: d.chance(70), Ports: []string{},
			Miimon: pick(d, 0, 100*time.Millisecond), Options: map[string]string{
				"ad_select": pick(d, "stable 0", "bandwidth 1", "actor_port_prio 3"), "primary_reselect": "always 0", "lacp_active": pick(d, "on 1", "off 0"),
				"fail_over_mac": pick(d, "none 0", "active 1"), "arp_interval": "0", "arp_validate": "none 0", "resend_igmp": pick(d, "1", "255"), "all_slaves_active": pick(d, "0", "1"),
			}}
		if bond.Mode.Hashes() {
			bond.HashPolicy = netstate.HashPolicy(d.IntN(6))
		}
		if bond.Mode == netstate.LACP {
			bond.LACPRate = netstate.LACPRate(d.IntN(2))
		}
		mtu := pick(d, 1500, 9000)
		for range min(d.IntN(4), len(free)) {
			port := &d.h.Links[free[0]]
			free = free[1:]
			port.Master, port.Port = name, &netstate.BondPort{Bond: name, Active: true, MIIUp: d.chance(90), QueueID: pick(d, 0, port.Index)}
			if newer, _ := d.h.Kernel.AtLeast(5, 19); newer {
				port.Port.Priority = pick(d, 0, 0, 5)
			}
			if port.MTU = mtu; d.chance(10) {
				port.MTU = 1400
			}
			bond.Ports = append(bond.Ports, port.Name)
		}
		if len(bond.Ports) > 0 && bond.Mode == netstate.ActiveBackup {
			bond.Active = bond.Ports[len(bond.Ports)-1]
			if d.chance(50) {
				bond.Options["primary"] = bond.Ports[0]
			}
		}
		d.link(netstate.Link{Name: name, Kind: "bond", MTU: mtu, Bond: bond})
	}
}

// uppers are VLANs, bridges, VRFs, tunnels and what else rides on links.
func (d *draw) uppers() {
	for i := range d.IntN(4) {
		under := d.h.Links[1+d.IntN(len(d.h.Links)-1)]
		v := &netstate.VLAN{ID: 1 + d.IntN(4094), Parent: under.Name, Protocol: pick(d, "", "", "", "802.1ad")}
		if d.chance(5) {
			v.Parent = ""
		}
		d.link(netstate.Link{Name: fmt.Sprintf("v%d", i), Kind: "vlan", MTU: pick(d, under.MTU, under.MTU, 1400), VLAN: v})
	}
	kinds := []string{"bridge", "vrf", "dummy", "wireguard", "vxlan", "tun", "macvlan", "team", "sit"}
	for i := range d.IntN(4) {
		kind := kinds[d.IntN(len(kinds))]
		l := netstate.Link{Name: fmt.Sprintf("%.3s%d", kind, i), Kind: kind, MTU: pick(d, 1500, 1420)}
		if kind == "bridge" {
			l.Bridge = &netstate.Bridge{Ports: []string{}, Options: map[string]string{"vlan_filtering": pick(d, "0", "1")}}
		}
		if kind == "bridge" || kind == "vrf" || kind == "team" {
			for p := range d.h.Links {
				if port := &d.h.Links[p]; port.Kind != "loopback" && port.Master == "" && d.chance(25) {
					port.Master = l.Name
				}
			}
		}
		d.link(l)
	}
}

func (d *draw) addresses(l *netstate.Link) {
	if l.Kind == "loopback" {
		return
	}
	l.Addresses = append(l.Addresses, netip.MustParsePrefix(fmt.Sprintf("fe80::%x/64", l.Index)))
	for range d.IntN(4) {
		p := netip.MustParsePrefix(pick(d,
			fmt.Sprintf("10.%d.0.%d/24", l.Index, 1+d.IntN(3)), fmt.Sprintf("10.%d.1.%d/16", l.Index, 1+d.IntN(3)), fmt.Sprintf("192.0.2.%d/32", 1+d.IntN(3)),
			fmt.Sprintf("fd00:%x::%x/64", l.Index, 1+d.IntN(3)), fmt.Sprintf("fd00:9::%x/128", 1+d.IntN(3)), fmt.Sprintf("169.254.7.%d/16", l.Index), "127.0.5.1/32"))
		for _, have := range l.Addresses {
			if have == p {
				p = netip.Prefix{}
				break
			}
		}
		if !p.IsValid() {
			continue
		}
		l.Addresses = append(l.Addresses, p)
		if d.chance(20) {
			l.Leases = append(l.Leases, p)
		}
	}
}

// kernelRoutes are those that addresses bring.
func (d *draw) kernelRoutes() {
	for _, l := range d.h.Links {
		for _, a := range l.Addresses {
			if l.Up && !a.IsSingleIP() && !a.Addr().IsLoopback() {
				r := netstate.Route{Dst: a.Masked(), Link: l.Name, Table: 254, Protocol: "kernel"}
				if r.Source = a.Addr(); a.Addr().Is6() {
					r.Source, r.Metric = netip.Addr{}, 256
				}
				d.h.Routes = append(d.h.Routes, r)
			}
		}
	}
}

// hop is a link that is up with a neighbour of the family.
func (d *draw) hop(six bool) (string, netip.Addr) {
	for range 20 {
		l := d.h.Links[d.IntN(len(d.h.Links))]
		for _, a := range l.Addresses {
			if l.Up && l.Kind != "loopback" && a.Addr().Is6() == six && !a.IsSingleIP() {
				return l.Name, a.Addr().Next().Next().Next()
			}
		}
	}
	return "", netip.Addr{}
}

func (d *draw) route() {
	six := d.chance(40)
	r := netstate.Route{Table: pick(d, 254, 254, 254, 100, 2004, 51820), Protocol: pick(d, "static", "boot", "boot", "dhcp", "ra", "bird", "zebra", "kernel", "42"), Metric: pick(d, 0, 0, 50, 1024)}
	r.Dst = netip.MustParsePrefix(pick(d, "0.0.0.0/0", fmt.Sprintf("10.%d.0.0/16", 100+d.IntN(5)), "198.51.100.7/32", "169.254.169.254/32", "224.0.0.0/4"))
	if six {
		r.Dst = netip.MustParsePrefix(pick(d, "::/0", fmt.Sprintf("2001:db8:%x::/48", d.IntN(5)), "2001:db8::7/128"))
		r.Metric = max(r.Metric, 1)
	}
	link, gateway := d.hop(six)
	if link == "" {
		return
	}
	switch d.IntN(8) {
	case 0:
		r.Type = pick(d, "blackhole", "unreachable", "prohibit", "throw")
	case 1, 2:
		for range 2 + d.IntN(2) {
			name, via := d.hop(six)
			r.Hops = append(r.Hops, netstate.NextHop{Link: name, Gateway: via.Next(), Weight: 1 + d.IntN(3), OnLink: d.chance(10)})
		}
	case 3:
		r.Link = link
	default:
		r.Link, r.Gateway, r.OnLink = link, gateway, d.chance(20)
		if d.chance(20) {
			r.Gateway = netip.MustParseAddr(map[bool]string{true: "2001:db8:ffff::1", false: "203.0.113.9"}[six])
		}
		if !six && d.chance(10) {
			r.Gateway = netip.MustParseAddr("fe80::99")
		}
	}
	if d.chance(15) {
		r.MTU = 1300
	}
	if d.chance(15) {
		r.Metrics = map[string]string{pick(d, "initcwnd", "initrwnd", "advmss", "hoplimit", "lock", "quickack", "congctl"): pick(d, "10", "20")}
	}
	if d.chance(10) {
		r.Object = 7
	}
	if d.chance(10) {
		r.Extra = map[string]string{pick(d, "tos", "scope", "rta-11"): "8"}
	}
	if len(r.Hops) == 0 && r.Type == "" && d.chance(15) {
		for _, l := range d.h.Links {
			for _, a := range l.Addresses {
				if l.Name == link && a.Addr().Is6() == six {
					r.Source = a.Addr()
				}
			}
		}
	}
	if key := r.Words(nil); !d.used[key] {
		d.used[key] = true
		d.h.Routes = append(d.h.Routes, r)
	}
}

func (d *draw) rules() {
	d.h.Rules = append(d.h.Rules, netstate.Rule{Priority: 0, Table: 255, Family: "ipv4"}, netstate.Rule{Priority: 0, Table: 255, Family: "ipv6"})
	for range d.IntN(8) {
		r := netstate.Rule{Priority: pick(d, 9, 100, 5210, 32764, 32765, 33000, 0, 32766), Table: pick(d, 254, 253, 100, 2004, 51820, 52), Protocol: pick(d, "", "boot", "static", "kernel", "bird", "18")}
		six := d.chance(40)
		r.Family = map[bool]string{true: "ipv6", false: "ipv4"}[six]
		if d.chance(40) {
			r.From = netip.MustParsePrefix(map[bool]string{true: "fd00:2::/64", false: "10.2.0.0/24"}[six])
		}
		if d.chance(30) {
			r.To = netip.MustParsePrefix(map[bool]string{true: "2001:db8:1::/48", false: "10.100.0.0/16"}[six])
		}
		if d.chance(60) {
			r.Selectors = pick(d, "fwmark 0x20", "fwmark 0x80000/0xff0000", "not fwmark 0xca6c", "suppress_prefixlength 0", "iif eth0 ipproto 6 dport 80-80", "tos 0x10", "tos 0x10 fwmark 0x1",
				"not", "oif eth1", "uidrange 0-99", "suppress_ifgroup 3", "fra-77 00", "dscp 5", "not tos 0x8 fwmark 0x7")
		}
		if d.chance(15) {
			r.Action, r.Table = pick(d, "unreachable", "blackhole", "prohibit", "nop"), 0
		}
		if d.chance(5) {
			r.Action, r.Goto, r.Table = "goto", 33000, 0
		}
		if d.chance(5) {
			r.Selectors, r.Table, r.Protocol = "l3mdev", 0, "kernel"
		}
		if key := r.Family + r.Words(); !d.used[key] { // the kernel takes a rule once
			d.used[key] = true
			d.h.Rules = append(d.h.Rules, r)
		}
	}
	d.h.Rules = append(d.h.Rules, netstate.Rule{Priority: 32766, Table: 254, Family: "ipv4"}, netstate.Rule{Priority: 32766, Table: 254, Family: "ipv6"}, netstate.Rule{Priority: 32767, Table: 253, Family: "ipv4"})
}

func (d *draw) mptcp() {
	if d.chance(30) {
		return
	}
	m := &netstate.MPTCP{Subflows: pick(d, 2, 2, 0, 8), AddAddrAccepted: pick(d, 0, 0, 4)}
	for _, l := range d.h.Links {
		for _, a := range l.Addresses {
			if a.Addr().IsLinkLocalUnicast() || len(m.Endpoints) >= 6 || !d.chance(15) {
				continue
			}
			e := netstate.MPTCPEndpoint{ID: len(m.Endpoints) + 1, Addr: a.Addr(), Flags: pick(d, netstate.MPTCPSubflow, netstate.MPTCPSignal, netstate.MPTCPSubflow|netstate.MPTCPBackup, netstate.MPTCPSubflow|netstate.MPTCPFullmesh, netstate.MPTCPImplicit, 0)}
			if d.chance(40) {
				e.Link, e.Index = l.Name, l.Index
			}
			if e.Flags == netstate.MPTCPSignal && d.chance(40) {
				e.Port = 4000
			}
			m.Endpoints = append(m.Endpoints, e)
		}
	}
	if d.chance(20) {
		m.Endpoints = append(m.Endpoints, netstate.MPTCPEndpoint{ID: 9, Addr: netip.MustParseAddr("203.0.113.77"), Flags: netstate.MPTCPSubflow})
	}
	d.h.MPTCP = m
}
