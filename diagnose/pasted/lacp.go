package pasted

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Bits of an LACP port state (IEEE 802.1AX 6.4.2.3).
const (
	stateDefaulted = 64
	stateExpired   = 128
)

const zeroMAC = "00:00:00:00:00:00"

// lacpSilent: nobody answers LACP on any port.
func lacpSilent(v *view) {
	for _, b := range v.bonds {
		if b.mode != "802.3ad" {
			continue
		}
		partner, told := fact(b.host, b.name, "ad_partner_mac")
		if !told || partner.Text != zeroMAC {
			continue
		}
		up := 0
		for _, p := range b.ports {
			if !p.down {
				up++
			}
		}
		evidence := []record.Evidence{saw("partner of "+b.name, "MAC 00:00:00:00:00:00: no LACP partner was heard", partner.Source)}
		if n, at, ok := number(b.host, "link "+b.name, "ad_num_ports"); ok {
			evidence = append(evidence, saw("ports in its aggregator", fmt.Sprintf("%.0f of %d", n, len(b.ports)), at))
		}
		summary := fmt.Sprintf("%s runs 802.3ad, but no partner answers: the switch does not speak LACP on these ports, so that one port alone carries.", b.name)
		remedy := "On the switch put these ports into one LACP group (Cisco: `channel-group N mode active`; others: LAG of type LACP, active or passive). Check that all are cabled to that group."
		sure := 0.85
		if e, on := v.staticChannel(); on {
			evidence = append(evidence, e)
			summary = fmt.Sprintf("%s runs 802.3ad (LACP), but the switch's channel is static (mode on) and never sends LACP: the bond finds no partner and one port alone carries.", b.name)
			remedy = "On the switch change the members from `mode on` to LACP: `channel-group N mode active`; remove and add the members, for the mode of a channel cannot be changed while it has some."
			sure = 0.95
		}
		for _, p := range b.ports {
			if x, ok := fact(b.host, p.name, "speed"); ok && p.speed == 0 && contains(x.Text, "unknown") {
				evidence = append(evidence, saw("speed of "+p.name, x.Text, x.Source))
				summary = fmt.Sprintf("%s runs 802.3ad, but its ports have no speed (unknown, as virtual cards tell it): a port without speed and duplex cannot aggregate, so no LACP partner is accepted.", b.name)
				remedy = fmt.Sprintf("Give each port a speed and full duplex: `ethtool -s %s speed 10000 duplex full` (in a VM; keep it in its configuration), or use balance-xor, which needs no LACP.", p.name)
				break
			}
		}
		if up < 2 {
			sure = 0.6
		}
		v.add(record.LACPDown, sure, b.host, fmt.Sprintf("%s and the switch's ports", b.name), summary, remedy, evidence...)
	}
}

// staticChannel is the evidence of a switch's channel without LACP.
func (v *view) staticChannel() (record.Evidence, bool) {
	for _, s := range v.switches {
		for _, name := range s.Subjects("channel") {
			p, ok := s.Get("channel "+name, "protocol")
			if ok && (p.Text == "none" || p.Text == "static" || p.Text == "-") {
				return saw("channel "+name+" of "+nameOf(s), "no protocol (mode on): it is static", p.Source), true
			}
		}
		for _, name := range s.Subjects("port") {
			if m, ok := s.Get("port "+name, "mode"); ok && m.Text == "on" {
				return saw("port "+name+" of "+nameOf(s), "channel-group mode on: static", m.Source), true
			}
		}
	}
	return record.Evidence{}, false
}

// lacpSplit: ports that are up stand in other aggregators than the one that carries.
func lacpSplit(v *view) {
	for _, b := range v.bonds {
		if b.mode != "" && b.mode != "802.3ad" || len(b.ports) < 2 {
			continue
		}
		active, _, told := number(b.host, "link "+b.name, "ad_aggregator")
		ids := make(map[float64][]string)
		for _, p := range b.ports {
			if id, _, ok := number(b.host, "link "+p.name, "aggregator_id"); ok && !p.down {
				ids[id] = append(ids[id], p.name)
			}
		}
		if len(ids) < 2 {
			continue
		}
		if partner, ok := fact(b.host, b.name, "ad_partner_mac"); ok && partner.Text == zeroMAC {
			continue // lacpSilent
		}
		if !told {
			for _, id := range slices.Sorted(maps.Keys(ids)) {
				if len(ids[id]) > len(ids[active]) {
					active = id
				}
			}
		}
		for _, id := range slices.Sorted(maps.Keys(ids)) {
			if id == active {
				continue
			}
			names := ids[id]
			slices.Sort(names)
			for _, p := range names {
				v.outside(b, p, told)
			}
		}
	}
}

// outside judges one port that is up and not in the aggregator that carries.
func (v *view) outside(b bond, name string, told bool) {
	h := b.host
	id, at, _ := number(h, "link "+name, "aggregator_id")
	evidence := []record.Evidence{saw("aggregator of "+name, strconv.Itoa(int(id))+": not the one that carries", at)}
	summary := fmt.Sprintf("%s is up but outside the LACP group: its aggregator is another than the one of %s that carries, so it moves no traffic.", name, b.name)
	remedy := fmt.Sprintf("Compare the switch's port of %s with its neighbour's: the same LACP group, LACP on, the same speed.", name)
	sure := 0.85
	if !told {
		sure = 0.7
	}
	_, fastest := b.speeds()
	own := speedOf(h, name)
	key, keyAt, keyed := number(h, "link "+name, "actor_key")
	mac, macTold := h.Get("link "+name, "partner_system_mac")
	other, otherTold := fact(h, b.name, "ad_partner_mac")
	partnerKey, pkAt, pkTold := number(h, "link "+name, "partner_key")
	activeKey, _, akTold := number(h, "link "+b.name, "ad_partner_key")
	switch {
	case own > 0 && fastest > own:
		x, _ := fact(h, name, "speed")
		evidence = append(evidence, saw("speed of "+name, x.Text, x.Source))
		summary = fmt.Sprintf("%s negotiated %v while its neighbour runs at %v: ports of different speed cannot be in one LACP aggregator, so it stays outside the bundle.", name, own, fastest)
		remedy = fmt.Sprintf("Replace the cable of %s first (a broken pair gives 100 Mb/s on a gigabit port), then check that both ends negotiate: `ethtool %s`.", name, name)
		if own >= unit.Gbps { // no cable does that: the ports differ
			remedy = fmt.Sprintf("Bundle ports of one speed only: set the faster ones to %v as well, or use the faster port alone.", own)
		}
		sure = 0.93
	case keyed && key == 0:
		evidence = append(evidence, saw("port key of "+name, "0: it had no speed and duplex when it joined", keyAt))
		summary = fmt.Sprintf("%s joined %s before its driver knew speed and duplex (port key 0), so it has an aggregator of its own and never hears a partner: LACP is down on it.", name, b.name)
		remedy = fmt.Sprintf("Re-enslave it once the link is up: `ip link set %s nomaster && ip link set %s down && ip link set %s master %s`; to keep it, update the driver or kernel, or add the port late (after the link is up).", name, name, name, b.name)
		sure = 0.9
	case macTold && mac.Text == zeroMAC:
		evidence = append(evidence, saw("partner of "+name, "none heard", mac.Source))
		summary = fmt.Sprintf("%s hears no LACP partner while its neighbour does: the switch's port is not in the LACP group, or its frames do not arrive; the port is outside the bundle.", name)
		remedy = fmt.Sprintf("On the switch add the port of %s to the same LACP group (`show lacp neighbor`, `show interfaces` of it); then check cable and VLAN.", name)
		sure = 0.9
	case macTold && otherTold && mac.Text != other.Text && mac.Text != "" && other.Text != zeroMAC:
		evidence = append(evidence, saw("partner of "+name, mac.Text+", of the others "+other.Text, mac.Source))
		summary = fmt.Sprintf("The ports of %s end at two switches (partners %s and %s) that are not one LACP system, so that only one group carries; %s is in the other.", b.name, other.Text, mac.Text, name)
		remedy = "Join the two switches by MLAG/vPC/stack, or cable all ports to one of them, or use active-backup."
		sure = 0.93
	case pkTold && akTold && partnerKey != activeKey:
		evidence = append(evidence, saw("group of "+name+" at the switch", fmt.Sprintf("key %.0f, of the others %.0f", partnerKey, activeKey), pkAt))
		summary = fmt.Sprintf("The switch has %s in another LACP group than the other ports of %s, so that it stays outside the one that carries.", name, b.name)
		remedy = fmt.Sprintf("On the switch put the port of %s into the same group as the others.", name)
		sure = 0.93
	}
	if churn, ok := h.Get("link "+name, "partner_churn"); ok && churn.Text == "churned" {
		evidence = append(evidence, saw("churn of "+name, "partner churned: it does not get in sync", churn.Source))
	}
	if e, ok := v.switchPortOut(); ok {
		evidence = append(evidence, e)
		sure = min(sure+0.03, 0.96)
	}
	v.add(record.LACPDown, sure, h, name+" of "+b.name, summary, remedy, evidence...)
}

// fecMismatch: a port without link whose FEC is another than its neighbour's.
func fecMismatch(v *view) {
	for _, b := range v.bonds {
		for _, p := range b.ports {
			own, ok := fact(b.host, p.name, "fec")
			if !p.down || !ok {
				continue
			}
			for _, o := range b.ports {
				other, ok := fact(b.host, o.name, "fec")
				if !ok || o.down || strings.EqualFold(other.Text, own.Text) {
					continue
				}
				v.add(record.CardSlot, 0.82, b.host, p.name+" of "+b.name+" (FEC)",
					fmt.Sprintf("%s has no link and FEC (forward error correction) %s, while %s works with %s: at 25G and more both ends must use the same FEC, or there is no link.", p.name, own.Text, o.name, other.Text),
					fmt.Sprintf("Set the same on both ends: `ethtool --set-fec %s encoding rs` (or auto), and the switch's port likewise.", p.name),
					saw("FEC of "+p.name, own.Text, own.Source), saw("FEC of "+o.name, other.Text, other.Source))
			}
		}
	}
}

// switchPortOut is a switch's own word that a member is not bundled.
func (v *view) switchPortOut() (record.Evidence, bool) {
	for _, s := range v.switches {
		for _, name := range s.Subjects("port") {
			x, ok := s.Get("port "+name, "bundled")
			if ok && x.Text != "yes" && x.Text != "" {
				return saw("port "+name+" of "+nameOf(s), "not in the bundle: "+x.Text, x.Source), true
			}
		}
	}
	return record.Evidence{}, false
}

// lacpStates: what a port's state bits, or the switch's word, say where the
// aggregators do not.
func lacpStates(v *view) {
	for _, b := range v.bonds {
		if b.mode != "" && b.mode != "802.3ad" {
			continue
		}
		for _, p := range b.ports {
			actor, at, ok := number(b.host, "link "+p.name, "actor_state")
			partner, pAt, pOK := number(b.host, "link "+p.name, "partner_state")
			switch {
			case p.down:
			case ok && int(actor)&stateDefaulted != 0 && b.some("actor_state", func(s int) bool { return s&stateDefaulted == 0 }):
				v.add(record.LACPDown, 0.8, b.host, p.name+" of "+b.name, fmt.Sprintf("%s hears no LACP partner (its state is defaulted) while another port of %s does: it is outside the bundle.", p.name, b.name),
					fmt.Sprintf("Check the switch's port of %s: LACP on and in the same group; then that its frames arrive (`tcpdump -e -i %s ether proto 0x8809`).", p.name, p.name),
					saw("actor state of "+p.name, fmt.Sprintf("%.0f: defaulted", actor), at))
			case pOK && int(partner)&(stateDefaulted|stateExpired) != 0 && ok && int(actor)&stateDefaulted == 0:
				v.add(record.LACPDown, 0.75, b.host, p.name+" of "+b.name, fmt.Sprintf("The switch does not hear LACP from %s (its state is %.0f): frames of this port are lost on the way, or the switch asks for a faster rate than it gets.", p.name, partner),
					"Set the same LACP rate at both ends, and look at the port's counters on the switch.",
					saw("partner state of "+p.name, fmt.Sprintf("%.0f", partner), pAt))
			}
		}
	}
	for _, s := range v.switches {
		for _, name := range s.Subjects("port") {
			x, ok := s.Get("port "+name, "bundled")
			if !ok || x.Text == "yes" || x.Text == "" || x.Text == "no link" || x.Text == "down" {
				continue
			}
			if ch, in := s.Get("port "+name, "channel"); !in || ch.Text == "" {
				continue
			}
			host := ""
			if d, ok := s.Get("port "+name, "description"); ok {
				host = " (" + d.Text + ")"
			}
			v.add(record.LACPDown, 0.85, s, fmt.Sprintf("%s %s%s", nameOf(s), name, host),
				fmt.Sprintf("The switch has %s%s not in the bundle (%s): LACP is not up on it, and the channel carries with its other members only.", name, host, x.Text),
				fmt.Sprintf("Compare %s with a member that is bundled: LACP (mode active) and the same group, speed, MTU and VLANs on both ends; then the host's port. An ESXi standard switch with IP hash speaks no LACP: it needs a static channel (mode on), or a distributed switch (VDS) with LACP.", name),
				saw("port "+name+" of "+nameOf(s), x.Text, x.Source))
		}
	}
}

// some reports a port of the bond whose number of a key is so.
func (b bond) some(key string, is func(int) bool) bool {
	return slices.ContainsFunc(b.ports, func(p port) bool {
		n, _, ok := number(b.host, "link "+p.name, key)
		return ok && is(int(n))
	})
}

// teamPorts: a port of a team whose LACP is not current or not selected.
func teamPorts(v *view) {
	for _, h := range v.hosts {
		for _, name := range h.Subjects("link") {
			state := word(h, name, "lacp_state")
			x, ok := h.Get("link "+name, "selected")
			if !ok || x.Text != "no" || word(h, name, "carrier") == "no" {
				continue
			}
			team := word(h, name, "master")
			summary := fmt.Sprintf("Port %s of %s is not selected: its LACP is %s, so that it carries nothing and one port carries all.", name, cmp.Or(team, "the team"), cmp.Or(state, "not up"))
			remedy := fmt.Sprintf("Make both ends agree on LACP: active on the switch's port of %s, in the same group.", name)
			evidence := []record.Evidence{saw(name, "selected: no, state: "+cmp.Or(state, "?"), x.Source)}
			if fast, ok := h.Get("link "+team, "lacp_rate"); ok && fast.Text == "fast" && (state == "expired" || state == "defaulted") {
				summary = fmt.Sprintf("Port %s of %s is not selected: its LACP state is %s. The team asks for the fast rate (a frame each second, timeout 3 s), and a switch that sends at its slow rate of 30 s lets it expire.", name, cmp.Or(team, "the team"), state)
				remedy = fmt.Sprintf("Set the same LACP rate at both ends: the short timeout on the switch's port of %s, or `fast_rate: false` for the team.", name)
				evidence = append(evidence, saw("LACP rate of "+team, "fast", fast.Source))
			}
			v.add(record.LACPDown, 0.85, h, team+" port "+name, summary, remedy, evidence...)
		}
	}
}

// useCarrier: a bond that asks drivers for the link's state by ioctl instead of
// the carrier: with drivers that do not answer that, ports flap or never come up.
func useCarrier(v *view) {
	for _, b := range v.bonds {
		x, ok := fact(b.host, b.name, "use_carrier")
		if !ok || x.Text != "0" && strings.ToLower(x.Text) != "off" && strings.ToLower(x.Text) != "false" {
			continue
		}
		sure := 0.6
		evidence := []record.Evidence{saw("use_carrier of "+b.name, x.Text, x.Source)}
		for _, p := range b.ports {
			if n, at, ok := number(b.host, "link "+p.name, "link_failure_count"); ok && n > 3 {
				evidence = append(evidence, saw("link failures of "+p.name, fmt.Sprintf("%.0f", n), at))
				sure = 0.88
			}
		}
		if n, at := events(b.host, "link-down"); n > 3 {
			evidence = append(evidence, saw("link failures in the log", strconv.Itoa(n), at))
			sure = 0.88
		}
		v.add(record.LACPDown, sure, b.host, b.name+" (use_carrier 0)",
			fmt.Sprintf("%s has use_carrier 0: the bond polls each driver by ioctl (MII) instead of its carrier, and drivers that answer late or not at all make its ports flap.", b.name),
			setBond(b.host, b.name, "use_carrier", "1"), evidence...)
	}
}
