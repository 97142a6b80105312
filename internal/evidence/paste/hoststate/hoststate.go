package hoststate

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Of returns a host's state as far as it was read. Missing names the links of which
// only a configuration was read. Of a switch, and of a host of which nothing but a
// load test was read, it is empty.
func Of(h *piece.Host) netstate.Host {
	out := netstate.Host{Name: h.Name, Sysctls: sysctls(h), Protocols: protocols(h)}
	out.Kernel = kernel(h)
	out.CPU.Cores = count(h, "host", "cores")
	links := h.Subjects("link")
	var declared []string
	for _, name := range h.Subjects("config") {
		if !slices.Contains(links, name) && name != "lo" && !pattern(name) {
			declared = append(declared, name)
		}
	}
	if len(declared) > 0 {
		links = append(links, declared...)
		out.Missing = append(out.Missing, "what runs of "+strings.Join(declared, ", ")+": it is shown as a configuration declares it")
	}
	for _, ports := range h.Ports {
		for _, name := range ports {
			if !slices.Contains(links, name) {
				links = append(links, name)
			}
		}
	}
	slices.Sort(links)
	for _, name := range slices.Compact(links) {
		if !piece.LinkName.MatchString(name) {
			continue
		}
		out.Links = append(out.Links, link(h, name))
	}
	bridgePorts(&out)
	cards(h, &out)
	for _, r := range h.Routes {
		if r.TableName == "" && (r.Link != "" || r.Gateway.IsValid() || len(r.Hops) > 0 || r.Type != "") {
			out.Routes = append(out.Routes, r.Route)
		}
	}
	for _, r := range h.Rules {
		if r.TableName == "" {
			out.Rules = append(out.Rules, r.Rule)
		}
	}
	return out
}

// pattern reports a name that stands for several links, as files write them.
func pattern(name string) bool { return strings.ContainsAny(name, "*?[") }

// fact is a link's fact: of what runs, else of what is declared; "" not read.
func fact(h *piece.Host, name, key string) string {
	if v, ok := h.Get("link "+name, key); ok {
		return v.Text
	}
	v, _ := h.Get("config "+name, key)
	return v.Text
}

// count is a whole number; 0 not read.
func count(h *piece.Host, subject, key string) int {
	v, _ := h.Get(subject, key)
	return max(piece.Atoi(strings.TrimSpace(v.Text)), 0)
}

func counter(h *piece.Host, name, key string) uint64 {
	v, _ := h.Get("link "+name, key)
	n, err := strconv.ParseUint(strings.TrimSpace(v.Text), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func kernel(h *piece.Host) netstate.Kernel {
	release, _ := h.Get("host", "release")
	arch, _ := h.Get("host", "arch")
	os, _ := h.Get("host", "os")
	k := netstate.Kernel{OS: os.Text, Release: release.Text, Arch: arch.Text}
	if k.OS == "" && k.Release != "" {
		k.OS = "linux"
	}
	return k
}

func sysctls(h *piece.Host) map[string]netstate.Sysctl {
	out := make(map[string]netstate.Sysctl)
	for _, key := range h.Keys("sysctl") {
		v, _ := h.Get("sysctl", key)
		scope := netstate.ScopeGlobal
		if strings.HasPrefix(key, "net.ipv4.") || strings.HasPrefix(key, "net.ipv6.") {
			scope = netstate.ScopeNamespace
		}
		out[key] = netstate.Sysctl{Value: v.Text, Scope: scope}
	}
	return out
}

// groups are those of /proc/net/netstat and snmp, which nstat puts in front of a
// counter's name; the longer of two that begin alike first.
var groups = [...]string{"MPTcpExt", "TcpExt", "IpExt", "UdpLite", "Icmp6", "Icmp", "Ip6", "Ip", "Tcp", "Udp6", "Udp"}

func protocols(h *piece.Host) map[string]uint64 {
	out := make(map[string]uint64)
	for name, v := range h.Counters {
		n, err := strconv.ParseUint(v.Text, 10, 64)
		if err != nil || n == 0 {
			continue
		}
		for _, g := range groups {
			if rest, ok := strings.CutPrefix(name, g); ok && rest != "" {
				out[g+"."+rest] = n
				break
			}
		}
	}
	return out
}

// link is one link's state.
func link(h *piece.Host, name string) netstate.Link {
	l := netstate.Link{Name: name, Kind: fact(h, name, "kind"), Driver: fact(h, name, "driver"), Master: fact(h, name, "master")}
	if name == "lo" {
		l.Kind = "loopback"
	}
	l.MAC, _ = flow.ParseMAC(fact(h, name, "mac"))
	l.PermanentMAC, _ = flow.ParseMAC(fact(h, name, "perm_mac"))
	if mtu := piece.Atoi(fact(h, name, "mtu")); mtu > 0 {
		l.MTU = mtu
	}
	l.MaxMTU = max(piece.Atoi(fact(h, name, "max_mtu")), 0)
	l.Speed = piece.Speed(fact(h, name, "speed"))
	if duplex := strings.ToLower(fact(h, name, "duplex")); duplex == "full" || duplex == "half" {
		l.Duplex = duplex
	}
	l.PCI = fact(h, name, "bus")
	l.Up, l.Carrier, l.StateUnread = state(h, name)
	l.Addresses = addresses(h, name)
	l.Counters = counters(h, name)
	l.Offloads = offloads(h, name)
	l.Qdiscs = qdiscs(h, name)
	l.Device = device(h, name)
	if id := piece.Atoi(fact(h, name, "id")); l.Kind == "vlan" && id > 0 {
		l.VLAN = &netstate.VLAN{ID: id, Parent: cmp.Or(fact(h, name, "below"), fact(h, name, "link"))}
	}
	switch {
	case isBond(h, name):
		l.Kind = "bond"
		b := bond(h, name)
		l.Bond = &b
	case l.Kind == netstate.KindOVSBond:
		b := ovsBond(h, name)
		l.OVS = &b
	case l.Kind == "ovs-bridge" || l.Kind == "ovs-interface":
		l.Kind = netstate.KindOVSBridge
	case l.Kind == "ovs-port":
		l.Kind = ""
	case l.Kind == "bridge":
		l.Bridge = &netstate.Bridge{}
	}
	if l.Port = port(h, name, masterOf(h, name)); l.Port != nil {
		l.Master = l.Port.Bond
	}
	return l
}

// state says whether a link is up and has carrier: what was read, else, unread, that it
// is in use; a link that is declared is wanted up.
func state(h *piece.Host, name string) (up, carrier, unread bool) {
	flags := strings.Split(fact(h, name, "flags"), ",")
	oper := strings.ToUpper(fact(h, name, "state"))
	mii := fact(h, name, "mii_status")
	detected := fact(h, name, "carrier")
	down := detected == "no" || mii == "down" || oper == "DOWN" || oper == "LOWERLAYERDOWN"
	switch {
	case len(flags) > 1 || flags[0] != "":
		up = slices.Contains(flags, "UP")
	case oper == "DOWN":
		up = false
	default:
		up, unread = true, !down && oper == "" && mii == "" && detected == ""
	}
	return up, up && !down, unread
}

func addresses(h *piece.Host, name string) []netip.Prefix {
	var out []netip.Prefix
	for _, subject := range []string{"link " + name, "config " + name} {
		for _, key := range h.Keys(subject) {
			text, ok := strings.CutPrefix(key, "address ")
			if !ok {
				continue
			}
			p, err := netip.ParsePrefix(text)
			if err == nil && !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
		if len(out) > 0 {
			break // what runs; the file may be of another day
		}
	}
	return out
}

func counters(h *piece.Host, name string) netstate.Counters {
	get := func(key string) uint64 { return counter(h, name, key) }
	return netstate.Counters{
		RxBytes: get("rx_bytes"), TxBytes: get("tx_bytes"), RxPackets: get("rx_packets"), TxPackets: get("tx_packets"),
		RxDropped: get("rx_dropped"), TxDropped: get("tx_dropped"), RxErrors: get("rx_errors"), TxErrors: get("tx_errors"),
		RxCRC: get("rx_crc"), RxFrame: get("rx_frame"), RxMissed: get("rx_missed"), Collisions: max(get("tx_collisions"), get("tx_collsns")),
	}
}

func offloads(h *piece.Host, name string) map[string]bool {
	var out map[string]bool
	for _, key := range h.Keys("link " + name) {
		feature, ok := strings.CutPrefix(key, "offload.")
		if !ok {
			continue
		}
		if out == nil {
			out = make(map[string]bool)
		}
		v, _ := h.Get("link "+name, key)
		out[feature] = v.Text == "on"
	}
	return out
}

// qdiscs are the root's, and the shapers below it.
func qdiscs(h *piece.Host, name string) []netstate.Qdisc {
	var out []netstate.Qdisc
	root, _ := h.Get("link "+name, "qdisc")
	if root.Text != "" {
		out = append(out, netstate.Qdisc{Kind: root.Text, Parent: "root",
			Drops: counter(h, name, "qdisc dropped"), Overlimits: counter(h, name, "qdisc overlimits"), Requeues: counter(h, name, "qdisc requeues")})
	}
	for _, key := range h.Keys("link " + name) {
		f := strings.Fields(key)
		if len(f) != 3 || f[0] != "shaper" || f[1] == "police" {
			continue
		}
		q := netstate.Qdisc{Kind: f[1], Handle: f[2], Parent: "root"}
		at := slices.IndexFunc(out, func(o netstate.Qdisc) bool { return o.Kind == f[1] && o.Handle == "" })
		if at >= 0 {
			q = out[at]
			q.Handle = f[2]
		}
		rate := unit.BitRate(counter(h, name, key))
		if f[1] == "fq" {
			q.FlowRate = rate
		} else {
			q.Rate = rate
		}
		if at >= 0 {
			out[at] = q
		} else {
			out = append(out, q)
		}
	}
	return out
}

// device is what ethtool said; nil nothing.
func device(h *piece.Host, name string) *netstate.Device {
	d, read := netstate.Device{}, false
	number := func(key string) int {
		n := piece.Atoi(fact(h, name, key))
		read = read || n >= 0
		return max(n, 0)
	}
	r := netstate.Rings{Rx: number("ring_rx"), Tx: number("ring_tx"), RxMax: number("ring_rx_max"), TxMax: number("ring_tx_max")}
	if r != (netstate.Rings{}) {
		d.Rings = &r
	}
	c := netstate.Channels{Combined: number("channels"), CombinedMax: number("channels_max"), Rx: number("channels_rx"), RxMax: number("channels_rx_max"),
		Tx: number("channels_tx"), TxMax: number("channels_tx_max")}
	if c != (netstate.Channels{}) {
		d.Channels = &c
	}
	if rx, tx := fact(h, name, "pause_rx"), fact(h, name, "pause_tx"); rx != "" && tx != "" {
		d.Pause, read = &netstate.Pause{Autoneg: fact(h, name, "pause_autoneg") == "on", Rx: rx == "on", Tx: tx == "on"}, true
	}
	if word := fact(h, name, "autoneg"); word == "on" || word == "off" {
		on := word == "on"
		d.Autoneg, read = &on, true
	}
	d.FastestOwn, d.FastestPartner = piece.Speed(fact(h, name, "speed_max")), piece.Speed(fact(h, name, "partner_speed_max"))
	if v, ok := h.Get("link "+name, "firmware"); ok && v.Text != "N/A" {
		d.Firmware, read = v.Text, true
	}
	for _, key := range h.Keys("link " + name) {
		switch kind, rest, ok := strings.Cut(key, "."); {
		case !ok:
		case kind == "stat" && netstate.MeaningOf(rest) != "":
			if n := counter(h, name, key); n > 0 {
				if d.Statistics == nil {
					d.Statistics = make(map[string]uint64)
				}
				d.Statistics[rest], read = n, true
			}
		case kind == "coalesce":
			v, _ := h.Get("link "+name, key)
			n, known := map[string]int{"on": 1, "off": 0}[v.Text]
			if !known {
				n = piece.Atoi(v.Text)
			}
			if n >= 0 {
				if d.Coalescing == nil {
					d.Coalescing = make(map[string]int)
				}
				d.Coalescing[rest], read = n, true
			}
		case kind == "fixed":
			d.Fixed, read = append(d.Fixed, rest), true
		}
	}
	if !read && d.FastestOwn == 0 && d.FastestPartner == 0 {
		return nil
	}
	return &d
}

// bridgePorts gives bridges the links that name them as their master.
func bridgePorts(out *netstate.Host) {
	for i := range out.Links {
		b := &out.Links[i]
		if b.Bridge == nil {
			continue
		}
		for _, l := range out.Links {
			if l.Master == b.Name {
				b.Bridge.Ports = append(b.Bridge.Ports, l.Name)
			}
		}
	}
}

// Hosts are the states of a case's hosts in the order of the text, each with links or
// settings of its own, and the paths between them with the round trips that a ping
// shows. One without a name is "host", or "host2" and so on.
func Hosts(c piece.Case) ([]netstate.Host, []fabric.Path) {
	var all []netstate.Host
	from := make(map[string]*piece.Host)
	for _, h := range c.Hosts {
		s := Of(h)
		if h.Switch || len(s.Links)+len(s.Sysctls)+len(s.Routes) == 0 {
			continue
		}
		for n := 1; s.Name == "" || from[s.Name] != nil; n++ {
			s.Name = cmp.Or(h.Name, "host")
			if n > 1 {
				s.Name += strconv.Itoa(n)
			}
		}
		from[s.Name] = h
		all = append(all, s)
	}
	paths := fabric.PathsBetween(all)
	for i, p := range paths {
		paths[i].RTT = max(roundTrip(all, from[p.From].Pings, p.To), roundTrip(all, from[p.To].Pings, p.From))
	}
	return all, paths
}

// roundTrip is what pings to one of a host's addresses took; 0 not read.
func roundTrip(all []netstate.Host, pings []piece.Ping, to string) time.Duration {
	for _, p := range pings {
		a, err := netip.ParseAddr(p.Target)
		if err != nil || p.AvgMS <= 0 {
			continue
		}
		for _, h := range all {
			if _, ok := h.LinkWith(a); ok && h.Name == to {
				return time.Duration(p.AvgMS * float64(time.Millisecond)).Round(time.Microsecond)
			}
		}
	}
	return 0
}
