package channels

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/evidence/switchstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// unevenMembers: a channel whose members share unevenly, where nothing says by what the
// switch chooses.
func unevenMembers(v *scene.View) {
	for _, s := range v.Switches {
		if x, ok := s.Get("host", "load_balance"); ok && switchstate.HighestLayer(x.Text) != switchstate.LayerUnknown {
			continue // switchHash knows
		}
		for _, ch := range s.Subjects("channel") {
			if _, ok := s.Get("channel "+ch, "hash"); ok {
				continue // channelHash does
			}
			ports := scene.ChannelPorts(s, ch)
			parts, at, ok := scene.Shared(s, ports)
			name, part := scene.Busiest(parts)
			if !ok || part < 1.8/float64(len(parts)) {
				continue
			}
			f := v.Add(record.HashImbalance, 0.66, s, fmt.Sprintf("%s of %s (%s)", ch, scene.NameOf(s), name),
				fmt.Sprintf("%s of %s sends %.0f %% by %s of its %d members: its hash gives what goes there one member, for its flows are few or differ in nothing that the hash reads (one pair of addresses, one router's MAC).", ch, scene.NameOf(s), 100*part, name, len(parts)),
				"See what the switch hashes, and let it hash addresses and ports: "+channelHashCommand(s, ch)+". One flow, and one sender of tunnelled traffic, keeps one member whatever the hash is.",
				scene.Saw("sent by the members of "+ch, fmt.Sprintf("%.0f %% by %s", 100*part, name), at))
			f.Ask = []scene.Missing{{Command: balanceCommand(s), Host: theSwitch(s), Why: "by what the switch chooses the member"},
				{Command: "show mac address-table interface " + ch + "; the largest flows (NetFlow, sFlow, or the host's `ss -tin`)", Host: theSwitch(s), Why: "how many addresses and connections share it"}}
		}
	}
}

// theSwitch is whom a command for a switch is for.
func theSwitch(s *piece.Host) string { return cmp.Or(s.Name, "the switch") }

// balanceCommand shows by what a switch chooses a channel's member.
func balanceCommand(s *piece.Host) string {
	vendor, _ := s.Get("host", "vendor")
	switch vendor.Text {
	case "nxos":
		return "show port-channel load-balance"
	case "eos":
		return "show port-channel load-balance fields; show running-config | include load-sharing"
	case "junos":
		return "show configuration forwarding-options"
	case "procurve":
		return "show trunks"
	case "aoscx":
		return "show lacp aggregates"
	case "comware":
		return "display link-aggregation load-sharing mode"
	case "huawei":
		return "display eth-trunk"
	case "sonic":
		return "show switch-hash global"
	}
	return "show etherchannel load-balance"
}

// receivedByOne: a bundle that sends by several links and receives by one: what comes
// in the switch chose.
func receivedByOne(v *scene.View) {
	for _, s := range v.Switches {
		if _, ok := s.Get("host", "load_balance"); ok {
			return // switchHash knows
		}
	}
	for _, h := range v.Hosts {
		for name, ports := range h.Ports {
			mode := strings.ToLower(scene.Word(h, name, "mode") + " " + scene.Word(h, name, "group_mode"))
			if !scene.Contains(mode, "802.3ad", "8023ad", "balance-xor") || len(ports) < 2 {
				continue
			}
			b := scene.Bond{Host: h, Name: name}
			for _, p := range ports {
				b.Ports = append(b.Ports, scene.Port{Name: p})
			}
			in, part, at, sided := b.OneSided("rx")
			_, most, _, out := b.Mostly("tx", 0)
			if !sided || !out || most > 1.6/float64(len(ports)) {
				continue
			}
			f := v.Add(record.HashImbalance, 0.62, h, fmt.Sprintf("the switch's channel to %s of %s", name, scene.NameOf(h)),
				fmt.Sprintf("%s sends by all its links, and %.0f %% of what comes in arrives by %s: that the switch chose, by a hash which gives what it sends to this host one member (MAC addresses alone, or few flows).", name, 100*part, in),
				"On the switch hash addresses and ports (`port-channel load-balance src-dst-ip-port`, or src-dst-ip where it has no more); see there that all ports are in one channel. The host's own hash is well.",
				scene.Saw("received by "+name, fmt.Sprintf("%.0f %% by %s", 100*part, in), at))
			f.Ask = []scene.Missing{{Command: "show etherchannel load-balance; show etherchannel summary", Host: "the switch", Why: "by what it chooses the member, and whether all are bundled"}}
		}
	}
}

// fewDrops is how many packets that a port dropped are nothing, and droppedPart the part
// of what it sent from which they are felt.
const (
	fewDrops    = 1000
	droppedPart = 1e-4
)

// outputDrops: a switch's port that drops what it should send, where nothing else was
// measured: bursts that its queue does not take.
func outputDrops(v *scene.View) {
	if len(v.Case.Runs) > 0 || len(v.Hosts) > 0 {
		return // overrun, and what hosts show, says more
	}
	for _, s := range v.Switches {
		for _, p := range s.Subjects("port") {
			drops, at, ok := scene.Number(s, "port "+p, "drops")
			if !ok || drops < fewDrops {
				continue
			}
			name := p
			if name == "" {
				name = "a port"
			}
			sure, part := 0.55, ""
			if sent, _, ok := scene.Number(s, "port "+p, "tx_packets"); ok && sent > 0 {
				if drops < droppedPart*sent {
					continue
				}
				sure, part = 0.66, fmt.Sprintf(", %.2g %% of what it sent", 100*drops/(sent+drops))
			}
			evidence := []record.Evidence{scene.Saw("output drops of "+name, fmt.Sprintf("%.0f%s", drops, part), at)}
			load := ""
			rate, from, told := scene.Number(s, "port "+p, "seen_tx_bps")
			if speed := piece.Speed(word2(s, p, "speed")); told && speed > 0 {
				evidence = append(evidence, scene.Saw("rate of "+name, unit.BitRate(rate).String()+" of "+speed.String(), from))
				if rate < 0.7*float64(speed) {
					load = " Its mean rate is far below what it carries, so that it is bursts shorter than the mean shows: several senders at once, a faster port before it, or one member of a channel that gets more than its part."
					sure += 0.08
				}
			}
			f := v.Add(record.Congestion, sure, s, fmt.Sprintf("%s of %s (output queue)", name, scene.NameOf(s)),
				fmt.Sprintf("%s of %s drops packets that it should send (%.0f%s): its output queue was full when they came.%s TCP takes each for congestion and slows down.", name, scene.NameOf(s), drops, part, load),
				"See whether the count grows (twice, a minute apart), and which queue drops. Give the port more of the shared buffer (Catalyst 3650/3850: `qos queue-softmax-multiplier 1200`; with `mls qos`: more threshold for its queue, or no QoS), spread the channel by addresses and ports, or take a faster port.", evidence...)
			f.Ask = []scene.Missing{{Command: "show interfaces " + p + " | include drops|rate, twice", Host: theSwitch(s), Why: "whether the drops grow, and while which rate"},
				{Command: "show platform hardware fed switch active qos queue stats interface " + p + " (or show mls qos interface " + p + " statistics, show queuing interface " + p + ")", Host: theSwitch(s), Why: "which queue drops, and its buffer"},
				{Command: "show etherchannel load-balance; show interfaces counters", Host: theSwitch(s), Why: "whether one member of the channel gets more than the others"}}
			return
		}
	}
}
