package switchtext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// DisplayInterface reads `display interface` of Comware and Huawei: a port's name alone
// or with its state, then lines of it, what comes in and what goes out.
var DisplayInterface = piece.Reader{
	Kind:     "display interface",
	Commands: []string{"display", "dis", "disp"},
	Starts: func(line string) bool {
		return strings.Contains(line, "urrent state") && displayState.MatchString(line) || displayName.MatchString(line)
	},
	Read: reading(readDisplayInterface),
}

// displayName is a port's name that stands alone, where the state is in the next line.
var displayName = piece.Compile(`^((?:GigabitEthernet|Ten-GigabitEthernet|Twenty-FiveGigE|FortyGigE|HundredGigE|M-GigabitEthernet|Bridge-Aggregation|Route-Aggregation)\d[\d/:]*)\s*$`)

// displayState is a port's name with its state.
var displayState = piece.Compile(`^((?:\d+)?[A-Z][A-Za-z-]*\d[\d/:.]*) current state ?: ?(\w+(?: \w+)?)`)

var displaySpeed = piece.Compile(`^([\d.]+[MG])bps-speed mode, (full|half)-duplex mode`)

var displayFrame = piece.Compile(`(?i)maximum frame length(?::| is) (\d+)`)

var displayBytes = piece.Compile(`^(Input|Output) \(total\): +(\d+) packets, (\d+) bytes`)

var displayBoth = piece.Compile(`^(Input|Output) ?: *(\d+) (packets|bytes), *(\d+) (?:packets|bytes)`)

var displayRate = piece.Compile(`^Last \d+ seconds? (input|output)(?: rate)?:? +(?:(\d+) bits/sec|\d+ packets/sec (\d+) bytes/sec)`)

// displayCount is a counter with its name behind it, displayNamed one with its name
// before it.
var displayCount = piece.Compile(`(\d+) (input errors|output errors|runts|giants|CRC|pauses)\b`)

var displayNamed = piece.Compile(`\b(CRC|Giants|Runts|Discard|Pause|Total Error|Jabbers): +(\d+)`)

var displayCounts = map[string]string{"Input input errors": "rx_errors", "Output output errors": "tx_errors", "Input runts": "rx_runts", "Input giants": "rx_giants", "Input CRC": "rx_crc",
	"Input pauses": "rx_pause", "Output pauses": "tx_pause", "Input Giants": "rx_giants", "Input Runts": "rx_runts", "Input Discard": "rx_dropped", "Output Discard": "drops",
	"Input Pause": "rx_pause", "Output Pause": "tx_pause", "Input Total Error": "rx_errors", "Output Total Error": "tx_errors"}

func readDisplayInterface(s *sink, lines []piece.Line) int {
	subject, way, named, normal, unknown := "", "", "", false, 0
	begin := func(name, state string, l piece.Line) {
		subject, way, named = s.portSubject(name), "", ""
		state = strings.ToLower(state)
		if strings.HasPrefix(state, "administratively") {
			s.Set(subject, "admin", "down", l)
			state = "down"
		}
		s.Set(subject, "state", strings.Fields(state)[0], l)
	}
	read := piece.EachLine(lines, func(l piece.Line, text string) bool {
		if m := displayState.FindStringSubmatch(text); m != nil {
			if s.vendor() == "" {
				s.ofSwitch("huawei", l)
			}
			begin(m[1], m[2], l)
			unknown = 0
			return true
		}
		if m := displayName.FindStringSubmatch(text); m != nil {
			named = m[1]
			return true
		}
		key, value, ok := strings.Cut(text, ":")
		value = strings.TrimSpace(value)
		if named != "" {
			if key = strings.TrimSpace(key); key != "Current state" && !strings.HasSuffix(key, "current state") || value == "" {
				return false
			}
			s.ofSwitch("comware", l)
			begin(named, value, l)
			return true
		}
		if subject == "" {
			return false
		}
		switch strings.TrimSpace(key) {
		case "Description":
			s.SetIf(subject, "description", value, l)
			return true
		case "PVID":
			vlan, _, _ := strings.Cut(value, ",")
			s.SetIf(subject, "native_vlan", piece.NumberText(strings.TrimSpace(vlan)), l)
		case "Port link-type":
			s.SetIf(subject, "switchport", strings.ToLower(value), l)
		case "VLAN permitted":
			s.vlanList(subject, strings.TrimSuffix(strings.ReplaceAll(value, "(default vlan)", ""), ","), l)
		case "Speed":
			s.SetIf(subject, "speed", piece.Mbits(strings.Trim(strings.Split(value, ",")[0], " ")), l)
		case "Duplex":
			s.SetIf(subject, "duplex", strings.ToLower(strings.Trim(strings.Split(value, ",")[0], " ")), l)
		}
		if m := displaySpeed.FindStringSubmatch(text); m != nil {
			s.SetIf(subject, "speed", piece.Mbits(m[1]), l)
			s.Set(subject, "duplex", m[2], l)
		}
		if m := displayFrame.FindStringSubmatch(text); m != nil {
			s.Set(subject, "mtu", m[1], l)
		}
		if m := displayRate.FindStringSubmatch(text); m != nil {
			bits := m[2]
			if bits == "" {
				bits = piece.Bps(piece.FormatFloat(8*piece.Float(m[3])), "")
			}
			s.SetIf(subject, map[string]string{"input": "seen_rx_bps", "output": "seen_tx_bps"}[m[1]], bits, l)
			return true
		}
		for _, w := range []string{"Input", "Output"} {
			if strings.HasPrefix(text, w+":") || strings.HasPrefix(text, w+" (") || strings.HasPrefix(text, w+" :") {
				way, normal = w, strings.HasPrefix(text, w+" (normal)")
			}
		}
		prefix := map[string]string{"Input": "rx_", "Output": "tx_"}[way]
		if m := displayBytes.FindStringSubmatch(text); m != nil {
			s.Set(subject, prefix+"packets", m[2], l)
			s.Set(subject, prefix+"bytes", m[3], l)
		} else if m := displayBoth.FindStringSubmatch(text); m != nil {
			s.Set(subject, prefix+m[3], m[2], l)
			s.Set(subject, prefix+map[string]string{"packets": "bytes", "bytes": "packets"}[m[3]], m[4], l)
		}
		if way != "" && !normal {
			for _, m := range displayCount.FindAllStringSubmatch(text, -1) {
				if key := displayCounts[way+" "+m[2]]; key != "" {
					s.Set(subject, key, m[1], l)
				}
			}
			for _, m := range displayNamed.FindAllStringSubmatch(text, -1) {
				if key := displayCounts[way+" "+m[1]]; key != "" {
					s.Set(subject, key, m[2], l)
				}
			}
		}
		if m := displayUnit.FindStringSubmatch(text); m != nil {
			s.Set(subject, "mtu", m[1], l)
		}
		if m := portMAC.FindStringSubmatch(text); m != nil {
			s.SetIf(subject, "mac", piece.MacText(m[1]), l)
		}
		if m := displayBandwidth.FindStringSubmatch(text); m != nil {
			s.SetIf(subject, "speed", piece.Mbits(m[1]), l)
		}
		if _, prompt := piece.PromptOf(l.Text); prompt {
			return false
		}
		if ok || displayLine.MatchString(text) || strings.HasPrefix(l.Text, " ") {
			unknown = 0
			return true
		}
		unknown++ // a line or two that are new do not end the port
		return unknown < 3 && !s.OthersLine("display interface", l)
	})
	if subject == "" { // a name alone is nobody's output
		return 0
	}
	return read
}

var displayLine = piece.Compile(`^(?:IP packet|Loopback|Media|Port|Flow-control|Allow|MDI|Last|Input|Output|Link|\d[\d.]*[MG]bps|Unknown-speed|Internet|The |Route|Switch|Peak|Bandwidth|IPv6|Ethernet)`)

var displayUnit = piece.Compile(`\bThe Maximum Transmit Unit is (\d+)`)

var displayBandwidth = piece.Compile(`^Port BW: ([\d.]+[MG])\b`)

// DisplayBrief reads Comware's `display interface brief` of ports that bridge.
var DisplayBrief = piece.Reader{
	Kind:     "display interface brief",
	Commands: []string{"display", "dis", "disp"},
	Starts: func(line string) bool {
		return strings.Contains(line, "Link Speed") && displayBriefHead.MatchString(line) || strings.HasPrefix(strings.TrimSpace(line), "Brief information on interface")
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		bridged := false
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			if displayBriefHead.MatchString(text) {
				bridged = strings.Contains(text, "PVID")
				return true
			}
			m := displayBriefRow.FindStringSubmatch(text)
			if m == nil || !bridged {
				return displayBriefLegend.MatchString(text) || !bridged && strings.Contains(text, "  ")
			}
			s.ofSwitch("comware", l)
			subject := s.portSubject(m[1])
			s.Set(subject, "state", map[bool]string{true: "up", false: "down"}[m[2] == "UP"], l)
			if m[2] == "ADM" {
				s.Set(subject, "admin", "down", l)
			}
			s.SetIf(subject, "speed", piece.Mbits(strings.TrimSuffix(m[3], "(a)")), l)
			s.SetIf(subject, "duplex", map[string]string{"F": "full", "H": "half"}[strings.TrimSuffix(m[4], "(a)")], l)
			s.SetIf(subject, "switchport", map[string]string{"A": "access", "T": "trunk", "H": "hybrid"}[m[5]], l)
			s.SetIf(subject, map[string]string{"A": "access_vlan", "T": "native_vlan", "H": "native_vlan"}[m[5]], piece.NumberText(m[6]), l)
			s.SetIf(subject, "description", m[7], l)
			return true
		})
	}),
}

var displayBriefHead = piece.Compile(`^\s*Interface\s+Link (?:Speed\s+Duplex Type PVID|Protocol)\b`)

var displayBriefRow = piece.Compile(`^((?:[A-Z][A-Za-z-]*)\d+(?:[/:]\d+)*)\s+(UP|DOWN|ADM|Stby)\s+(\S+)\s+(\S+)\s+([ATH]|--)\s+(\d+|--)(?:\s+(\S.*))?$`)

var displayBriefLegend = piece.Compile(`^(?:Brief information|Link: |Speed: |Duplex: |Type: |Protocol: |Main IP)`)

// ComwareHash reads `display link-aggregation load-sharing mode`: a heading, and in the
// line below it what a channel, or the whole switch, hashes on.
var ComwareHash = piece.Reader{
	Kind:     "display link-aggregation load-sharing mode",
	Commands: []string{"display", "dis", "disp"},
	Starts:   func(line string) bool { return comwareHashHead.MatchString(line) },
	Read: reading(func(s *sink, lines []piece.Line) int {
		m := comwareHashHead.FindStringSubmatch(lines[0].Text)
		if len(lines) < 2 {
			return 0
		}
		words := strings.TrimSpace(lines[1].Text)
		if !comwareHashWords.MatchString(words) {
			return 0
		}
		s.ofSwitch("comware", lines[1])
		fields := strings.NewReplacer(" address", "", ",", "", "ip-", "ip ", "mac-", "mac ").Replace(strings.ToLower(words))
		fields = strings.NewReplacer("destination-", "dst-", "source-", "src-").Replace(fields)
		if m[1] != "" {
			s.Set("channel "+m[1], "hash", fields, lines[1])
			return 2
		}
		s.SetIf("host", "load_balance", fields, lines[1])
		return 2
	}),
}

var comwareHashHead = piece.Compile(`^\s*(?:Link-aggregation load-sharing mode|((?:Bridge|Route)-Aggregation\d+) load-sharing mode) ?:\s*$`)

var comwareHashWords = piece.Compile(`(?i)^(?:(?:destination|source)-(?:mac|ip|port)(?: address)?|ingress-port|Layer \d traffic.*|per-flow|ip-pro)(?:, .*)?$`)
