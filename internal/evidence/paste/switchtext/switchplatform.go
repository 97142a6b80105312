package switchtext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// LACPCounters reads the LACP frames that each member sent and heard: of IOS, IOS-XE,
// NX-OS, EOS and Catalyst's processor.
var LACPCounters = piece.Reader{
	Kind:     "show lacp counters",
	Commands: []string{"show", "sh"},
	Starts: func(line string) bool {
		return strings.HasPrefix(strings.TrimSpace(line), "LACP Port Counters") || strings.Contains(line, "Trk") && procurveLACPCount.MatchString(line) || strings.Contains(line, "LACPDUs") && lacpCountHead.MatchString(line) || strings.Contains(line, "TX-DROP") && cpmHead.MatchString(line) || strings.HasPrefix(line, "NOTE: Clear lacp counters")
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		channel, waits, rows := "", "", 0
		receivedFirst := false
		read := piece.EachLine(lines, func(l piece.Line, text string) bool {
			f := strings.Fields(text)
			if m := lacpGroup.FindStringSubmatch(text); m != nil && len(f) <= 3 {
				if channel = "Po" + m[1]; m[2] != "" {
					s.ofSwitch("eos", l)
					channel = s.portName(m[2])
				}
				return true
			}
			if f[0] == "Port" || f[0] == "Interface" {
				received, sent := strings.Index(text, "R"), strings.Index(text, "Sent")
				if sent < 0 {
					sent = strings.Index(text, "TX")
				}
				receivedFirst = received >= 0 && received < sent
				return true
			}
			counted := func(port string, numbers []string) {
				s.ofSwitch("", l)
				rows++
				s.lacpMember(channel, port, l)
				if receivedFirst {
					numbers[0], numbers[1] = numbers[1], numbers[0]
				}
				s.Set("port "+port, "tx_lacp", numbers[0], l)
				s.Set("port "+port, "rx_lacp", numbers[1], l)
			}
			if m := procurveLACPCount.FindStringSubmatch(text); m != nil {
				s.ofSwitch("procurve", l)
				if channel = ""; channelName.MatchString(m[2]) {
					channel = m[2]
				}
				counted(m[1], []string{m[3], m[4]})
				return true
			}
			if m := lacpCountRow.FindStringSubmatch(text); m != nil {
				counted(s.portName(m[1]), []string{m[2], m[3]})
				return true
			}
			if m := cpmRow.FindStringSubmatch(text); m != nil && waits != "" {
				counted(waits, []string{m[1], m[2]})
				waits = ""
				return true
			}
			if len(f) == 1 && cpmPort.MatchString(text) {
				waits = s.portName(text)
				return true
			}
			return lacpCountHead.MatchString(text) || strings.HasPrefix(text, "LACP ") || strings.HasPrefix(text, "Port ") || cpmHead.MatchString(text) || strings.HasPrefix(text, "NOTE:") || strings.Trim(text, "- ") == ""
		})
		if rows == 0 && read == len(lines) { // a head without a row is an empty table
			return read
		}
		return read
	}),
}

var lacpCountHead = piece.Compile(`^\s*LACPDUs\s+Marker`)

// procurveLACPCount is a row of AOS-S: the port, its trunk group, LACPDUs sent and
// received, then markers and errors.
var procurveLACPCount = piece.Compile(`^\s*([A-Z]?\d[\d/]*)\s+(Trk\d+|[A-Z]?\d[\d/]*)\s+(\d+)\s+(\d+)(?:\s+\d+){5}$`)

var lacpCountRow = piece.Compile(`^((?:[A-Za-z][A-Za-z-]*)\d+(?:/\d+)*)\s+(?:Bundled\s+|Unbundled\s+|[A-Z][a-z]+ [a-z]+\s+)?(\d+)\s+(\d+)(?:\s+\d+){2,6}$`)

var cpmHead = piece.Compile(`^\s*TX\s+RX\s+TX-DROP\s+RX-DROP`)

var cpmPort = piece.Compile(`^[A-Z][A-Za-z]+\d+(?:/\d+)+$`)

var cpmRow = piece.Compile(`^(\d+)\s+(\d+)\s+(\d+)\s+(\d+)$`)

// SwitchSystem reads what a switch says of itself in a line: LACP's system identifier,
// and the clock and load that stand above outputs where that is configured.
var SwitchSystem = piece.Reader{
	Kind:     "switch system",
	Commands: []string{"show", "sh"},
	Starts: func(line string) bool {
		text := strings.TrimSpace(line)
		return strings.HasPrefix(text, "Load for five secs: ") || strings.HasPrefix(text, "Time source is ") || strings.HasPrefix(text, "No time source, ") || strings.HasPrefix(text, "Priority  MAC Address") || strings.Contains(line, ".") && routerClock.MatchString(line)
	},
	Owns: func(seg piece.Segment, line string) bool {
		if !strings.HasPrefix(seg.Command, "sh") || !strings.Contains(seg.Command, "sys") {
			return false
		}
		m := sysLine.FindStringSubmatch(line)
		return m != nil && piece.MacText(m[1]) != ""
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		table := false
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			if m := sysLine.FindStringSubmatch(text); m != nil && piece.MacText(m[1]) != "" && (table || strings.Contains(s.Segment.Command, "sys")) {
				s.ofSwitch("", l)
				s.SetIf("host", "system_mac", piece.MacText(m[1]), l)
				return true
			}
			if strings.HasPrefix(text, "Priority  MAC Address") {
				table = true
				return true
			}
			return strings.HasPrefix(text, "Load for ") || strings.HasPrefix(text, "Time source ") || strings.HasPrefix(text, "No time source, ") || routerClock.MatchString(text) || table && strings.Trim(text, "- ") == ""
		})
	}),
}

// routerClock is the time that IOS-XR prints above each output, with milliseconds.
var routerClock = piece.Compile(`^\s*(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2}\s+\d{1,2} \d\d:\d\d:\d\d\.\d{3} [\w+-]+(?: \d{4})?\s*$`)

var sysLine = piece.Compile(`^\s*(?:0x[0-9a-fA-F]+|\d{1,5}),?\s*([0-9a-fA-F]{1,4}(?:[.:-][0-9a-fA-F]{1,4}){2,5})\s*$`)

// SystemID reads LACP's system identifier where it stands alone: priority and address.
var SystemID = piece.Reader{
	Kind:     "show lacp sys-id",
	Commands: []string{"show", "sh"},
	Starts:   func(line string) bool { return strings.Contains(line, ",") && sysAlone.MatchString(line) },
	Read: reading(func(s *sink, lines []piece.Line) int {
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			m := sysAlone.FindStringSubmatch(text)
			if m == nil || piece.MacText(m[1]) == "" {
				return false
			}
			s.ofSwitch("", l)
			s.Set("host", "system_mac", piece.MacText(m[1]), l)
			return true
		})
	}),
}

var sysAlone = piece.Compile(`^\s*(?:0x[0-9a-fA-F]{1,4}|\d{1,5}), ?([0-9a-fA-F]{1,4}(?:[.-][0-9a-fA-F]{1,4}){2,5})\s*$`)

// GroupMasks reads what a Catalyst's platform knows of a channel's ports: group masks,
// interface mappings.
var GroupMasks = piece.Reader{
	Kind:     "etherchannel of the platform",
	Commands: []string{"show", "sh"},
	Starts:   func(line string) bool { return maskHead.MatchString(line) },
	Read: reading(func(s *sink, lines []piece.Line) int {
		channel := ""
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			switch {
			case strings.HasPrefix(text, "Group Mask Table for port-channel:"):
				s.ofSwitch("ios", l)
				channel = "Po" + strings.TrimSpace(text[strings.IndexByte(text, ':')+1:])
			case mappingRow.MatchString(text):
				s.ofSwitch("ios", l)
				s.Set("channel "+s.portName(mappingRow.FindStringSubmatch(text)[1]), "there", "yes", l)
			case maskRow.MatchString(text):
				m := maskRow.FindStringSubmatch(text)
				s.ofSwitch("ios", l)
				port := s.portName(m[1])
				s.Set("port "+port, "bundled", "yes", l)
				if channel != "" {
					s.join(channel, port, l)
				}
				s.SetIf("port "+port, "load_mask", m[2], l)
			default:
				return maskHead.MatchString(text) || maskWords.MatchString(text) || strings.Trim(text, "-+ ") == ""
			}
			return true
		})
	}),
}

var maskHead = piece.Compile(`^\s*(?:Group Mask (?:Table|Info)|Mappings Table$|Chan\s+Interface\s+IF_ID)`)

var maskWords = piece.Compile(`^(?:EC Channel-Group|# Of Active Ports|If Name|Aggport IIF Id|Active Port|Member Ports)`)

var maskRow = piece.Compile(`^([A-Z][A-Za-z]+\d+(?:/\d+)+)\s+(?:0x)?[0-9a-fA-F]+\s+(?:\d+|(?:true|false)\s+([0-9a-fA-F]+))$`)

var mappingRow = piece.Compile(`^\d+\s+(Port-channel\d+)\s+0x[0-9a-f]+$`)
