package channels

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/evidence/switchstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// channelHash: a channel whose hash has addresses alone, as the channel itself says,
// and members that share unevenly.
func channelHash(v *scene.View) {
	for _, s := range v.Switches {
		for _, ch := range s.Subjects("channel") {
			hash, ok := s.Get("channel "+ch, "hash")
			if layer := switchstate.HighestLayer(hash.Text); !ok || layer == switchstate.Layer4 || layer == switchstate.LayerUnknown {
				continue
			}
			ports := scene.ChannelPorts(s, ch)
			parts, at, seen := scene.Shared(s, ports)
			evidence := []record.Evidence{scene.Saw("hash of "+ch, hash.Text, hash.Source)}
			remedy := "Hash addresses and ports: " + channelHashCommand(s, ch) + "."
			if !seen {
				boundByHash(v, s, ch, hash, remedy)
				continue
			}
			name, part := scene.Busiest(parts)
			evidence = append(evidence, scene.Saw("sent by its members", fmt.Sprintf("%.0f %% by %s of %d ports", 100*part, name, len(ports)), at))
			where := fmt.Sprintf("%s of %s (hash %s)", ch, scene.NameOf(s), hash.Text)
			switch {
			case part > 0.95:
				v.Add(record.SingleLink, 0.9, s, where,
					fmt.Sprintf("%s hashes addresses only (%s, no ports): all between two hosts takes one member, %s, whatever the hosts' own policies are.", ch, hash.Text, name), remedy, evidence...)
			case part > 1.8/float64(len(parts)):
				v.Add(record.HashImbalance, 0.88, s, where,
					fmt.Sprintf("%s hashes addresses only (%s), and the load is uneven: %s has %.0f %% of it. Addresses that differ in a pattern (the same last bits, every second or fourth one) fall on the same link.", ch, hash.Text, name, 100*part),
					remedy+" Other addresses, or a hash with another function, spread them too.", evidence...)
			}
		}
	}
}

// boundByHash: a channel that hashes addresses, of whose members no load was read,
// and a test of several streams that came to one link's rate.
func boundByHash(v *scene.View, s *piece.Host, ch string, hash piece.Value, remedy string) {
	for _, b := range v.Bonds {
		e, near := nearOneLink(v, b)
		if !near || b.Policy != "layer3+4" {
			continue
		}
		sure := 0.7
		evidence := []record.Evidence{scene.Saw("hash of "+ch, hash.Text, hash.Source), e}
		if parts, at, ok := b.Carried("tx"); ok {
			if _, part := scene.Busiest(parts); part < 0.7 {
				sure = 0.85
				evidence = append(evidence, scene.Saw("sent by "+scene.NameOf(b.Host), "evenly by its ports", at))
			}
		}
		v.Add(record.SingleLink, sure, s, fmt.Sprintf("%s of %s (hash %s)", ch, scene.NameOf(s), hash.Text),
			fmt.Sprintf("%s hashes addresses only (%s, no ports): what it sends from one host to another takes one member, whatever the hosts' own policies are.", ch, hash.Text), remedy, evidence...)
		return
	}
}

// channelHashCommand is how a channel of that vendor's hashes ports.
func channelHashCommand(s *piece.Host, ch string) string {
	vendor, _ := s.Get("host", "vendor")
	switch vendor.Text {
	case "aoscx":
		return fmt.Sprintf("`interface lag %s`, %s, for the LAGs of both hosts", strings.TrimLeft(ch, "lag"), switchHashCommand(s))
	case "huawei":
		return "`load-balance enhanced profile` with `l4-src-interface`/`l4-port` fields (src-dst-port) on the Eth-Trunk, or `load-balance src-dst-ip` with ports where the model has it"
	case "comware":
		return "`link-aggregation load-sharing mode source-ip destination-ip source-port destination-port`"
	}
	return switchHashCommand(s)
}

// polarised: next hops of which some stay idle while others are busy: a tier that
// hashes as the one before it sees only one part of the hash's values.
func polarised(v *scene.View) {
	for _, s := range v.Switches {
		var ports, busy, idle []string
		for _, p := range s.Subjects("port") {
			if _, hop := s.Get("port "+p, "next_hop"); hop {
				ports = append(ports, p)
			}
		}
		parts, at, ok := scene.Shared(s, ports)
		if !ok {
			continue
		}
		for _, p := range ports {
			if parts[p] < 0.02 {
				idle = append(idle, p)
			} else {
				busy = append(busy, p)
			}
		}
		if len(idle) == 0 || len(busy) == 0 {
			continue
		}
		sure := 0.72
		evidence := []record.Evidence{scene.Saw("next hops of "+scene.NameOf(s), fmt.Sprintf("%s carry, %s idle", strings.Join(busy, ", "), strings.Join(idle, ", ")), at)}
		seed, _ := s.Get("host", "hash_seed")
		hash, _ := s.Get("host", "ecmp_hash")
		for _, other := range v.Switches {
			x, ok := other.Get("host", "hash_seed")
			y, _ := other.Get("host", "ecmp_hash")
			if other != s && (ok && x.Text == seed.Text || y.Text != "" && y.Text == hash.Text && !ok) {
				sure = 0.93
				evidence = append(evidence, scene.Saw("hash of "+scene.NameOf(s)+" and "+scene.NameOf(other), "the same fields and seed "+cmp.Or(x.Text, "(not set)"), cmp.Or(x, y).Source))
			}
		}
		cause := record.HashImbalance
		v.Add(cause, sure, s, scene.NameOf(s)+" (ECMP polarisation)",
			fmt.Sprintf("%s sends by %d of %d equal next hops (%s) and leaves %s idle: it hashes as the tier before it (same function, same seed), so what reaches it has one part of the hash's values only (polarisation).", scene.NameOf(s), len(busy), len(ports), strings.Join(busy, ", "), strings.Join(idle, ", ")),
			"Give the tiers different hash seeds (`ip load-sharing ... hash seed N`, NX-OS `universal-id`, Junos `hash-seed`), or other fields.", evidence...)
	}
}

// overrun: a switch's port that drops what it should send, with a test that lost.
func overrun(v *scene.View) {
	lost := false
	var run record.Evidence
	for _, r := range v.Case.Runs {
		if r.Retransmits > 500 {
			lost, run = true, scene.Saw(r.Tool, fmt.Sprintf("%v, %d retransmits", r.Rate, r.Retransmits), r.Source)
		}
	}
	for _, s := range v.Switches {
		for _, p := range s.Subjects("port") {
			drops, at, key := 0.0, piece.Source{}, ""
			for _, k := range []string{"tail_drops", "red_drops", "drops", "tx_dropped"} {
				if n, from, ok := scene.Number(s, "port "+p, k); ok && n > drops {
					drops, at, key = n, from, k
				}
			}
			if drops < 1000 || !lost {
				continue
			}
			sure := 0.72
			if key == "tail_drops" || key == "red_drops" {
				sure = 0.86
			}
			evidence := []record.Evidence{scene.Saw(strings.ReplaceAll(key, "_", " ")+" of "+p, fmt.Sprintf("%.0f packets", drops), at), run}
			faster := ""
			own := piece.Speed(word2(s, p, "speed"))
			for _, other := range v.Switches {
				for _, q := range other.Subjects("port") {
					if speed := piece.Speed(word2(other, q, "speed")); speed > 10*unit.Gbps && speed > own {
						faster = fmt.Sprintf(" from a faster port (%s, %v)", q, speed)
					}
				}
			}
			v.Add(record.Congestion, sure, s, p+" of "+scene.NameOf(s),
				fmt.Sprintf("%s of %s drops what it should send (%s %.0f): its queue is full when bursts come in%s faster than it sends, a speed step or several senders at once, and TCP loses packets there.", p, scene.NameOf(s), strings.ReplaceAll(key, "_", " "), drops, faster),
				"Let the sender pace (`tc qdisc replace dev LINK root fq`), give the port more of the shared buffer (Junos: class-of-service shared-buffer), mark (ECN), or flow control on the fast port; or a port of the same speed.", evidence...)
			return
		}
	}
}

func word2(s *piece.Host, port, key string) string {
	x, _ := s.Get("port "+port, key)
	return x.Text
}

// perPacket: routers or counters that show packets of one flow out of order.
func perPacket(v *scene.View) {
	var evidence []record.Evidence
	sure := 0.0
	for _, h := range v.Hosts {
		count := func(name string) float64 { return piece.Float(h.Counters[name].Text) }
		again, needless := count("TcpRetransSegs"), count("TcpExtTCPDSACKRecv")
		late := count("TcpExtTCPSACKReorder") + count("TcpExtTCPTSReorder")
		if late > 500 && late > again/2 && needless > again/2 {
			x := h.Counters["TcpExtTCPSACKReorder"]
			evidence = append(evidence, scene.Saw("nstat of "+scene.NameOf(h), fmt.Sprintf("%.0f times out of order (SACKReorder, TSReorder); %.0f of %.0f retransmits were needless (DSACK)", late, needless, again), x.Source))
			sure = max(sure, 0.84)
		}
		for _, s := range h.Sockets {
			if n := piece.Float(s.Info["reordering"]); n >= 20 && piece.Float(s.Info["reord_seen"]) > 100 {
				evidence = append(evidence, scene.Saw("ss on "+scene.NameOf(h), fmt.Sprintf("reordering %.0f, reord_seen %s", n, s.Info["reord_seen"]), s.Source))
				sure = max(sure, 0.8)
			}
		}
	}
	where := "the path"
	for _, s := range v.Case.Hosts {
		for _, p := range s.Subjects("port") {
			if x, ok := s.Get("port "+p, "load_sharing"); ok && x.Text == "per-packet" {
				evidence = append(evidence, scene.Saw(p+" of "+scene.NameOf(s), "ip load-sharing per-packet", x.Source))
				where = scene.NameOf(s) + " (per-packet load sharing)"
				sure = max(sure+0.08, 0.8)
				break
			}
		}
	}
	if sure == 0 || len(v.Bonds) > 0 && slices.ContainsFunc(v.Bonds, func(b scene.Bond) bool { return b.Mode == "balance-rr" }) {
		return
	}
	v.Add(record.Reordering, min(sure, 0.94), nil, where,
		"Segments of one flow arrive out of order: packets are spread singly (per-packet) over ways of different delay, TCP takes the late ones for lost, sends them again needlessly and slows down. It is no loss.",
		"Share per destination or per flow (IOS: `no ip load-sharing per-packet`, `ip cef load-sharing algorithm include-ports`), on both routers, and use several flows for the sum of the lines.", evidence...)
}

// peerless: a channel of a pair of switches (MLAG, vPC) that the peer does not have.
func peerless(v *scene.View) {
	for _, s := range v.Switches {
		for _, name := range s.Subjects("mlag") {
			id, _ := s.Get("mlag "+name, "id")
			peer, told := s.Get("mlag "+name, "peer")
			state, _ := s.Get("mlag "+name, "state")
			consistency, _ := s.Get("mlag "+name, "consistency")
			switch {
			case told && peer.Text == "none":
				other := "its peer"
				evidence := []record.Evidence{scene.Saw(name+" of "+scene.NameOf(s), "MLAG id "+id.Text+", no peer interface", peer.Source)}
				sure := 0.8
				for _, o := range v.Case.Hosts {
					x, has := o.Get("config "+name, "ports")
					_, marked := o.Get("config "+name, "clag_id")
					_, dashed := o.Get("config "+name, "clag-id")
					if o != s && has && !marked && !dashed {
						other, sure = scene.NameOf(o), 0.94
						evidence = append(evidence, scene.Saw(name+" of "+other, "no clag-id in its stanza", x.Source))
					}
				}
				for _, b := range v.Bonds {
					seen := map[string]bool{}
					var at piece.Source
					for _, p := range b.Ports {
						if x, ok := scene.Fact(b.Host, p.Name, "aggregator_id"); ok {
							seen[x.Text], at = true, x.Source
						}
					}
					if len(seen) > 1 && b.Host != s {
						sure = min(sure+0.06, 0.95)
						evidence = append(evidence, scene.Saw(b.Name+" of "+scene.NameOf(b.Host), "ports in different aggregators: two partners", at))
					}
				}
				v.Add(record.LACPDown, sure, s, fmt.Sprintf("%s on %s (MLAG id)", name, other),
					fmt.Sprintf("%s has %s with clag-id (MLAG id) %s, and %s has no such id: it answers LACP with its own system MAC, so the host sees two partners, puts the ports into different aggregators, and one of them stands aside.", scene.NameOf(s), name, id.Text, other),
					fmt.Sprintf("Set the same id on %s for %s (Cumulus: `clag-id %s` and ifreload -a; NX-OS: `vpc %s`; EOS: `mlag %s`).", other, name, id.Text, id.Text, id.Text), evidence...)
			case strings.HasPrefix(state.Text, "down") || state.Text == "active-partial" || consistency.Text == "failed":
				said := strings.TrimSpace(state.Text + " " + consistency.Text)
				v.Add(record.LACPDown, 0.82, s, fmt.Sprintf("%s of %s (%s)", name, scene.NameOf(s), said),
					fmt.Sprintf("%s of %s is not whole on both switches of the pair (%s): only a part of its links carries.", name, scene.NameOf(s), said),
					"Compare both switches' channels (`show vpc consistency-parameters`, `show mlag interfaces detail`): the same id, mode, VLANs and MTU, LACP active.", scene.Saw(name, "id "+id.Text+", "+state.Text, cmp.Or(state, id).Source))
			}
		}
	}
}
