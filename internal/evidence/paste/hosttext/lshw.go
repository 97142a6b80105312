package hosttext

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Lshw reads what lshw says of network cards: their speed as it came up (size), what
// they can do (capacity, and the modes among their capabilities), driver and duplex.
var Lshw = piece.Reader{
	Kind:     "lshw",
	Commands: []string{"lshw"},
	Starts: func(line string) bool {
		return strings.Contains(line, "*-network") && lshwHead.MatchString(line) || strings.Contains(line, "description: Ethernet interface")
	},
	Read: reading(readLshw),
}

var (
	lshwHead  = piece.Compile(`^\s*\*-network(?::\d+)?(?: DISABLED| UNCLAIMED)?\s*$`)
	lshwOther = piece.Compile(`^\s*\*-[a-z]+(?::\d+)?`)
	lshwLine  = piece.Compile(`^\s+(description|product|vendor|physical id|bus info|logical name|version|serial|size|capacity|width|clock|capabilities|configuration|resources|slot): +(.*?)\s*$`)
	// lshwSlot is a place behind a bridge: what is on the first bus is part of the board.
	lshwSlot  = piece.Compile(`^pci@[0-9a-f]{4}:(?:0[1-9a-f]|[1-9a-f][0-9a-f]):`)
	lshwModes = piece.Compile(`\b(\d+)bt(?:-fd)?\b`)
)

func readLshw(s *sink, lines []piece.Line) (read int) {
	var card map[string]piece.Line
	keep := func() {
		if name := lshwValue(card["logical name"]); name != "" {
			s.lshwCard("link "+name, card)
		}
	}
	for i, l := range lines {
		if strings.TrimSpace(l.Text) == "" {
			continue
		}
		m := lshwLine.FindStringSubmatch(l.Text)
		switch {
		case lshwOther.MatchString(l.Text):
			keep()
			if card = nil; lshwHead.MatchString(l.Text) {
				card = make(map[string]piece.Line)
			}
		case m == nil:
			keep()
			return read
		case card == nil && m[1] == "description" && strings.HasPrefix(m[2], "Ethernet interface"): // the head was left out
			card = map[string]piece.Line{m[1]: l}
		case card != nil:
			if _, again := card[m[1]]; !again {
				card[m[1]] = l
			}
		}
		read = i + 1
	}
	keep()
	return read
}

func lshwValue(l piece.Line) string {
	if m := lshwLine.FindStringSubmatch(l.Text); m != nil {
		return m[2]
	}
	return ""
}

func (s *sink) lshwCard(subject string, card map[string]piece.Line) {
	set := func(key, value string, l piece.Line) {
		if value != "" {
			s.Set(subject, key, value, l)
		}
	}
	set("there", "yes", card["logical name"])
	set("description", strings.TrimSpace(lshwValue(card["vendor"])+" "+lshwValue(card["product"])), card["product"])
	if bus, caps := lshwValue(card["bus info"]), lshwValue(card["capabilities"]); lshwValue(card["width"]) == "32 bits" && lshwSlot.MatchString(bus) &&
		caps != "" && !strings.Contains(caps, "pciexpress") && lshwValue(card["clock"]) != "" {
		set("pci_legacy", lshwValue(card["clock"]), card["clock"])
	}
	most := piece.Atoi(piece.Mbits(lshwValue(card["capacity"])))
	for _, m := range lshwModes.FindAllStringSubmatch(lshwValue(card["capabilities"]), 32) {
		most = max(most, piece.Atoi(m[1]))
	}
	config := card["configuration"]
	for _, word := range strings.Fields(lshwValue(config)) {
		switch key, value, _ := strings.Cut(word, "="); key {
		case "driver", "duplex":
			set(key, value, config)
		case "link":
			set("carrier", value, config)
		case "autonegotiation":
			set("autoneg", value, config)
		case "speed":
			set("speed", piece.Mbits(value), config)
		}
	}
	// Older versions wrote 1GB/s and meant bits.
	if speed := piece.Mbits(strings.Replace(lshwValue(card["size"]), "B/s", "bit/s", 1)); speed != "" {
		set("speed", speed, card["size"])
		if most > 0 {
			set("speed_max", strconv.Itoa(most), card["capacity"])
		}
	}
}
