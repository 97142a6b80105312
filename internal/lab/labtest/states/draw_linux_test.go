package states

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"

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

// alive draws a state that a host comes to with its bond in use: its links, their
// ports and mode stay.
func alive(r *rand.Rand, observed netstate.Host) netstate.Host {
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
	for key := range d.host.Sysctls {
		if strings.Contains(key, ".conf."+name+".") {
			delete(d.host.Sysctls, key)
		}
	}
	if !slices.Contains(d.host.Absent, name) {
		d.host.Absent = append(d.host.Absent, name)
	}
}

// ports makes every port what its bond wants of it, or a link of its own.
func (d *drawing) ports() {
	queues := d.Perm(8) // no two ports of a bond may have one queue
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
				l.Port.QueueID = queues[i]
			}
			if _, tellsPriority := bond.Bond.Options["ns_ip6_target"]; tellsPriority && primaryModes(bond.Bond.Mode) && d.chance(0.3) {
				l.Port.Priority = d.IntN(20) - 10
			}
		}
		d.host.SetLink(l)
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
		if uncut, known := l.Offloads["tso"]; known && l.Bond != nil && d.chance(0.3) {
			l.Offloads["tso"] = !uncut // the only one of these that is its own
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
