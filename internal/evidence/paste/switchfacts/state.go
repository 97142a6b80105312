// Package switchfacts makes a switch of what readers found in its outputs: the facts of
// a host that is one, as a switchstate.Switch.
package switchfacts

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/evidence/switchstate"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// State is a switch as far as it was read. Of a host that is no switch it has bonds
// and their ports alone.
func State(h *piece.Host) switchstate.Switch {
	out := switchstate.Switch{Name: cmp.Or(text(h, "host", "name"), h.Name), Vendor: text(h, "host", "vendor"), System: mac(h, "host", "system_mac"), MTU: number(h, "host", "mtu"), Answer: text(h, "host", "hash_says")}
	out.Hash = switchstate.Hash{Words: text(h, "host", "load_balance"), NonIP: text(h, "host", "load_balance_non_ip"),
		IPv4: cmp.Or(text(h, "host", "load_balance_ipv4"), text(h, "host", "load_balance_ip")), IPv6: text(h, "host", "load_balance_ipv6"),
		Algorithm: text(h, "host", "hash_algorithm"), Seed: text(h, "host", "hash_seed")}
	if out.Hash.Words == "" {
		out.Hash.Words = fieldsOn(h)
	}
	if out.Hash != (switchstate.Hash{}) {
		out.Hash.Highest = switchstate.HighestLayer(out.Hash.Words)
		out.Hash.Scope = switchstate.Scope(cmp.Or(text(h, "host", "load_balance_scope"), string(switchstate.WholeSwitch)))
	}
	members := make(map[string][]string)
	for _, p := range h.Subjects("port") {
		if p == "" {
			continue
		}
		if of := text(h, "port "+p, "channel"); of != "" {
			members[of] = append(members[of], p)
		} else if m := memberOf(h, p); m != (switchstate.Member{Port: p}) {
			out.Loose = append(out.Loose, m)
		}
		out.Ports = append(out.Ports, port(h, "port "+p, p))
	}
	names := h.Subjects("channel")
	for of := range members {
		names = append(names, of)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		out.Channels = append(out.Channels, channel(h, name, members[name]))
	}
	bonds(h, &out)
	for _, subject := range append(h.Subjects("port"), h.Subjects("channel")...) {
		for _, kind := range []string{"port ", "channel "} {
			for _, x := range h.Facts[kind+subject]["unread"] {
				out.Unread = append(out.Unread, subject+": "+x.Text)
			}
		}
	}
	if out.System == (flow.MAC{}) { // all channels show partners the same one
		for _, name := range h.Subjects("channel") {
			m := mac(h, "channel "+name, "system_mac")
			if out.System == (flow.MAC{}) {
				out.System = m
			} else if m != (flow.MAC{}) && m != out.System {
				out.System = flow.MAC{}
				break
			}
		}
	}
	out.Neighbors = neighbors(h)
	out.Pair = pair(h)
	return out
}

// fieldsOn are the fields that Cumulus hashes, where it was read of each by itself.
func fieldsOn(h *piece.Host) string {
	var on []string
	for _, key := range slices.Sorted(maps.Keys(h.Facts["host"])) {
		if field, ok := strings.CutPrefix(key, "lag_hash."); ok && text(h, "host", key) == "true" {
			on = append(on, strings.ReplaceAll(field, "_", "-"))
		}
	}
	return strings.Join(on, " ")
}

// text is a fact's newest value; "" not read.
func text(h *piece.Host, subject, key string) string {
	x, _ := h.Get(subject, key)
	return x.Text
}

// number is a fact that is a whole number; 0 not read.
func number(h *piece.Host, subject, key string) int {
	return max(piece.Atoi(text(h, subject, key)), 0)
}

func mac(h *piece.Host, subject, key string) flow.MAC {
	m, _ := flow.ParseMAC(text(h, subject, key))
	return m
}

// counters are the facts of a port that count, as what they are.
var counters = []struct {
	key string
	is  switchstate.Counter
}{
	{"rx_bytes", switchstate.InBytes}, {"tx_bytes", switchstate.OutBytes}, {"rx_packets", switchstate.InPackets}, {"tx_packets", switchstate.OutPackets},
	{"rx_errors", switchstate.InErrors}, {"tx_errors", switchstate.OutErrors}, {"rx_crc", switchstate.CRC}, {"rx_runts", switchstate.Runts}, {"rx_giants", switchstate.Giants},
	{"rx_dropped", switchstate.InDrops}, {"drops", switchstate.OutDrops}, {"tx_dropped", switchstate.OutDrops}, {"rx_pause", switchstate.InPause}, {"tx_pause", switchstate.OutPause},
	{"rx_lacp", switchstate.InLACP}, {"tx_lacp", switchstate.OutLACP},
}

// port is what is told of a port, or of a channel's own, under a subject.
func port(h *piece.Host, subject, name string) switchstate.Port {
	p := switchstate.Port{Name: name, Description: text(h, subject, "description"), Channel: text(h, subject, "channel"), Admin: text(h, subject, "admin"), MAC: mac(h, subject, "mac"), Oper: text(h, subject, "state"),
		Reason: cmp.Or(text(h, subject, "err_disabled"), text(h, subject, "status")), Speed: piece.Speed(text(h, subject, "speed")), Duplex: text(h, subject, "duplex"), MTU: number(h, subject, "mtu")}
	p.VLANs = switchstate.VLANs{Mode: text(h, subject, "switchport"), Access: number(h, subject, "access_vlan"), Native: number(h, subject, "native_vlan"), Allowed: text(h, subject, "vlans")}
	junosMembers(h, subject, &p.VLANs)
	p.In, p.Out = rate(h, subject, "seen_rx_bps"), rate(h, subject, "seen_tx_bps")
	for _, c := range counters {
		n, err := strconv.ParseUint(text(h, subject, c.key), 10, 64)
		if err != nil {
			continue
		}
		if p.Counters == nil {
			p.Counters = make(map[switchstate.Counter]uint64)
		}
		p.Counters[c.is] = max(n, p.Counters[c.is])
	}
	return p
}

// junosMembers fills in VLANs that Junos lists by name or number, where its
// configuration gives the names' numbers.
func junosMembers(h *piece.Host, subject string, v *switchstate.VLANs) {
	if v.Allowed != "" || v.Access > 0 {
		return
	}
	set := make(piece.VLANSet)
	for _, x := range h.Facts[subject]["vlan_members"] {
		more, ok := piece.VLANsOf(cmp.Or(text(h, "vlan "+x.Text, "id"), x.Text))
		if !ok {
			return // one without a number: the list would be short
		}
		maps.Copy(set, more)
	}
	if v.Mode == "trunk" {
		v.Allowed = set.String()
	} else if all := set.String(); piece.Digits.MatchString(all) {
		v.Access = piece.Atoi(all)
	}
}

func rate(h *piece.Host, subject, key string) unit.BitRate {
	return unit.BitRate(piece.Float(text(h, subject, key)))
}

// channel is one port channel; ports are those that name it.
func channel(h *piece.Host, name string, ports []string) switchstate.Channel {
	subject := "channel " + name
	c := switchstate.Channel{Port: port(h, subject, name), Protocol: switchstate.Protocol(text(h, subject, "protocol")), Activity: text(h, subject, "mode"), Rate: text(h, subject, "lacp_rate"),
		MinLinks: number(h, subject, "min_links"), PairID: cmp.Or(text(h, subject, "mlag_id"), text(h, "mlag "+name, "id"))}
	if c.Protocol == "none" {
		c.Protocol = ""
	}
	if all := piece.Speed(text(h, subject, "bandwidth")); c.Speed > 0 && all > c.Speed { // the speed is printed of one member
		c.Speed = all
	}
	c.Hash = switchstate.Hash{Words: cmp.Or(text(h, subject, "hash"), text(h, subject, "load_balance"))}
	if c.Hash.Words != "" {
		c.Hash.Highest, c.Hash.Scope = switchstate.HighestLayer(c.Hash.Words), switchstate.OneChannel
	}
	names := strings.Fields(text(h, subject, "members"))
	listed := make(map[string]bool)
	for _, p := range names {
		listed[p] = true
	}
	for _, p := range ports {
		if !listed[p] {
			names = append(names, p)
		}
	}
	for _, p := range names {
		m := memberOf(h, p)
		if m.Actor.System == (flow.MAC{}) {
			m.Actor.System = mac(h, subject, "system_mac")
		}
		if m.Partner.System == (flow.MAC{}) {
			m.Partner.System = mac(h, subject, "partner_mac")
		}
		c.Members = append(c.Members, m)
	}
	if c.Protocol == switchstate.LACP { // what all members say is the channel's
		c.Activity = cmp.Or(c.Activity, agreed(c.Members, func(m switchstate.Member) string { return m.Actor.Activity }))
		c.Rate = cmp.Or(c.Rate, agreed(c.Members, func(m switchstate.Member) string { return m.Actor.Rate }))
	}
	return c
}

// agreed is what those members say alike that say anything; "" they differ.
func agreed(all []switchstate.Member, say func(switchstate.Member) string) string {
	first := ""
	for _, m := range all {
		word := say(m)
		if first = cmp.Or(first, word); word != "" && word != first {
			return ""
		}
	}
	return first
}

// memberOf is one port of a channel.
func memberOf(h *piece.Host, name string) switchstate.Member {
	subject := "port " + name
	m := switchstate.Member{Port: name, Flag: text(h, subject, "flag"), Mode: text(h, subject, "mode"), Buckets: cmp.Or(text(h, subject, "buckets"), text(h, subject, "load_mask"))}
	m.State = memberState(text(h, "host", "vendor"), text(h, subject, "bundled"), m.Flag)
	if m.State == switchstate.Out && text(h, subject, "state") == "down" {
		m.State = switchstate.Down
	}
	side := func(whose, words string) switchstate.LACPPort {
		l := switchstate.LACPPort{Activity: text(h, subject, words+"mode"), Rate: text(h, subject, words+"lacp_rate"), System: mac(h, subject, whose+"_mac"),
			Key: number(h, subject, whose+"_key"), Port: number(h, subject, whose+"_port"), State: number(h, subject, whose+"_state")}
		if l.Activity != "active" && l.Activity != "passive" {
			l.Activity = ""
		}
		if _, told := h.Get(subject, whose+"_state"); told { // bits 0 and 1 of the state say both
			l.Activity = cmp.Or(l.Activity, map[int]string{0: "passive", 1: "active"}[l.State&1])
			l.Rate = cmp.Or(l.Rate, map[int]string{0: "slow", 2: "fast"}[l.State&2])
		}
		return l
	}
	m.Actor, m.Partner = side("actor", ""), side("partner", "partner_")
	return m
}

// memberState is what a member does by whether it is bundled ("yes", "no",
// "individual", "suspended") and the switch's own flag for it.
func memberState(vendor, bundled, flag string) switchstate.MemberState {
	low := strings.ToLower(flag)
	switch bundled {
	case "":
		return ""
	case "yes":
		return switchstate.Bundled
	case "individual":
		return switchstate.Standalone
	case "suspended":
		return switchstate.Suspended
	}
	switch {
	case vendor == "sonic": // D is deselected, whatever the link does
	case flag == "H", strings.HasPrefix(low, "hot-s"), low == "standby":
		return switchstate.HotStandby
	case flag == "D", low == "down", strings.HasPrefix(low, "down "):
		return switchstate.Down
	case flag == "w", low == "waiting", strings.HasPrefix(low, "negotiating"), low == "attached", low == "collecting", flag == "p":
		return switchstate.Waiting
	}
	return switchstate.Out
}

// bonds adds the bonds of a switch that runs Linux or RouterOS: its links say it, or
// what declares them.
func bonds(h *piece.Host, out *switchstate.Switch) {
	names := append(h.Subjects("link"), h.Subjects("config")...)
	slices.Sort(names)
	var members []string
	for _, name := range slices.Compact(names) {
		subject := "link " + name
		if _, runs := h.Facts[subject]; !runs {
			subject = "config " + name
		}
		ports := h.Ports[name]
		if len(ports) == 0 {
			ports = strings.Fields(text(h, "config "+name, "ports"))
		}
		if kind := cmp.Or(text(h, subject, "kind"), text(h, "config "+name, "kind")); kind != "bond" && (kind != "" || len(h.Ports[name]) == 0) {
			continue
		}
		c := switchstate.Channel{Port: port(h, subject, name), Rate: text(h, subject, "lacp_rate"), MinLinks: number(h, subject, "min_links"), PairID: text(h, subject, "clag_id")}
		switch text(h, subject, "mode") {
		case "802.3ad":
			c.Protocol = switchstate.LACP
		case "":
			if out.Vendor == "cumulus" { // its default (Cumulus documentation, Bonding)
				c.Protocol = switchstate.LACP
			}
		case "balance-xor", "balance-rr":
			c.Protocol = switchstate.Static
		}
		if words := text(h, subject, "xmit_hash_policy"); words != "" {
			c.Hash = switchstate.Hash{Words: words, Scope: switchstate.OneChannel, Highest: switchstate.HighestLayer(words)}
		}
		bridged(h, "config "+name, &c.VLANs)
		for _, p := range ports {
			m := switchstate.Member{Port: p}
			switch {
			case slices.Contains(strings.Fields(text(h, subject, "active_ports")), p):
				m.State = switchstate.Bundled
			case slices.Contains(strings.Fields(text(h, subject, "inactive_ports")), p):
				m.State = switchstate.Out
			}
			kernelMember(h, name, &m)
			c.Members = append(c.Members, m)
			members = append(members, p)
		}
		out.Channels = append(out.Channels, c)
	}
	for _, p := range members {
		subject := "link " + p
		if _, runs := h.Facts[subject]; !runs {
			subject = "config " + p
		}
		out.Ports = append(out.Ports, port(h, subject, p))
	}
}

// kernelMember fills in what the kernel's bonding says of a port.
func kernelMember(h *piece.Host, bond string, m *switchstate.Member) {
	subject := "link " + m.Port
	m.Actor.Key, m.Actor.State = number(h, subject, "actor_key"), number(h, subject, "actor_state")
	m.Partner = switchstate.LACPPort{System: mac(h, subject, "partner_system_mac"), Key: number(h, subject, "partner_key"), Port: number(h, subject, "partner_port_number"), State: number(h, subject, "partner_state")}
	own, active := text(h, subject, "aggregator_id"), text(h, "link "+bond, "ad_aggregator")
	switch {
	case text(h, subject, "carrier") == "no" || text(h, subject, "mii_status") == "down":
		m.State = switchstate.Down
	case own != "" && active != "" && own == active:
		m.State = switchstate.Bundled
	case own != "" && active != "":
		m.State = switchstate.Standalone
	}
}

// bridged is what ifupdown2 says of a port's VLANs, where nothing else did.
func bridged(h *piece.Host, subject string, v *switchstate.VLANs) {
	if *v != (switchstate.VLANs{}) {
		return
	}
	if set, ok := piece.VLANsOf(text(h, subject, "bridge-vids")); ok {
		v.Mode, v.Allowed = "trunk", set.String()
	}
	v.Native = number(h, subject, "bridge-pvid")
	if v.Access = number(h, subject, "bridge-access"); v.Access > 0 {
		v.Mode = "access"
	}
}

// neighbors are who was heard at each port, in the order of the ports' names. What
// several outputs say of one neighbour is one.
func neighbors(h *piece.Host) (out []netstate.Neighbor) {
	for _, name := range h.Subjects("lldp") {
		local, _, _ := strings.Cut(name, " ")
		subject := "lldp " + name
		n := netstate.Neighbor{Link: local, SystemName: text(h, subject, "neighbour"), Port: text(h, subject, "neighbour_port"), PortDescription: text(h, subject, "neighbour_description"),
			SystemText: text(h, subject, "neighbour_text"), Chassis: cmp.Or(text(h, subject, "neighbour_mac"), text(h, subject, "neighbour_chassis")), MaxFrame: number(h, subject, "neighbour_frame"), VLAN: number(h, subject, "neighbour_vlan")}
		for _, x := range h.Facts[subject]["neighbour_address"] {
			if a, err := netip.ParseAddr(x.Text); err == nil && !slices.Contains(n.Management, a) {
				n.Management = append(n.Management, a)
			}
		}
		at := slices.IndexFunc(out, func(o netstate.Neighbor) bool {
			_, same := oneName(o.SystemName, n.SystemName)
			return o.Link == local && alike(o.Port, n.Port) && alike(o.Chassis, n.Chassis) && (same || n.Chassis != "" && n.Chassis == o.Chassis)
		})
		if at >= 0 {
			o := &out[at]
			if name, same := oneName(o.SystemName, n.SystemName); same {
				o.SystemName = name
			}
			o.SystemName, o.Port, o.PortDescription, o.Chassis = cmp.Or(o.SystemName, n.SystemName), cmp.Or(o.Port, n.Port), cmp.Or(o.PortDescription, n.PortDescription), cmp.Or(o.Chassis, n.Chassis)
			o.SystemText, o.Management = cmp.Or(o.SystemText, n.SystemText), slices.Compact(append(o.Management, n.Management...))
			o.MaxFrame, o.VLAN = cmp.Or(o.MaxFrame, n.MaxFrame), cmp.Or(o.VLAN, n.VLAN)
			continue
		}
		out = append(out, n)
	}
	return out
}

// leastCut is how much of a name tables print at the least before they cut it.
const leastCut = 12

// oneName is the longer of two names where they are one: tables cut names, with dots
// or without.
func oneName(a, b string) (string, bool) {
	if len(a) > len(b) {
		a, b = b, a
	}
	cut := strings.TrimSuffix(a, "...")
	return b, a != "" && (a == b || len(a) >= leastCut && strings.HasPrefix(b, cut))
}

// alike reports two texts of which one may be missing.
func alike(a, b string) bool { return a == b || a == "" || b == "" }

// pair is the other half of the pair that a switch belongs to.
func pair(h *piece.Host) switchstate.Pair {
	word := func(key string) string { return text(h, "mlag", key) }
	p := switchstate.Pair{Kind: word("kind"), Peer: cmp.Or(word("peer status"), word("vpc keep-alive status"), word("negotiation status"), word("device state")),
		State: cmp.Or(word("state"), word("isl channel"), word("isl state"))}
	for _, name := range h.Subjects("mlag") {
		subject := "mlag " + name
		p.Channels = append(p.Channels, switchstate.PairChannel{Name: name, ID: text(h, subject, "id"), Peer: text(h, subject, "peer"), State: text(h, subject, "state"), Consistency: text(h, subject, "consistency")})
	}
	return p
}
