package channels

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// loggedMembers: what a switch's log says of ports that their channel does not take.
func loggedMembers(v *scene.View) {
	for _, s := range v.Switches {
		for _, name := range s.Subjects("port") {
			in, told := bundledNow(v, s, name)
			sure := 0.82
			switch {
			case told && in.Text != "yes":
				continue // the table says it, and lacpStates tells of it
			case told:
				sure = 0.5 // by now it is in
			}
			where := fmt.Sprintf("%s of %s (its log)", name, scene.NameOf(s))
			if x, ok := s.Get("port "+name, "log_silent"); ok {
				v.Add(record.LACPDown, sure, s, where,
					fmt.Sprintf("The switch suspended %s, for it heard no LACP from the other end: the host does not speak LACP there, or not yet, as while it boots, is installed or runs without its bond.", name),
					fmt.Sprintf("Set the host's bond or team to LACP (802.3ad) on the port at %s, or the channel to static where the host has no LACP. Where the host must be reached without its bond (boot, PXE, reset): `no lacp suspend-individual` on the channel (NX-OS; with the channel shut), LACP fallback or bypass on others. Ports that were shut meanwhile (err-disabled) need `shutdown` and `no shutdown`.", name),
					scene.Saw("log of "+scene.NameOf(s), name+": no LACP was heard", x.Source))
			}
			if x, ok := s.Get("port "+name, "log_unlike"); ok {
				v.Add(record.LACPDown, min(sure+0.06, 0.9), s, where,
					fmt.Sprintf("The switch suspended %s: it does not fit the other members of its channel (%s).", name, strings.Trim(x.Text, ". ")),
					fmt.Sprintf("Give %s the settings of its channel and of the other members (speed, duplex, trunk mode and encapsulation, VLANs, MTU), then add it to the channel again.", name),
					scene.Saw("log of "+scene.NameOf(s), name+": "+x.Text, x.Source))
			}
		}
		for _, kind := range []string{"port", "channel"} {
			for _, name := range s.Subjects(kind) {
				if x, ok := s.Get(kind+" "+name, "log_misconfigured"); ok {
					v.Add(record.LACPDown, 0.85, s, fmt.Sprintf("%s of %s (its log)", name, scene.NameOf(s)),
						fmt.Sprintf("The switch shut ports of %s for a misconfigured channel: this end is a static channel (mode on), and the other end takes the ports singly, so that its spanning tree frames come back by another member.", name),
						"Make both ends one channel, with LACP (`channel-group N mode active` and 802.3ad on the host): it notices what static channels do not. Then `shutdown` and `no shutdown`.",
						scene.Saw("log of "+scene.NameOf(s), "channel misconfiguration of "+name, x.Source))
				}
			}
		}
	}
}

// bundledNow is what a table says of a port whose log is here; a log without a prompt may
// be of any switch that was read.
func bundledNow(v *scene.View, s *piece.Host, name string) (piece.Value, bool) {
	in, told := s.Get("port "+name, "bundled")
	for _, other := range v.Switches {
		if !told && s.Name == "" {
			in, told = other.Get("port "+name, "bundled")
		}
	}
	return in, told
}

// movingAddresses: a switch learns one address on two of its ports by turns.
func movingAddresses(v *scene.View) {
	for _, s := range v.Switches {
		for _, ports := range s.Subjects("moved") {
			a, b, _ := strings.Cut(ports, " ")
			vlans := s.Keys("moved " + ports)
			if len(vlans) == 0 {
				continue
			}
			x, _ := s.Get("moved "+ports, vlans[0])
			if slices.ContainsFunc([]string{a, b}, isChannel) {
				v.Add(record.LACPDown, 0.42, s, fmt.Sprintf("%s and %s of %s", a, b, scene.NameOf(s)),
					fmt.Sprintf("The switch learns one address on %s and on %s by turns: a loop past the channel, a host that is cabled to both, or a guest that moved.", a, b),
					"Find that address (`show mac address-table address MAC`): a host's links belong into one channel, and two ways between switches into one, or spanning tree must block one.",
					movedEvidence(s, a, b, x))
				continue
			}
			f := v.Add(record.LACPDown, 0.7, s, fmt.Sprintf("%s and %s of %s (no channel)", a, b, scene.NameOf(s)),
				fmt.Sprintf("The switch learns one address on %s and on %s by turns: a host sends by both ports, and for the switch they are no channel. What it sends back goes to the port where it heard last, and is lost or late while that changes.", a, b),
				fmt.Sprintf("Put %s and %s into one channel: static (`channel-group N mode on`) for ESXi's IP hash, balance-xor and balance-rr, LACP (mode active) for 802.3ad and a distributed switch's LAG. Or have the host use one port for each address (ESXi: route based on originating virtual port; Linux: active-backup).", a, b),
				movedEvidence(s, a, b, x))
			f.Ask = []scene.Missing{{Command: "show etherchannel summary; show running-config interface " + a, Host: theSwitch(s), Why: "whether these ports are in a channel"},
				{Command: "the teaming policy of the host (esxcli network vswitch standard policy failover get -v vSwitch0; cat /proc/net/bonding/*)", Why: "by what the host sends over both"}}
		}
	}
}

func movedEvidence(s *piece.Host, a, b string, x piece.Value) record.Evidence {
	return scene.Saw("log of "+scene.NameOf(s), fmt.Sprintf("%s moves between %s and %s", x.Text, a, b), x.Source)
}

// isChannel reports a channel's name among ports.
func isChannel(name string) bool {
	return strings.HasPrefix(name, "Po") || strings.HasPrefix(name, "port-channel") || strings.HasPrefix(name, "ae")
}

// secondAggregators: a channel of which LACP made a second aggregator (Po2A): its ports
// do not fit the first one, or have another partner.
func secondAggregators(v *scene.View) {
	for _, s := range v.Switches {
		channels := s.Subjects("channel")
		for _, second := range channels {
			first := strings.TrimRight(second, "ABCDEFGH")
			if first == second || !isChannel(second) {
				continue
			}
			ports := scene.ChannelPorts(s, second)
			x, ok := s.Get("channel "+second, "members")
			if len(ports) == 0 || !ok {
				continue
			}
			rest := scene.ChannelPorts(s, first)
			left := fmt.Sprintf("%s itself has no port", first)
			if len(rest) > 0 {
				left = fmt.Sprintf("%s has %s alone", first, strings.Join(rest, ", "))
			}
			v.Add(record.LACPDown, 0.86, s, fmt.Sprintf("%s and %s of %s", first, second, scene.NameOf(s)),
				fmt.Sprintf("LACP split %s: %s stand in a second aggregator, %s, and %s. Ports come there whose speed, duplex or settings do not fit the others', or whose partner or partner's key is another: the other end has them in two groups, or it is two devices.", first, strings.Join(ports, ", "), second, left),
				fmt.Sprintf("Compare the ports of %s with those of %s: `show lacp neighbor` (one partner, one key), speed and duplex, trunk and VLANs, on both ends. Give them one group at the other end, then `shutdown` and `no shutdown` on %s.", second, first, first),
				scene.Saw(second+" of "+scene.NameOf(s), x.Text, x.Source))
		}
	}
}
