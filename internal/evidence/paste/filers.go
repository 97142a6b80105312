package paste

import (
	"regexp"
	"strings"
)

// ontap reads NetApp's `ifgrp show`, `network port show` and `ifstat`.
var ontap = reader{
	kind:     "ONTAP",
	commands: []string{"network", "ifgrp", "system", "net", "run", "node", "ifstat"},
	starts: func(line string) bool {
		return strings.HasPrefix(strings.TrimSpace(line), "-- interface") && ifstatHead.MatchString(line) || ontapHead.MatchString(line) || ontapGroup.MatchString(line) || ontapPort.MatchString(line)
	},
	read: readONTAP,
}

var (
	ifstatHead = regexp.MustCompile(`^\s*-- interface\s+(\S+)\s`)
	ifstatCell = regexp.MustCompile(`([A-Z][A-Za-z/ ]*?): +([\d.]+)([kmgtKMGT])?\b`)
	ontapHead  = regexp.MustCompile(`^\s*(?:Port\s+IPspace\s|Speed\(Mbps\) Health|Port\s+Distribution\s+Active|Node\s+IfGrp\s+Function|Node\s+Port\s+Distribution Function|Interface Group Name: |Distribution Function: |Port Participation: )`)
	ontapGroup = regexp.MustCompile(`^\s*(a\d+[a-z])\s+(ip|mac|port|sequential)\s+([0-9a-f:]{17})\s+(full|partial|none)\s+(.*)$`)
	ontapPort  = regexp.MustCompile(`^\s*(e\d+[a-z]\d*|a\d+[a-z](?:-\d+)?)\s+(\S+)\s+(?:(\S+)\s+)?(up|down|off)\s+(\d{4,5})\s+(?:auto|\d+)/(\d+|-)`)
	ontapPair  = regexp.MustCompile(`^\s*([A-Z][\w ()-]+?): (.*)$`)
	// ifstatNames are the cells of ifstat below RECEIVE and TRANSMIT.
	ifstatNames = map[string]string{"Total frames": "packets", "Total bytes": "bytes", "Total errors": "errors", "Total discards": "dropped", "CRC errors": "crc", "Runt frames": "runts",
		"Length errors": "length", "Alignment errors": "frame", "No buffer": "missed", "No buffers": "missed", "Bus overruns": "bus_overruns", "Queue overflow": "queue_overflow", "Pause": "pause", "Xon": "", "Xoff": "pause"}
)

func readONTAP(s *sink, lines []Line) int {
	name, way, group := "", "", ""
	return eachLine(lines, func(l Line, text string) bool {
		if m := ifstatHead.FindStringSubmatch(text); m != nil {
			s.ofSystem("ontap", l)
			name, way = m[1], ""
			return true
		}
		if name != "" {
			switch text {
			case "RECEIVE":
				way = "rx_"
				return true
			case "TRANSMIT":
				way = "tx_"
				return true
			case "LINK INFO", "DEVICE":
				way = "link"
				return true
			}
			if cells := ifstatCell.FindAllStringSubmatch(text, -1); cells != nil || strings.Contains(text, "|") || strings.HasSuffix(text, ":") {
				s.ontapCells("link "+name, way, text, cells, l)
				return true
			}
			return strings.Contains(text, ": ")
		}
		if m := ontapGroup.FindStringSubmatch(text); m != nil {
			s.ofSystem("ontap", l)
			group = m[1]
			s.set("link "+group, "kind", "ifgrp", l)
			s.set("link "+group, "load_balance", m[2], l)
			s.set("link "+group, "mac", m[3], l)
			s.set("link "+group, "participation", m[4], l)
			for _, port := range strings.Fields(listed(m[5])) {
				s.port(group, port, l)
			}
			return true
		}
		if m := ontapPort.FindStringSubmatch(text); m != nil {
			s.ofSystem("ontap", l)
			subject := "link " + m[1]
			s.set(subject, "state", strings.ToUpper(m[4]), l)
			s.set(subject, "mtu", m[5], l)
			s.set(subject, "speed", map[bool]string{true: "unknown", false: m[6]}[m[6] == "-"], l)
			return true
		}
		if m := ontapPair.FindStringSubmatch(text); m != nil {
			value := strings.TrimSpace(m[2])
			switch m[1] {
			case "Interface Group Name":
				s.ofSystem("ontap", l)
				group = value
				s.set("link "+group, "kind", "ifgrp", l)
			case "Distribution Function":
				s.set("link "+firstOf(group, "ifgrp"), "load_balance", value, l)
			case "Create Policy":
				s.set("link "+firstOf(group, "ifgrp"), "mode", value, l)
			case "Port Participation":
				s.set("link "+firstOf(group, "ifgrp"), "participation", value, l)
			case "Network Ports":
				for _, port := range strings.Fields(listed(value)) {
					s.port(firstOf(group, "ifgrp"), port, l)
				}
			case "Up Ports", "Active Ports":
				s.set("link "+firstOf(group, "ifgrp"), "up_ports", listed(value), l)
			case "Down Ports":
				s.setIf("link "+firstOf(group, "ifgrp"), "down_ports", listed(value), l)
			}
			return true
		}
		return strings.Trim(text, "- ") == "" || ontapHead.MatchString(text) || strings.HasPrefix(text, "Node") || len(strings.Fields(text)) == 1 && (group != "" || !strings.HasPrefix(l.Text, " ")) || strings.HasSuffix(text, "entries were displayed.")
	})
}

// ontapCells reads the cells of one line; large numbers are printed with three to five
// digits and a letter.
func (s *sink) ontapCells(subject, way, text string, cells [][]string, l Line) {
	for _, cell := range cells {
		key := strings.TrimSpace(cell[1])
		value := bps(cell[2], cell[3])
		switch {
		case way == "rx_" && key == "Bytes/second", way == "tx_" && key == "Bytes/second":
			if n := wholeNumber(value); n >= 0 && n < 1<<60 {
				s.set(subject, "seen_"+way+"bps", itoa(8*n), l)
			}
		case way == "rx_" || way == "tx_":
			if name := ifstatNames[key]; name != "" {
				s.setIf(subject, way+name, value, l)
			}
		case key == "Speed":
			s.setIf(subject, "speed", mbits(cell[2]+cell[3]), l)
		}
	}
	if at := strings.Index(text, "Duplex:"); at >= 0 && way == "link" {
		s.setIf(subject, "duplex", strings.Trim(strings.Fields(text[at+len("Duplex:"):] + " -")[0], "|"), l)
	}
}

// nasPanel reads the network page of a NAS as people copy it: Synology, QNAP.
var nasPanel = reader{
	kind: "NAS network page",
	starts: func(line string) bool {
		return strings.Contains(line, "uplex") && nasStatus.MatchString(line) || len(line) < 40 && nasName.MatchString(line)
	},
	read: func(s *sink, lines []Line) int {
		subject, rows := "", 0
		read := eachLine(lines, func(l Line, text string) bool {
			if rows == 0 && subject != "" && nasName.MatchString(text) {
				return false
			}
			if m := nasName.FindStringSubmatch(text); m != nil {
				subject = "link " + m[1]
				return true
			}
			if m := nasStatus.FindStringSubmatch(text); m != nil {
				name := firstOf(m[1], strings.TrimPrefix(subject, "link "))
				if name == "" {
					name = "LAN"
				}
				subject = "link " + name
				s.set(subject, "speed", m[2], l)
				s.set(subject, "duplex", strings.ToLower(m[3]), l)
				s.setIf(subject, "mtu", m[4], l)
				rows++
				return true
			}
			key, value, ok := strings.Cut(text, ":")
			if !ok || subject == "" {
				return false
			}
			if strings.Contains(strings.ToLower(key), "mode") {
				s.setIf(subject, "mode_words", strings.TrimSpace(value), l)
			}
			return true
		})
		if rows == 0 {
			return 0
		}
		return read
	},
}

var (
	nasName   = regexp.MustCompile(`^((?:LAN|Bond|Adapter|Ethernet|Trunk)[ -]?\d+(?: \+ \d+)?)(?:\s*\(.*\))?:?$`)
	nasStatus = regexp.MustCompile(`^\s*(?:((?:LAN|Bond|Adapter|Trunk) ?\d+)[: ]+)?(?:[Nn]etwork )?(?:[Ss]tatus|[Ss]peed)?[: ]*(\d+) ?Mbps,? ([Ff]ull|[Hh]alf)[ -]?[Dd]uplex(?:, MTU:? (\d+))?$`)
)
