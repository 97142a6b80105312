package switchtext

import (
	"cmp"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// ProcurvePort reads AOS-S `show interfaces PORT`: two values a line, of what comes in
// and of what goes out.
var ProcurvePort = piece.Reader{
	Kind:     "show interfaces",
	Commands: []string{"show", "sh"},
	Starts: func(line string) bool {
		return strings.Contains(line, "Status and Counters - Port Counters for ") && procurvePortHead.MatchString(line)
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		subject := ""
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			if m := procurvePortHead.FindStringSubmatch(text); m != nil {
				s.ofSwitch("procurve", l)
				subject = s.portSubject(m[1])
				return true
			}
			if subject == "" {
				return false
			}
			pairs := procurvePair.FindAllStringSubmatch(l.Text+"  ", -1)
			for _, m := range pairs {
				s.procurveValue(subject, strings.TrimSpace(m[1]), strings.TrimSpace(m[2]), l)
			}
			return len(pairs) > 0 || procurveTitle.MatchString(text)
		})
	}),
}

var procurvePortHead = piece.Compile(`^\s*Status and Counters - Port Counters for (?:port|trunk) (\S+)\s*$`)

var procurvePair = piece.Compile(`([A-Z][A-Za-z/.() -]*?[A-Za-z)])\s*: ?(.*?)\s{2,}`)

var procurveTitle = piece.Compile(`^(?:Totals|Errors|Others|Rates) \(.*\) :$`)

var procurveCounts = map[string]string{"Bytes Rx": "rx_bytes", "Bytes Tx": "tx_bytes", "Unicast Rx": "rx_packets", "Unicast Tx": "tx_packets", "FCS Rx": "rx_crc", "Drops Tx": "drops",
	"Drops Rx": "rx_dropped", "Runts Rx": "rx_runts", "Giants Rx": "rx_giants", "Total Rx Errors": "rx_errors", "Discard Rx": "rx_dropped", "Alignment Rx": "rx_frame",
	"Total Rx (bps)": "seen_rx_bps", "Total Tx (bps)": "seen_tx_bps"}

func (s *sink) procurveValue(subject, key, value string, l piece.Line) {
	switch key {
	case "Name", "Name (configured)", "Name (intended)":
		s.SetIf(subject, "description", value, l)
	case "MAC Address":
		s.SetIf(subject, "mac", piece.MacText(value), l)
	case "Link Status":
		s.Set(subject, "state", strings.ToLower(value), l)
	case "Port Enabled":
		s.Set(subject, "admin", map[bool]string{true: "up", false: "down"}[value == "Yes"], l)
	default:
		if fact := procurveCounts[key]; fact != "" {
			s.SetIf(subject, fact, piece.NumberText(value), l)
		}
	}
}

// ProcurveBrief reads AOS-S `show interfaces brief`.
var ProcurveBrief = piece.Reader{
	Kind:     "show interfaces brief",
	Commands: []string{"show", "sh"},
	Starts: func(line string) bool {
		return strings.HasPrefix(strings.TrimSpace(line), "Status and Counters - Port Status") || strings.Contains(line, "|") && procurveBriefRow.MatchString(line)
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			m := procurveBriefRow.FindStringSubmatch(text)
			if m == nil {
				return strings.HasPrefix(text, "Status and Counters") || strings.HasPrefix(text, "| Intrusion") || strings.HasPrefix(text, "Port ") || strings.Trim(text, "-+ ") == ""
			}
			s.ofSwitch("procurve", l)
			subject := s.portSubject(m[1])
			if m[2] != "" {
				s.join(m[2], m[1], l)
			}
			s.Set(subject, "admin", map[bool]string{true: "up", false: "down"}[m[3] == "Yes"], l)
			s.Set(subject, "state", strings.ToLower(m[4]), l)
			if w := procurveMode.FindStringSubmatch(m[5]); w != nil && m[4] == "Up" {
				s.SetIf(subject, "speed", piece.Mbits(strings.Replace(w[1], "Gig", "G", 1)), l)
				s.Set(subject, "duplex", map[string]string{"F": "full", "H": "half"}[w[2]], l)
			}
			return true
		})
	}),
}

// procurveBriefRow: the port with its trunk, type, intrusion alert, enabled, status, mode.
var procurveBriefRow = piece.Compile(`^\s*([A-Z]?\d[\d/]*|Trk\d+)(?:-(Trk\d+))?\*?\s+(?:\S+\s*)?\|\s*(?:Yes|No)\s+(Yes|No)\s+(Up|Down)\s+(\S+)`)

var procurveMode = piece.Compile(`^(\d+(?:\.\d+)?(?:Gig)?)(F|H)D`)

// ProcurvePeer reads AOS-S `show lacp peer`.
var ProcurvePeer = piece.Reader{
	Kind:     "show lacp peer",
	Commands: []string{"show", "sh"},
	Starts:   func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "LACP Peer Information") },
	Read: reading(func(s *sink, lines []piece.Line) int {
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			if m := procurvePeer.FindStringSubmatch(text); m != nil && piece.MacText(m[3]) != "" {
				s.ofSwitch("procurve", l)
				subject := "port " + m[1]
				s.join(m[2], m[1], l)
				s.Set("channel "+m[2], "protocol", "lacp", l)
				s.Set(subject, "partner_mac", piece.MacText(m[3]), l)
				s.Set(subject, "partner_port", m[4], l)
				s.Set(subject, "partner_key", m[5], l)
				s.Set(subject, "partner_mode", strings.ToLower(m[6]), l)
				s.SetIf(subject, "partner_lacp_rate", map[string]string{"Slow": "slow", "Fast": "fast"}[m[7]], l)
				return true
			}
			if rest, ok := strings.CutPrefix(text, "System ID"); ok && strings.Contains(rest, ":") {
				s.ofSwitch("procurve", l)
				s.SetIf("host", "system_mac", piece.MacText(strings.Trim(rest, " :")), l)
				return true
			}
			return strings.HasPrefix(text, "LACP Peer") || strings.HasPrefix(text, "Local ") || strings.HasPrefix(text, "Port ") || strings.Trim(text, "- ") == ""
		})
	}),
}

var procurvePeer = piece.Compile(`^([A-Z]?\d[\d/]*)\s+(Trk\d+|Dyn\d+)\s+([0-9a-f:.-]{12,17})\s+(\d+)\s+\d+\s+(\d+)\s+(Active|Passive)\s+(\w+)`)

// AoscxBrief reads AOS-CX `show interface brief`.
var AoscxBrief = piece.Reader{
	Kind:     "show interface brief",
	Commands: []string{"show", "sh"},
	Starts:   func(line string) bool { return strings.Contains(line, "Native") && aoscxBriefHead.MatchString(line) },
	Read: reading(func(s *sink, lines []piece.Line) int {
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			m := aoscxBriefRow.FindStringSubmatch(text)
			if m == nil {
				return aoscxBriefHead.MatchString(text) || strings.HasPrefix(text, "VLAN ") || strings.Trim(text, "- ") == ""
			}
			if !aoscxPort.MatchString(m[1]) { // loopbacks, VLANs
				return true
			}
			s.ofSwitch("aoscx", l)
			subject := s.portSubject(m[1])
			s.Set(subject, "admin", map[bool]string{true: "up", false: "down"}[m[4] == "yes"], l)
			s.Set(subject, "state", m[5], l)
			s.SetIf(subject, "speed", piece.Mbits(m[7]), l)
			s.SetIf(subject, "description", m[8], l)
			s.SetIf(subject, "status", strings.TrimSpace(m[6]), l)
			if m[3] == "access" || m[3] == "trunk" {
				s.Set(subject, "switchport", m[3], l)
				s.SetIf(subject, map[bool]string{true: "native_vlan", false: "access_vlan"}[m[3] == "trunk"], piece.NumberText(m[2]), l)
			}
			return true
		})
	}),
}

var aoscxBriefHead = piece.Compile(`^\s*Port\s+Native\s+Mode\s+Type\s+Enabled\s+Status\s`)

var aoscxPort = piece.Compile(`^(?:\d+/\d+/\d+(?::\d+)?|lag\d+)$`)

var aoscxBriefRow = piece.Compile(`^(\S+)\s+(\d+|--)\s+(access|trunk|native-\w+|routed|--)\s+(?:\S+)\s+(yes|no)\s+(up|down)\s(.*?)\s+(\d+|--|auto)(?:\s+(\S.*))?$`)

// RouterNeighbours reads RouterOS's `/ip neighbor print`, with details or not.
var RouterNeighbours = piece.Reader{
	Kind:     "RouterOS neighbours",
	Commands: []string{"ip", "print"},
	Starts: func(line string) bool {
		return strings.Contains(line, "interface=") && strings.Contains(line, "mac-address=") && strings.Contains(line, "identity=") || strings.Contains(line, "/ip neighbor") || strings.Contains(line, "/ip/neighbor")
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			pairs := make(map[string]string)
			for _, m := range routerPairs.FindAllStringSubmatch(text, -1) {
				pairs[m[1]] = strings.Trim(m[2], `"`)
			}
			if pairs["interface"] == "" {
				return strings.Contains(text, "neighbor") || len(pairs) > 0 && strings.HasPrefix(l.Text, " ")
			}
			s.ofSwitch("routeros", l)
			local, _, _ := strings.Cut(pairs["interface"], ",")
			heard := s.heard(local, l)
			heard("neighbour", cmp.Or(pairs["identity"], pairs["system-caps"]))
			heard("neighbour_port", pairs["interface-name"])
			heard("neighbour_mac", piece.MacText(pairs["mac-address"]))
			heard("neighbour_address", cmp.Or(pairs["address4"], pairs["address"]))
			return true
		})
	}),
}
