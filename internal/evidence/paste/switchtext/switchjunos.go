package switchtext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// JunosLACP reads `show lacp interfaces`: two rows a port, ours and the partner's,
// then its machines' states.
var JunosLACP = piece.Reader{
	Kind:     "show lacp interfaces",
	Commands: []string{"show"},
	Starts: func(line string) bool {
		return strings.Contains(line, "Aggregated interface: ae") || strings.HasPrefix(strings.TrimSpace(line), "LACP state:  ") || junosLACPRow.MatchString(line) || junosMux.MatchString(line)
	},
	Read: reading(readJunosLACP),
}

var junosPort = `(?:fe|ge|xe|et|mge)-\d+/\d+/\d+(?::\d+)?`

var junosLACPRow = piece.Compile(`^\s*(` + junosPort + `|[a-z]+\d+)\s+(Actor|Partner)\s+(Yes|No)\s+(Yes|No)\s+(Yes|No)\s+(Yes|No)\s+(Yes|No)\s+(Yes|No)\s+(Fast|Slow)\s+(Active|Passive)`)

var junosMux = piece.Compile(`^\s*(` + junosPort + `)\s+(Current|Expired|Defaulted|Port disabled|LACP disabled|Initialize)\s+(Fast periodic|Slow periodic|No periodic|None)\s+(\S.*?)\s*$`)

var junosInfo = piece.Compile(`^(` + junosPort + `)\s+(Actor|Partner)\s+\d+\s+([0-9a-f:]{17})\s+\d+\s+(\d+)\s+(\d+)`)

var junosStatistics = piece.Compile(`^(` + junosPort + `)\s+(\d+)\s+(\d+)\s+\d+\s+\d+$`)

func readJunosLACP(s *sink, lines []piece.Line) int {
	channel := ""
	all := make(map[string][]member)
	var last piece.Line
	read := piece.EachLine(lines, func(l piece.Line, text string) bool {
		if rest, ok := strings.CutPrefix(text, "Aggregated interface: "); ok {
			s.ofSwitch("junos", l)
			channel = strings.TrimSpace(rest)
			last = l
			return true
		}
		if m := junosLACPRow.FindStringSubmatch(text); m != nil {
			s.ofSwitch("junos", l)
			subject, side := "port "+m[1], strings.ToLower(m[2])
			state := 0
			for bit, at := range map[int]int{128: 3, 64: 4, 32: 5, 16: 6, 8: 7, 4: 8} {
				if m[at] == "Yes" {
					state |= bit
				}
			}
			if m[9] == "Fast" {
				state |= 2
			}
			if m[10] == "Active" {
				state |= 1
			}
			s.Set(subject, side+"_state", strconv.Itoa(state), l)
			whose := map[string]string{"actor": "", "partner": "partner_"}[side]
			s.Set(subject, whose+"lacp_rate", strings.ToLower(m[9]), l)
			s.Set(subject, whose+"mode", strings.ToLower(m[10]), l)
			return true
		}
		if m := junosMux.FindStringSubmatch(text); m != nil {
			s.ofSwitch("junos", l)
			s.Set("port "+m[1], "receive_state", m[2], l)
			s.Set("port "+m[1], "transmit_state", m[3], l)
			bundled := strings.HasPrefix(m[4], "Collecting distributing") || m[4] == "Distributing"
			last = l
			all[channel] = append(all[channel], member{m[1], m[4], piece.YesNo[bundled]})
			return true
		}
		if m := junosInfo.FindStringSubmatch(text); m != nil {
			side := strings.ToLower(m[2])
			s.Set("port "+m[1], side+"_mac", m[3], l)
			s.Set("port "+m[1], side+"_key", m[5], l)
			s.Set("port "+m[1], side+"_port", m[4], l)
			if side == "actor" && channel != "" {
				s.SetIf("channel "+channel, "system_mac", m[3], l)
			}
			return true
		}
		if m := junosStatistics.FindStringSubmatch(text); m != nil {
			if channel != "" {
				s.join(channel, m[1], l)
				s.Set("channel "+channel, "protocol", "lacp", l)
			}
			s.Set("port "+m[1], "rx_lacp", m[2], l)
			s.Set("port "+m[1], "tx_lacp", m[3], l)
			return true
		}
		return strings.HasPrefix(text, "LACP ") || strings.HasPrefix(text, "Role ") || strings.HasPrefix(text, "priority ") || text == "{master:0}" || text == "{master}"
	})
	for channel, members := range all {
		if channel == "" {
			for _, m := range members {
				s.Set("port "+m.name, "flag", m.flag, last)
				s.Set("port "+m.name, "bundled", m.bundled, last)
			}
			continue
		}
		s.Set("channel "+channel, "protocol", "lacp", last)
		s.members(channel, members, last)
	}
	return read
}

// JunosDetail reads `show interfaces aeN`, with extensive or without, and terse.
var JunosDetail = piece.Reader{
	Kind:     "show interfaces",
	Commands: []string{"show"},
	Starts: func(line string) bool {
		return strings.Contains(line, "Physical interface: ") || strings.Contains(line, "--> ae") && junosTerse.MatchString(line) || strings.HasPrefix(line, "Interface ") && strings.Contains(line, "Admin Link Proto")
	},
	Read: reading(readJunosDetail),
}

var junosHead = piece.Compile(`^Physical interface: (\S+?)(?: \([^)]*\))?, (Enabled|Administratively down|Disabled|Unknown), Physical link is (Up|Down)`)

var junosTerse = piece.Compile(`^\s*(\S+-\d\S*|ae\d+\S*|[a-z]+\d*\S*)\s+(up|down)\s+(up|down)(?:\s+(\S+)(?:\s+--> (ae\d+)\.\d+)?.*)?$`)

var junosMTU = piece.Compile(`\bMTU: (\d+)`)

var junosSpeed = piece.Compile(`\bSpeed: (\d+[mMgG])(?:bps)?`)

var junosRate = piece.Compile(`^(Input|Output) rate\s*: (\d+) bps`)

var junosError = piece.Compile(`\b(Errors|Drops|Framing errors|Runts|Giants|FIFO errors|Resource errors): (\d+)`)

var junosCount = piece.Compile(`^(Input|Output)\s+(bytes|packets)\s*: +(\d+)(?:\s+(\d+) bps)?`)

var junosPause = piece.Compile(`^MAC pause frames\s+(\d+)\s+(\d+)`)

var junosCRC = piece.Compile(`^CRC/Align errors\s+(\d+)\s+(\d+)`)

// junosQueue is a queue's counter of packets that it dropped; the last queue that
// dropped any stands for the port.
var junosQueue = piece.Compile(`^(Tail|RED|RL)-dropped packets\s*: +(\d+)`)

var junosLink = piece.Compile(`^(` + junosPort + `)\.\d+$`)

func readJunosDetail(s *sink, lines []piece.Line) int {
	subject, way := "", ""
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		if m := junosHead.FindStringSubmatch(text); m != nil {
			s.ofSwitch("junos", l)
			subject, way = s.portSubject(m[1]), ""
			s.Set(subject, "state", strings.ToLower(m[3]), l)
			return true
		}
		if subject == "" {
			if m := junosTerse.FindStringSubmatch(text); m != nil {
				s.ofSwitch("junos", l)
				name, _, _ := strings.Cut(m[1], ".")
				s.Set(s.portSubject(name), "state", m[3], l)
				if m[5] != "" {
					s.join(m[5], name, l)
				}
				return true
			}
			return strings.HasPrefix(text, "Interface ")
		}
		if m := junosMTU.FindStringSubmatch(text); m != nil && strings.Contains(text, "Link-level") {
			s.Set(subject, "mtu", m[1], l)
		}
		if m := junosSpeed.FindStringSubmatch(text); m != nil {
			s.SetIf(subject, "speed", piece.Mbits(m[1]), l)
		}
		if rest, ok := strings.CutPrefix(text, "Description:"); ok && strings.HasPrefix(l.Text, "  ") {
			s.SetIf(subject, "description", strings.TrimSpace(rest), l)
		}
		if at := strings.Index(text, "Current address: "); at >= 0 {
			s.SetIf(subject, "mac", piece.MacText(strings.Fields(text[at+len("Current address: "):] + " -")[0]), l)
		}
		if m := junosRate.FindStringSubmatch(text); m != nil {
			s.Set(subject, map[string]string{"Input": "seen_rx_bps", "Output": "seen_tx_bps"}[m[1]], m[2], l)
		}
		if m := junosCount.FindStringSubmatch(text); m != nil {
			s.Set(subject, map[string]string{"Input": "rx_", "Output": "tx_"}[m[1]]+m[2], m[3], l)
			s.SetIf(subject, map[string]string{"Input": "seen_rx_bps", "Output": "seen_tx_bps"}[m[1]], m[4], l)
		}
		if m := junosQueue.FindStringSubmatch(text); m != nil && m[2] != "0" {
			s.Set(subject, map[string]string{"Tail": "tail_drops", "RED": "red_drops", "RL": "policed_drops"}[m[1]], m[2], l)
		}
		if m := junosPause.FindStringSubmatch(text); m != nil {
			s.Set(subject, "rx_pause", m[1], l)
			s.Set(subject, "tx_pause", m[2], l)
		}
		if at := strings.Index(text, "Duplex: "); at >= 0 && strings.Contains(text, "Link-level") {
			if word := strings.ToLower(strings.TrimPrefix(text[at:], "Duplex: ")); strings.HasPrefix(word, "full") || strings.HasPrefix(word, "half") {
				s.Set(subject, "duplex", word[:4], l)
			}
		}
		if m := junosCRC.FindStringSubmatch(text); m != nil {
			s.Set(subject, "rx_crc", m[1], l)
		}
		if strings.HasPrefix(text, "Input errors:") || strings.HasPrefix(text, "Output errors:") {
			way = strings.ToLower(text[:1])
		}
		if way != "" {
			for _, m := range junosError.FindAllStringSubmatch(text, -1) {
				key := map[string]string{"iErrors": "rx_errors", "iDrops": "rx_dropped", "iFraming errors": "rx_frame", "oErrors": "tx_errors", "oDrops": "drops", "iRunts": "rx_runts", "iGiants": "rx_giants"}[way+m[1]]
				s.SetIf(subject, key, m[2], l)
			}
		}
		if channel, ok := strings.CutPrefix(subject, "channel "); ok {
			if m := junosLink.FindStringSubmatch(text); m != nil {
				s.join(channel, m[1], l)
			}
		}
		return strings.HasPrefix(l.Text, " ") || strings.HasPrefix(l.Text, "\t") || strings.Contains(text, ":")
	})
}

// JunosSet reads `show configuration | display set`.
var JunosSet = piece.Reader{
	Kind:     "Junos configuration",
	Commands: []string{"show", "set"},
	Starts: func(line string) bool {
		return strings.HasPrefix(strings.TrimSpace(line), "set ") && junosSetLine.MatchString(line)
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		applied := make(map[string]bool) // groups whose statements hold for all
		for _, l := range lines {
			f := strings.Fields(l.Text)
			if len(f) > 2 && f[0] == "set" && f[1] == "apply-groups" {
				for _, name := range f[2:] {
					applied[strings.Trim(name, "[]")] = true
				}
			}
		}
		ranges := make(map[string][]string)
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			if !junosSetLine.MatchString(text) {
				return false
			}
			s.ofSwitch("junos", l)
			f := strings.Fields(text)[1:]
			if len(f) > 3 && f[0] == "groups" && applied[f[1]] {
				f = f[2:]
			}
			if len(f) < 5 || f[0] != "interfaces" || f[1] != "interface-range" {
				s.junosWords(f, l)
				return true
			}
			name, rest := f[2], f[3:]
			switch {
			case rest[0] == "member":
				ranges[name] = append(ranges[name], strings.Trim(rest[1], `"`))
			case rest[0] == "member-range" && len(rest) == 4:
				ranges[name] = append(ranges[name], junosRange(rest[1], rest[3])...)
			default:
				for _, port := range ranges[name] {
					s.junosWords(slices.Concat([]string{"interfaces", port}, rest), l)
				}
			}
			return true
		})
	}),
}

// junosRange are the ports from one to another that differ in their last number.
func junosRange(from, to string) []string {
	at, end := strings.LastIndexByte(from, '/'), strings.LastIndexByte(to, '/')
	if at < 0 || end < 0 {
		return nil
	}
	var out []string
	for _, number := range portList(from[at+1:] + "-" + to[end+1:]) {
		out = append(out, from[:at+1]+number)
	}
	return out
}

var junosSetLine = piece.Compile(`^\s*(?:set|delete|deactivate) (?:interfaces|chassis|forwarding-options|protocols|system|vlans|version|policy-options|routing-options|groups|switch-options|security|firewall|snmp|class-of-service|access|event-options|poe|ethernet-switching-options|multi-chassis|apply-groups) `)

// junosWords reads one statement of a configuration as its path of words.
func (s *sink) junosWords(f []string, l piece.Line) {
	for i := range f {
		f[i] = strings.Trim(f[i], `";`)
	}
	if len(f) >= 2 && f[0] == "forwarding-options" && (f[1] == "enhanced-hash-key" || f[1] == "hash-key" || f[1] == "load-balance") {
		s.Set("host", "load_balance", strings.Join(f[1:], " "), l)
		return
	}
	if len(f) == 4 && f[0] == "vlans" && f[2] == "vlan-id" {
		s.SetIf("vlan "+f[1], "id", piece.NumberText(f[3]), l)
		return
	}
	if len(f) == 3 && f[0] == "system" && f[1] == "host-name" {
		s.SetIf("host", "name", f[2], l)
		return
	}
	if len(f) == 3 && f[0] == "interfaces" && f[2] == "disable" {
		s.Set(s.portSubject(f[1]), "admin", "down", l)
		return
	}
	if len(f) < 4 || f[0] != "interfaces" {
		return
	}
	subject, rest := s.portSubject(f[1]), f[2:]
	switch {
	case len(rest) >= 3 && strings.HasSuffix(rest[0], "ether-options") && rest[1] == "802.3ad" && strings.HasPrefix(rest[2], "ae"):
		s.join(rest[2], f[1], l)
	case len(rest) >= 3 && rest[0] == "aggregated-ether-options" && rest[1] == "lacp":
		s.Set(subject, "protocol", "lacp", l)
		switch rest[2] {
		case "active", "passive":
			s.Set(subject, "mode", rest[2], l)
		case "periodic":
			s.SetIf(subject, "lacp_rate", rest[len(rest)-1], l)
		}
	case rest[0] == "aggregated-ether-options" && len(rest) >= 3 && rest[1] == "minimum-links":
		s.SetIf(subject, "min_links", piece.NumberText(rest[2]), l)
	case rest[0] == "native-vlan-id":
		s.SetIf(subject, "native_vlan", piece.NumberText(rest[1]), l)
	case len(rest) >= 6 && rest[0] == "unit" && rest[3] == "ethernet-switching" && (rest[4] == "interface-mode" || rest[4] == "port-mode"):
		s.Set(subject, "switchport", rest[5], l)
	case len(rest) >= 7 && rest[0] == "unit" && rest[3] == "ethernet-switching" && rest[4] == "vlan" && rest[5] == "members":
		for _, w := range rest[6:] {
			if w = strings.Trim(w, "[]"); w != "" {
				s.Set(subject, "vlan_members", w, l)
			}
		}
	case rest[0] == "mtu":
		s.SetIf(subject, "mtu", piece.NumberText(rest[1]), l)
	case rest[0] == "description":
		s.Set(subject, "description", strings.Join(rest[1:], " "), l)
	case rest[0] == "speed":
		s.SetIf(subject, "speed", piece.Mbits(rest[1]), l)
	}
}

// JunosBraces reads the configuration with braces, from a statement that is about a
// port or about hashing.
var JunosBraces = piece.Reader{
	Kind:     "Junos configuration",
	Commands: []string{"show"},
	Starts: func(line string) bool {
		return strings.HasSuffix(line, "{") && junosOpen.MatchString(line)
	},
	Read: reading(readJunosBraces),
}

var junosOpen = piece.Compile(`^\s*(?:interfaces|forwarding-options|enhanced-hash-key|aggregated-ether-options|(?:gig)?ether-options|ae\d+|` + junosPort + `) \{$`)

func readJunosBraces(s *sink, lines []piece.Line) int {
	var path []string
	s.ofSwitch("junos", lines[0])
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		switch {
		case strings.HasSuffix(text, "{"):
			if len(path) > 32 || len(path) == 0 && !junosOpen.MatchString(text) {
				return false
			}
			word := strings.TrimSpace(strings.TrimSuffix(text, "{"))
			if len(path) == 0 && (strings.HasPrefix(word, "ae") && channelName.MatchString(word) || strings.Contains(word, "-") && strings.Contains(word, "/")) {
				path = append(path, "interfaces")
			}
			if len(path) == 0 && word == "enhanced-hash-key" {
				path = append(path, "forwarding-options")
			}
			path = append(path, word)
		case text == "}":
			if len(path) == 0 {
				return false
			}
			if path = path[:len(path)-1]; len(path) == 1 && (path[0] == "interfaces" || path[0] == "forwarding-options") && !strings.HasPrefix(l.Text, " ") {
				path = nil
			}
		case strings.HasSuffix(text, ";") && len(path) > 0:
			s.junosWords(strings.Fields(strings.Join(path, " ")+" "+strings.TrimSuffix(text, ";")), l)
		case strings.HasPrefix(text, "##"), strings.HasPrefix(text, "/*"):
		default:
			return false
		}
		return true
	})
}
