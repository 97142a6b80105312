package channels

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// lacpSilent: nobody answers LACP on any port.
func lacpSilent(v *scene.View) {
	for _, b := range v.Bonds {
		if b.Mode != "802.3ad" {
			continue
		}
		partner, told := scene.Fact(b.Host, b.Name, "ad_partner_mac")
		if !told {
			mixedModes(v, b)
			continue
		}
		if partner.Text != scene.ZeroMAC {
			continue
		}
		up := 0
		for _, p := range b.Ports {
			if !p.Down {
				up++
			}
		}
		evidence := []record.Evidence{scene.Saw("partner of "+b.Name, "MAC 00:00:00:00:00:00: no LACP partner was heard", partner.Source)}
		if n, at, ok := scene.Number(b.Host, "link "+b.Name, "ad_num_ports"); ok {
			evidence = append(evidence, scene.Saw("ports in its aggregator", fmt.Sprintf("%.0f of %d", n, len(b.Ports)), at))
		}
		summary := fmt.Sprintf("%s runs 802.3ad, but no partner answers: the switch does not speak LACP on these ports, so that one port alone carries.", b.Name)
		remedy := "On the switch put these ports into one LACP group (" + lacpCommand(v) + "). Check that all are cabled to that group."
		sure := 0.85
		if e, on := staticChannel(v); on {
			evidence = append(evidence, e)
			summary = fmt.Sprintf("%s runs 802.3ad (LACP), but the switch's channel is static (mode on) and never sends LACP: the bond finds no partner and one port alone carries.", b.Name)
			remedy = "On the switch change the channel from static to LACP: " + lacpCommand(v) + "; remove and add the members, for the mode of a channel cannot be changed while it has some."
			sure = 0.95
		}
		for _, p := range b.Ports {
			if x, ok := scene.Fact(b.Host, p.Name, "speed"); ok && p.Speed == 0 && scene.Contains(x.Text, "unknown") {
				evidence = append(evidence, scene.Saw("speed of "+p.Name, x.Text, x.Source))
				summary = fmt.Sprintf("%s runs 802.3ad, but its ports have no speed (unknown, as virtual cards tell it): a port without speed and duplex cannot aggregate, so no LACP partner is accepted.", b.Name)
				remedy = fmt.Sprintf("Give each port a speed and full duplex: `ethtool -s %s speed 10000 duplex full` (in a VM; keep it in its configuration), or use balance-xor, which needs no LACP.", p.Name)
				break
			}
		}
		if up < 2 {
			sure = 0.6
		}
		v.Add(record.LACPDown, sure, b.Host, fmt.Sprintf("%s and the switch's ports", b.Name), summary, remedy, evidence...)
	}
}

// mixedModes: a bond with LACP, of which no partner was read, beside a switch that has
// static channels alone.
func mixedModes(v *scene.View, b scene.Bond) {
	e, static := staticChannel(v)
	x, ok := scene.Fact(b.Host, b.Name, "mode")
	if _, _, tied := channelOf(v, b); tied || !static || !ok {
		return // modeMismatch knows which channel it is
	}
	channels := 0
	for _, s := range v.Switches {
		for _, name := range s.Subjects("channel") {
			channels++
			if p, ok := s.Get("channel "+name, "protocol"); ok && strings.Contains(strings.ToLower(p.Text), "lacp") {
				return // it may be that one
			}
		}
	}
	sure := 0.72
	if channels > 1 {
		sure = 0.5 // whose they are nobody says
	}
	v.Add(record.LACPDown, sure, b.Host, fmt.Sprintf("%s and the switch's ports", b.Name),
		fmt.Sprintf("%s runs 802.3ad (LACP), and the switch's channel is static: it never sends LACP, so that the bond finds no partner and one port alone carries.", b.Name),
		"On the switch make the channel LACP: "+lacpCommand(v)+". Or make both static (balance-xor with xmit_hash_policy layer3+4 on the host), which notices less.",
		scene.Saw("mode of "+b.Name, x.Text, x.Source), e)
}

// lacpCommand is how the switch that was read makes a channel with LACP; where none
// was, of several.
func lacpCommand(v *scene.View) string {
	vendor := ""
	for _, s := range v.Switches {
		if x, ok := s.Get("host", "vendor"); ok {
			vendor = x.Text
		}
	}
	switch vendor {
	case "procurve":
		return "`trunk PORTS trkN lacp`"
	case "aoscx":
		return "`interface lag N`, `lacp mode active`"
	case "junos":
		return "`set interfaces aeN aggregated-ether-options lacp active`"
	case "comware":
		return "`interface Bridge-Aggregation N`, `link-aggregation mode dynamic`"
	case "huawei":
		return "`interface Eth-Trunk N`, `mode lacp` (older: `mode lacp-static`)"
	case "":
		return "Cisco: `channel-group N mode active`; others: LAG of type LACP, active or passive"
	}
	return "`channel-group N mode active`"
}

// staticChannel is the evidence of a switch's channel without LACP.
func staticChannel(v *scene.View) (record.Evidence, bool) {
	for _, s := range v.Switches {
		for _, name := range s.Subjects("channel") {
			p, ok := s.Get("channel "+name, "protocol")
			if ok && (p.Text == "none" || p.Text == "static" || p.Text == "-") {
				return scene.Saw("channel "+name+" of "+scene.NameOf(s), "no protocol (mode on): it is static", p.Source), true
			}
		}
		for _, name := range s.Subjects("port") {
			if m, ok := s.Get("port "+name, "mode"); ok && m.Text == "on" {
				return scene.Saw("port "+name+" of "+scene.NameOf(s), "channel-group mode on: static", m.Source), true
			}
		}
	}
	return record.Evidence{}, false
}

// lacpSplit: ports that are up stand in other aggregators than the one that carries.
func lacpSplit(v *scene.View) {
	for _, b := range v.Bonds {
		if b.Mode != "" && b.Mode != "802.3ad" {
			continue
		}
		active, _, told := scene.Number(b.Host, "link "+b.Name, "ad_aggregator")
		ids := make(map[float64][]string)
		for _, p := range b.Ports {
			if id, _, ok := scene.Number(b.Host, "link "+p.Name, "aggregator_id"); ok && !p.Down {
				ids[id] = append(ids[id], p.Name)
			}
		}
		if !told && len(ids) < 2 {
			continue
		}
		if partner, ok := scene.Fact(b.Host, b.Name, "ad_partner_mac"); ok && partner.Text == scene.ZeroMAC {
			continue // lacpSilent
		}
		if !told {
			for _, id := range slices.Sorted(maps.Keys(ids)) {
				if len(ids[id]) > len(ids[active]) {
					active = id
				}
			}
			if whichUnknown(v, b, ids, len(ids[active])) {
				continue
			}
		}
		for _, id := range slices.Sorted(maps.Keys(ids)) {
			if id == active {
				continue
			}
			names := ids[id]
			slices.Sort(names)
			for _, p := range names {
				outside(v, b, p, told)
			}
		}
	}
}

// whichUnknown: several aggregators with as many ports each, and nothing that parts them: read
// without root, /proc/net/bonding has neither the one that carries nor the partners.
func whichUnknown(v *scene.View, b scene.Bond, ids map[float64][]string, most int) bool {
	largest := 0
	evidence := []record.Evidence{}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		if len(ids[id]) == most {
			largest++
		}
		for _, name := range ids[id] {
			_, fastest := b.Speeds()
			_, heard := b.Host.Get("link "+name, "partner_system_mac")
			_, keyed := b.Host.Get("link "+name, "actor_key")
			if own := scene.SpeedOf(b.Host, name); heard || keyed || own > 0 && own < fastest {
				return false
			}
			x, _ := b.Host.Get("link "+name, "aggregator_id")
			evidence = append(evidence, scene.Saw("aggregator of "+name, x.Text, x.Source))
		}
	}
	if largest < 2 {
		return false
	}
	f := v.Add(record.LACPDown, 0.68, b.Host, fmt.Sprintf("%s of %s", b.Name, scene.NameOf(b.Host)),
		fmt.Sprintf("The ports of %s are in %d LACP aggregators, and a bond carries by one of them: the others are up and move nothing. Which one carries is not in what was read, as it needs root.", b.Name, len(ids)),
		"Compare the switch's ports: one LACP group (or one MLAG of both switches), LACP on each, one speed. A port whose partner is zeros hears no LACP.", evidence...)
	f.Ask = []scene.Missing{{Command: "cat /proc/net/bonding/" + b.Name, Host: b.Host.Name, Why: "as root: the active aggregator, and the partner and state of each port"},
		{Command: "show lacp neighbor; show etherchannel summary", Host: "the switch", Why: "which ports are bundled, in which group, and whom each hears"}}
	return true
}

// outside judges one port that is up and not in the aggregator that carries.
func outside(v *scene.View, b scene.Bond, name string, told bool) {
	h := b.Host
	id, at, _ := scene.Number(h, "link "+name, "aggregator_id")
	evidence := []record.Evidence{scene.Saw("aggregator of "+name, strconv.Itoa(int(id))+": not the one that carries", at)}
	summary := fmt.Sprintf("%s is up but outside the LACP group: its aggregator is another than the one of %s that carries, so it moves no traffic.", name, b.Name)
	remedy := fmt.Sprintf("Compare the switch's port of %s with its neighbour's: the same LACP group, LACP on, the same speed.", name)
	sure := 0.85
	if !told {
		sure = 0.7
	}
	_, fastest := b.Speeds()
	own := scene.SpeedOf(h, name)
	key, keyAt, keyed := scene.Number(h, "link "+name, "actor_key")
	mac, macTold := h.Get("link "+name, "partner_system_mac")
	other, otherTold := scene.Fact(h, b.Name, "ad_partner_mac")
	partnerKey, pkAt, pkTold := scene.Number(h, "link "+name, "partner_key")
	activeKey, _, akTold := scene.Number(h, "link "+b.Name, "ad_partner_key")
	switch {
	case own > 0 && fastest > own:
		x, _ := scene.Fact(h, name, "speed")
		evidence = append(evidence, scene.Saw("speed of "+name, x.Text, x.Source))
		summary = fmt.Sprintf("%s negotiated %v while its neighbour runs at %v: ports of different speed cannot be in one LACP aggregator, so it stays outside the bundle.", name, own, fastest)
		remedy = fmt.Sprintf("Replace the cable of %s first (a broken pair gives 100 Mb/s on a gigabit port), then check that both ends negotiate: `ethtool %s`.", name, name)
		if own >= unit.Gbps { // no cable does that: the ports differ
			remedy = fmt.Sprintf("Bundle ports of one speed only: set the faster ones to %v as well, or use the faster port alone.", own)
		}
		sure = 0.93
	case keyed && key == 0:
		evidence = append(evidence, scene.Saw("port key of "+name, "0: it had no speed and duplex when it joined", keyAt))
		summary = fmt.Sprintf("%s joined %s before its driver knew speed and duplex (port key 0), so it has an aggregator of its own and never hears a partner: LACP is down on it.", name, b.Name)
		remedy = fmt.Sprintf("Re-enslave it once the link is up: `ip link set %s nomaster && ip link set %s down && ip link set %s master %s`; to keep it, update the driver or kernel, or add the port late (after the link is up).", name, name, name, b.Name)
		sure = 0.9
	case macTold && mac.Text == scene.ZeroMAC:
		evidence = append(evidence, scene.Saw("partner of "+name, "none heard", mac.Source))
		summary = fmt.Sprintf("%s hears no LACP partner while its neighbour does: the switch's port is not in the LACP group, or its frames do not arrive; the port is outside the bundle.", name)
		remedy = fmt.Sprintf("On the switch add the port of %s to the same LACP group (`show lacp neighbor`, `show interfaces` of it); then check cable and VLAN.", name)
		sure = 0.9
	case macTold && otherTold && mac.Text != other.Text && mac.Text != "" && other.Text != scene.ZeroMAC:
		evidence = append(evidence, scene.Saw("partner of "+name, mac.Text+", of the others "+other.Text, mac.Source))
		summary = fmt.Sprintf("The ports of %s end at two switches (partners %s and %s) that are not one LACP system, so that only one group carries; %s is in the other.", b.Name, other.Text, mac.Text, name)
		remedy = "Join the two switches by MLAG/vPC/stack, or cable all ports to one of them, or use active-backup."
		sure = 0.93
	case pkTold && akTold && partnerKey != activeKey:
		evidence = append(evidence, scene.Saw("group of "+name+" at the switch", fmt.Sprintf("key %.0f, of the others %.0f", partnerKey, activeKey), pkAt))
		summary = fmt.Sprintf("The switch has %s in another LACP group than the other ports of %s, so that it stays outside the one that carries.", name, b.Name)
		remedy = fmt.Sprintf("On the switch put the port of %s into the same group as the others.", name)
		sure = 0.93
	}
	if churn, ok := h.Get("link "+name, "partner_churn"); ok && churn.Text == "churned" {
		evidence = append(evidence, scene.Saw("churn of "+name, "partner churned: it does not get in sync", churn.Source))
	}
	if e, ok := v.SwitchPortOut(); ok {
		evidence = append(evidence, e)
		sure = min(sure+0.03, 0.96)
	}
	v.Add(record.LACPDown, sure, h, name+" of "+b.Name, summary, remedy, evidence...)
}

// fecMismatch: a port without link whose FEC is another than its neighbour's.
func fecMismatch(v *scene.View) {
	for _, b := range v.Bonds {
		for _, p := range b.Ports {
			own, ok := scene.Fact(b.Host, p.Name, "fec")
			if !p.Down || !ok {
				continue
			}
			for _, o := range b.Ports {
				other, ok := scene.Fact(b.Host, o.Name, "fec")
				if !ok || o.Down || strings.EqualFold(other.Text, own.Text) {
					continue
				}
				v.Add(record.CardSlot, 0.82, b.Host, p.Name+" of "+b.Name+" (FEC)",
					fmt.Sprintf("%s has no link and FEC (forward error correction) %s, while %s works with %s: at 25G and more both ends must use the same FEC, or there is no link.", p.Name, own.Text, o.Name, other.Text),
					fmt.Sprintf("Set the same on both ends: `ethtool --set-fec %s encoding rs` (or auto), and the switch's port likewise.", p.Name),
					scene.Saw("FEC of "+p.Name, own.Text, own.Source), scene.Saw("FEC of "+o.Name, other.Text, other.Source))
			}
		}
	}
}

// lacpStates: what a port's state bits, or the switch's word, say where the
// aggregators do not.
func lacpStates(v *scene.View) {
	for _, b := range v.Bonds {
		if b.Mode != "" && b.Mode != "802.3ad" {
			continue
		}
		for _, p := range b.Ports {
			actor, at, ok := scene.Number(b.Host, "link "+p.Name, "actor_state")
			partner, pAt, pOK := scene.Number(b.Host, "link "+p.Name, "partner_state")
			switch {
			case p.Down:
			case ok && int(actor)&scene.StateDefaulted != 0 && some(b, "actor_state", func(s int) bool { return s&scene.StateDefaulted == 0 }):
				v.Add(record.LACPDown, 0.8, b.Host, p.Name+" of "+b.Name, fmt.Sprintf("%s hears no LACP partner (its state is defaulted) while another port of %s does: it is outside the bundle.", p.Name, b.Name),
					fmt.Sprintf("Check the switch's port of %s: LACP on and in the same group; then that its frames arrive (`tcpdump -e -i %s ether proto 0x8809`).", p.Name, p.Name),
					scene.Saw("actor state of "+p.Name, fmt.Sprintf("%.0f: defaulted", actor), at))
			case pOK && int(partner)&(scene.StateDefaulted|scene.StateExpired) != 0 && ok && int(actor)&scene.StateDefaulted == 0:
				v.Add(record.LACPDown, 0.75, b.Host, p.Name+" of "+b.Name, fmt.Sprintf("The switch does not hear LACP from %s (its state is %.0f): frames of this port are lost on the way, or the switch asks for a faster rate than it gets.", p.Name, partner),
					"Set the same LACP rate at both ends, and look at the port's counters on the switch.",
					scene.Saw("partner state of "+p.Name, fmt.Sprintf("%.0f", partner), pAt))
			}
		}
	}
	for _, s := range v.Switches {
		bundled, carrying := make(map[string][]string), 0
		for channel, ports := range byChannel(s) {
			for _, p := range ports {
				if in, _ := inChannel(s, p); in.Text == "yes" || in.Text == "up" {
					bundled[channel] = append(bundled[channel], p)
					carrying++
				}
			}
		}
		for _, name := range s.Subjects("port") {
			channel, in := s.Get("port "+name, "channel")
			x, told := inChannel(s, name)
			switch {
			case (!in || channel.Text == "") && x.Text != "suspended", told && (x.Text == "yes" || x.Text == "" || x.Text == "no link" || x.Text == "down"),
				!told && (x.Text != "down" || len(bundled[channel.Text]) == 0):
				continue
			}
			host := ""
			if d, ok := s.Get("port "+name, "description"); ok {
				host = " (" + d.Text + ")"
			}
			notBundled(v, s, name, host, channel.Text, bundled[channel.Text], carrying, x)
		}
	}
}

// inChannel is what a switch tells of a port as a member of its channel, and where that is not
// told what it tells of the port itself, where nobody has shut it.
func inChannel(s *piece.Host, port string) (x piece.Value, told bool) {
	if x, told = s.Get("port "+port, "bundled"); told {
		return x, true
	}
	if admin, _ := s.Get("port "+port, "admin"); admin.Text == "up" {
		x, _ = s.Get("port "+port, "state")
	}
	return x, false
}

// notBundled tells of a switch's port that its channel does not use: why as far as the
// table says, and what is left of the channel: bundled are its members that carry, of
// so many that carry on the switch.
func notBundled(v *scene.View, s *piece.Host, name, host, channel string, bundled []string, carrying int, x piece.Value) {
	left := "the channel carries with its other members only"
	switch {
	case channel == "" || len(byChannel(s)[channel]) < 2:
		left = "it carries nothing"
	case len(bundled) == 0:
		left = "no member of the channel carries: it is down"
	}
	flag, _ := s.Get("port "+name, "flag")
	protocol, told := s.Get("channel "+channel, "protocol")
	static := told && (protocol.Text == "none" || protocol.Text == "static" || protocol.Text == "-" || protocol.Text == "on")
	why, remedy := "LACP is not up on it", fmt.Sprintf("Compare %s with a member that is bundled: LACP (mode active) and the same group, speed, MTU and VLANs on both ends; then the host's port.", name)
	sure := 0.85
	status, _ := s.Get("port "+name, "status")
	differs, settings, unlike := otherSetting(s, name, channel, bundled)
	state, _ := s.Get("port "+name, "state")
	vendor, _ := s.Get("host", "vendor")
	sonic := vendor.Text == "sonic" // its D is deselected, whatever the link does
	down := flag.Text == "D" && !sonic || state.Text == "down" && x.Text != "suspended"
	switch {
	case status.Text == "err-disabled":
		why, remedy, sure = errDisabled(s, name)
	case flag.Text == "H" || strings.HasPrefix(flag.Text, "hot-s") || strings.EqualFold(flag.Text, "standby"):
		why = "it waits as a hot standby, for the channel may use no more members at once (eight with LACP on most switches, or a limit that was set)"
		remedy = fmt.Sprintf("Raise the limit of the channel (`lacp max-bundle`, `maximum-active links`) where all members must carry; without a limit the partner of %s allows fewer.", name)
		sure = 0.6
	case unlike && !down:
		why, sure = differs, 0.9
		remedy = fmt.Sprintf("Give %s the settings of its channel and of the members that are bundled, then add it to the channel again.", name)
	case down:
		if len(bundled) == 0 && carrying > 0 {
			sure = 0.55 // of several channels, one that is down as a whole may be nobody's
		}
		why, remedy = "the port is down", fmt.Sprintf("Look at the cable and at the other end of %s: is it plugged in, up, and of the same speed? `show interfaces %s status` says whether it is connected, disabled or err-disabled.", name, name)
	case static:
		why, remedy = "the channel is static (no LACP), and the port is not in it", fmt.Sprintf("Compare the configuration of %s with its channel's: speed, duplex, MTU, VLANs; `show interfaces %s status` says whether the port is up.", name, name)
		sure = 0.75
	default:
		switch {
		case x.Text == "suspended":
			why = "the switch suspended it: no LACP frame came from the other end, or the two ends' settings differ"
		case x.Text == "individual":
			why = "it stands alone (individual), for no LACP partner answered on it"
		case sonic && flag.Text == "D":
			why = "LACP has not selected it (deselected): it has no link, or hears no LACP partner that fits the others"
			remedy = fmt.Sprintf("`show interfaces status %s` says whether there is a link; `teamdctl %s state` and `tcpdump -e -i %s ether proto 0x8809` whether LACP comes and from whom. The other end must be one LACP group of these ports; the channel's min_links must not be more than the links that are left.", name, channel, name)
		case sonic && flag.Text == "S*":
			why = "LACP has selected it, but the switch does not use it (not synced): the other end has not agreed on it, or the switch's own table is behind"
			remedy = fmt.Sprintf("`teamdctl %s state` and `tcpdump -e -i %s ether proto 0x8809` say whether LACP comes, and what state the partner has; `show logging` whether teamd or the MLAG refused the port.", channel, name)
			sure = 0.7
		case flag.Text == "w" || strings.EqualFold(flag.Text, "waiting"):
			why = "LACP has not agreed on it yet (waiting)"
		}
		for _, h := range v.Hosts {
			if os, _ := h.Get("host", "os"); os.Text == "esxi" {
				remedy += " An ESXi standard switch with IP hash speaks no LACP: it needs a static channel (mode on), or a distributed switch (VDS) with LACP."
				break
			}
		}
		if len(v.Hosts) == 0 {
			remedy += " An ESXi standard switch with IP hash, and a bond in balance-xor, speak no LACP: they need a static channel (mode on)."
		}
	}
	if reason, ok := s.Get("port "+name, "unbundled_why"); ok && !unlike {
		why = "the switch says \"" + reason.Text + "\""
		if scene.Contains(reason.Text, "incompatible", "not compatible") {
			why += ": its partner or the partner's key is not that of the members which are bundled"
			remedy = fmt.Sprintf("See with whom each port speaks (`show lacp peer`): one system ID and one key for all. The other end must have %s in the same LACP group as the others, all members active, and be one device, or two that act as one (MLAG).", name)
		}
	}
	said := x.Text
	switch {
	case x.Text == "no" && down && flag.Text != "D":
		said = "down"
	case x.Text == "no" && flag.Text != "":
		said = "flag " + flag.Text
	case x.Text == "no":
		said = "inactive"
	}
	v.Add(record.LACPDown, sure, s, fmt.Sprintf("%s %s%s", scene.NameOf(s), name, host),
		fmt.Sprintf("The switch has %s%s not in the bundle (%s): %s, and %s.", name, host, said, why, left), remedy,
		append([]record.Evidence{scene.Saw("port "+name+" of "+scene.NameOf(s), "not bundled ("+said+")", x.Source)}, settings...)...)
}

// errDisabled is what to say of a port that the switch has shut itself.
func errDisabled(s *piece.Host, name string) (why, remedy string, sure float64) {
	reason, told := s.Get("port "+name, "err_disabled")
	if !told {
		return "the switch has shut the port itself (err-disabled)",
			fmt.Sprintf("`show interfaces status err-disabled` says for what reason; repair that, then `shutdown` and `no shutdown` on %s.", name), 0.88
	}
	return fmt.Sprintf("the switch has shut the port itself (err-disabled, %s)", reason.Text),
		fmt.Sprintf("Repair what %s stands for on %s (`show logging` has the moment it was shut), then `shutdown` and `no shutdown` on the port.", reason.Text, name), 0.92
}

// some reports a port of the bond whose number of a key is so.
func some(b scene.Bond, key string, is func(int) bool) bool {
	return slices.ContainsFunc(b.Ports, func(p scene.Port) bool {
		n, _, ok := scene.Number(b.Host, "link "+p.Name, key)
		return ok && is(int(n))
	})
}

// useCarrier: a bond that asks drivers for the link's state by ioctl instead of
// the carrier: with drivers that do not answer that, ports flap or never come up.
func useCarrier(v *scene.View) {
	for _, b := range v.Bonds {
		x, ok := scene.Fact(b.Host, b.Name, "use_carrier")
		if !ok || x.Text != "0" && strings.ToLower(x.Text) != "off" && strings.ToLower(x.Text) != "false" {
			continue
		}
		sure := 0.6
		evidence := []record.Evidence{scene.Saw("use_carrier of "+b.Name, x.Text, x.Source)}
		for _, p := range b.Ports {
			if n, at, ok := scene.Number(b.Host, "link "+p.Name, "link_failure_count"); ok && n > 3 {
				evidence = append(evidence, scene.Saw("link failures of "+p.Name, fmt.Sprintf("%.0f", n), at))
				sure = 0.88
			}
		}
		if n, at := scene.Events(b.Host, "link-down"); n > 3 {
			evidence = append(evidence, scene.Saw("link failures in the log", strconv.Itoa(n), at))
			sure = 0.88
		}
		v.Add(record.LACPDown, sure, b.Host, b.Name+" (use_carrier 0)",
			fmt.Sprintf("%s has use_carrier 0: the bond polls each driver by ioctl (MII) instead of its carrier, and drivers that answer late or not at all make its ports flap.", b.Name),
			scene.SetBond(b.Host, b.Name, "use_carrier", "1"), evidence...)
	}
}
