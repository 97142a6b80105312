package switchtext

import (
	"cmp"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// PortDetail reads `show interfaces` of IOS, NX-OS, EOS, Dell and those that print
// alike: whole, or the lines that a filter left of it.
var PortDetail = piece.Reader{
	Kind:     "show interfaces",
	Commands: []string{"show", "sh"},
	Starts: func(line string) bool {
		if strings.Contains(line, " is ") {
			return portHead.MatchString(line) && !strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), "port ")
		}
		return strings.Contains(line, "BW ") && portMTU.MatchString(line) || strings.Contains(line, "output drops:") || strings.Contains(line, "input errors, ") || strings.Contains(line, "put rate ") && portRate.MatchString(line)
	},
	Read: reading(readPortDetail),
}

var portHead = piece.Compile(`^\s*((?:[A-HJ-Za-z]|I[a-mo-z])[\w-]*? ?\d[\d/.:]*|mgmt0|[Vv]lan\d+) is (?:administratively )?(up|down|reset)\b(?: \(([\w ,-]+)(?:\([\w ,-]+\))?\))?(?:, line protocol is (\w+(?: present)?))?(?: \(([\w -]+)\))?\s*(?:,.*)?$`)

var portMTU = piece.Compile(`MTU (\d+) bytes.*?(?:BW (\d+) [Kk]bit)?`)

var portAdmin = piece.Compile(`^admin state is (up|down)\b`)

var portPart = piece.Compile(`^Port is part of Port-channel (\d+)`)

var lineSpeed = piece.Compile(`^LineSpeed (\d+(?:G|M)?)(?: Mbit|,|$)`)

var dellRate = piece.Compile(`^(Input|Output) ([\d.]+) Mbits/sec`)

var portMAC = piece.Compile(`\baddress(?: is|:)\s+([0-9a-fA-F]{2,4}[.:-][0-9a-fA-F.:-]+)`)

var describedMTU = piece.Compile(`\s{2,}(?:MTU \d+ bytes|Internet Address)`)

// inputQueue: size, limit, drops, flushes.
var inputQueue = piece.Compile(`^Input queue: \d+/\d+/(\d+)/\d+ `)

var vpcNumber = piece.Compile(`^vPC Status: .*\bvPC number: (\d+)`)

var minimumUp = piece.Compile(`^Minimum number of links to bring Port-channel up is (\d+)`)

var lacpInterval = piece.Compile(`^LACP mode (\w+),? interval (\w+)`)

var portBW = piece.Compile(`BW (\d+) [Kk]bit`)

var portRate = piece.Compile(`(?:^|, )\s*(?:\d+ (?:minute|second|min|sec)s? )?(input|output) rate:? ([\d.]+) ?([KkMG]?)(?:bits/sec|bps|its/sec|bits/second|bit/s)`)

var portSpeed = piece.Compile(`(?i)\b(full|half|auto)-?\s?duplex(?: \([^)]*\))?, (?:link type is \w+, )?(\d+(?:\.\d+)? ?[kmgt]?b(?:it)?(?:/s|ps))`)

var portCount = piece.Compile(`(\d+) ([A-Za-z][A-Za-z 0-9-]*?)(?:,|$|  | \(|\t)`)

// portWords are the counters' names as facts' keys.
var portWords = map[string]string{"input errors": "rx_errors", "input error": "rx_errors", "CRC": "rx_crc", "CRC errors": "rx_crc", "frame": "rx_frame", "overrun": "rx_overrun",
	"ignored": "rx_ignored", "giants": "rx_giants", "runts": "rx_runts", "output errors": "tx_errors", "output error": "tx_errors", "collisions": "collisions",
	"collision": "collisions", "input discard": "rx_dropped", "output discard": "drops", "output discards": "drops", "input discards": "rx_dropped",
	"interface resets": "resets", "packets input": "rx_packets", "packets output": "tx_packets", "input packets": "rx_packets", "output packets": "tx_packets",
	"pause input": "rx_pause", "pause output": "tx_pause", "PAUSE input": "rx_pause", "PAUSE output": "tx_pause", "Rx pause": "rx_pause", "Tx pause": "tx_pause", "lost carrier": "lost_carrier",
	"unknown protocol drops": "unknown_protocol_drops", "jumbo packets": "rx_jumbo", "CRC/FCS": "rx_crc", "late collision": "late_collisions",
	"packets": "", "output drops": "drops"}

var portLine = piece.Compile(`^(?:Hardware|Port is part|Description|MTU|BW|DLY|reliability|Encapsulation|Keepalive|[Ff]ull|[Hh]alf|[Aa]uto|[Ii]nput|[Oo]utput|ARP|Last|Queueing|Total|Queue|Conversations|Reserved|Available|\d+ (?:minute|second|packets|runts|input|output|lost|unknown|babbles|interface|watchdog|unicast|jumbo|giants|dribble|bad|link|underruns|multicast|broadcast|storm)|\d[\d.]* |Received|RX$|TX$|Dedicated|Belongs|admin state|Port mode|Beacon|Auto|Switchport|EtherType|EEE|Load-Interval|Rate mode|Loopback|Up \d|Down|Up Time|Members in|No\. of members|Active members|Fallback|Ethernet\d|Ethernet MTU|Internet address|IP MTU|IP Un|Interface|Bandwidth|Carrier|Clear|Time since|media type|Member|Rx$|Tx$|Vlan|Configured|Minimum|Partner|Pluggable|Interface index|LineSpeed|Flowcontrol|Rate [Ii]nfo|FEC |Mode of|DHCP|IPv6|IPv4|Unique|Virtual|Current address|Queuing|Throttles|Link |Server Port|LACP |vPC |Port:|Tags|Address|Port is|PHY|Physical|  )`)

// suspended reports a state that only a channel's member has: the switch does not use it.
func suspended(state string) bool {
	return strings.HasPrefix(state, "susp") || strings.HasPrefix(state, "noLacpPdu")
}

func readPortDetail(s *sink, lines []piece.Line) int {
	subject, way := "", ""
	if name := commandPort(s.Segment.Command); name != "" {
		s.ofSwitch("", lines[0])
		subject = s.portSubject(name)
	}
	unknown := 0
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		if m := portHead.FindStringSubmatch(text); m != nil && !strings.HasPrefix(strings.ToLower(text), "port ") {
			s.ofSwitch(map[bool]string{true: "sonic"}[strings.HasPrefix(m[1], "PortChannel")], l)
			subject, way, unknown = s.portSubject(m[1]), "", 0
			state := m[2]
			if m[4] == "down" || m[4] == "not present" || state == "reset" { // up, and no frame passes
				state = "down"
			}
			s.Set(subject, "state", state, l)
			why := cmp.Or(m[5], m[3], m[4])
			s.SetIf(subject, "status", why, l)
			if suspended(why) {
				s.Set(subject, "bundled", "suspended", l)
			}
			if strings.Contains(text, "is administratively down") {
				s.Set(subject, "admin", "down", l)
			}
			if _, mode, ok := strings.Cut(text, ", mode "); ok {
				s.SetIf(subject, "protocol", protocolWord(mode), l)
			}
			return true
		}
		if subject == "" {
			s.ofSwitch("", l)
			subject = "port "
		}
		switch text {
		case "RX", "Rx", "Input Statistics:", "Input statistics:":
			way = "rx_"
		case "TX", "Tx", "Output Statistics:", "Output statistics:":
			way = "tx_"
		}
		if portLine.MatchString(text) || portRate.MatchString(text) {
			unknown = 0
			s.portFacts(subject, way, text, l)
			return true
		}
		unknown++ // one line that is new does not end the port
		return unknown < 3 && (strings.HasPrefix(l.Text, "  ") || strings.HasPrefix(l.Text, "\t"))
	})
}

// commandPort is the port that a command asks for; "" several or none.
func commandPort(command string) string {
	command, _, _ = strings.Cut(command, "|")
	f := strings.Fields(command)
	for i := 1; i < len(f); i++ {
		if strings.HasPrefix("interfaces", strings.ToLower(f[i])) && len(f[i]) >= 3 && i+1 < len(f) {
			name := strings.Join(f[i+1:min(i+3, len(f))], "")
			if m := commandName.FindStringSubmatch(name); m != nil {
				word := strings.ToLower(m[1])
				if word == "e" || word == "eth" || word == "et" {
					word = "ethernet"
				}
				if len(word) <= 3 && !strings.HasSuffix(word, "-") && word != "ae" {
					word = strings.ToUpper(word[:1]) + word[1:]
				}
				return word + m[2]
			}
		}
	}
	return ""
}

var commandName = piece.Compile(`^((?i)gi|te|tw|fi|twe|fo|hu|fa|po|eth|et|e|gigabitethernet|tengigabitethernet|ethernet|port-channel|ae|xe-|et-|ge-)(\d[\d/.:]*)`)

// portFacts reads one line below a port's first.
func (s *sink) portFacts(subject, way, text string, l piece.Line) {
	if rest, ok := strings.CutPrefix(text, "Description:"); ok {
		rest = strings.TrimSpace(rest)
		if at := describedMTU.FindStringIndex(rest); at != nil { // NX-OS breaks no line behind a VLAN's
			rest = rest[:at[0]]
		}
		s.SetIf(subject, "description", rest, l)
		return
	}
	if m := inputQueue.FindStringSubmatch(text); m != nil {
		s.Set(subject, "rx_dropped", m[1], l)
	}
	if m := vpcNumber.FindStringSubmatch(text); m != nil {
		s.Set(subject, "mlag_id", m[1], l)
	}
	if m := minimumUp.FindStringSubmatch(text); m != nil {
		s.SetIf(subject, "min_links", m[1], l)
	}
	if m := lacpInterval.FindStringSubmatch(text); m != nil {
		s.Set(subject, "mode", strings.ToLower(m[1]), l)
		s.Set(subject, "lacp_rate", strings.ToLower(m[2]), l)
	}
	if _, mac, ok := strings.Cut(text, " Address "); ok && strings.HasPrefix(text, "LACP Actor System ID:") {
		s.SetIf(subject, "system_mac", piece.MacText(mac), l)
	}
	if rest, ok := strings.CutPrefix(text, "Port mode is "); ok && (rest == "trunk" || rest == "access") {
		s.Set(subject, "switchport", rest, l)
	}
	if m := portAdmin.FindStringSubmatch(text); m != nil {
		s.Set(subject, "admin", m[1], l)
	}
	if m := portPart.FindStringSubmatch(text); m != nil {
		s.Set(subject, "channel", "Po"+m[1], l)
	}
	if m := lineSpeed.FindStringSubmatch(text); m != nil {
		s.SetIf(subject, "speed", piece.Mbits(m[1]), l)
	}
	if m := dellRate.FindStringSubmatch(text); m != nil {
		s.SetIf(subject, map[string]string{"Input": "seen_rx_bps", "Output": "seen_tx_bps"}[m[1]], piece.Bps(m[2], "M"), l)
		return
	}
	if m := portMTU.FindStringSubmatch(text); m != nil {
		s.Set(subject, "mtu", m[1], l)
	}
	if m := portBW.FindStringSubmatch(text); m != nil {
		s.SetIf(subject, "bandwidth", piece.Mbits(m[1]+"k"), l)
	}
	if m := portSpeed.FindStringSubmatch(text); m != nil {
		s.Set(subject, "duplex", strings.ToLower(m[1]), l)
		s.SetIf(subject, "speed", piece.Mbits(m[2]), l)
	}
	for _, m := range portRate.FindAllStringSubmatch(text, -1) {
		s.SetIf(subject, map[string]string{"input": "seen_rx_bps", "output": "seen_tx_bps"}[m[1]], piece.Bps(m[2], m[3]), l)
	}
	if strings.Contains(text, "rate") {
		return
	}
	if m := portMAC.FindStringSubmatch(text); m != nil {
		s.SetIf(subject, "mac", piece.MacText(m[1]), l)
	}
	if rest, ok := strings.CutPrefix(text, "Members in this channel:"); ok {
		s.channelPorts(subject, rest, l)
	}
	if rest, ok := strings.CutPrefix(text, "Active members in this channel:"); ok {
		s.SetIf(subject, "active_members", piece.NumberText(strings.TrimSpace(rest)), l)
	}
	if rest, ok := strings.CutPrefix(text, "Member of Port-Channel"); ok && piece.Digits.MatchString(rest) {
		s.Set(subject, "channel", "Po"+rest, l)
	}
	if rest, ok := strings.CutPrefix(text, "Belongs to "); ok {
		if name := s.portName(strings.Fields(rest + " -")[0]); channelName.MatchString(name) {
			s.Set(subject, "channel", name, l)
		}
	}
	if at := strings.Index(text, "output drops: "); at >= 0 {
		s.SetIf(subject, "drops", piece.NumberText(strings.Fields(text[at+len("output drops: "):] + " -")[0]), l)
	}
	for _, m := range portCount.FindAllStringSubmatch(text, -1) {
		name := strings.TrimSpace(m[2])
		if name == "discarded" && way != "" { // Dell
			name = map[string]string{"rx_": "input discard", "tx_": "output discard"}[way]
		}
		if key := portWords[name]; key != "" && (way == "" || !strings.HasPrefix(key, "rx_jumbo") || way == "rx_") {
			s.Set(subject, key, m[1], l)
		}
	}
	s.portBytes(subject, way, text, l)
}

var portBytes = piece.Compile(`packets (input|output), (\d+) bytes|(input|output) packets\s+(\d+) bytes|(\d+) packets?, (\d+) (?:bytes|octets)`)

func (s *sink) portBytes(subject, way, text string, l piece.Line) {
	m := portBytes.FindStringSubmatch(text)
	if m == nil {
		return
	}
	switch {
	case m[1]+m[3] == "input":
		s.Set(subject, "rx_bytes", m[2]+m[4], l)
	case m[1]+m[3] == "output":
		s.Set(subject, "tx_bytes", m[2]+m[4], l)
	case way != "":
		s.Set(subject, way+"packets", m[5], l)
		s.Set(subject, way+"bytes", m[6], l)
	}
}

// channelPorts reads a list of a channel's ports.
func (s *sink) channelPorts(subject, list string, l piece.Line) {
	channel, ok := strings.CutPrefix(subject, "channel ")
	if !ok {
		return
	}
	for _, w := range strings.FieldsFunc(list, func(r rune) bool { return r == ' ' || r == ',' }) {
		s.join(channel, s.portName(w), l)
	}
}

// PortStatus reads the table of `show interfaces status`: a port's state is in its
// middle, and the name before it may have blanks or be missing.
var PortStatus = piece.Reader{
	Kind:     "show interfaces status",
	Commands: []string{"show", "sh"},
	Starts: func(line string) bool {
		return strings.HasPrefix(strings.TrimSpace(line), "Port ") && statusHead.MatchString(line) || shortPort.MatchString(line) && statusRow.MatchString(line)
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			if m := errDisabledRow.FindStringSubmatch(text); m != nil {
				s.ofSwitch("", l)
				subject := s.portSubject(m[1])
				s.Set(subject, "status", "err-disabled", l)
				s.Set(subject, "state", "down", l)
				s.Set(subject, "err_disabled", m[2], l)
				return true
			}
			if m := statusRow.FindStringSubmatch(text); m != nil {
				s.ofSwitch("", l)
				subject := s.portSubject(m[1])
				s.SetIf(subject, "description", strings.Trim(m[2], "-"), l)
				s.Set(subject, "status", m[3], l)
				if m[3] == "disabled" {
					s.Set(subject, "admin", "down", l)
				}
				switch {
				case m[4] == "trunk":
					s.Set(subject, "switchport", "trunk", l)
				case piece.Digits.MatchString(m[4]):
					s.Set(subject, "switchport", "access", l)
					s.Set(subject, "access_vlan", m[4], l)
				}
				s.Set(subject, "state", map[bool]string{true: "up", false: "down"}[m[3] == "connected" || m[3] == "up" || m[3] == "Up" || suspended(m[3])], l)
				s.SetIf(subject, "duplex", strings.TrimPrefix(strings.ToLower(m[5]), "a-"), l)
				s.SetIf(subject, "speed", piece.Mbits(m[6]), l)
				if suspended(m[3]) {
					s.Set(subject, "bundled", "suspended", l)
				}
				return true
			}
			return statusHead.MatchString(text) || strings.Trim(text, "- =") == ""
		})
	}),
}

var shortPort = piece.Compile(`^\s*(?:Gi|Te|Tw|Twe|Fi|Fo|Hu|Fa|Po|Eth|Et|mgmt|Ma|gi|te|fa|po)\s?\d`)

var statusHead = piece.Compile(`^\s*Port\s+(?:Name|Description)\s+Status\s`)

// errDisabledRow is one of `show interfaces status err-disabled`: with why the switch
// shut the port.
var errDisabledRow = piece.Compile(`^\s*(\S+\d)\s+(?:.*?\s+)?err-disabled\s+([a-z][a-z0-9-]+(?: [a-z-]+)?)(?:\s+[\d,-]+)?\s*$`)

var statusRow = piece.Compile(`^\s*(\S+\d)\s+(?:(.*?)\s+)?(connected|notconnect|notconnec|disabled|err-disabled|suspended|suspnd\w*|noLacpPdu\w*|inactive|monitoring|xcvrAbsen|xcvrInval|sfpAbsent|noOperMem|down|Down|Up|up)\s+(?:(\S+)\s+)?(a-full|full|a-half|half|Full|Half|auto|Auto)\s+(a-?[\d.]+[GMgm]?|[\d.]+ ?(?:[GMgm][bB]?(?:ps|it)?)?|auto|Auto|unconf)(?:\s|$|\()`)

// PortCounters reads tables of counters that are named by their heads: one row a
// port, as many numbers as there are names.
var PortCounters = piece.Reader{
	Kind:     "show interfaces counters",
	Commands: []string{"show", "sh"},
	Starts:   func(line string) bool { return counterTitles(line) != nil },
	Read:     reading(readPortCounters),
}

// counterNames are the columns' names as facts' keys; "" known and not kept.
var counterNames = map[string]string{"InOctets": "rx_bytes", "InUcastPkts": "rx_packets", "InMcastPkts": "", "InBcastPkts": "", "OutOctets": "tx_bytes",
	"OutUcastPkts": "tx_packets", "OutMcastPkts": "", "OutBcastPkts": "", "Align-Err": "rx_frame", "FCS-Err": "rx_crc", "Xmit-Err": "tx_errors", "Rcv-Err": "rx_errors",
	"UnderSize": "", "OutDiscards": "drops", "InDiscards": "rx_dropped", "Single-Col": "", "Multi-Col": "", "Late-Col": "", "Exces-Col": "", "Excess-Col": "",
	"Carri-Sen": "", "Runts": "rx_runts", "Giants": "rx_giants", "FCS": "rx_crc", "Align": "rx_frame", "Symbol": "", "Rx": "rx_errors", "Tx": "tx_errors",
	"CrcAlign-Err": "rx_crc", "Collisions": "", "TotalDropped": "", "SQETest-Err": "", "Deferred-Tx": "", "IntMacTx-Er": "", "IntMacRx-Er": "", "Symbol-Err": "",
	"Stomped-CRC": "rx_crc_stomped", "Pause": "", "InErrors": "rx_errors", "OutErrors": "tx_errors"}

// counterTitles are a table's names behind "Port"; nil another line.
func counterTitles(line string) []string {
	f := strings.Fields(line)
	if len(f) < 2 || f[0] != "Port" && f[0] != "Interface" || len(f) == 2 && !strings.HasSuffix(f[1], "Discards") {
		return nil
	}
	for _, name := range f[1:] {
		if _, ok := counterNames[name]; !ok {
			return nil
		}
	}
	return f[1:]
}

func readPortCounters(s *sink, lines []piece.Line) int {
	var titles []string
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		if t := counterTitles(text); t != nil {
			titles = t
			return true
		}
		f := strings.Fields(text)
		if strings.Trim(text, "- ") == "" {
			return true
		}
		if len(f) != len(titles)+1 {
			return false
		}
		if strings.HasPrefix(f[0], "Total") {
			return true
		}
		s.ofSwitch("", l)
		subject := s.portSubject(f[0])
		for i, title := range titles {
			if key := counterNames[title]; key != "" && piece.Digits.MatchString(f[i+1]) {
				s.Set(subject, key, f[i+1], l)
			}
		}
		return true
	})
}

// PortRates reads EOS `show interfaces counters rates`.
var PortRates = piece.Reader{
	Kind:     "show interfaces counters rates",
	Commands: []string{"show", "sh"},
	Starts: func(line string) bool {
		return strings.Contains(line, "%") && ratesRow.MatchString(line) || strings.Contains(line, "In Mbps") && strings.Contains(line, "Out Mbps")
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			m := ratesRow.FindStringSubmatch(text)
			if m == nil {
				return strings.Contains(text, "In Mbps") || strings.Trim(text, "- ") == ""
			}
			s.ofSwitch("eos", l)
			subject := s.portSubject(m[1])
			s.SetIf(subject, "description", strings.TrimSpace(m[2]), l)
			s.SetIf(subject, "seen_rx_bps", piece.Bps(m[3], "M"), l)
			s.SetIf(subject, "seen_tx_bps", piece.Bps(m[4], "M"), l)
			return true
		})
	}),
}

var ratesRow = piece.Compile(`^\s*((?:Et|Po|Ma)[\d/]+)\s+(.*?)\s*\d+:\d\d\s+([\d.]+)\s+[\d.]+%\s+[\d.]+\s+([\d.]+)\s+[\d.]+%\s+[\d.]+`)

// PortDescription reads `show interfaces description`.
var PortDescription = piece.Reader{
	Kind:     "show interfaces description",
	Commands: []string{"show", "sh"},
	Starts: func(line string) bool {
		return descriptionHead.MatchString(line) || shortPort.MatchString(line) && descriptionRow.MatchString(line)
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			m := descriptionRow.FindStringSubmatch(text)
			if m == nil {
				return descriptionHead.MatchString(text) || strings.Trim(text, "- ") == ""
			}
			s.ofSwitch("", l)
			subject := s.portSubject(m[1])
			s.Set(subject, "state", map[bool]string{true: "up", false: "down"}[m[3] == "up"], l)
			if m[2] == "admin down" {
				s.Set(subject, "admin", "down", l)
			}
			s.SetIf(subject, "description", m[4], l)
			return true
		})
	}),
}

var descriptionHead = piece.Compile(`^\s*Interface\s+(?:IfIndex\s+)?(?:Status|Link|Admin)\s+Protocol(?:\s+Description)?\s*$`)

var descriptionRow = piece.Compile(`^\s*(\S+\d|Vl\d+)\s+(admin down|up|down)\s+(up|down|lowerlayerdown|notpresent)(?:\s+(.*))?$`)
