package states

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// drawing draws wanted states of a host.
type drawing struct {
	*rand.Rand
	host netstate.Host // the state being drawn
}

func (d *drawing) chance(p float64) bool { return d.Float64() < p }

func pick[T any](d *drawing, all ...T) T { return all[d.IntN(len(all))] }

// whole draws a state anew: bonds in the mode given and another, VLANs, MTUs,
// addresses, routes, rules, sysctls and devices' settings.
func whole(r *rand.Rand, observed netstate.Host, mode netstate.BondMode) netstate.Host {
	d := &drawing{r, observed.Clone()}
	d.host.Absent, d.host.Missing = nil, nil
	for _, name := range []string{"p4", "p5"} {
		l, _ := d.host.Link(name)
		l.Up = true
		d.host.SetLink(l)
	}
	d.bonds(mode)
	d.uppers()
	d.addresses()
	d.mtus()
	d.devices()
	d.sysctls(0.3)
	d.routing()
	d.mptcp()
	return d.host
}

// live draws a state that a host comes to with its bond in use: its links, their
// ports and mode stay.
func live(r *rand.Rand, observed netstate.Host) netstate.Host {
	d := &drawing{r, observed.Clone()}
	d.host.Absent, d.host.Missing = nil, nil
	for _, name := range bondNames {
		l, ok := d.host.Link(name)
		if !ok || l.Bond == nil {
			continue
		}
		l.Bond.Active = ""
		d.options(&l, true)
		d.host.SetLink(l)
	}
	if d.chance(0.5) {
		d.devices()
	}
	if d.chance(0.3) {
		d.mtus()
	}
	d.sysctls(0.2)
	d.aliases()
	d.routing()
	d.mptcp()
	return d.host
}

// bonds deals the ports out.
func (d *drawing) bonds(mode netstate.BondMode) {
	ports := d.Perm(bondPorts)
	count := 2 + d.IntN(2)
	for i, name := range bondNames {
		wanted := i == 0 || d.chance(0.5)
		have, there := d.host.Link(name)
		if !wanted {
			if there {
				d.remove(name)
			}
			continue
		}
		if i > 0 {
			mode = pick(d, netstate.BondModes()...)
			count = min(1+d.IntN(2), len(ports))
		}
		if !there {
			have, _ = plan.Fresh(name, plan.Made{Kind: "bond"}, d.host)
		}
		have.Up, have.MAC = true, flow.MAC{}
		if d.chance(0.3) {
			have.MAC = flow.MAC{2, 0, 0, 0xb0, byte(i), byte(d.IntN(4))}
		}
		if have.Bond.Mode != mode {
			have.Bond.Mode = mode
			hidden(have.Bond)
		}
		have.Bond.Active = ""
		have.Bond.Ports = []string{}
		for _, p := range ports[:count] {
			have.Bond.Ports = append(have.Bond.Ports, port(p))
		}
		ports = ports[count:]
		d.options(&have, false)
		d.host.SetLink(have)
	}
	d.ports()
}

// remove takes a link and the VLANs on it out of the state.
func (d *drawing) remove(name string) {
	for _, l := range slices.Clone(d.host.Links) {
		if l.VLAN != nil && l.VLAN.Parent == name {
			d.remove(l.Name)
		}
	}
	d.host.Links = slices.DeleteFunc(d.host.Links, func(l netstate.Link) bool { return l.Name == name })
	if !slices.Contains(d.host.Absent, name) {
		d.host.Absent = append(d.host.Absent, name)
	}
}

// ports makes every port what its bond wants of it, or a link of its own.
func (d *drawing) ports() {
	for i := range bondPorts {
		l, _ := d.host.Link(port(i))
		l.MAC, l.MTU, l.Master, l.Port, l.Up = flow.MAC{}, 0, "", nil, true
		l.Addresses = []netip.Prefix{}
		for _, name := range bondNames {
			bond, ok := d.host.Link(name)
			if !ok || !slices.Contains(bond.Bond.Ports, l.Name) {
				continue
			}
			l.Master, l.Port = name, &netstate.BondPort{Bond: name}
			if d.chance(0.3) {
				l.Port.QueueID = d.IntN(8)
			}
			if _, tellsPriority := bond.Bond.Options["ns_ip6_target"]; tellsPriority && primaryModes(bond.Bond.Mode) && d.chance(0.3) {
				l.Port.Priority = d.IntN(20) - 10
			}
		}
		d.host.SetLink(l)
	}
}

func primaryModes(m netstate.BondMode) bool {
	return m == netstate.ActiveBackup || m == netstate.BalanceTLB || m == netstate.BalanceALB
}

// hidden takes out what is not told, or not taken, in the bond's new mode.
func hidden(b *netstate.Bond) {
	for _, r := range plan.BondOptions() {
		if !r.Allows(b.Mode) {
			delete(b.Options, r.Name)
		}
	}
}

// uppers draws the VLANs and dummies.
func (d *drawing) uppers() {
	parents := []string{"p4", "p5"}
	for _, name := range bondNames {
		if _, ok := d.host.Link(name); ok {
			parents = append(parents, name)
		}
	}
	for i, parent := range parents {
		name := fmt.Sprintf("v%s", parent)
		have, there := d.host.Link(name)
		switch {
		case !d.chance(0.4):
			if there {
				d.remove(name)
			}
			continue
		case !there:
			protocol := ""
			if d.chance(0.2) {
				protocol = "802.1ad"
			}
			have, _ = plan.Fresh(name, plan.Made{Kind: "vlan", Parent: parent, ID: 100 + i, Protocol: protocol}, d.host)
		}
		have.Up, have.MAC = true, flow.MAC{}
		d.host.SetLink(have)
	}
	have, there := d.host.Link("d0")
	switch {
	case !d.chance(0.4):
		if there {
			d.remove("d0")
		}
		return
	case !there:
		have, _ = plan.Fresh("d0", plan.Made{Kind: "dummy"}, d.host)
	}
	have.Up, have.MAC = true, flow.MAC{2, 0, 0, 0xd0, 0, byte(d.IntN(4))}
	d.host.SetLink(have)
}

// holders are the links that may have addresses, each with a number of its own.
func (d *drawing) holders() []string {
	var out []string
	for _, name := range []string{"p4", "p5", "bond0", "bond1", "vp4", "vp5", "vbond0", "vbond1", "d0"} {
		if _, ok := d.host.Link(name); ok {
			out = append(out, name)
		}
	}
	return out
}

func subnet(holder string, n int) netip.Addr {
	k := slices.Index([]string{"p4", "p5", "bond0", "bond1", "vp4", "vp5", "vbond0", "vbond1", "d0"}, holder)
	return netip.AddrFrom4([4]byte{10, 100 + byte(k), byte(n), 0})
}

func host4(net netip.Addr, n int) netip.Addr {
	a := net.As4()
	a[3] = byte(n)
	return netip.AddrFrom4(a)
}

func host6(net netip.Addr, n int) netip.Addr {
	a := net.As4()
	return netip.AddrFrom16([16]byte{0xfd, 0, 0, 0, 0, a[1], 0, a[2], 15: byte(n)})
}

// addresses deals addresses and aliases out. Those between a bond and the switch
// are always there.
func (d *drawing) addresses() {
	for _, name := range d.holders() {
		l, _ := d.host.Link(name)
		l.Addresses = []netip.Prefix{}
		if slices.Contains(bondNames[:], name) {
			l.Addresses = append(l.Addresses, netip.PrefixFrom(nearAddr(name), 24))
		}
		l.Addresses = append(l.Addresses, d.some(name)...)
		d.host.SetLink(l)
	}
}

func (d *drawing) some(name string) []netip.Prefix {
	var out []netip.Prefix
	for net := range 2 {
		for n := 1; n <= 3 && d.chance(0.6); n++ {
			out = append(out, netip.PrefixFrom(host4(subnet(name, net), n), 24))
		}
		if d.chance(0.3) {
			out = append(out, netip.PrefixFrom(host6(subnet(name, net), 1+d.IntN(3)), 64))
		}
	}
	if d.chance(0.2) {
		out = append(out, netip.PrefixFrom(host4(subnet(name, 9), 1+d.IntN(9)), 32))
	}
	return out
}

// aliases adds addresses to some links and takes no other away.
func (d *drawing) aliases() {
	for _, name := range d.holders() {
		if !d.chance(0.4) {
			continue
		}
		l, _ := d.host.Link(name)
		for _, a := range d.some(name) {
			if !slices.Contains(l.Addresses, a) {
				l.Addresses = append(l.Addresses, a)
			}
		}
		d.host.SetLink(l)
	}
}

// mtus draws MTUs, none larger than what is below.
func (d *drawing) mtus() {
	sizes := []int{1400, 1500, 4000, 9000}
	for _, name := range []string{"bond0", "bond1", "p4", "p5", "d0"} {
		l, ok := d.host.Link(name)
		if !ok {
			continue
		}
		l.MTU = pick(d, sizes...)
		d.host.SetLink(l)
		if l.Bond == nil {
			continue
		}
		for _, p := range l.Bond.Ports {
			pl, _ := d.host.Link(p)
			pl.MTU = l.MTU
			d.host.SetLink(pl)
		}
	}
	for _, l := range slices.Clone(d.host.Links) {
		if l.VLAN == nil {
			continue
		}
		parent, _ := d.host.Link(l.VLAN.Parent)
		l.MTU = min(pick(d, sizes...), parent.MTU)
		d.host.SetLink(l)
	}
}

// qdiscs are root disciplines in tc(8)'s words.
var qdiscs = [...]string{"default", "fq", "fq maxrate 1gbit", "fq limit 5000", "fq maxrate 500mbit limit 9000", "fq_codel", "fq_codel limit 500",
	"tbf rate 900mbit burst 256kb limit 1mb", "pfifo limit 700", "bfifo limit 900kb"}

// offloads are those that can be changed without others following.
var offloads = [...]string{"gso", "gro", "tso", "txvlan", "rxvlan", "tx-nocache-copy", "rx-gro-list", "rx-udp-gro-forwarding"}

// devices draws queueing disciplines and offloads.
func (d *drawing) devices() {
	for _, l := range slices.Clone(d.host.Links) {
		if l.Kind == "loopback" || l.VLAN != nil && d.chance(0.8) {
			continue
		}
		if d.chance(0.3) {
			if q, err := plan.ParseQdisc(pick(d, qdiscs[:]...)); err == nil {
				l.Qdiscs = []netstate.Qdisc{q}
			}
		}
		if l.Kind == "veth" && l.Device != nil && d.chance(0.3) {
			for _, name := range offloads {
				if _, known := l.Offloads[name]; known && !slices.Contains(l.Device.Fixed, name) && d.chance(0.5) {
					l.Offloads[name] = d.chance(0.5)
				}
			}
		}
		d.host.SetLink(l)
	}
}

// sysctls are namespaced keys and values for them.
var sysctls = map[string][]string{
	"net.ipv4.tcp_rmem":                      {"4096 131072 6291456", "4096 65536 1048576", "4096 131072 33554432"},
	"net.ipv4.tcp_wmem":                      {"4096 16384 4194304", "4096 65536 16777216"},
	"net.ipv4.tcp_notsent_lowat":             {"4294967295", "131072"},
	"net.ipv4.tcp_slow_start_after_idle":     {"0", "1"},
	"net.ipv4.tcp_mtu_probing":               {"0", "1", "2"},
	"net.ipv4.tcp_reordering":                {"3", "10"},
	"net.ipv4.tcp_congestion_control":        {"reno", "cubic"},
	"net.ipv4.fib_multipath_hash_policy":     {"0", "1"},
	"net.ipv4.ip_local_port_range":           {"32768 60999", "20000 65000"},
	"net.core.somaxconn":                     {"4096", "1024"},
	"net.ipv4.conf.p4.rp_filter":             {"0", "1", "2"},
	"net.ipv4.conf.p5.arp_ignore":            {"0", "1"},
	"net.ipv4.conf.bond0.arp_announce":       {"0", "2"},
	"net.ipv4.conf.bond0.arp_filter":         {"0", "1"},
	"net.ipv4.conf.vp4.rp_filter":            {"0", "2"},
	"net.ipv6.conf.p4.accept_ra":             {"0", "1"},
	"net.ipv4.conf.default.arp_announce":     {"0", "2"},
	"net.mptcp.enabled":                      {"0", "1"},
	"net.mptcp.allow_join_initial_addr_port": {"0", "1"},
}

func (d *drawing) sysctls(p float64) {
	keys := make([]string, 0, len(sysctls))
	for key := range sysctls {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		// Of a link that is not there yet nothing is known.
		if have, ok := d.host.Sysctls[key]; ok && d.chance(p) {
			have.Value = pick(d, sysctls[key]...)
			d.host.Sysctls[key] = have
		}
	}
}

// routing draws routes, rules and ECMP over the links that are up and have
// addresses.
func (d *drawing) routing() {
	d.host.Routes = slices.DeleteFunc(slices.Clone(d.host.Routes), func(r netstate.Route) bool { return r.Protocol == "static" || r.Protocol == "boot" })
	d.host.Rules = slices.DeleteFunc(slices.Clone(d.host.Rules), func(r netstate.Rule) bool { return r.Protocol == "static" })
	if d.host.Routes == nil {
		d.host.Routes = []netstate.Route{}
	}
	var hops, hops6 []netstate.NextHop
	for i, name := range d.holders() {
		l, _ := d.host.Link(name)
		for _, a := range l.Addresses {
			if a.Bits() == 24 && a.Addr() != nearAddr(name) && a.Addr().As4()[3] == 1 {
				d.linkRoutes(i, l, a)
				hops = append(hops, netstate.NextHop{Gateway: host4(a.Addr(), 254), Link: name, Weight: 1 + d.IntN(4)})
			}
			if a.Bits() == 64 && a.Addr().Is6() && !a.Addr().IsLinkLocalUnicast() && !slices.ContainsFunc(hops6, func(h netstate.NextHop) bool { return h.Link == name }) {
				gateway := a.Addr().As16()
				gateway[15] = 0xfe
				hops6 = append(hops6, netstate.NextHop{Gateway: netip.AddrFrom16(gateway), Link: name, Weight: 1 + d.IntN(4)})
			}
		}
	}
	for i, all := range [...][]netstate.NextHop{hops, hops6} {
		dst := []netip.Prefix{netip.MustParsePrefix("10.210.0.0/16"), netip.MustParsePrefix("fd21::/32")}[i]
		switch {
		case len(all) > 1 && d.chance(0.5):
			d.route(netstate.Route{Dst: dst, Table: 254, Hops: all[:2+d.IntN(min(len(all)-1, 3))]})
		case len(all) > 0 && d.chance(0.4):
			d.route(netstate.Route{Dst: dst, Table: 254, Gateway: all[0].Gateway, Link: all[0].Link, MTU: pick(d, 0, 1300)})
		case d.chance(0.3):
			d.route(netstate.Route{Dst: dst, Table: 254, Type: pick(d, "blackhole", "unreachable", "prohibit")})
		}
	}
	if d.chance(0.3) {
		d.rule(netstate.Rule{Priority: 300, Family: "ipv4", Table: 301, Selectors: pick(d, "fwmark 0x10", "iif p4", "not fwmark 0x1/0xff", "ipproto 6 dport 80-90")})
	}
	if d.chance(0.2) {
		d.rule(netstate.Rule{Priority: 310, Family: "ipv6", To: netip.MustParsePrefix("fd99::/32"), Action: pick(d, "blackhole", "unreachable")})
	}
}

func (d *drawing) route(r netstate.Route) {
	r.Protocol = "static"
	d.host.Routes = append(d.host.Routes, r)
}

func (d *drawing) rule(r netstate.Rule) {
	r.Protocol = "static"
	d.host.Rules = append(d.host.Rules, r)
}

// linkRoutes draws the routes of one link's subnet.
func (d *drawing) linkRoutes(i int, l netstate.Link, a netip.Prefix) {
	net := byte(10*i) + a.Addr().As4()[2]
	gateway := host4(a.Addr(), 254)
	prefix := func(b2 byte, bits int) netip.Prefix {
		return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 200, net, b2}), bits)
	}
	if d.chance(0.5) {
		r := netstate.Route{Dst: netip.MustParsePrefix("0.0.0.0/0"), Gateway: gateway, Link: l.Name, Table: 1000 + int(net)}
		if d.chance(0.5) {
			r.Metrics, r.MTU = map[string]string{"advmss": "1200", "initcwnd": "20"}, 1300
		}
		d.route(r)
		d.rule(netstate.Rule{Priority: 1000 + int(net), From: netip.PrefixFrom(a.Addr(), 32), Table: 1000 + int(net), Family: "ipv4"})
	}
	if d.chance(0.4) { // the article's: a route to one host, by an address of one's own choice
		d.route(netstate.Route{Dst: prefix(5, 32), Gateway: gateway, Link: l.Name, Table: 254, Source: a.Addr()})
	}
	if d.chance(0.3) {
		d.route(netstate.Route{Dst: prefix(64, 26), Gateway: netip.AddrFrom4([4]byte{192, 0, 2, net}), Link: l.Name, Table: 254, OnLink: true, Metric: 10 * d.IntN(3)})
	}
	if d.chance(0.3) {
		d.route(netstate.Route{Dst: prefix(128, 26), Link: l.Name, Table: pick(d, 254, 77), Metric: d.IntN(3)})
	}
}

func (d *drawing) mptcp() {
	if d.host.MPTCP == nil {
		return
	}
	m := netstate.MPTCP{Subflows: d.IntN(9), AddAddrAccepted: d.IntN(9)}
	for _, name := range d.holders() {
		l, _ := d.host.Link(name)
		for _, a := range l.Addresses {
			if len(m.Endpoints) < 6 && !a.Addr().IsLinkLocalUnicast() && d.chance(0.3) {
				m.Endpoints = append(m.Endpoints, netstate.MPTCPEndpoint{Addr: a.Addr(), Link: pick(d, "", name), Flags: pick(d, netstate.MPTCPSubflow, netstate.MPTCPSignal, netstate.MPTCPSubflow|netstate.MPTCPBackup)})
			}
		}
	}
	d.host.MPTCP = &m
}

// options draws the options of a bond; safe leaves those out with which its far
// end would lose it, or that it takes only while it is down.
func (d *drawing) options(l *netstate.Link, safe bool) {
	b := l.Bond
	if b.Options == nil {
		b.Options = make(map[string]string)
	}
	d.monitoring(l.Name, b)
	for _, r := range plan.BondOptions() {
		_, told := b.Options[r.Name]
		skip := !r.Allows(b.Mode) || safe && (r.NeedsDown || r.NoSlaves) || !d.chance(0.4)
		if skip || monitors[r.Name] || !told && !r.Hidden && r.Value == "" && !fieldOption[r.Name] {
			continue
		}
		d.option(b, r)
	}
}

// monitors are the options of link monitoring, which are drawn together.
var monitors = map[string]bool{"mode": true, "miimon": true, "updelay": true, "downdelay": true, "peer_notif_delay": true, "arp_interval": true,
	"arp_ip_target": true, "ns_ip6_target": true, "arp_validate": true, "active_slave": true}

// fieldOption are the options that netstate.Bond has a field for.
var fieldOption = map[string]bool{"xmit_hash_policy": true, "lacp_rate": true, "min_links": true, "packets_per_slave": true, "tlb_dynamic_lb": true}

// monitoring draws how a bond finds out that a link is dead: by carrier, or by
// asking the switch.
func (d *drawing) monitoring(name string, b *netstate.Bond) {
	rule, _ := plan.BondOptionRule("arp_interval")
	b.Miimon = pick(d, 50*time.Millisecond, 100*time.Millisecond, 200*time.Millisecond)
	b.UpDelay, b.DownDelay = b.Miimon*time.Duration(d.IntN(3)), b.Miimon*time.Duration(d.IntN(3))
	set := func(key, value string) {
		if _, told := b.Options[key]; told {
			b.Options[key] = value
		}
	}
	set("peer_notif_delay", strconv.FormatInt((b.Miimon*time.Duration(d.IntN(3))).Milliseconds(), 10))
	set("arp_interval", "0")
	set("arp_validate", "none")
	b.Options["arp_ip_target"] = pick(d, plan.NoValue, farAddr(name).String(), farAddr(name).String()+",10.9.9.9")
	if _, newer := b.Options["arp_missed_max"]; newer {
		b.Options["ns_ip6_target"] = pick(d, plan.NoValue, "fd50::2", "fd50::2,fd50::3")
	}
	if !rule.Allows(b.Mode) || !d.chance(0.2) {
		return
	}
	b.Miimon, b.UpDelay, b.DownDelay = 0, 0, 0
	set("peer_notif_delay", "0")
	set("arp_interval", pick(d, "200", "500"))
	b.Options["arp_ip_target"] = farAddr(name).String()
	b.Options["ns_ip6_target"] = plan.NoValue
	if _, newer := b.Options["arp_missed_max"]; !newer {
		delete(b.Options, "ns_ip6_target")
	}
	if b.Mode == netstate.ActiveBackup {
		set("arp_validate", pick(d, "none", "active", "backup", "all", "filter"))
	}
}

// option draws one value.
func (d *drawing) option(b *netstate.Bond, r plan.BondRule) {
	switch r.Name {
	case "xmit_hash_policy":
		b.HashPolicy = pick(d, netstate.HashPolicies()...)
	case "lacp_rate":
		b.LACPRate = pick(d, netstate.LACPRates()...)
	case "min_links":
		b.MinLinks = d.IntN(len(b.Ports) + 1)
	case "packets_per_slave":
		b.PacketsPerSlave = d.IntN(10)
	case "tlb_dynamic_lb":
		b.TLBDynamic = d.chance(0.5)
	case "primary":
		b.Options[r.Name] = pick(d, append(slices.Clone(b.Ports), plan.NoValue)...)
	case "ad_actor_system":
		b.Options[r.Name] = pick(d, "00:00:00:00:00:00", "02:00:00:00:ad:01", "02:00:00:00:ad:02")
	case "ad_select":
		b.Options[r.Name] = pick(d, "stable", "bandwidth", "count")
	default:
		if r.Words != nil {
			b.Options[r.Name] = pick(d, r.Words...)
			return
		}
		b.Options[r.Name] = strconv.FormatInt(r.Min+d.Int64N(min(r.Max, 200)-r.Min+1), 10)
	}
}
