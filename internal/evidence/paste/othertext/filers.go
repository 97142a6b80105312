package othertext

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// ONTAP reads NetApp's `ifgrp show`, `network port show` and `ifstat`.
var ONTAP = piece.Reader{
	Kind:     "ONTAP",
	Commands: []string{"network", "ifgrp", "system", "net", "run", "node", "ifstat"},
	Starts: func(line string) bool {
		return strings.HasPrefix(strings.TrimSpace(line), "-- interface") && ifstatHead.MatchString(line) || ontapHead.MatchString(line) || ontapGroup.MatchString(line) || ontapPort.MatchString(line)
	},
	Read: reading(readONTAP),
}

var ifstatHead = piece.Compile(`^\s*-- interface\s+(\S+)\s`)

var ifstatCell = piece.Compile(`([A-Z][A-Za-z/ ]*?): +([\d.]+)([kmgtKMGT])?\b`)

var ontapHead = piece.Compile(`^\s*(?:Port\s+IPspace\s|Speed\(Mbps\) Health|Port\s+Distribution\s+Active|Node\s+IfGrp\s+Function|Node\s+Port\s+Distribution Function|Interface Group Name: |Distribution Function: |Port Participation: )`)

var ontapGroup = piece.Compile(`^\s*(a\d+[a-z])\s+(ip|mac|port|sequential)\s+([0-9a-f:]{17})\s+(full|partial|none)\s+(.*)$`)

var ontapPort = piece.Compile(`^\s*(e\d+[a-z]\d*|a\d+[a-z](?:-\d+)?)\s+(\S+)\s+(?:(\S+)\s+)?(up|down|off)\s+(\d{4,5})\s+(?:auto|\d+)/(\d+|-)`)

var ontapPair = piece.Compile(`^\s*([A-Z][\w ()-]+?): (.*)$`)

// ifstatNames are the cells of ifstat below RECEIVE and TRANSMIT.
var ifstatNames = map[string]string{"Total frames": "packets", "Total bytes": "bytes", "Total errors": "errors", "Total discards": "dropped", "CRC errors": "crc", "Runt frames": "runts",
	"Length errors": "length", "Alignment errors": "frame", "No buffer": "missed", "No buffers": "missed", "Bus overruns": "bus_overruns", "Queue overflow": "queue_overflow", "Pause": "pause", "Xon": "", "Xoff": "pause"}

func readONTAP(s *sink, lines []piece.Line) int {
	name, way, group := "", "", ""
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		if m := ifstatHead.FindStringSubmatch(text); m != nil {
			s.OfSystem("ontap", l)
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
			s.OfSystem("ontap", l)
			group = m[1]
			s.Set("link "+group, "kind", "ifgrp", l)
			s.Set("link "+group, "load_balance", m[2], l)
			s.Set("link "+group, "mac", m[3], l)
			s.Set("link "+group, "participation", m[4], l)
			for _, port := range strings.Fields(listed(m[5])) {
				s.Port(group, port, l)
			}
			return true
		}
		if m := ontapPort.FindStringSubmatch(text); m != nil {
			s.OfSystem("ontap", l)
			subject := "link " + m[1]
			s.Set(subject, "state", strings.ToUpper(m[4]), l)
			s.Set(subject, "mtu", m[5], l)
			s.Set(subject, "speed", map[bool]string{true: "unknown", false: m[6]}[m[6] == "-"], l)
			return true
		}
		if m := ontapPair.FindStringSubmatch(text); m != nil {
			value := strings.TrimSpace(m[2])
			switch m[1] {
			case "Interface Group Name":
				s.OfSystem("ontap", l)
				group = value
				s.Set("link "+group, "kind", "ifgrp", l)
			case "Distribution Function":
				s.Set("link "+cmp.Or(group, "ifgrp"), "load_balance", value, l)
			case "Create Policy":
				s.Set("link "+cmp.Or(group, "ifgrp"), "mode", value, l)
			case "Port Participation":
				s.Set("link "+cmp.Or(group, "ifgrp"), "participation", value, l)
			case "Network Ports":
				for _, port := range strings.Fields(listed(value)) {
					s.Port(cmp.Or(group, "ifgrp"), port, l)
				}
			case "Up Ports", "Active Ports":
				s.Set("link "+cmp.Or(group, "ifgrp"), "up_ports", listed(value), l)
			case "Down Ports":
				s.SetIf("link "+cmp.Or(group, "ifgrp"), "down_ports", listed(value), l)
			}
			return true
		}
		return strings.Trim(text, "- ") == "" || ontapHead.MatchString(text) || strings.HasPrefix(text, "Node") || len(strings.Fields(text)) == 1 && (group != "" || !strings.HasPrefix(l.Text, " ")) || strings.HasSuffix(text, "entries were displayed.")
	})
}

// ontapCells reads the cells of one line; large numbers are printed with three to five
// digits and a letter.
func (s *sink) ontapCells(subject, way, text string, cells [][]string, l piece.Line) {
	for _, cell := range cells {
		key := strings.TrimSpace(cell[1])
		value := piece.Bps(cell[2], cell[3])
		switch {
		case way == "rx_" && key == "Bytes/second", way == "tx_" && key == "Bytes/second":
			if n := piece.Atoi(value); n >= 0 && n < 1<<60 {
				s.Set(subject, "seen_"+way+"bps", strconv.Itoa(8*n), l)
			}
		case way == "rx_" || way == "tx_":
			if name := ifstatNames[key]; name != "" {
				s.SetIf(subject, way+name, value, l)
			}
		case key == "Speed":
			s.SetIf(subject, "speed", piece.Mbits(cell[2]+cell[3]), l)
		}
	}
	if at := strings.Index(text, "Duplex:"); at >= 0 && way == "link" {
		s.SetIf(subject, "duplex", strings.Trim(strings.Fields(text[at+len("Duplex:"):] + " -")[0], "|"), l)
	}
}

// NASPanel reads the network page of a NAS as people copy it: Synology, QNAP.
var NASPanel = piece.Reader{
	Kind: "NAS network page",
	Starts: func(line string) bool {
		return strings.Contains(line, "uplex") && nasStatus.MatchString(line) || len(line) < 40 && nasName.MatchString(line)
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		subject, rows := "", 0
		read := piece.EachLine(lines, func(l piece.Line, text string) bool {
			if rows == 0 && subject != "" && nasName.MatchString(text) {
				return false
			}
			if m := nasName.FindStringSubmatch(text); m != nil {
				subject = "link " + m[1]
				return true
			}
			if m := nasStatus.FindStringSubmatch(text); m != nil {
				name := cmp.Or(m[1], strings.TrimPrefix(subject, "link "))
				if name == "" {
					name = "LAN"
				}
				subject = "link " + name
				s.Set(subject, "speed", m[2], l)
				s.Set(subject, "duplex", strings.ToLower(m[3]), l)
				s.SetIf(subject, "mtu", m[4], l)
				rows++
				return true
			}
			key, value, ok := strings.Cut(text, ":")
			if !ok || subject == "" {
				return false
			}
			if strings.Contains(strings.ToLower(key), "mode") {
				s.SetIf(subject, "mode_words", strings.TrimSpace(value), l)
			}
			return true
		})
		if rows == 0 {
			return 0
		}
		return read
	}),
}

var nasName = piece.Compile(`^((?:LAN|Bond|Adapter|Ethernet|Trunk)[ -]?\d+(?: \+ \d+)?)(?:\s*\(.*\))?:?$`)

var nasStatus = piece.Compile(`^\s*(?:((?:LAN|Bond|Adapter|Trunk) ?\d+)[: ]+)?(?:[Nn]etwork )?(?:[Ss]tatus|[Ss]peed)?[: ]*(\d+) ?Mbps,? ([Ff]ull|[Hh]alf)[ -]?[Dd]uplex(?:, MTU:? (\d+))?$`)
