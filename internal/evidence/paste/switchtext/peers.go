package switchtext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// PeerLinks reads the state of a pair of switches that make one channel together:
// clagctl, `show vpc` and `show mlag interfaces`. Its subjects are "mlag CHANNEL".
var PeerLinks = piece.Reader{
	Kind:     "mlag",
	Commands: []string{"clagctl", "show", "sh", "net", "nv"},
	Starts: func(line string) bool {
		return strings.HasPrefix(line, "      ") && clagRow.MatchString(line) || strings.Contains(line, "Po") && vpcRow.MatchString(line) || vltHead.MatchString(line) || peerWords.MatchString(strings.TrimSpace(line))
	},
	Read: reading(readPeerLinks),
}

// clagRow: our interface, the peer's, the id.
var clagRow = piece.Compile(`^\s+([A-Za-z][\w.-]*)\s+([A-Za-z][\w.-]*|-)\s+(\d+)\s+(\S.*?)\s{2,}(\S.*)$`)

// vpcRow: id, port channel, state, consistency.
var vpcRow = piece.Compile(`^\s*(\d+)\s+(Po\d+)\s+(up|down\*?)\s+(success|failed|Not)\b`)

var mlagRow = piece.Compile(`^\s*(\d+)\s+(.*?)\s+(active-full|active-partial|inactive|configured|disabled)\s+(Po\d+)\s+(Po\d+|-)\s+(\S+)`)

var peerWords = piece.Compile(`^(?:The peer is (?:alive|not alive)|Our Priority, ID, and Role:|Peer Priority, ID, and Role:|Peer Interface and IP:|System MAC: |Backup IP: |CLAG Interfaces|Our Interface\s+Peer Interface|vPC domain id\s+:|Peer status\s+:|vPC keep-alive status\s+:|vPC status$|vPC Peer-link status|MLAG Configuration:|VSX Operational State|ISL State |Legend:$|\(\*\) - local vPC|mlag\s+desc\s+state|Id\s+Port\s+Status Consistency)`)

var peerFact = piece.Compile(`^(Peer status|vPC keep-alive status|negotiation status|peer-link status|Device State|Keepalive State|ISL State|ISL channel|Configuration consistency status|Per-vlan consistency status|Type-2 consistency status|vPC role|vPC domain id|System MAC|state|peer-config|domain-id)\s*:\s*(.*?)\s*$`)

// vltHead and vltRow are Dell OS10's: a channel, and its state on each unit.
var vltHead = piece.Compile(`^vlt-port-channel ID : (\d+)`)

// pairKinds are the words that only one kind of pair has.
var pairKinds = map[string]string{"vPC domain id": "vpc", "vPC role": "vpc", "domain-id": "mlag", "peer-config": "mlag", "ISL channel": "vsx", "ISL State": "vsx"}

// vsxRow is a row of `show vsx status`: ours and the peer's.
var vsxRow = piece.Compile(`^(?:ISL link|ISL version|System MAC|Platform|Software Version|Device Role)\s{2,}(\S+)`)

var vltRow = piece.Compile(`^(?:\* )?\d+\s+port-channel\d+\s+(up|down)\b`)

func readPeerLinks(s *sink, lines []piece.Line) int {
	vlt := ""
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		set := func(channel, peer, id, state string) {
			s.ofSwitch("", l)
			s.Set("mlag "+channel, "id", id, l)
			s.SetIf("mlag "+channel, "peer", strings.Replace(peer, "-", "none", 1), l)
			s.SetIf("mlag "+channel, "state", state, l)
		}
		if m := vpcRow.FindStringSubmatch(l.Text); m != nil {
			s.ofSwitch("nxos", l)
			set(m[2], "", m[1], m[3])
			s.Set("mlag "+m[2], "consistency", m[4], l)
			return true
		}
		if m := mlagRow.FindStringSubmatch(l.Text); m != nil {
			set(m[4], m[5], m[1], m[3])
			return true
		}
		if m := vltHead.FindStringSubmatch(text); m != nil {
			s.ofSwitch("os10", l)
			vlt = "port-channel" + m[1]
			s.Set("mlag "+vlt, "id", m[1], l)
			return true
		}
		if m := vltRow.FindStringSubmatch(text); m != nil && vlt != "" {
			if x, ok := s.Host.Get("mlag "+vlt, "state"); !ok || x.Text == "up" {
				s.Set("mlag "+vlt, "state", m[1], l) // of both units: down where one is
			}
			return true
		}
		if m := peerFact.FindStringSubmatch(text); m != nil {
			s.ofSwitch(map[string]string{"vpc": "nxos", "vsx": "aoscx"}[pairKinds[m[1]]], l)
			s.Set("mlag", strings.ToLower(m[1]), m[2], l)
			s.SetIf("mlag", "kind", pairKinds[m[1]], l)
			return true
		}
		if text == "The peer is alive" || text == "The peer is not alive" {
			s.ofSwitch("cumulus", l)
			s.Set("mlag", "peer status", strings.TrimPrefix(text, "The peer is "), l)
			return true
		}
		if m := clagRow.FindStringSubmatch(l.Text); m != nil && m[1] != "Our" && s.vendor() != "nxos" {
			set(m[1], m[2], m[3], "")
			return true
		}
		if m := vsxRow.FindStringSubmatch(text); m != nil {
			s.ofSwitch("aoscx", l)
			if strings.HasPrefix(text, "System MAC") {
				s.SetIf("host", "system_mac", piece.MacText(m[1]), l)
			}
			return true
		}
		return peerWords.MatchString(text) || strings.HasPrefix(text, "Attribute ") || strings.HasPrefix(text, "id ") || strings.HasPrefix(text, "Id ") || vlt != "" && strings.HasPrefix(text, "VLT Unit ID") || strings.Contains(text, ": ") || strings.Trim(text, "- ") == "" || s.vendor() == "nxos" && peerRow.MatchString(text) ||
			strings.HasPrefix(text, "(*)") || strings.HasSuffix(text, ":")
	})
}

var peerRow = piece.Compile(`^(?:[Ii]d\s+Port\s|\d+\s+Po\d+\s|[\d,-]+$)`)

// NextHops reads the routes of a switch that have several next hops, and how it
// chooses among them: `show ip route`, and the lines of the configuration.
var NextHops = piece.Reader{
	Kind:     "next hops of a switch",
	Commands: []string{"show", "sh"},
	Starts: func(line string) bool {
		return (strings.Contains(line, "load-sharing") || strings.Contains(line, "hash seed")) && ecmpLine.MatchString(line) ||
			strings.Contains(line, "via ") && ecmpHop.MatchString(line) || strings.Contains(line, " [") && ecmpRoute.MatchString(line)
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			if m := ecmpLine.FindStringSubmatch(text); m != nil {
				s.ofSwitch("", l)
				switch {
				case m[1] != "":
					s.Set("host", "hash_seed", m[1], l)
				case m[2]+m[3] != "":
					s.Set("host", "ecmp_hash", strings.TrimSpace(m[2]+m[3]), l)
				}
				return true
			}
			if m := ecmpHop.FindStringSubmatch(l.Text); m != nil {
				s.ofSwitch(map[bool]string{true: "eos"}[strings.HasPrefix(m[1], "Ethernet") && strings.HasSuffix(text, m[1])], l)
				s.Set("port "+s.portName(m[1]), "next_hop", "yes", l)
				return true
			}
			if m := ecmpRoute.FindStringSubmatch(l.Text); m != nil {
				s.ofSwitch("", l)
				if m[1] != "" {
					s.Set("port "+s.portName(m[1]), "next_hop", "yes", l)
				}
				return true
			}
			return false
		})
	}),
}

var ecmpLine = piece.Compile(`^(?:(?:ip load-sharing|port-channel load-balance)(?: \S+)? hash seed (\d+)|ip load-sharing (address .*|\S+ fields .*)|ip cef load-sharing algorithm (.*))$`)

var ecmpHop = piece.Compile(`^\s+(?:\*?via|\[\d+/\d+\] via) (?:\d+\.){3}\d+, (?:\S+ago, |\d\S*, )?([A-Z][A-Za-z-]*\d[\d/.]*)`)

var ecmpRoute = piece.Compile(`^ ?[A-Z*][A-Z0-9* ]{0,6}\s+(?:\d+\.){3}\d+(?:/\d+)? \[\d+/\d+\](?:\s*$| via (?:\d+\.){3}\d+, (?:\S+, )?([A-Z][A-Za-z-]*\d[\d/.]*)?)`)

// HashFields reads EOS' lists of the fields that a hash uses, each ON or OFF.
var HashFields = piece.Reader{
	Kind:     "hash fields",
	Commands: []string{"show", "sh"},
	Starts:   func(line string) bool { return strings.Contains(line, "hashing ") && hashField.MatchString(line) },
	Read: reading(func(s *sink, lines []piece.Line) int {
		var fields []string
		var last piece.Line
		read := piece.EachLine(lines, func(l piece.Line, text string) bool {
			m := hashField.FindStringSubmatch(text)
			if m == nil {
				return false
			}
			if last = l; m[3] == "ON" && m[2] == "" {
				fields = append(fields, strings.ToLower(m[1]))
			}
			return true
		})
		if len(fields) > 0 {
			s.ofSwitch("eos", last)
			s.Set("host", "load_balance", strings.Join(fields, ", "), last)
		}
		return read
	}),
}

var hashField = piece.Compile(`^\s*((?:Source |Destination )?[A-Z][\w/ ]*?) hashing (for Non-IP packets )?is (ON|OFF)$`)

// BriefLoad reads Huawei's `display interface brief`: the load of each port in per
// cent of its speed.
var BriefLoad = piece.Reader{
	Kind:     "display interface brief",
	Commands: []string{"display", "dis"},
	Starts: func(line string) bool {
		return strings.HasPrefix(line, "Interface ") && strings.Contains(line, "InUti") || strings.HasPrefix(line, "PHY: Physical")
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		channel := ""
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			m := briefLoadRow.FindStringSubmatch(text)
			if m == nil {
				return strings.HasPrefix(text, "PHY: ") || strings.HasPrefix(text, "Interface ") || briefLegend.MatchString(text)
			}
			s.ofSwitch("huawei", l)
			subject := s.portSubject(m[1])
			s.Set(subject, "state", m[2], l)
			s.Set(subject, "seen_rx_util", m[4], l)
			s.Set(subject, "seen_tx_util", m[5], l)
			s.SetIf(subject, "rx_errors", m[6], l)
			s.SetIf(subject, "tx_errors", m[7], l)
			if name, ok := strings.CutPrefix(subject, "channel "); ok {
				channel = name
			} else if strings.HasPrefix(l.Text, " ") && channel != "" {
				s.join(channel, strings.TrimPrefix(subject, "port "), l)
			}
			return true
		})
	}),
}

var briefLoadRow = piece.Compile(`^(\S*\d\S*)\s+(\*?up|\*?down|\^?down)(?:\(\w+\))?\s+(\*?up|\*?down)(?:\(\w+\))?\s+([\d.]+)%\s+([\d.]+)%(?:\s+(\d+)\s+(\d+))?$`)

var briefLegend = piece.Compile(`^(?:\*?\^?[#(]?\w*\)?: |InUti/OutUti)`)
