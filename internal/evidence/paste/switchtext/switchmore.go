package switchtext

import (
	"cmp"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// OtherChannels reads channels as IOS-XR, PAN-OS, Brocade, Allied Telesis, Nokia and
// Dell OS9 print them.
var OtherChannels = piece.Reader{
	Kind:     "link aggregation",
	Commands: []string{"show", "sh"},
	Starts: func(line string) bool {
		return bundleHead.MatchString(line) || aggregatorHead.MatchString(line) || paloHead.MatchString(line) || brocadeHead.MatchString(line) || nokiaHead.MatchString(line) || os9Row.MatchString(line) || strings.HasPrefix(line, "Codes: L - LACP Port-channel") || strings.HasPrefix(line, "LAG Mode Status Uptime")
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		first := lines[0].Text
		switch {
		case bundleHead.MatchString(first):
			return readBundles(s, lines)
		case aggregatorHead.MatchString(first):
			return readAggregators(s, lines)
		case paloHead.MatchString(first):
			return readPalo(s, lines)
		case brocadeHead.MatchString(first):
			return readBrocade(s, lines)
		case nokiaHead.MatchString(first):
			return readNokia(s, lines)
		}
		return readOS9(s, lines)
	}),
}

var bundleHead = piece.Compile(`^\s*(?:Bundle-Ether ?\d+(?: \(ICCP Group \d+\))?$|State: a - Port is marked as)`)

var bundlePort = piece.Compile(`^([A-Z][A-Za-z]*\d+(?:/\d+)+)\s+(Local)\s+(\w+)\s+`)

var bundleState = piece.Compile(`^(Partner|[A-Z][A-Za-z]*\d+(?:/\d+)+)\s+(?:(\d+)s\s+)?([a-z-]{4}[A-Z-]{4})\s+\S+\s+(0x[0-9a-f]+)\s+0x[0-9a-f]+,([0-9a-f.:-]+)$`)

var bundleMachine = piece.Compile(`^([A-Z][A-Za-z]*\d+(?:/\d+)+)\s+(\w+)\s+(\w+)\s+(\w+)\s+(\w+)\s+\w+\s+\w+$`)

var bundleOther = piece.Compile(`^(?:[A-Z]\w*\d+(?:/\d+)+\s+[\d.]+\s|Status|Local|MAC |Minimum|Maximum|Wait|Load|LACP|mLACP|IPv[46]|Link |Port|--|State|Flap|Cisco|Interchassis|Foreign|Switch|Recovery|Maximize|Fast|Start|Neighbor|Preferred|Dest|ICCP|Role|Hash|Non-revert|[a-zA-Z] - |\S.*:\s+\S|RP/)`)

var xrBits = map[rune]int{'a': 4, 's': 8, 'c': 16, 'd': 32, 'A': 1, 'F': 2, 'D': 64, 'E': 128}

var aggregatorHead = piece.Compile(`^\s*(?:%? ?(?:LACP )?Aggregator:? (po\d+|sa\d+) \(IfIndex)`)

var aggregatorLink = piece.Compile(`^Link: (port[\d.]+|\S+)\s+\(.*?\)\s*(?:\S* )?(synchronized|in sync|not synchronized|disabled|\S+.*)?$`)

var paloHead = piece.Compile(`^\s*AE group: ae\d+`)

var paloMember = piece.Compile(`^(ethernet\d+/\d+)\s+(yes|no)\s+(\w+)\s+(\w+)\s+(\w+(?:\([^)]*\))?)$`)

var paloState = piece.Compile(`^(ethernet\d+/\d+|Partner)\s+(\d+)\s+(\d+)\s+(Active|Passive)\s+(Fast|Slow)\s+(\d+)\s+(0x[0-9A-Fa-f]+)`)

// paloCount is a row of a port's counters: LACPDUs sent and received, then others.
var paloCount = piece.Compile(`^(ethernet\d+/\d+)\s+(\d+)\s+(\d+)(?:\s+\d+){6}$`)

var brocadeHead = piece.Compile(`^\s*(?:Total number of LAGs:|Total number of deployed LAGs:|LAG\s+Type\s+Deploy Trunk|Configured trunks:|Operational trunks:|=== LAG )`)

var brocadeRow = piece.Compile(`^(.*?)\s*(dynamic|static|keep-alive|keepaliv)\s+([YN])\s+(\d+|none)\s+(\S+)\s+(?:e(?:the)? )?(.*)$`)

var brocadePort = piece.Compile(`^(\d+(?:/\d+)*)\s+(active|down|none|\S+)\s+(Forward\w*|enable|disable|Blocked|\S+)`)

var nokiaHead = piece.Compile(`^\s*(?:Lag Data$|Lag Port States$|Lag-id\s+(?:Port-id|Adm)|LACP Status: e - Enabled)`)

var nokiaPort = piece.Compile(`^(?:(\d+)\(([ed])\)\s+)?((?:\w+-)?[A-Z0-9]+(?:/\w+)+)\s+(up|down)\s+(active|standby)\s+(up|down)\s`)

var nokiaLag = piece.Compile(`^(\d+)\s+(up|down)\s+(up|down)\s+(?:Yes|No)\s+\d+\s+(\d+)`)

var os9Row = piece.Compile(`^\s*(?:(L)\s+)?(\d+)\s+(L2L3|L[23])\s+(up|down)\s+\d\S*(?:\s+((?:Te|Gi|Fo|Hu|Tf) \d+/\d+(?:/\d+)?)\s+\((Up|Down)\)\*?)?\s*$`)

var os9More = piece.Compile(`^((?:Te|Gi|Fo|Hu|Tf) \d+/\d+(?:/\d+)?)\s+\((Up|Down)\)\*?$`)

var os9Code = piece.Compile(`^[A-Z] - [A-Z]`)

func readBundles(s *sink, lines []piece.Line) int {
	channel, port := "", ""
	var all []member
	var last piece.Line
	flush := func() {
		if channel != "" && len(all) > 0 {
			s.members(channel, all, last)
		}
		all = nil
	}
	read := piece.EachLine(lines, func(l piece.Line, text string) bool {
		if strings.HasPrefix(text, "Bundle-Ether") && bundleHead.MatchString(text) {
			flush()
			s.ofSwitch("iosxr", l)
			name, _, _ := strings.Cut(text, " (")
			channel = s.portName(name)
			s.Set("channel "+channel, "there", "yes", l)
			return true
		}
		if m := bundleState.FindStringSubmatch(text); m != nil {
			side := "partner"
			if m[1] != "Partner" {
				port, side = m[1], "actor"
				s.join(channel, port, l)
			}
			if port != "" {
				s.SetIf("channel "+channel, "protocol", map[bool]string{true: "lacp"}[channel != ""], l)
				s.Set("port "+port, side+"_state", lacpState(m[3], xrBits), l)
				s.SetIf("port "+port, side+"_key", piece.NumberText(m[4]), l)
				s.SetIf("port "+port, side+"_mac", piece.MacText(m[5]), l)
			}
			return true
		}
		if m := bundleMachine.FindStringSubmatch(text); m != nil {
			last = l
			all = append(all, member{m[1], m[5], piece.YesNo[strings.HasPrefix(m[5], "Distrib")]})
			return true
		}
		if m := bundlePort.FindStringSubmatch(text); m != nil {
			last = l
			all = append(all, member{m[1], m[3], piece.YesNo[m[3] == "Active"]})
			return true
		}
		if key, value, ok := strings.Cut(text, ":"); ok && channel != "" {
			value = strings.TrimSpace(value)
			switch key {
			case "Status":
				s.Set("channel "+channel, "state", strings.ToLower(value), l)
			case "Load-balancing":
				s.SetIf("channel "+channel, "load_balance", value, l)
			case "Minimum active links / bandwidth":
				s.SetIf("channel "+channel, "min_links", piece.NumberText(strings.Fields(value + " -")[0]), l)
			case "Hash type":
				s.SetIf("channel "+channel, "load_balance", value, l)
			case "MAC address (source)":
				s.SetIf("channel "+channel, "mac", piece.MacText(strings.Fields(value + " -")[0]), l)
			case "LACP":
				s.SetIf("channel "+channel, "protocol", map[bool]string{true: "lacp", false: "static"}[value == "Operational"], l)
			}
		}
		return bundleOther.MatchString(text) || strings.Contains(text, "  ")
	})
	flush()
	return read
}

func readAggregators(s *sink, lines []piece.Line) int {
	channel := ""
	var all []member
	var last piece.Line
	flush := func() {
		if channel != "" {
			s.members(channel, all, last)
		}
		all = nil
	}
	read := piece.EachLine(lines, func(l piece.Line, text string) bool {
		text = strings.TrimLeft(text, "% ")
		if m := aggregatorHead.FindStringSubmatch(text); m != nil {
			flush()
			s.ofSwitch("awplus", l)
			channel, last = m[1], l
			s.Set("channel "+channel, "protocol", map[bool]string{true: "lacp", false: "static"}[strings.HasPrefix(channel, "po")], l)
			return true
		}
		if m := aggregatorLink.FindStringSubmatch(text); m != nil {
			all = append(all, member{m[1], m[2], piece.YesNo[m[2] == "synchronized" || m[2] == "in sync" || strings.HasPrefix(m[2], "sync: 1")]})
			return true
		}
		return strings.HasPrefix(text, "Admin Key") || strings.HasPrefix(text, "Actor LAG") || strings.HasPrefix(text, "Receive link") || strings.HasPrefix(text, "Individual") || strings.HasPrefix(text, "Partner")
	})
	flush()
	return read
}

func readPalo(s *sink, lines []piece.Line) int {
	channel, port, side := "", "", "actor"
	var all []member
	var last piece.Line
	flush := func() {
		if channel != "" && len(all) > 0 {
			s.members(channel, all, last)
		}
		all = nil
	}
	read := piece.EachLine(lines, func(l piece.Line, text string) bool {
		if rest, ok := strings.CutPrefix(text, "AE group: "); ok {
			flush()
			s.ofSwitch("panos", l)
			channel = rest
			s.Set("channel "+channel, "protocol", "lacp", l)
			return true
		}
		if m := paloMember.FindStringSubmatch(text); m != nil {
			last = l
			all = append(all, member{m[1], m[4], piece.YesNo[m[2] == "yes"]})
			return true
		}
		if m := paloState.FindStringSubmatch(text); m != nil {
			whose := "partner"
			if m[1] != "Partner" {
				port, whose = m[1], "actor"
			}
			if port != "" {
				s.SetIf("port "+port, whose+"_state", piece.NumberText(m[7]), l)
				s.Set("port "+port, whose+"_key", m[6], l)
			}
			return true
		}
		if m := paloCount.FindStringSubmatch(text); m != nil {
			s.Set("port "+m[1], "tx_lacp", m[2], l)
			s.Set("port "+m[1], "rx_lacp", m[3], l)
			return true
		}
		key, value, ok := strings.Cut(text, ":")
		value = strings.TrimSpace(value)
		switch key {
		case "Mode":
			s.Set("channel "+channel, "mode", strings.ToLower(value), l)
		case "Rate":
			s.Set("channel "+channel, "lacp_rate", strings.ToLower(value), l)
		case "Local":
			side = "system"
		case "Partner":
			side = "partner"
		case "System MAC":
			s.SetIf("channel "+channel, side+"_mac", piece.MacText(value), l)
		}
		f := strings.Fields(text)
		return ok || strings.Trim(text, "-* ") == "" || strings.HasPrefix(text, "Port") || strings.HasPrefix(text, "Interface") || strings.HasPrefix(text, "Number") || strings.HasPrefix(text, "Sent") || strings.HasPrefix(f[0], "ethernet")
	})
	flush()
	return read
}

func readBrocade(s *sink, lines []piece.Line) int {
	channel, operational := "", false
	var columns []string // ports side by side
	var all []member
	var last piece.Line
	flush := func() {
		if channel != "" && len(all) > 0 {
			s.members(channel, all, last)
		}
		all = nil
	}
	read := piece.EachLine(lines, func(l piece.Line, text string) bool {
		s.ofSwitch("fastiron", l)
		if m := brocadeRow.FindStringSubmatch(text); m != nil {
			name := cmp.Or(strings.TrimSpace(m[1]), m[4])
			channel := "lag " + name
			s.Set("channel "+channel, "protocol", map[bool]string{true: "lacp", false: "static"}[m[2] == "dynamic"], l)
			s.Set("channel "+channel, "deployed", map[string]string{"Y": "yes", "N": "no"}[m[3]], l)
			for _, p := range ethePorts(m[6]) {
				s.join(channel, p, l)
			}
			return true
		}
		key, value, ok := strings.Cut(text, ":")
		value = strings.TrimSpace(value)
		switch {
		case operational && channel != "" && strings.HasPrefix(text, "Ports "):
			columns = strings.Fields(text)[1:]
		case operational && len(columns) > 0 && (strings.HasPrefix(text, "Link_Status") || strings.HasPrefix(text, "port_state")):
			f := strings.Fields(text)[1:]
			for i, p := range columns[:min(len(columns), len(f))] {
				if strings.HasPrefix(text, "Link_Status") {
					last = l
					all = append(all, member{p, f[i], ""})
				} else if i < len(all) {
					all[i] = member{p, f[i], piece.YesNo[all[i].flag == "active" && strings.HasPrefix(f[i], "Forward")]}
				}
			}
		case text == "Operational trunks:":
			flush()
			operational = true
		case key == "Trunk ID":
			flush()
			channel, columns = "trunk "+value, nil
		case key == "Speed" && channel != "":
			s.SetIf("channel "+channel, "member_speed", piece.Mbits(value), l)
		case key == "Active Ports" && channel != "":
			s.SetIf("channel "+channel, "up", piece.NumberText(value), l)
		case brocadePort.MatchString(text) && channel != "":
			if m := brocadePort.FindStringSubmatch(text); operational && (m[2] == "active" || m[2] == "down") {
				last = l
				all = append(all, member{m[1], m[3], piece.YesNo[m[2] == "active" && strings.HasPrefix(m[3], "Forward")]})
			}
		case ok, strings.HasPrefix(text, "Ports "), strings.HasPrefix(text, "LAG "), strings.HasPrefix(text, "Port"), strings.HasPrefix(text, "Link_Status"), strings.HasPrefix(text, "port_state"),
			strings.HasPrefix(text, "LACP_Status"), strings.HasPrefix(text, "Monitor"), strings.HasPrefix(text, "Rx Mirr"), strings.HasPrefix(text, "Tx Mirr"):
		default:
			return false
		}
		return true
	})
	flush()
	return read
}

// ethePorts are the ports of a list like "2/3/1 to 2/3/2 e 3/1/1".
func ethePorts(list string) (out []string) {
	f := strings.Fields(list)
	for i := 0; i < len(f); i++ {
		switch {
		case f[i] == "to" && len(out) > 0 && i+1 < len(f):
			out = append(out[:len(out)-1], portList(out[len(out)-1]+"-"+f[i+1])...)
			i++
		case f[i][0] >= '0' && f[i][0] <= '9':
			out = append(out, f[i])
		}
	}
	return out
}

func readNokia(s *sink, lines []piece.Line) int {
	channel := ""
	all := make(map[string][]member)
	var order []string
	var last piece.Line
	read := piece.EachLine(lines, func(l piece.Line, text string) bool {
		s.ofSwitch("sros", l)
		if m := nokiaPort.FindStringSubmatch(text); m != nil {
			if m[1] != "" {
				channel = "lag-" + m[1]
				s.Set("channel "+channel, "protocol", map[string]string{"e": "lacp", "d": "static"}[m[2]], l)
				order = append(order, channel)
			}
			last = l
			all[channel] = append(all[channel], member{m[3], m[5], piece.YesNo[m[6] == "up"]})
			s.Set("port "+m[3], "admin", m[4], l)
			s.Set("port "+m[3], "state", m[6], l)
			return true
		}
		if m := nokiaLag.FindStringSubmatch(text); m != nil {
			s.Set("channel lag-"+m[1], "admin", m[2], l)
			s.Set("channel lag-"+m[1], "state", m[3], l)
			s.Set("channel lag-"+m[1], "up", m[4], l)
			return true
		}
		return strings.Trim(text, "-= ") == "" || strings.HasPrefix(text, "Lag") || strings.HasPrefix(text, "LACP Status") || strings.HasPrefix(text, "Stdby") || strings.HasPrefix(text, "name") ||
			strings.HasPrefix(text, "Name") || strings.HasPrefix(text, "Id ") || strings.HasPrefix(text, "lag-") || strings.HasPrefix(text, "Total ") || strings.HasPrefix(text, "Single Chassis")
	})
	for _, channel := range order {
		s.members(channel, all[channel], last)
	}
	return read
}

func readOS9(s *sink, lines []piece.Line) int {
	channel := ""
	var all []member
	var last piece.Line
	flush := func() {
		if channel != "" {
			s.members(channel, all, last)
		}
		all = nil
	}
	read := piece.EachLine(lines, func(l piece.Line, text string) bool {
		if m := os9Row.FindStringSubmatch(text); m != nil {
			flush()
			s.ofSwitch("os9", l)
			channel, last = "Po"+m[2], l
			s.Set("channel "+channel, "protocol", map[bool]string{true: "lacp", false: "static"}[m[1] == "L"], l)
			s.Set("channel "+channel, "state", m[4], l)
			if m[5] != "" {
				all = append(all, member{s.portName(m[5]), m[6], piece.YesNo[m[6] == "Up"]})
			}
			return true
		}
		if m := os9More.FindStringSubmatch(text); m != nil && channel != "" {
			all = append(all, member{s.portName(m[1]), m[2], piece.YesNo[m[2] == "Up"]})
			return true
		}
		return strings.HasPrefix(text, "LAG ") || strings.HasPrefix(text, "Codes:") || os9Code.MatchString(text)
	})
	flush()
	return read
}

// SwitchHash reads what Dell, SONiC, Cumulus and EOS print of their hashes.
var SwitchHash = piece.Reader{
	Kind:     "switch hash",
	Commands: []string{"show", "sh", "nv", "net"},
	Starts:   func(line string) bool { return hashHead.MatchString(line) },
	Read: reading(func(s *sink, lines []piece.Line) int {
		where := ""
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			f := strings.Fields(text)
			switch {
			case strings.HasPrefix(text, "stack-unit ") && strings.Contains(text, "Port-Set"):
				s.ofSwitch("os9", l)
			case dellAlgo.MatchString(text):
				s.ofSwitch("os9", l)
				s.Set("host", "hash_algorithm", dellAlgo.FindStringSubmatch(text)[1], l)
			case len(f) == 2 && (f[0] == "Seed" || f[0] == "Hg-Seed"):
				if f[0] == "Seed" {
					s.Set("host", "hash_seed", f[1], l)
				}
			case hashTable.MatchString(text):
				where = hashTable.FindStringSubmatch(text)[1]
			case sonicHash.MatchString(text):
				m := sonicHash.FindStringSubmatch(text)
				s.ofSwitch("sonic", l)
				where = m[1]
				if where == "LAG" {
					s.SetIf("host", "load_balance", strings.TrimSpace(m[2]), l)
				}
			case where != "" && hashRow.MatchString(text):
				m := hashRow.FindStringSubmatch(text)
				s.ofSwitch("sonic", l)
				if where == "LAG" {
					now, _ := s.Host.Get("host", "load_balance")
					s.setOnly("host", "load_balance", strings.TrimSpace(now.Text+" "+m[1]), l)
					s.SetIf("host", "hash_algorithm", m[2], l)
				}
			case lagHash.MatchString(text):
				m := lagHash.FindStringSubmatch(text)
				s.ofSwitch("cumulus", l)
				s.Set("host", "lag_hash."+m[1], m[2], l)
			case sandLine.MatchString(text):
				s.sandHash(text, l)
			case s.vendor() == "eos" && (sandField.MatchString(text) || strings.HasSuffix(text, " hash fields:") || strings.HasPrefix(text, "Allowed member selection methods:")):
			case strings.Trim(text, "-+| ") == "", strings.HasPrefix(text, "| Hash"), strings.HasPrefix(text, "|"), len(f) == 1 && strings.ToUpper(text) == text && where != "":
			default:
				return false
			}
			return true
		})
	}),
}

var hashHead = piece.Compile(`^\s*(?:stack-unit \d+ Port-Set \d+|EcmpAlgo- \S+ LagAlgo-|lag_hash_config\.\w+\s*=|[Ll][Aa][Gg] [Hh]ash(?:ing)? (?:on|mode|seed|polynomial|key)\b|\|?\s*(?:Hash\s+\|?\s*Configuration|LAG Hash)\b|\| (?:ECMP|LAG)\s+\| \+-)`)

// sandLine is a line of what a Jericho hashes on (EOS: `show load-balance profile`),
// sandField one of a list of fields.
var sandLine = piece.Compile(`(?i)^(?:lag hash(?:ing)? (on|mode|seed|polynomial|key shift)\b(.*?) is |full symmetric hashing is )(\S+)`)

var sandField = piece.Compile(`^[A-Z][\w :,-]* is (?:ON|OFF)\*?$`)

// sandHash reads a line of a Jericho's hash: the headers that it looks at, then what it
// computes with.
func (s *sink) sandHash(text string, l piece.Line) {
	s.ofSwitch("eos", l)
	m := sandLine.FindStringSubmatch(text)
	switch key := strings.ToLower(m[1]); {
	case key == "on" && m[3] == "ON":
		now, _ := s.Host.Get("host", "load_balance")
		words, _, _ := strings.Cut(strings.TrimSpace(m[2]), " for ")
		s.setOnly("host", "load_balance", strings.TrimPrefix(now.Text+", "+words, ", "), l)
	case key == "seed":
		s.SetIf("host", "hash_seed", piece.NumberText(m[3]), l)
	case key == "polynomial" || key == "key shift":
		now, _ := s.Host.Get("host", "hash_algorithm")
		s.setOnly("host", "hash_algorithm", strings.TrimPrefix(now.Text+", "+key+" "+m[3], ", "), l)
	}
}

// hashTable begins SONiC's table of a hash within the table of all, hashRow is a row
// of it: a field, and in the first row the algorithm.
var hashTable = piece.Compile(`^\| (ECMP|LAG)\s+\| \+-`)

var hashRow = piece.Compile(`^\|\s+\| \| ([A-Z][A-Z0-9_]+)\s+\| ([A-Z0-9_]*)\s*\|`)

var dellAlgo = piece.Compile(`LagAlgo- (\S+)`)

var sonicHash = piece.Compile(`^\|?\s*(ECMP|LAG)(?: Hash)?\s+\|?\s*([A-Z_0-9, ]*)\|?$`)

var lagHash = piece.Compile(`^lag_hash_config\.(\w+)\s*=\s*(\w+)`)
