package switchtext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/evidence/switchanswer"
)

// ChannelSummary reads the tables of channels and their ports that Cisco's switches
// print and others after them: IOS, NX-OS, ASA, EOS, Dell OS10, SONiC.
var ChannelSummary = piece.Reader{
	Kind:     "port-channel summary",
	Commands: []string{"show", "sh"},
	Starts: func(line string) bool {
		return strings.Contains(line, "(") && channelRow.MatchString(line) || channelHead.MatchString(line)
	},
	Read: reading(readChannelSummary),
}

var channelRow = piece.Compile(`^\s*(?:\d+\s+)?((?i:Po|port-channel|PortChannel)\s?\d+[A-Z]?)\s*\(([A-Za-z]+)\)\s+\S|^\s*(?:\d+\s+)?((?:PortChannel)\d+)\s+((?:LACP|NONE)\([AI]\)\(\w+\))`)

var channelHead = piece.Compile(`^\s*(?:Flags:?$|Flags:\s+D - [Dd]own|Group\s+Port-(?:channel|Channel)?\s+.*Protocol|Port-Channel\s+Protocol\s+Ports|Flags: A - active, I - inactive|[A-Za-z+] - (?:bundled in Po|In Use|Individual|In-Sync|LACP Active|Fallback enabled)|Number of channel(?:s|-groups) in use:|No\.\s+Team Dev\s+Protocol)`)

var channelLegend = piece.Compile(`^(?:Flags:?|Flags:\s+.*|Channel|\(?[\w+*^/-]{1,7}\)?\s+-\s+\S.*|[-=+ |!]+|Number of (?:channel|aggregator).*|Group .*|Port-Channel\s.*|No\..*|.*[-=]{10,})$`)

var memberToken = piece.Compile(`^([A-Za-z][A-Za-z-]*\d[\d/.:]*|\d+(?:[/:]\d+)+)\(([\w+*^-]*)\)\*?$`)

var spacedFlags = piece.Compile(`(\d)\s+\(`)

func readChannelSummary(s *sink, lines []piece.Line) int {
	channel, protocol, all, rows, legend := "", "", []member(nil), 0, true
	var at piece.Line
	flush := func() {
		if channel != "" {
			s.members(channel, all, at)
			if protocol == "static" && len(all) == 0 {
				protocol = "none"
			}
			s.SetIf("channel "+channel, "protocol", protocol, at)
		}
		channel, all = "", nil
	}
	read := piece.EachLine(lines, func(l piece.Line, text string) bool {
		text = spacedFlags.ReplaceAllString(text, "$1(")
		if m := channelRow.FindStringSubmatch(text); m != nil {
			flush()
			s.ofSwitch(summaryVendor(text), l)
			rows, legend, at = rows+1, false, l
			if m[3] != "" {
				channel = m[3]
			} else {
				channel = s.portName(m[1])
				s.Set("channel "+channel, "flag", m[2], l)
				s.Set("channel "+channel, "state", map[bool]string{true: "up", false: "down"}[strings.Contains(m[2], "U")], l)
			}
			protocol, all = s.summaryRow(channel, text, l)
			return true
		}
		if more, ok := s.memberRow(text); ok && channel != "" {
			all = append(all, more...)
			return true
		}
		if !channelLegend.MatchString(text) || rows == 0 && piece.Late(l, lines) {
			return false
		}
		if strings.Contains(text, "Protocol") || strings.HasPrefix(text, "Number of") {
			legend = false
		}
		return true
	})
	flush()
	if legend && rows == 0 {
		return 0
	}
	return read
}

// summaryVendor tells the makers by a row's shape; "" it may be several.
func summaryVendor(row string) string {
	fields := strings.Fields(row)
	switch {
	case strings.Contains(row, "PortChannel"):
		return "sonic"
	case len(fields) > 1 && (strings.HasPrefix(fields[1], "LACP(") || fields[1] == "Static" || fields[1] == "NONE"):
		return "eos"
	case len(fields) > 2 && fields[2] == "Eth" && strings.HasPrefix(fields[1], "port-channel"):
		return "os10"
	case len(fields) > 2 && (fields[2] == "Eth" || fields[1] == "Eth"):
		return "nxos"
	case len(fields) > 3 && (fields[3] == "No" || fields[3] == "Yes"):
		return "asa"
	}
	return "ios"
}

// summaryRow reads what stands behind a channel's name.
func (s *sink) summaryRow(channel, text string, l piece.Line) (protocol string, all []member) {
	for _, w := range strings.Fields(text) {
		if strings.HasPrefix(w, "LACP(") {
			protocol = "lacp"
			flags, _, _ := strings.Cut(strings.TrimPrefix(w, "LACP("), ")")
			switch {
			case strings.HasSuffix(w, ")(Up)"), strings.HasSuffix(w, ")(Dw)"):
				s.Set("channel "+channel, "state", map[bool]string{true: "up", false: "down"}[strings.HasSuffix(w, "(Up)")], l)
			case strings.Contains(flags, "a"):
				s.Set("channel "+channel, "mode", "active", l)
			case strings.Contains(flags, "p"):
				s.Set("channel "+channel, "mode", "passive", l)
			}
			if strings.ContainsAny(flags, "*^") { // EOS: the fallback is in effect
				s.Set("channel "+channel, "fallback", "in effect", l)
			}
			continue
		}
		if p := protocolWord(w); p != "" && protocol == "" {
			protocol = p
			continue
		}
		if more, ok := s.memberRow(w); ok && len(more) > 0 && s.portName(more[0].name) != channel {
			all = append(all, more...)
		}
	}
	return protocol, all
}

// memberRow reads a row that has nothing but ports with their flags.
func (s *sink) memberRow(text string) (all []member, ok bool) {
	for _, w := range strings.Fields(text) {
		m := memberToken.FindStringSubmatch(strings.Trim(w, ","))
		if m == nil {
			return nil, false
		}
		if strings.HasPrefix(m[1], "PEt") { // the other switch's of a pair
			ok = true
			continue
		}
		all = append(all, member{name: s.portName(m[1]), flag: m[2], bundled: bundledBy(m[2], s.vendor())})
	}
	return all, ok || len(all) > 0
}

// bundledBy is what a port's flags say: IOS and NX-OS have one letter or a word, EOS
// several letters and a sign.
func bundledBy(flags, vendor string) string {
	if word, ok := portStates[flags]; ok && len(flags) > 1 { // IOS-XE's words
		return word
	}
	switch {
	case flags == "bndl", vendor == "sonic" && flags == "S": // S* is selected, but not in the switch's own table
		return "yes"
	case vendor == "sonic":
		return "no"
	case strings.HasPrefix(flags, "susp"):
		return "suspended"
	case strings.Contains(flags, "P") && !strings.Contains(flags, "-"):
		return "yes"
	case strings.Contains(flags, "s"):
		return "suspended"
	case strings.Contains(flags, "I"), flags == "p":
		return "individual"
	}
	return "no"
}

// LACPTable reads `show lacp neighbor`, `internal` and `peer`, with details or not.
var LACPTable = piece.Reader{
	Kind:     "show lacp",
	Commands: []string{"show", "sh"},
	Starts: func(line string) bool {
		return lacpHead.MatchString(line) || lacpRow(strings.Fields(line)) != "" || strings.Contains(line, "|") && eosLACP.MatchString(line)
	},
	Read: reading(readLACPTable),
}

var lacpHead = piece.Compile(`^\s*(?:Flags:\s+S - Device is|(?:Channel group \d+(?: neighbors)?$|port-channel\d+ neighbors)|Partner's information:|State: A = Active, P = Passive|Port Channel Port-Channel\d+)`)

var lacpLegend = piece.Compile(`^(?:[A-Z] - Device|Flags:|Local information|LACP |LACPDUs|Partner('s)?\b|Port |Actor|State:|[A-Z] ?= |s\+|[a-z] ?= |[-|= ]+$|\||Port State Flags|Activity:|Active |Passive |Collecting:|(?:Yes|No)\s+(?:Yes|No)|Aggregate port|Admin )`)

var lacpGroup = piece.Compile(`^(?:(?:Channel group|port-channel)\s?:?\s?(\d+)|Port Channel (Port-Channel\d+))`)

var sysID = piece.Compile(`^(?:0x)?[0-9a-fA-F]+,\s?([0-9a-fA-F.:-]+)$`)

var eosLACP = piece.Compile(`^\s*(\w+[\d/]+)\s+([A-Z]\w+(?: \w+)?)\s*\|\s*([0-9A-Fa-f]+),([0-9a-f.:-]+)\s+(\d+)\s+([A-Za-z+-]+)\s+(0x[0-9a-f]+)`)

var portStates = map[string]string{"bndl": "yes", "susp": "suspended", "hot-sby": "no", "indep": "individual", "down": "no", "waiting": "no", "passive": "no", "D": "no"}

var lacpFlags = piece.Compile(`^[SFsf][APap]C?$`)

var eosStates = map[rune]int{'A': 1, 'S': 2, 'G': 4, '+': 8, 'C': 16, 'D': 32, 'd': 64, 'X': 128}

// lacpRow names the shape of a row: "neighbor", "internal", "detail" or "".
func lacpRow(f []string) string {
	if len(f) < 5 || len(f) > 10 {
		return ""
	}
	if len(f) >= 8 && lacpFlags.MatchString(f[1]) {
		switch {
		case piece.MacText(f[3]) != "":
			return "neighbor"
		case portStates[f[2]] != "":
			return "internal"
		}
	}
	if m := sysID.FindStringSubmatch(f[1]); m != nil && piece.MacText(m[1]) != "" && len(f) == 5 && lacpFlags.MatchString(f[4]) {
		return "detail"
	}
	return ""
}

func readLACPTable(s *sink, lines []piece.Line) int {
	channel, port, partner := "", "", true
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		f := strings.Fields(text)
		if m := lacpGroup.FindStringSubmatch(text); m != nil {
			s.ofSwitch("", l)
			if channel = "Po" + m[1]; m[2] != "" {
				s.ofSwitch("eos", l)
				channel = s.portName(m[2])
			}
			return true
		}
		if m := eosLACP.FindStringSubmatch(text); m != nil {
			s.ofSwitch("eos", l)
			port = "port " + m[1]
			s.lacpMember(channel, m[1], l)
			side, word := "partner", strings.ToLower(m[2])
			if !partner {
				side = "actor"
			}
			s.Set(port, side+"_state", lacpState(m[6], eosStates), l)
			s.SetIf(port, side+"_mac", piece.MacText(m[4]), l)
			s.SetIf(port, side+"_key", piece.NumberText(m[7]), l)
			s.SetIf(port, side+"_port", piece.NumberText(m[5]), l)
			s.Set(port, "bundled", map[bool]string{true: "yes", false: "no"}[word == "bundled"], l)
			s.Set(port, "flag", m[2], l)
			return true
		}
		switch lacpRow(f) {
		case "neighbor":
			s.ofSwitch("", l)
			port = s.lacpPort(channel, f[0], l)
			s.lacpWords(port, "partner_", f[1], l)
			s.SetIf(port, "partner_mac", piece.MacText(f[3]), l)
			s.SetIf(port, "partner_key", piece.NumberText(f[len(f)-3]), l)
			s.SetIf(port, "partner_port", piece.NumberText(f[len(f)-2]), l)
			s.SetIf(port, "partner_state", piece.NumberText(f[len(f)-1]), l)
		case "internal":
			s.ofSwitch("ios", l)
			port = s.lacpPort(channel, f[0], l)
			s.lacpWords(port, "", f[1], l)
			s.Set(port, "flag", f[2], l)
			s.Set(port, "bundled", portStates[f[2]], l)
			s.SetIf(port, "actor_key", piece.NumberText(f[len(f)-3]), l)
			s.SetIf(port, "actor_port", piece.NumberText(f[len(f)-2]), l)
			s.SetIf(port, "actor_state", piece.NumberText(f[len(f)-1]), l)
		case "detail":
			s.ofSwitch("", l)
			port = s.lacpPort(channel, f[0], l)
			s.SetIf(port, "partner_mac", piece.MacText(sysID.FindStringSubmatch(f[1])[1]), l)
			s.SetIf(port, "partner_port", piece.NumberText(f[2]), l)
			s.lacpWords(port, "partner_", f[4], l)
		default:
			if port != "" && s.lacpSecond(port, f, l) {
				return true
			}
			if strings.HasPrefix(text, "|") {
				partner = strings.Contains(text, "Partner")
			}
			return lacpLegend.MatchString(text) || channelLegend.MatchString(text)
		}
		return true
	})
}

// lacpSecond reads the second row of a partner: priority, key, state.
func (s *sink) lacpSecond(subject string, f []string, l piece.Line) bool {
	if len(f) != 3 || piece.NumberText(f[0]) == "" || !strings.HasPrefix(f[1], "0x") || !strings.HasPrefix(f[2], "0x") {
		return false
	}
	s.SetIf(subject, "partner_key", piece.NumberText(f[1]), l)
	s.SetIf(subject, "partner_state", piece.NumberText(f[2]), l)
	return true
}

func (s *sink) lacpPort(channel, name string, l piece.Line) string {
	name = s.portName(name)
	s.lacpMember(channel, name, l)
	return "port " + name
}

func (s *sink) lacpMember(channel, port string, l piece.Line) {
	if channel != "" {
		s.join(channel, port, l)
		s.Set("channel "+channel, "protocol", "lacp", l)
	}
}

// lacpWords reads two letters: how often, and who begins.
func (s *sink) lacpWords(subject, whose, flags string, l piece.Line) {
	flags = strings.ToUpper(flags)
	s.Set(subject, whose+"lacp_rate", map[bool]string{true: "fast", false: "slow"}[flags[0] == 'F'], l)
	s.Set(subject, whose+"mode", map[bool]string{true: "active", false: "passive"}[flags[1] == 'A'], l)
}

// LoadBalance reads what a switch hashes on, of IOS, NX-OS and EOS.
var LoadBalance = piece.Reader{
	Kind:     "port-channel load-balance",
	Commands: []string{"show", "sh"},
	Starts:   func(line string) bool { return balanceHead.MatchString(line) },
	Read:     reading(readLoadBalance),
}

var balanceHead = piece.Compile(`^\s*(?:EtherChannel Load-Balancing |Port Channel Load-Balancing |port-channel load-balance |System(?: config)?: ?(?:source|src|dest|dst|$)|System config:$|Global LB Method: |LB Algo type: )`)

var balanceWord = piece.Compile(`^(?:extended\b.*|(?:src|dst|source|dest|destination|both|vlan)(?:-[a-z0-9]+)+(?: .*)?)$`)

var balanceState = piece.Compile(`Operational State \((.+?)\)`)

var balanceChan = piece.Compile(`^(Port-channel\d+)\s*:\s*(\S+)(?: \((.*)\))?$`)

func readLoadBalance(s *sink, lines []piece.Line) int {
	set := func(key, value string, l piece.Line) { s.SetIf("host", key, strings.TrimSpace(value), l) }
	perModule := false
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		key, value, _ := strings.Cut(text, ":")
		value = strings.TrimSpace(value)
		switch {
		case strings.HasPrefix(text, "EtherChannel Load-Balancing"):
			s.ofSwitch("ios", l)
			if m := balanceState.FindStringSubmatch(text); m != nil {
				set("load_balance", m[1], l)
			}
		case strings.HasPrefix(text, "Port Channel Load-Balancing"):
			s.ofSwitch("nxos", l)
			if strings.Contains(text, "all modules") {
				perModule = true
				set("load_balance_scope", "module", l)
			}
		case strings.HasPrefix(text, "port-channel load-balance "):
			s.ofSwitch("", l)
			set("load_balance", strings.TrimPrefix(text, "port-channel load-balance "), l)
		case strings.HasPrefix(key, "System"):
			s.ofSwitch("nxos", l)
			set("load_balance", value, l)
		case perModule && (key == "Non-IP" || key == "IP"), strings.HasPrefix(key, "Module "):
		case key == "Non-IP":
			set("load_balance_non_ip", value, l)
		case key == "IP" || key == "IPv4" || key == "IPv6":
			set("load_balance_"+strings.ToLower(key), value, l)
			if _, ok := s.Host.Get("host", "load_balance"); !ok && key == "IP" {
				set("load_balance", value, l)
			}
		case key == "Global LB Method":
			s.ofSwitch("ios", l)
			set("load_balance_method", value, l)
		case key == "LB Algo type":
			s.ofSwitch("ios", l)
			set("load_balance", value, l)
		case balanceChan.MatchString(text):
			m := balanceChan.FindStringSubmatch(text)
			s.SetIf("channel "+s.portName(m[1]), "load_balance", m[3], l)
		case balanceWord.MatchString(text):
			set("load_balance", text, l)
		case strings.HasPrefix(text, "Port-Channel:") || strings.HasPrefix(text, "Load for five") || strings.Contains(text, "time source") || strings.HasPrefix(text, "Time source"):
		default:
			return false
		}
		return true
	})
}

// ChannelTraffic reads NX-OS `show port-channel traffic`: the share of each member.
var ChannelTraffic = piece.Reader{
	Kind:     "port-channel traffic",
	Commands: []string{"show", "sh"},
	Starts: func(line string) bool {
		return strings.Contains(line, "%") && trafficRow.MatchString(line) || strings.HasPrefix(strings.TrimSpace(line), "ChanId ") || strings.HasPrefix(line, "NOTE: Clear the port-channel")
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			if m := trafficRow.FindStringSubmatch(text); m != nil {
				s.ofSwitch("nxos", l)
				port := s.portName(m[2])
				s.join("Po"+m[1], port, l)
				s.Set("port "+port, "rx_share", m[3], l)
				s.Set("port "+port, "tx_share", m[4], l)
				return true
			}
			return strings.HasPrefix(text, "ChanId") || strings.HasPrefix(text, "NOTE:") || strings.HasPrefix(text, "---")
		})
	}),
}

var trafficRow = piece.Compile(`^\s*(\d+)\s+((?:Eth|Ethernet)[\d/]+)\s+([\d.]+)%\s+([\d.]+)%`)

// ChannelDetail reads the outputs that tell of a channel in lines: IOS `show
// etherchannel detail` and `port-channel`, NX-OS `show port-channel database`.
var ChannelDetail = piece.Reader{
	Kind:     "etherchannel detail",
	Commands: []string{"show", "sh"},
	Starts:   func(line string) bool { return detailHead.MatchString(line) },
	Read:     reading(readChannelDetail),
}

var detailHead = piece.Compile(`^\s*(?:port-channel\d+$|Port state\s+= |Port-channels in the group:|Ports in the group:|Port-channel: Po\d+|Port: \w+[\d/]+$|Group state = L[23]|Channel-group listing:|Last membership update is |Index\s+Load\s+Port\s+EC state|\d+ ports in total, \d+ ports? up|Dest Port: : \S+|Would select \S+ of |Output Interface: \S+$|Traffic in this flow will be forwarded |All IDBs List contains|Active Member List contains|Bucket Information for|Outgoing port id: \S+|PC member: \S+|Missing params will be)`)

var detailIndex = piece.Compile(`^(\d+)\s+([0-9A-F]{2})\s+([A-Z]\w+[\d/]+)\s+(\S+)\s+\d+$`)

var detailPorts = piece.Compile(`^(?:Ports:\s+)?([A-Z]\w+[\d/]+)\s+\[(\w+)\s*\] \[([\w-]+)\]`)

var detailTotal = piece.Compile(`^(\d+) ports in total, (\d+) ports? up`)

var bucketPort = piece.Compile(`^[A-Z][A-Za-z]+\d[\d/]*:$`)

var bucketNumbers = piece.Compile(`\d+`)

var detailMode = piece.Compile(`^Channel group\s+= (\d+)\s+Mode\s+= ([\w-]+)`)

// detailLoad is the last line of a port's paragraph, with its channel's protocol.
var detailLoad = piece.Compile(`^Port index\s+= .*\bProtocol\s+=\s+(\w+|-)`)

var detailOthers = piece.Compile(`^(?:Port-channel|Port index|Port state|Flags:|[A-Z] - |Local info|Partner|Port |LACP|Age of|(?:Administrative|Operational) channel mode is|Logical slot|GC |HotStand|Protocol|Port security|Fast-sw|Standalone|Ports in|Index |Time since|Group|Ports:|Maxports|Minimum Links|Last |First |[-+=]{3,}|Channel-group|All IDBs|Active Member|Passive Member|Bucket|Interface:|Dest Port|Passive |Timers|[HQ] - |Gcchange)`)

func readChannelDetail(s *sink, lines []piece.Line) int {
	channel, port := "", commandPort(s.Segment.Command)
	group := "" // of a listing, where its channel is not named yet
	var all []member
	flush := func(l piece.Line) {
		if channel != "" && len(all) > 0 {
			s.members(channel, all, l)
		}
		all = nil
	}
	var last piece.Line
	read := piece.EachLine(lines, func(l piece.Line, text string) bool {
		last = l
		key, value, _ := strings.Cut(text, ":")
		value = strings.TrimSpace(value)
		f := strings.Fields(text)
		if a, ok := switchanswer.Of(text); ok {
			s.ofSwitch(a.Vendor, l)
			s.SetIf("host", "hash_says", s.portName(a.Member), l)
			return true
		}
		switch {
		case key == "Dest Port", key == "Outgoing port id", key == "PC member", strings.HasPrefix(text, "load balancing."), strings.HasPrefix(text, "Computed RBH"):
		case strings.HasPrefix(text, "Missing params"):
		case strings.HasPrefix(text, "port-channel") && len(f) == 1 && channelName.MatchString(text):
			flush(l)
			s.ofSwitch("nxos", l)
			channel = s.portName(text)
		case key == "Group" && piece.Digits.MatchString(value):
			flush(l)
			s.ofSwitch("", l)
			channel, port, group = "", "", "Po"+value
		case key == "Port-channel" && strings.HasPrefix(value, "Po"):
			flush(l)
			s.ofSwitch("ios", l)
			channel = strings.Fields(value)[0]
		case key == "Port" && value != "":
			s.ofSwitch("ios", l)
			name, _, _ := strings.Cut(value, " (")
			port = s.portName(name)
			if asked, ok := strings.CutPrefix(s.portSubject(commandPort(s.Segment.Command)), "channel "); ok {
				s.join(asked, port, l)
			}
		case key == "LACP Mode" && port != "":
			s.Set("port "+port, "mode", strings.ToLower(value), l)
		case key == "Load-Balancing method applied":
			s.Set("host", "load_balance_method", value, l)
		case bucketPort.MatchString(text):
			port = s.portName(text)
		case strings.HasPrefix(text, "Bucket ") && port != "" && strings.Contains(text, ","):
			s.Set("port "+port, "buckets", strings.Join(bucketNumbers.FindAllString(text, -1), " "), l)
		case detailMode.MatchString(text):
			m := detailMode.FindStringSubmatch(text)
			if port != "" {
				s.join("Po"+m[1], port, l)
				s.Set("port "+port, "mode", strings.ToLower(strings.TrimSuffix(m[2], "-Sl")), l)
			}
		case strings.HasPrefix(text, "Port state") && port != "" && channel == "":
			s.Set("port "+port, "flag", strings.TrimSpace(text[strings.IndexByte(text+"=", '=')+1:min(len(text), 200)]), l)
			s.Set("port "+port, "bundled", piece.YesNo[strings.Contains(text, "In-Bndl")], l)
		case detailIndex.MatchString(text):
			m := detailIndex.FindStringSubmatch(text)
			p := s.portName(m[3])
			all = append(all, member{name: p, bundled: "yes"})
			s.Set("port "+p, "load_mask", m[2], l)
			s.Set("port "+p, "mode", strings.ToLower(strings.TrimSuffix(m[4], "-Sl")), l)
		case detailPorts.MatchString(text):
			m := detailPorts.FindStringSubmatch(text)
			p := s.portName(m[1])
			all = append(all, member{name: p, flag: m[3], bundled: map[bool]string{true: "yes", false: "no"}[m[3] == "up"]})
			s.Set("port "+p, "mode", m[2], l)
		case key == "Minimum Links" && group != "":
			s.SetIf("channel "+group, "min_links", piece.NumberText(value), l)
		case strings.HasPrefix(key, "Protocol") && channel == "" && group != "" && port == "":
			s.SetIf("channel "+group, "protocol", protocolWord(value), l)
		case strings.HasPrefix(key, "Protocol") && channel != "":
			s.SetIf("channel "+channel, "protocol", protocolWord(strings.Trim(strings.TrimPrefix(text, "Protocol"), " =:")), l)
		case lacpRow(f) != "":
			readLACPTable(s, []piece.Line{l})
		case port != "" && s.lacpSecond("port "+port, f, l):
		case port != "" && detailLoad.MatchString(text):
			of, _ := s.Host.Get("port "+port, "channel")
			s.SetIf("channel "+of.Text, "protocol", protocolWord(detailLoad.FindStringSubmatch(text)[1]), l)
		case detailTotal.MatchString(text):
			s.ofSwitch("nxos", l)
		case detailOthers.MatchString(text):
		default:
			return false
		}
		return true
	})
	if read > 0 {
		flush(last)
	}
	return read
}
