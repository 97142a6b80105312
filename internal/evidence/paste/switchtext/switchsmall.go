package switchtext

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// RouterBond reads RouterOS's bonds: `/interface bonding print detail`, an export, and
// `monitor`. What a bond is told in is words with values, over several lines.
var RouterBond = piece.Reader{
	Kind:     "RouterOS bonding",
	Commands: []string{"interface"},
	Starts: func(line string) bool {
		return strings.HasPrefix(line, "# ") && routerExport.MatchString(line) || strings.Contains(line, "/interface bonding") || strings.Contains(line, "/interface/bonding") || strings.Contains(line, "slaves=") && strings.Contains(line, "mode=") || routerMonitor.MatchString(line) || routerFlags.MatchString(line) || strings.Contains(line, "mode: ") && routerModes.MatchString(line)
	},
	Owns: func(s piece.Segment, line string) bool {
		return routerAsked.MatchString(s.Command) && routerStatus.MatchString(line)
	},
	Asked: func(ps *piece.Sink, at piece.Line) {
		if m := routerAdd.FindStringSubmatch(ps.Segment.Command); m != nil {
			readRouterBond(&sink{ps}, []piece.Line{{File: at.File, Number: at.Number, Text: "add " + m[1]}})
		}
	},
	Read: reading(readRouterBond),
}

// routerAdd is a bond that is made at the prompt.
var routerAdd = piece.Compile(`^/?interface[ /]bonding[ /]add (.*slaves=.*)`)

// routerStatus is a line of a monitor that only its command explains.
var routerStatus = piece.Compile(`^\s*(?:mode|lacp-(?:partner-)?system-priority|lacp-(?:user-)?(?:partner-)?key): `)

var routerExport = piece.Compile(`^# (?:\S+ \S+ by RouterOS [\d.]+|software id = |model = |serial number = )`)

var routerAsked = piece.Compile(`^/?interface[ /]bonding[ /]monitor(?: numbers=)? ?"?([\w.-]+)`)

var routerFlags = piece.Compile(`^\s*Flags: X - disabled[;,] R - running`)

var routerRow = piece.Compile(`^(?:\d+\s+)?(?:[XRI]{1,2}\s+)?(?:;;;|[a-z0-9-]+=)`)

var routerPairs = piece.Compile(`([a-z0-9-]+)=("[^"]*"|[^\s"]*)`)

var routerMonitor = piece.Compile(`^\s*(active-ports|inactive-ports|lacp-system-id|lacp-partner-system-id|partner-system-id): ?(.*)$`)

var routerLine = piece.Compile(`^(?:add |set |/interface|# )`)

var routerValues = map[string]string{"layer-2": "layer2", "layer-2-and-3": "layer2+3", "layer-3-and-4": "layer3+4", "encap-2-and-3": "encap2+3", "encap-3-and-4": "encap3+4",
	"30secs": "slow", "1sec": "fast"}

var routerKeys = map[string]string{"mtu": "mtu", "mode": "mode", "lacp-rate": "lacp_rate", "transmit-hash-policy": "xmit_hash_policy", "min-links": "min_links", "mac-address": "mac",
	"mii-interval": "miimon", "primary": "primary", "forced-mac-address": "mac"}

// routerModes is the first line of a monitor of several bonds: a column for each.
var routerModes = piece.Compile(`^\s*mode: (?:802\.3ad|active-backup|balance-\w+|broadcast) {2,}(?:802\.3ad|active-backup|balance-\w+|broadcast)\b`)

var routerColumn = piece.Compile(`\S+`)

// routerColumns reads a line of a monitor of several bonds, whose columns begin at at.
func (s *sink) routerColumns(at []int, l piece.Line) bool {
	key, _, ok := strings.Cut(l.Text, ": ")
	if key = strings.TrimSpace(key); !ok || key != "mode" && !routerMonitor.MatchString(l.Text) {
		return strings.HasPrefix(key, "lacp-") || !ok && len(l.Text) > at[0] && strings.TrimSpace(l.Text[:at[0]]) == ""
	}
	key = strings.ReplaceAll(strings.TrimPrefix(key, "lacp-"), "-", "_")
	for i, from := range at {
		to := len(l.Text)
		if i+1 < len(at) {
			to = min(to, at[i+1])
		}
		if from >= to {
			break
		}
		if value := strings.TrimSpace(l.Text[from:to]); value != "" {
			s.Set("link bond"+strconv.Itoa(i+1), key, cmp.Or(piece.MacText(value), value), l)
		}
	}
	return true
}

func readRouterBond(s *sink, lines []piece.Line) int {
	if routerModes.MatchString(lines[0].Text) {
		var at []int
		for _, m := range routerColumn.FindAllStringIndex(lines[0].Text, -1)[1:] {
			at = append(at, m[0])
		}
		s.ofSwitch("routeros", lines[0])
		return piece.EachLine(lines, func(l piece.Line, _ string) bool { return s.routerColumns(at, l) })
	}
	bond, rows := "", 0
	if m := routerAsked.FindStringSubmatch(s.Segment.Command); m != nil {
		bond = m[1]
	}
	// An option may be broken over two lines, by a backslash or without.
	begun := ""
	read := piece.EachLine(lines, func(l piece.Line, text string) bool {
		if text, begun = begun+text, ""; strings.HasSuffix(text, `\`) {
			begun = strings.TrimSuffix(text, `\`)
			return rows > 0 || routerRow.MatchString(text) || routerLine.MatchString(text)
		}
		if rows == 0 && piece.Late(l, lines) {
			return false
		}
		if m := routerMonitor.FindStringSubmatch(text); m != nil {
			s.ofSwitch("routeros", l)
			key := strings.ReplaceAll(strings.TrimPrefix(m[1], "lacp-"), "-", "_")
			value := strings.ReplaceAll(m[2], ",", " ")
			s.SetIf("link "+cmp.Or(bond, "bond"), key, cmp.Or(piece.MacText(value), value), l)
			rows++
			return true
		}
		if routerFlags.MatchString(text) || bond != "" && routerStatus.MatchString(text) {
			return true
		}
		if !routerRow.MatchString(text) && !routerLine.MatchString(text) && !(bond != "" && routerPairs.MatchString(text)) {
			return bond != "" && strings.HasPrefix(text, ";;;")
		}
		if strings.HasPrefix(text, "/interface") && !strings.Contains(text, "bonding") {
			return false
		}
		pairs := make(map[string]string)
		for _, m := range routerPairs.FindAllStringSubmatch(text, -1) {
			pairs[m[1]] = strings.Trim(m[2], `"`)
		}
		name := pairs["name"]
		if name == "" && pairs["slaves"] == "" && bond == "" {
			return strings.HasPrefix(text, "/interface") || strings.Contains(text, ";;;") || strings.HasPrefix(text, "#")
		}
		s.ofSwitch("routeros", l)
		if name != "" {
			bond = name
			s.Set("link "+bond, "kind", "bond", l)
			rows++
		}
		for _, port := range strings.Split(pairs["slaves"], ",") {
			if port != "" && bond != "" {
				s.Port(bond, port, l)
			}
		}
		if bond == "" {
			return true
		}
		for word, value := range pairs {
			if key := routerKeys[word]; key != "" && value != "none" && value != "" {
				if to, ok := routerValues[value]; ok {
					value = to
				}
				if key == "mac" {
					value = piece.MacText(value)
				}
				s.SetIf("link "+bond, key, strings.TrimSuffix(value, "ms"), l)
			}
		}
		return true
	})
	if rows == 0 {
		return 0
	}
	return read
}

// SmallSwitch reads the small switches: Cisco's SG300 family, FASTPATH (Netgear,
// EdgeSwitch), D-Link, TP-Link, Zyxel, UniFi.
var SmallSwitch = piece.Reader{
	Kind:     "small switch",
	Commands: []string{"show", "sh"},
	Starts:   func(line string) bool { return smallHead.MatchString(line) || smallChannel.MatchString(line) },
	Read:     reading(readSmall),
}

var smallHead = piece.Compile(`(?i)^\s*(?:(?:gi|fa|te|xg)[\d/]+ LACP parameters:|Load balancing: |Gathering information\.\.\.|Channel\s+Ports\s*$|Log(?:ical)?\.?\s+(?:Intf|Interface)\s+Port-Channel|LAG\s+(?:Name|ID)\s+.*(?:Member|Ports|Type)|Link Aggregation Algorithm\s*=|Link Aggregation Algorithm\s*:|Group ID\s*:|Local Interface\.{3,}|Channel Name\.{3,}|Load Balance Option\.{3,}|Aggregation? Algorithm\s*:|EtherChannel Load-Balancing|Etherchannel Load-Balancing)`)

var smallChannel = piece.Compile(`^\s*(Po\d+|ch\d+)\s+(?:(Up|Down)\s+)?((?:Active|Inactive|Non-candidate): ?\S.*|(?:gi|te|fa|xg)\d.*)$`)

var smallParam = piece.Compile(`(?i)^(system priority|system mac addr|port Admin key|port Oper key|port Oper timeout|LACP Activity|Aggregation|synchronization|collecting|distributing|expired|port Admin priority|port Admin timeout|port Oper priority|Port Oper Number|port number|Periodic Tx state|Mux state|Receive state|Attached Lag id|Selected|[A-Za-z ]+):\s+(.*)$`)

var smallDots = piece.Compile(`^([A-Z][\w /()-]*?)\.{3,}\s*(.*)$`)

var smallColon = piece.Compile(`^([A-Z][\w ]*?)\s*[:=]\s*(.*)$`)

func readSmall(s *sink, lines []piece.Line) int {
	port, side, channel := "", "actor", ""
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		if at := strings.Index(text, " LACP parameters:"); at > 0 && !strings.Contains(text[:at], " ") {
			s.ofSwitch("sg300", l)
			port, side = text[:at], "actor"
			return true
		}
		if m := smallChannel.FindStringSubmatch(text); m != nil {
			s.ofSwitch("sg300", l)
			s.smallMembers(m[1], m[3], l)
			return true
		}
		if strings.HasPrefix(text, "Load balancing:") {
			s.ofSwitch("sg300", l)
			s.SetIf("host", "load_balance", strings.TrimRight(strings.TrimSpace(strings.TrimPrefix(text, "Load balancing:")), "."), l)
			return true
		}
		if port != "" {
			switch text {
			case "Actor", "Partner":
				side = strings.ToLower(text)
				return true
			}
			if m := smallParam.FindStringSubmatch(text); m != nil {
				s.smallParam("port "+port, side, strings.ToLower(m[1]), strings.TrimSpace(m[2]), l)
				return true
			}
			if strings.HasPrefix(text, "Port ") || strings.HasPrefix(text, "LACP ") {
				return true
			}
		}
		if strings.HasPrefix(text, "Gathering") || channel != "" && strings.HasPrefix(text, "(") {
			return true
		}
		m := smallDots.FindStringSubmatch(text)
		if m == nil {
			m = smallColon.FindStringSubmatch(text)
		}
		if m != nil {
			key, value := strings.TrimSpace(m[1]), strings.TrimSpace(m[2])
			switch {
			case key == "Channel Name" && channel != "":
				s.Set("channel "+channel, "name", value, l)
			case key == "Local Interface" || key == "Channel Name" || key == "Group ID":
				s.ofSwitch("", l)
				channel = value
				if key == "Group ID" {
					channel = "lag" + value
				}
				s.Set("channel "+channel, "there", "yes", l)
			case strings.Contains(key, "Algorithm"):
				s.ofSwitch("", l)
				s.SetIf("host", "load_balance", value, l)
			case channel == "":
				return false
			case key == "Load Balance Option":
				s.SetIf("channel "+channel, "hash", value, l)
			case key == "Type":
				s.SetIf("channel "+channel, "protocol", protocolWord(value), l)
			case key == "Link State" || key == "Status":
				s.SetIf("channel "+channel, "state", strings.ToLower(value), l)
			case key == "Member Port" || key == "Mbr Ports" || key == "Member Ports":
				for _, p := range portList(value) {
					s.join(channel, p, l)
				}
			case key == "Active Port" || key == "Active Ports":
				for _, p := range portList(value) {
					s.Set("port "+p, "bundled", "yes", l)
				}
			}
			return true
		}
		if m := smallRow.FindStringSubmatch(text); m != nil && channel != "" {
			s.join(channel, m[1], l)
			s.Set("port "+m[1], "bundled", map[bool]string{true: "yes", false: "no"}[strings.EqualFold(m[2], "true")], l)
			return true
		}
		return smallHead.MatchString(text) || strings.Trim(text, "- =+|") == "" || channel != "" && (strings.HasPrefix(text, "Mbr") || strings.HasPrefix(text, "Ports") || strings.HasPrefix(text, "Port ") || strings.HasPrefix(text, "actor/long") || strings.HasPrefix(text, "partner/long"))
	})
}

var smallRow = piece.Compile(`^(\d+/\d+(?:/\d+)?)\s+(?:actor\S*\s+)?\S+(?: (?:Full|Half))?\s+(True|False)$`)

// smallMembers reads "Active: gi7,gi8 Inactive: gi9" and "gi1-2".
func (s *sink) smallMembers(channel, list string, l piece.Line) {
	var all []member
	bundled := ""
	for _, w := range strings.FieldsFunc(list, func(r rune) bool { return r == ' ' || r == ',' }) {
		switch strings.TrimSuffix(w, ":") {
		case "Active":
			bundled = "yes"
		case "Inactive", "Non-candidate":
			bundled = "no"
		default:
			for _, p := range portList(w) {
				all = append(all, member{p, "", bundled})
			}
		}
	}
	s.members(channel, all, l)
}

func (s *sink) smallParam(subject, side, key, value string, l piece.Line) {
	whose := map[string]string{"actor": "", "partner": "partner_"}[side]
	switch key {
	case "system mac addr":
		s.SetIf(subject, side+"_mac", piece.MacText(value), l)
	case "port oper key":
		s.SetIf(subject, side+"_key", piece.NumberText(value), l)
	case "port oper timeout":
		s.SetIf(subject, whose+"lacp_rate", map[string]string{"LONG": "slow", "SHORT": "fast"}[strings.ToUpper(value)], l)
	case "lacp activity":
		s.Set(subject, whose+"mode", strings.ToLower(value), l)
	case "distributing":
		if side == "actor" {
			s.Set(subject, "bundled", piece.YesNo[strings.EqualFold(value, "true")], l)
		}
	case "attached lag id":
		if value != "" && value != "0" && piece.NumberText(value) != "" {
			s.join("Po"+value, strings.TrimPrefix(subject, "port "), l)
		}
	}
}

// LinuxSwitch reads what Cumulus and SONiC print that Linux does not: `net show bond`,
// `net show interface`, `nv show interface BOND bond`, `show interfaces status`.
var LinuxSwitch = piece.Reader{
	Kind:     "Cumulus or SONiC",
	Commands: []string{"net", "nv", "show"},
	Starts: func(line string) bool {
		return linuxSwitchHead.MatchString(line) || cumulusRow.MatchString(line) || sonicRow.MatchString(line)
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		bond := nvBond.FindStringSubmatch(s.Segment.Command)
		rows := 0
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			if m := cumulusMore.FindStringSubmatch(text); m != nil && rows > 0 {
				if p := cumulusPorts.FindStringSubmatch(m[2]); p != nil && m[1] != "" {
					s.cumulusBond(m[1], p[1], l)
				}
				return true
			}
			if m := cumulusRow.FindStringSubmatch(text); m != nil {
				s.ofSwitch("cumulus", l)
				rows++
				subject := "link " + m[2]
				if h := cumulusHeard.FindStringSubmatch(m[6]); h != nil {
					s.Set("lldp "+m[2]+" 1", "neighbour", h[1], l)
					s.Set("lldp "+m[2]+" 1", "neighbour_port", h[2], l)
					m[6] = h[3]
				}
				s.Set(subject, "carrier", map[string]string{"UP": "yes", "DN": "no", "ADMDN": "no"}[m[1]], l)
				s.SetIf(subject, "speed", piece.Mbits(m[3]), l)
				s.SetIf(subject, "mtu", m[4], l)
				if m[5] == "BondMember" || strings.HasPrefix(m[6], "Master: ") && m[5] != "Bond" {
					if b := cumulusMaster.FindStringSubmatch(m[6]); b != nil {
						s.Set(subject, "master", b[1], l)
					}
				}
				if m[5] == "802.3ad" || m[5] == "Bond" || m[5] == "balance-xor" {
					s.Set(subject, "kind", "bond", l)
				}
				if m[5] == "802.3ad" || m[5] == "balance-xor" {
					s.Set(subject, "mode", m[5], l)
				}
				if p := cumulusPorts.FindStringSubmatch(m[6]); p != nil {
					s.cumulusBond(m[2], p[1], l)
				}
				return true
			}
			if m := sonicRow.FindStringSubmatch(text); m != nil {
				s.ofSwitch("sonic", l)
				subject := "port " + m[1]
				if strings.HasPrefix(m[1], "PortChannel") {
					subject = "channel " + m[1]
				}
				s.SetIf(subject, "speed", piece.Mbits(m[2]), l)
				s.SetIf(subject, "mtu", m[3], l)
				s.Set(subject, "state", m[5], l)
				s.Set(subject, "admin", m[6], l)
				if strings.HasPrefix(m[4], "PortChannel") {
					s.join(m[4], m[1], l)
				}
				return true
			}
			if m := nvRow.FindStringSubmatch(text); m != nil && len(bond) > 1 {
				s.ofSwitch("cumulus", l)
				value := cmp.Or(m[2], "")
				switch m[1] {
				case "mode":
					s.Set("link "+bond[1], "mode", map[string]string{"lacp": "802.3ad", "static": "balance-xor"}[value], l)
				case "lacp-rate":
					s.SetIf("link "+bond[1], "lacp_rate", value, l)
				case "[member]":
					s.Port(bond[1], value, l)
				}
				return true
			}
			return linuxSwitchHead.MatchString(text) || strings.Trim(text, "- ") == "" || sonicFoot.MatchString(text)
		})
	}),
}

// cumulusBond reads a bond's ports: "swp1(UP),swp2(DN)".
func (s *sink) cumulusBond(bond, list string, l piece.Line) {
	for _, name := range portList(strings.NewReplacer("(UP)", "", "(DN)", "", "(UN)", "").Replace(list)) {
		s.Port(bond, name, l)
	}
}

// cumulusMore is a row that goes on below its link's, cumulusHeard who LLDP heard at it.
var cumulusMore = piece.Compile(`^(?:([\w.-]+)\s{2,})?((?:Bond Members|Master|IP|(?:Unt|T)agged Members|802\.1q Tag|STP): .*)$`)

var cumulusHeard = piece.Compile(`^(\S+) \(([^)\s]+)\)(?:\s{2,}(.*))?$`)

var linuxSwitchHead = piece.Compile(`^\s*(?:State\s+Name\s+Spd\s+MTU\s+Mode|Name\s+Speed\s+MTU\s+Mode|Interface\s+Lanes\s+Speed\s+MTU|\s*operational\s+applied(?:\s+pending)?(?:\s+description)?$)`)

var cumulusRow = piece.Compile(`^\s*(UP|DN|ADMDN)\s+(\S+)\s+(N/A|\d+[MG])\s+(\d+)\s+(\S+)(?:\s+(.*))?$`)

var cumulusMaster = piece.Compile(`Master: ([\w.-]+)\((?:UP|DN)\)`)

var cumulusPorts = piece.Compile(`Bond Members: ([\w,() -]+)`)

var sonicRow = piece.Compile(`^\s*((?:Ethernet|PortChannel)\d+)\s+(?:[\d,]+|N/A)\s+(\d+[MG]|N/A)\s+(\d+|N/A)\s+(?:\S+\s+)?(?:\S+\s+)?(routed|trunk|access|PortChannel\d+)\s+(up|down)\s+(up|down)`)

var sonicFoot = piece.Compile(`^(?:Flags: A - active|S - selected)`)

var nvBond = piece.Compile(`^nv show interface (\S+) bond`)

var nvRow = piece.Compile(`^([\[\]\w-]+)\s+(\S+)`)
