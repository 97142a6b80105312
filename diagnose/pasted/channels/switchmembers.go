package channels

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/evidence/switchstate"
	"github.com/linerate/linerate/record"
)

// byChannel are a switch's ports by the channel that they name.
func byChannel(s *piece.Host) map[string][]string {
	out := make(map[string][]string)
	for _, p := range s.Subjects("port") {
		if of, ok := s.Get("port "+p, "channel"); ok && of.Text != "" {
			out[of.Text] = append(out[of.Text], p)
		}
	}
	return out
}

// channelOf is the switch's channel that a bond is cabled to, as neighbours, addresses
// or descriptions say; where there is one bond and one channel, that one.
func channelOf(v *scene.View, b scene.Bond) (s *piece.Host, channel string, ok bool) {
	var only []string
	var of *piece.Host
	for _, sw := range v.Switches {
		ports := byChannel(sw)
		for _, ch := range sw.Subjects("channel") {
			only, of = append(only, ch), sw
			if !leadsTo(sw, ch, ports[ch], b) {
				continue
			}
			if ok {
				return nil, "", false // two of them: nobody says which
			}
			s, channel, ok = sw, ch, true
		}
	}
	if !ok && len(only) == 1 && len(v.Bonds) == 1 {
		return of, only[0], true
	}
	return s, channel, ok
}

// leadsTo reports a channel whose ports say that a bond's host is at their other end.
func leadsTo(s *piece.Host, channel string, ports []string, b scene.Bond) bool {
	own := make(map[string]bool)
	for _, name := range append([]string{b.Name}, portNames(b)...) {
		for _, key := range []string{"mac", "perm_mac"} {
			if x, ok := b.Host.Get("link "+name, key); ok {
				own[x.Text] = true
			}
		}
	}
	for _, subject := range append([]string{"channel " + channel}, portSubjects(ports)...) {
		for _, key := range []string{"partner_mac", "neighbour_mac"} {
			if x, ok := s.Get(subject, key); ok && own[x.Text] {
				return true
			}
		}
		name, heard := s.Get(subject, "neighbour")
		if host, _, _ := strings.Cut(name.Text, "."); heard && b.Host.Name != "" && strings.EqualFold(host, b.Host.Name) {
			return true
		}
		if d, ok := s.Get(subject, "description"); ok && b.Host.Name != "" && hasWord(d.Text, b.Host.Name) {
			return true
		}
	}
	return false
}

// hasWord reports a name that stands for itself in a description.
func hasWord(text, name string) bool {
	words := strings.FieldsFunc(text, func(r rune) bool { return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, name) })
}

func portNames(b scene.Bond) (out []string) {
	for _, p := range b.Ports {
		out = append(out, p.Name)
	}
	return out
}

func portSubjects(ports []string) (out []string) {
	for _, p := range ports {
		out = append(out, "port "+p)
	}
	return out
}

// modeMismatch: one end speaks LACP and the other's channel does not.
func modeMismatch(v *scene.View) {
	for _, b := range v.Bonds {
		s, ch, ok := channelOf(v, b)
		if !ok {
			continue
		}
		protocol, told := s.Get("channel "+ch, "protocol")
		x, _ := scene.Fact(b.Host, b.Name, "mode")
		if !told || b.Mode == "" {
			continue
		}
		evidence := []record.Evidence{scene.Saw("mode of "+b.Name, x.Text, x.Source), scene.Saw("protocol of "+ch+" of "+scene.NameOf(s), protocol.Text, protocol.Source)}
		bundled := slices.ContainsFunc(scene.ChannelPorts(s, ch), func(p string) bool { in, _ := s.Get("port "+p, "bundled"); return in.Text == "yes" })
		_, heard := scene.Fact(b.Host, b.Name, "ad_partner_mac")
		where := fmt.Sprintf("%s of %s and %s of %s", b.Name, scene.NameOf(b.Host), ch, scene.NameOf(s))
		switch {
		case b.Mode == "802.3ad" && protocol.Text == "static" && !heard:
			v.Add(record.LACPDown, 0.8, s, where,
				fmt.Sprintf("%s of %s speaks LACP (802.3ad), and %s of %s is static (mode on): it never sends LACP, so the bond finds no partner and uses one port.", b.Name, scene.NameOf(b.Host), ch, scene.NameOf(s)),
				fmt.Sprintf("Make %s an LACP channel: take its members out and add them again, with %s.", ch, lacpCommand(v)), evidence...)
		case (b.Mode == "balance-xor" || b.Mode == "balance-rr") && protocol.Text == "lacp" && !bundled:
			v.Add(record.LACPDown, 0.8, s, where,
				fmt.Sprintf("%s of %s is a static bond (%s) that never answers LACP, and %s of %s is an LACP channel: the switch suspends its ports, or takes each as a port of its own.", b.Name, scene.NameOf(b.Host), b.Mode, ch, scene.NameOf(s)),
				fmt.Sprintf("Set %s to 802.3ad, which is the better one of both, or make the switch's channel static.", b.Name), evidence...)
		}
	}
}

// frameHeader is what a maker's port MTU counts of the frame's header besides the
// packet, as the ports print it themselves: Junos "MTU: 1514" with a protocol's 1500,
// Dell OS9 "MTU 9216 bytes, IP MTU 9198 bytes", OS10 "IP MTU 9184 bytes".
var frameHeader = map[string]float64{"junos": 14, "os9": 18, "os10": 32}

// portMTU: a bond sends larger packets than the switch's ports to it take.
func portMTU(v *scene.View) {
	for _, b := range v.Bonds {
		mtu, at, told := scene.Number(b.Host, "link "+b.Name, "mtu")
		s, ch, ok := channelOf(v, b)
		if !told || !ok {
			continue
		}
		vendor, _ := s.Get("host", "vendor")
		if vendor.Text == "eos" {
			continue // its port MTU is for what it routes
		}
		for _, subject := range append([]string{"channel " + ch}, append(portSubjects(scene.ChannelPorts(s, ch)), "host")...) {
			n, from, read := scene.Number(s, subject, "mtu")
			if !read {
				continue
			}
			takes := n - frameHeader[vendor.Text]
			if takes >= mtu || takes < 576 {
				break // what is nearest to the host counts
			}
			name := strings.TrimPrefix(strings.TrimPrefix(subject, "channel "), "port ")
			sure, remedy := 0.8, fmt.Sprintf("Set the MTU of %s and of every port on the way to %.0f or more (`mtu 9216`; Catalyst: `system mtu`), or that of %s to %.0f.", ch, mtu, b.Name, takes)
			evidence := []record.Evidence{scene.Saw("mtu of "+b.Name+" of "+scene.NameOf(b.Host), fmt.Sprintf("%.0f", mtu), at), scene.Saw("mtu of "+name+" of "+scene.NameOf(s), fmt.Sprintf("%.0f", n), from)}
			if vendor.Text == "nxos" { // 5000 and 6000 take it from a network-qos policy, and show 1500
				sure = 0.6
				remedy += " A Nexus 5000 or 6000 has it in a network-qos policy instead, and shows 1500: `show queuing interface` has the MTU that is used."
			}
			for _, p := range scene.ChannelPorts(s, ch) {
				if giants, where, ok := scene.Number(s, "port "+p, "rx_giants"); ok && giants > 0 {
					sure = min(sure+0.12, 0.92)
					evidence = append(evidence, scene.Saw("giants of "+p, fmt.Sprintf("%.0f", giants), where))
					break
				}
			}
			v.Add(record.MTU, sure, s, fmt.Sprintf("%s of %s (MTU %.0f)", ch, scene.NameOf(s), n),
				fmt.Sprintf("%s of %s sends packets of up to %.0f bytes, and %s of %s takes %.0f: larger ones are dropped there, so small packets and handshakes pass and full segments do not.", b.Name, scene.NameOf(b.Host), mtu, name, scene.NameOf(s), takes), remedy, evidence...)
			break
		}
	}
}

// droppingMember: one member of a channel drops what it should send, and the others
// next to nothing: it is full while they are not.
func droppingMember(v *scene.View) {
	for _, s := range v.Switches {
		members := byChannel(s)
		for _, ch := range s.Subjects("channel") {
			ports := members[ch]
			worst, most, second := "", 0.0, 0.0
			var at piece.Source
			for _, p := range ports {
				n, from, ok := scene.Number(s, "port "+p, "drops")
				if !ok {
					worst = ""
					break
				}
				if n > most {
					worst, most, second, at = p, n, most, from
				} else {
					second = max(second, n)
				}
			}
			if worst == "" || len(ports) < 2 || most < 1000 || most < 10*second {
				continue
			}
			sure := 0.66
			evidence := []record.Evidence{scene.Saw("output drops of "+worst, fmt.Sprintf("%.0f, of the other members at most %.0f", most, second), at)}
			hash, told := s.Get("channel "+ch, "hash")
			if !told {
				hash, told = s.Get("host", "load_balance")
			}
			if told {
				evidence = append(evidence, scene.Saw("hash of "+cmp.Or(s.Name, "the switch"), hash.Text, hash.Source))
				if layer := switchstate.HighestLayer(hash.Text); layer == switchstate.Layer2 || layer == switchstate.Layer3 {
					sure = 0.8
				}
			}
			v.Add(record.HashImbalance, sure, s, fmt.Sprintf("%s of %s (%s)", ch, scene.NameOf(s), worst),
				fmt.Sprintf("%s of %s drops what it should send on %s alone (%.0f packets): the hash puts too much on that member while the others have room.", ch, scene.NameOf(s), worst, most),
				"Let the switch hash addresses and ports: "+channelHashCommand(s, ch)+"; use more flows, and look at the rates of the members (`show interfaces counters rates` or the like).", evidence...)
		}
	}
}

// rateMismatch: ends that ask for LACP frames at other rates, where a port has expired:
// the one that asks for the fast rate waits three seconds.
func rateMismatch(v *scene.View) {
	for _, b := range v.Bonds {
		own, told := scene.Fact(b.Host, b.Name, "lacp_rate")
		s, ch, ok := channelOf(v, b)
		if !told || !ok || b.Mode != "802.3ad" {
			continue
		}
		mine := "slow"
		if strings.HasPrefix(strings.ToLower(own.Text), "fast") || own.Text == "1" {
			mine = "fast"
		}
		var expired []record.Evidence
		for _, p := range b.Ports {
			for _, key := range []string{"actor_state", "partner_state"} {
				if n, at, ok := scene.Number(b.Host, "link "+p.Name, key); ok && int(n)&scene.StateExpired != 0 {
					expired = append(expired, scene.Saw(strings.ReplaceAll(key, "_", " ")+" of "+p.Name, fmt.Sprintf("%.0f: expired", n), at))
				}
			}
		}
		for _, subject := range append([]string{"channel " + ch}, portSubjects(scene.ChannelPorts(s, ch))...) {
			other, ok := s.Get(subject, "lacp_rate")
			if !ok || other.Text == mine || len(expired) == 0 {
				continue
			}
			evidence := append([]record.Evidence{scene.Saw("LACP rate of "+b.Name, own.Text, own.Source), scene.Saw("LACP rate of "+strings.TrimPrefix(strings.TrimPrefix(subject, "port "), "channel "), other.Text, other.Source)}, expired...)
			v.Add(record.LACPDown, 0.66, s, fmt.Sprintf("%s of %s and %s of %s (LACP rate)", b.Name, scene.NameOf(b.Host), ch, scene.NameOf(s)),
				fmt.Sprintf("%s asks for LACP at the %s rate and %s at the %s one, and a port has expired: the end that asks for the fast rate drops a port after three seconds without a frame. Different rates are allowed, but not every switch sends as fast as it is asked to.", b.Name, mine, ch, other.Text),
				fmt.Sprintf("Set the same rate at both ends: `lacp rate fast` on the switch's members, or lacp_rate slow on %s.", b.Name), evidence...)
			return
		}
	}
}

// memberSettings are the settings that members of a channel must share, with what they
// are in a sentence.
var memberSettings = []struct{ key, what string }{{"vlans", "VLANs"}, {"native_vlan", "native VLAN"}, {"access_vlan", "access VLAN"}, {"switchport", "switchport mode"}, {"mtu", "MTU"}, {"speed", "speed"}, {"duplex", "duplex"}}

// otherSetting is a setting of a member that differs from its channel's, or from
// another member's that is bundled; ok is false where none was read.
func otherSetting(s *piece.Host, name, channel string, bundled []string) (what string, evidence []record.Evidence, ok bool) {
	against := []string{"channel " + channel}
	if len(bundled) > 0 && bundled[0] != name {
		against = append(against, "port "+bundled[0])
	}
	for _, setting := range memberSettings {
		own, told := s.Get("port "+name, setting.key)
		if !told {
			continue
		}
		for _, subject := range against {
			other, told := s.Get(subject, setting.key)
			if !told || other.Text == own.Text || setting.key == "speed" && strings.HasPrefix(subject, "channel ") {
				continue
			}
			of := strings.TrimPrefix(strings.TrimPrefix(subject, "port "), "channel ")
			return fmt.Sprintf("it has %s %s, and %s has %s", setting.what, own.Text, of, other.Text),
				[]record.Evidence{scene.Saw(setting.what+" of "+name, own.Text, own.Source), scene.Saw(setting.what+" of "+of, other.Text, other.Source)}, true
		}
	}
	return "", nil, false
}

// unlikeMembers: members whose VLANs or MTU are not their channel's, in a configuration
// of which nothing that runs was read: the switch suspends such a port, or what that
// VLAN sends is lost on it.
func unlikeMembers(v *scene.View) {
	for _, s := range v.Switches {
		members := byChannel(s)
		for _, ch := range s.Subjects("channel") {
			for _, p := range members[ch] {
				if _, runs := s.Get("port "+p, "bundled"); runs {
					continue
				}
				what, evidence, ok := otherSetting(s, p, ch, nil)
				if !ok {
					continue
				}
				v.Add(record.LACPDown, 0.62, s, fmt.Sprintf("%s of %s of %s", p, ch, scene.NameOf(s)),
					fmt.Sprintf("%s of %s is not like its channel %s: %s. The switch suspends such a member, or drops on it what only the others allow.", p, scene.NameOf(s), ch, what),
					fmt.Sprintf("Give %s the settings of %s: take it out of the channel, set them, and add it again.", p, ch), evidence...)
			}
		}
	}
}
