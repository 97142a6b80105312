package switchtext

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// ProcurveTrunks reads AOS-S `show trunks` and `show lacp`.
var ProcurveTrunks = piece.Reader{
	Kind:     "show trunks",
	Commands: []string{"show", "sh"},
	Starts: func(line string) bool {
		return strings.Contains(line, "Load Balancing Method") || strings.Contains(line, "Trk") && (procurveTrunk.MatchString(line) || procurveLACP.MatchString(line)) || procurveHead.MatchString(line) || lacpTitle.MatchString(line)
	},
	Read: reading(readProcurveTrunks),
}

var procurveHead = piece.Compile(`^\s*(?:Port\s+\|?\s*Name\s+Type\s+\|\s+Group|Port\s+Enabled\s+Group\s+Status\s+Partner|PORT\s+LACP\s+TRUNK\s+PORT\s+LACP|LACP\s+Trunk\s+Port\s+LACP)`)

// lacpTitle is the title of show lacp, in the middle of a line.
var lacpTitle = piece.Compile(`^\s{10,}LACP\s*$`)

var procurveTrunk = piece.Compile(`^\s*([A-Z]?\d[\d/]*)\s+(?:\|\s*)?(?:(.*?)\s+)?((?:\d[\d/]*)?\d*[\w/.+-]*?)?\s*\|\s*(Trk\d+)\s+(LACP|Trunk|dt-LACP|dt-Trunk|FEC)\b`)

var procurveLACP = piece.Compile(`^\s*([A-Z]?\d[\d/]*)\s+(Active|Passive)\s+(Trk\d+|[A-Z]?\d[\d/]*|Dyn\d+)\s+(Up|Down|Blocked|Disabled)\s+(Yes|No)\s+(Success|Failure|\S+)(?:\s+(\d+)\s+(\d+))?`)

func readProcurveTrunks(s *sink, lines []piece.Line) int {
	all := make(map[string][]member)
	var order []string
	var last piece.Line
	add := func(channel string, m member, l piece.Line) {
		if all[channel] == nil {
			order = append(order, channel)
		}
		all[channel] = append(all[channel], m)
		last = l
	}
	read := piece.EachLine(lines, func(l piece.Line, text string) bool {
		if key, value, ok := strings.Cut(text, ":"); ok && strings.TrimSpace(key) == "Load Balancing Method" {
			s.ofSwitch("procurve", l)
			s.SetIf("host", "load_balance", strings.TrimSpace(value), l)
			return true
		}
		if m := procurveTrunk.FindStringSubmatch(text); m != nil {
			s.ofSwitch("procurve", l)
			s.SetIf("port "+m[1], "description", strings.TrimSpace(m[2]), l)
			s.SetIf("port "+m[1], "type", m[3], l)
			s.Set("channel "+m[4], "protocol", map[bool]string{true: "lacp", false: "static"}[strings.Contains(m[5], "LACP")], l)
			add(m[4], member{name: m[1]}, l)
			return true
		}
		if m := procurveLACP.FindStringSubmatch(text); m != nil {
			s.ofSwitch("procurve", l)
			subject := "port " + m[1]
			s.Set(subject, "mode", strings.ToLower(m[2]), l)
			s.Set(subject, "state", strings.ToLower(m[4]), l)
			s.Set(subject, "partner", strings.ToLower(m[5]), l)
			s.Set(subject, "flag", m[6], l)
			s.SetIf(subject, "actor_key", m[8], l)
			if strings.HasPrefix(m[3], "Trk") || strings.HasPrefix(m[3], "Dyn") {
				s.Set("channel "+m[3], "protocol", "lacp", l)
				add(m[3], member{m[1], m[6], piece.YesNo[m[4] == "Up" && m[5] == "Yes" && m[6] == "Success"]}, l)
			}
			return true
		}
		return procurveHead.MatchString(text) || strings.Trim(text, "-+| =") == "" || text == "LACP" || strings.HasPrefix(text, "Port ") || strings.HasPrefix(text, "----")
	})
	for _, channel := range order {
		s.members(channel, all[channel], last)
	}
	return read
}

// AoscxLACP reads AOS-CX `show lacp configuration`, `aggregates` and `interfaces`.
var AoscxLACP = piece.Reader{
	Kind:     "show lacp aggregates",
	Commands: []string{"show", "sh"},
	Starts: func(line string) bool {
		return aoscxKey.MatchString(line) || strings.Contains(line, "lag") && aoscxRow.MatchString(line) || strings.HasPrefix(strings.TrimSpace(line), "Actor details of all interfaces") || strings.HasPrefix(strings.TrimSpace(line), "Partner details of all interfaces") || strings.HasPrefix(strings.TrimSpace(line), "State abbreviations :")
	},
	Read: reading(readAOSCX),
}

var aoscxKey = piece.Compile(`^\s*(Aggregate[- ]name|Aggregated[- ]interfaces|Interfaces|Peer interfaces|Heartbeat [Rr]ate|Hash|Aggregate mode|System-ID|System-id|System-priority)\s*:\s*(.*)$`)

var aoscxRow = piece.Compile(`^\s*(\d+(?:/\d+/\d+)?)\s+(lag\d+)(?:\(mc\))?\s+(?:(\d+)\s+\d+\s+)?(?:\d+\s+)?([APLFISNDCOEX*]{2,})\s+(?:([0-9a-f:]{17})\s+\d+\s+(\d+))?(?:\s+(up|down|lacp-block|[a-z-]+))?`)

var aoscxFlags = map[rune]int{'A': 1, 'S': 2, 'F': 4, 'N': 8, 'C': 16, 'D': 32}

func readAOSCX(s *sink, lines []piece.Line) int {
	channel, side := "", "actor"
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		if m := aoscxKey.FindStringSubmatch(text); m != nil {
			s.ofSwitch("aoscx", l)
			value := strings.TrimSpace(m[2])
			switch m[1] {
			case "Aggregate-name", "Aggregate name":
				channel = strings.TrimSuffix(value, " (multi-chassis)")
				s.Set("channel "+channel, "there", "yes", l)
			case "Aggregated-interfaces", "Aggregated interfaces", "Interfaces":
				for _, p := range strings.Fields(value) {
					if channel != "" {
						s.join(channel, strings.Trim(p, ","), l)
					}
				}
			case "Heartbeat rate", "Heartbeat Rate":
				if channel != "" && value != "N/A" {
					s.SetIf("channel "+channel, "lacp_rate", strings.ToLower(value), l)
				}
			case "Hash":
				if channel == "" {
					s.SetIf("host", "load_balance", value, l)
				} else {
					s.SetIf("channel "+channel, "hash", value, l)
				}
			case "Aggregate mode":
				if channel != "" {
					s.Set("channel "+channel, "mode", strings.ToLower(value), l)
					s.Set("channel "+channel, "protocol", map[bool]string{true: "static", false: "lacp"}[strings.EqualFold(value, "off")], l)
				}
			case "System-ID", "System-id":
				s.SetIf("host", "system_mac", piece.MacText(value), l)
			}
			return true
		}
		if strings.HasPrefix(text, "Actor details") || strings.HasPrefix(text, "Partner details") {
			side = strings.ToLower(strings.Fields(text)[0])
			return true
		}
		if m := aoscxRow.FindStringSubmatch(text); m != nil {
			s.ofSwitch("aoscx", l)
			s.join(m[2], m[1], l)
			s.Set("port "+m[1], side+"_state", lacpState(m[4], aoscxFlags), l)
			s.SetIf("port "+m[1], side+"_mac", m[5], l)
			s.SetIf("port "+m[1], side+"_key", m[6], l)
			s.SetIf("port "+m[1], side+"_port", m[3], l)
			if side == "actor" {
				s.SetIf("channel "+m[2], "system_mac", m[5], l)
				s.SetIf("port "+m[1], "flag", m[7], l)
				s.Set("port "+m[1], "bundled", piece.YesNo[m[7] == "up" || m[7] == "" && strings.Contains(m[4], "D")], l)
			}
			return true
		}
		return strings.Trim(text, "- =") == "" || strings.HasPrefix(text, "Intf ") || strings.HasPrefix(text, "Name ") || strings.HasPrefix(text, "State abbrev") || strings.HasPrefix(text, "name ") || strings.HasPrefix(text, "X - State") || strings.HasPrefix(text, "ID ") ||
			strings.Contains(text, " - ") && len(strings.Fields(text)[0]) == 1
	})
}

// AoscxPort reads AOS-CX `show interface 1/1/1` and `show interface lag1`.
var AoscxPort = piece.Reader{
	Kind:     "show interface",
	Commands: []string{"show", "sh"},
	Starts:   func(line string) bool { return aoscxHead.MatchString(line) },
	Read: reading(func(s *sink, lines []piece.Line) int {
		subject, way := "", ""
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			if m := aoscxHead.FindStringSubmatch(text); m != nil {
				s.ofSwitch("aoscx", l)
				subject, way = s.portSubject(strings.TrimPrefix(m[1], "Aggregate-name ")), ""
				s.Set(subject, "state", m[2], l)
				return true
			}
			key, value, ok := strings.Cut(text, ":")
			value = strings.TrimSpace(value)
			f := strings.Fields(text)
			switch {
			case ok && key == "Description":
				s.SetIf(subject, "description", value, l)
			case ok && key == "Aggregated-interfaces":
				s.channelPorts(subject, value, l)
			case ok && key == "Speed":
				s.SetIf(subject, "speed", piece.Mbits(value), l)
			case ok && key == "VLAN Mode":
				s.SetIf(subject, "switchport", map[bool]string{true: "trunk", false: "access"}[strings.HasPrefix(value, "native")], l)
			case ok && key == "Native VLAN":
				s.SetIf(subject, "native_vlan", piece.NumberText(value), l)
			case ok && key == "Access VLAN":
				s.SetIf(subject, "access_vlan", piece.NumberText(value), l)
			case ok && key == "Allowed VLAN List":
				s.vlanList(subject, strings.ToLower(value), l)
			case strings.HasPrefix(text, "Admin state is "):
				s.Set(subject, "admin", strings.Fields(text)[3], l)
			case strings.HasPrefix(text, "Full-duplex"), strings.HasPrefix(text, "Half-duplex"):
				s.Set(subject, "duplex", strings.ToLower(text[:4]), l)
			case f[0] == "MTU" && len(f) > 1:
				s.SetIf(subject, "mtu", piece.NumberText(f[1]), l)
			case f[0] == "Speed" && len(f) > 2:
				s.SetIf(subject, "speed", piece.Mbits(f[1]+" "+f[2]), l)
			case text == "Rx" || text == "RX" || text == "Tx" || text == "TX":
				way = strings.ToLower(text) + "_"
			case way != "" && aoscxCount.MatchString(text):
				for _, m := range aoscxCount.FindAllStringSubmatch(text, -1) {
					if name := map[string]string{"crc": "crc", "total bytes": "bytes", "total packets": "packets", "dropped": "dropped", "error": "errors", "errors": "errors"}[strings.ToLower(m[2])]; name != "" {
						s.Set(subject, way+name, m[1], l)
					}
				}
			case len(f) >= 5 && f[0] == "Mbits" && f[1] == "/" || len(f) == 4 && aoscxCounts[f[0]] != "":
				s.aoscxTable(subject, f, l)
			case len(f) == 5 && f[0] == "Pause" && f[1] == "Frames":
				s.aoscxTable(subject, f[1:], l)
			}
			return strings.HasPrefix(l.Text, " ") || ok || len(f) >= 4
		})
	}),
}

var aoscxHead = piece.Compile(`^\s*(?:Interface|Aggregate) (\d+/\d+/\d+|lag\d+|Aggregate-name lag\d+) is (up|down)`)

var aoscxCount = piece.Compile(`(\d+) (CRC|total bytes|total packets|dropped|errors?)\b`)

// aoscxTable reads a row of the newer form: a name, RX, TX, the sum.
func (s *sink) aoscxTable(subject string, f []string, l piece.Line) {
	if f[0] == "Mbits" {
		s.SetIf(subject, "seen_rx_bps", piece.Bps(f[3], "M"), l)
		s.SetIf(subject, "seen_tx_bps", piece.Bps(f[4], "M"), l)
		return
	}
	for i, way := range []string{"rx_", "tx_"} {
		if piece.Digits.MatchString(f[i+1]) {
			s.Set(subject, way+aoscxCounts[f[0]], f[i+1], l)
		}
	}
}

// aoscxCounts are rows of the newer form, "n/a" where a way has none.
var aoscxCounts = map[string]string{"CRC": "crc", "CRC/FCS": "crc", "Dropped": "dropped", "Errors": "errors", "Bytes": "bytes", "Packets": "packets", "Runts": "runts", "Giants": "giants", "Frames": "pause"}

// ComwareLACP reads `display link-aggregation verbose`, `member-port` and `summary`.
var ComwareLACP = piece.Reader{
	Kind:     "display link-aggregation",
	Commands: []string{"display", "dis"},
	Starts:   func(line string) bool { return comwareHead.MatchString(line) },
	Read:     reading(readComware),
}

var comwareHead = piece.Compile(`^\s*(?:Aggreg\w+ Interface: (?:Bridge|Route)-Aggregation|Loadsharing Type: Shar|Flags:\s+A -- LACP_Activity|Aggregat\w+ Interface Type:|(?:BAGG|RAGG)\d+\s+[SD]\s|Link-Aggregation Load-Sharing Mode)`)

var comwareRow = piece.Compile(`^(\S+?)(\(R\))?\s+([SUI])\s+(\d+)\s+(?:(\d+)\s+)?(\d+)(?:\s+\{([A-H]*)\})?$`)

var comwareRemote = piece.Compile(`^(\S+?)(?:\(R\))?\s+(\d+)\s+(\d+)\s+(\d+)\s+(?:0x)?[0-9a-f]+ *, ?([0-9a-z-]+)\s+\{([A-H]*)\}$`)

var comwareRemote7 = piece.Compile(`^(\S+?)(?:\(R\))?\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(?:0x)?[0-9a-f]+ *, ?([0-9a-z-]+)\s+\{([A-H]*)\}$`)

var comwareSum = piece.Compile(`^((?:BAGG|RAGG)\d+)\s+([SD])\s+(.+?)\s+(\d+)\s+(\d+)\s+(?:(\d+)\s+)?(Shar|NonS)$`)

var comwarePort = piece.Compile(`^([A-Z][A-Za-z-]*\d+(?:/\d+)+):$`)

var comwareLegend = piece.Compile(`^(?:Loadsharing Type|Port Status|Port: |Flags:|[A-H] -- |Management VLAN|Port |Actor |Aggregation Mode|Aggregat|AGG |Interface |S -- |BAGG -- |-{5,}|=+$|Received |Illegal|Sent |Creation|Layer |Default|Link-Agg|Destination|Source|Port Priority|M -- )`)

var comwareBits = map[rune]int{'A': 1, 'B': 2, 'C': 4, 'D': 8, 'E': 16, 'F': 32, 'G': 64, 'H': 128}

func readComware(s *sink, lines []piece.Line) int {
	channel, port, side := "", "", "actor"
	of := ""              // the channel of that port
	partnerFirst := false // the partner's index stands before its priority
	var all []member
	var last piece.Line
	flush := func() {
		if channel != "" && len(all) > 0 {
			s.members(channel, all, last)
		}
		all = nil
	}
	read := piece.EachLine(lines, func(l piece.Line, text string) bool {
		s.ofSwitch("comware", l)
		key, value, ok := strings.Cut(text, ":")
		value = strings.TrimSpace(value)
		switch {
		case ok && strings.HasPrefix(key, "Aggreg") && strings.HasSuffix(key, "Interface"):
			if port != "" {
				of = s.portName(value)
				s.join(of, port, l)
				break
			}
			flush()
			channel, side = s.portName(value), "actor"
		case ok && key == "Aggregation Mode" && channel != "":
			s.SetIf("channel "+channel, "protocol", protocolWord(value), l)
		case ok && key == "Loadsharing Type" && channel != "" && (value == "Shar" || value == "NonS"):
			s.Set("channel "+channel, "load_sharing", value, l)
		case key == "Local" && value == "":
			side = "actor"
		case key == "Remote" && value == "":
			side = "partner"
		case comwarePort.MatchString(text):
			flush()
			port, side, of = s.portName(comwarePort.FindStringSubmatch(text)[1]), "actor", ""
		case key == "System ID":
			_, mac, _ := strings.Cut(value, ",")
			if mac = piece.MacText(strings.TrimSpace(mac)); port != "" {
				s.SetIf("port "+port, "partner_mac", mac, l)
				if of != "" { // of a static one no partner is told
					s.Set("channel "+of, "protocol", "lacp", l)
				}
			} else if channel != "" {
				s.SetIf("channel "+channel, "system_mac", mac, l)
			}
		case key == "Actor System ID":
			_, mac, _ := strings.Cut(value, ",")
			s.SetIf("host", "system_mac", piece.MacText(strings.TrimSpace(mac)), l)
		case key == "Flag" && port != "":
			letters := strings.Trim(value, "{}")
			s.Set("port "+port, side+"_state", lacpState(letters, comwareBits), l)
			if side == "actor" {
				s.Set("port "+port, "flag", letters, l)
				s.Set("port "+port, "bundled", piece.YesNo[strings.Contains(letters, "F")], l)
			}
		case key == "Oper-Key" && port != "":
			s.SetIf("port "+port, side+"_key", piece.NumberText(value), l)
		case key == "Port Number" && port != "":
			s.SetIf("port "+port, side+"_port", piece.NumberText(value), l)
		case (key == "Received LACP Packets" || key == "Sent LACP Packets") && port != "":
			s.SetIf("port "+port, map[bool]string{true: "rx_lacp", false: "tx_lacp"}[key[0] == 'R'], piece.NumberText(strings.Fields(value + " -")[0]), l)
		case ok && (key == "Port Priority" || key == "Port Number"):
		case comwareSum.MatchString(text):
			m := comwareSum.FindStringSubmatch(text)
			s.Set("channel "+m[1], "protocol", map[string]string{"S": "static", "D": "lacp"}[m[2]], l)
			s.Set("channel "+m[1], "up", m[4], l)
			s.Set("channel "+m[1], "load_sharing", m[7], l)
			if _, mac, ok := strings.Cut(m[3], ","); ok {
				s.SetIf("channel "+m[1], "partner_mac", piece.MacText(strings.TrimSpace(mac)), l)
			}
		case comwareRow.MatchString(text):
			m := comwareRow.FindStringSubmatch(text)
			name := s.portName(m[1])
			last = l
			all = append(all, member{name, m[3], map[string]string{"S": "yes", "U": "no", "I": "individual"}[m[3]]})
			s.Set("port "+name, "actor_key", m[6], l)
			s.SetIf("port "+name, "actor_port", m[5], l)
			if strings.HasSuffix(text, "}") {
				s.Set("port "+name, "actor_state", lacpState(m[7], comwareBits), l)
			}
		case comwareRemote7.MatchString(text):
			m := comwareRemote7.FindStringSubmatch(text)
			s.comwarePartner(m[1], m[5], m[6], m[7], l)
		case comwareRemote.MatchString(text):
			m := comwareRemote.FindStringSubmatch(text)
			s.comwarePartner(m[1], m[4], m[5], m[6], l)
			s.SetIf("port "+s.portName(m[1]), "partner_port", map[bool]string{true: m[2], false: m[3]}[partnerFirst], l)
		default:
			if strings.HasPrefix(text, "Actor ") {
				partnerFirst = strings.HasPrefix(strings.TrimSpace(strings.TrimPrefix(text, "Actor ")), "Partner")
			}
			return comwareLegend.MatchString(text)
		}
		return true
	})
	flush()
	return read
}

func (s *sink) comwarePartner(name, key, mac, flags string, l piece.Line) {
	subject := "port " + s.portName(name)
	s.Set(subject, "partner_key", key, l)
	s.SetIf(subject, "partner_mac", piece.MacText(mac), l)
	s.Set(subject, "partner_state", lacpState(flags, comwareBits), l)
}

// HuaweiTrunk reads `display eth-trunk`.
var HuaweiTrunk = piece.Reader{
	Kind:     "display eth-trunk",
	Commands: []string{"display", "dis"},
	Starts: func(line string) bool {
		return strings.Contains(line, "Eth-Trunk") && huaweiHead.MatchString(line) || strings.HasPrefix(strings.TrimSpace(line), "Info: No valid trunk in the system") || strings.HasPrefix(strings.TrimSpace(line), "WorkingMode:")
	},
	Read: reading(readHuawei),
}

var huaweiHead = piece.Compile(`^\s*Eth-Trunk(\d+)'s state information is`)

var huaweiLocal = piece.Compile(`^((?:\d+)?[A-Z][A-Za-z]*\d+(?:/\d+)+)(?:\([hr]+\))?\s+(Selected|Unselect\w*)\s+(\S+)\s+(\d+)\s+(\d+)\s+(\d+)\s+([01]{8})\s+\d+`)

var huaweiPartner = piece.Compile(`^((?:\d+)?[A-Z][A-Za-z]*\d+(?:/\d+)+)\s+(\d+)\s+([0-9a-f-]{14})\s+(\d+)\s+(\d+)\s+(\d+)\s+([01]{8})`)

var huaweiNormal = piece.Compile(`^((?:\d+)?[A-Z][A-Za-z]*\d+(?:/\d+)+)\s+(Up|Down)\s+\d+$`)

var huaweiWords = piece.Compile(`(WorkingMode|System ID|Hash arithmetic|Operate status|Operating Status|Number Of Up Ports? In Trunk|Number Of Up Port In Trunk|Least Active-linknumber|Timeout Period|Mode): ?(.*?)(?:  |\t|$)`)

// huaweiMost is how many members may carry at once.
var huaweiMost = piece.Compile(`Max Active-linknumber: (\d+)`)

// waiting marks the members that stand by because as many carry as may.
func waiting(all []member, most int) {
	carry := 0
	for _, m := range all {
		if m.bundled == "yes" {
			carry++
		}
	}
	if most == 0 || carry < most {
		return
	}
	for i := range all {
		if all[i].bundled == "no" {
			all[i].flag = "standby"
		}
	}
}

// huaweiModes are the working modes: static is LACP with ports that are set by hand.
var huaweiModes = map[string]string{"static": "lacp", "lacp": "lacp", "dynamic": "lacp", "backup": "static", "normal": "static", "manual": "static"}

func readHuawei(s *sink, lines []piece.Line) int {
	channel, most := "", 0
	var all []member
	var last piece.Line
	flush := func() {
		if channel != "" && len(all) > 0 {
			waiting(all, most)
			s.members(channel, all, last)
		}
		all, most = nil, 0
	}
	read := piece.EachLine(lines, func(l piece.Line, text string) bool {
		s.ofSwitch("huawei", l)
		if strings.HasPrefix(text, "Info: ") {
			return true
		}
		if m := huaweiHead.FindStringSubmatch(text); m != nil {
			flush()
			channel = "Eth-Trunk" + m[1]
			return true
		}
		if m := huaweiLocal.FindStringSubmatch(text); m != nil {
			name := s.portName(m[1])
			last = l
			all = append(all, member{name, m[2], piece.YesNo[m[2] == "Selected"]})
			s.SetIf("port "+name, "speed", piece.Mbits(strings.TrimSuffix(m[3], "E")), l)
			s.Set("port "+name, "actor_key", m[6], l)
			s.Set("port "+name, "actor_port", m[5], l)
			s.Set("port "+name, "actor_state", bitState(m[7]), l)
			return true
		}
		if m := huaweiPartner.FindStringSubmatch(text); m != nil {
			name := s.portName(m[1])
			s.SetIf("port "+name, "partner_mac", piece.MacText(m[3]), l)
			s.Set("port "+name, "partner_key", m[6], l)
			s.Set("port "+name, "partner_port", m[5], l)
			s.Set("port "+name, "partner_state", bitState(m[7]), l)
			return true
		}
		if m := huaweiNormal.FindStringSubmatch(text); m != nil {
			last = l
			all = append(all, member{s.portName(m[1]), m[2], piece.YesNo[m[2] == "Up"]})
			return true
		}
		known := strings.Trim(text, "- ") == "" || strings.HasSuffix(text, ":") || strings.Contains(text, ": ") || strings.HasPrefix(text, "ActorPort") || strings.HasPrefix(text, "PortName")
		if m := huaweiMost.FindStringSubmatch(text); m != nil {
			most, _ = strconv.Atoi(m[1])
		}
		for _, m := range huaweiWords.FindAllStringSubmatch(text, -1) {
			known = true
			value := strings.TrimSpace(m[2])
			if channel == "" || value == "" {
				continue
			}
			switch m[1] {
			case "WorkingMode", "Mode":
				s.SetIf("channel "+channel, "protocol", huaweiModes[strings.ToLower(value)], l)
			case "Timeout Period":
				s.Set("channel "+channel, "lacp_rate", strings.ToLower(value), l)
			case "System ID":
				s.SetIf("channel "+channel, "system_mac", piece.MacText(strings.TrimSuffix(value, "(Local)")), l)
			case "Hash arithmetic":
				s.Set("channel "+channel, "hash", strings.TrimPrefix(value, "According to "), l)
			case "Operate status", "Operating Status":
				s.Set("channel "+channel, "state", strings.ToLower(value), l)
			case "Least Active-linknumber":
				s.SetIf("channel "+channel, "min_links", piece.NumberText(strings.Fields(value)[0]), l)
			}
		}
		return known
	})
	flush()
	return read
}

// bitState is an LACP state that is printed as eight bits, activity first.
func bitState(bits string) string {
	n := 0
	for i, r := range bits {
		if r == '1' && i < 8 {
			n |= 1 << i
		}
	}
	return strconv.Itoa(n)
}
