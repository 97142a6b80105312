package hosttext

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Optics reads ethtool -m: what a plugged module says of itself.
var Optics = piece.Reader{
	Kind:     "ethtool -m",
	Commands: []string{"ethtool"},
	Starts:   func(line string) bool { return opticHead.MatchString(line) },
	Read:     reading(readOptics),
}

var opticHead = piece.Compile(`^\s*Identifier\s+: 0x[0-9a-f]{2} \(`)

// opticLine is one value; of several lanes each has its own.
var opticLine = piece.Compile(`^\s*([A-Z][^:]*?(?:\(Channel \d+\))?)\s*: (.*)$`)

// receivedPower names the light that arrives, in the words of SFP and QSFP
// (sff-8472 and sff-8636 of ethtool(8)).
var receivedPower = piece.Compile(`^(?:Receiver signal average optical power|Rcvr signal avg optical power(?:\s*\(Channel \d+\))?|Receiver signal OMA)$`)

// lowLight are the module's own flags that it is too little.
var lowLight = piece.Compile(`^(?:Laser rx power low (alarm|warning)|Receiver signal average optical power low (alarm|warning)|Rx power low (alarm|warning).*|Laser rx power low (alarm|warning) .*)$`)

var decibels = piece.Compile(`(-?\d+(?:\.\d+)?|-inf) dBm`)

func readOptics(s *sink, lines []piece.Line) int {
	names := s.Segment.LinksOf("ethtool")
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		m := opticLine.FindStringSubmatch(text)
		if m == nil || l.Number != lines[0].Number && opticHead.MatchString(text) {
			return false
		}
		if len(names) != 1 {
			return true // whose it is, nobody says
		}
		subject, key, value := "link "+names[0], strings.TrimSpace(m[1]), strings.TrimSpace(m[2])
		switch {
		case receivedPower.MatchString(key):
			if d := decibels.FindStringSubmatch(value); d != nil {
				lowest(s, subject, d[1], l)
			}
		case value == "On":
			if low := lowLight.FindStringSubmatch(key); low != nil {
				now, _ := s.Host.Get(subject, "optic_rx_low")
				for _, word := range low[1:] {
					if word != "" && now.Text != "alarm" {
						s.Set(subject, "optic_rx_low", word, l)
					}
				}
			}
		case key == "Vendor name":
			s.SetIf(subject, "optic_vendor", value, l)
		case key == "Transceiver type":
			s.SetIf(subject, "optic_type", value, l)
		}
		return true
	})
}

// lowest keeps the least light of a module's lanes.
func lowest(s *sink, subject, dbm string, l piece.Line) {
	if now, ok := s.Host.Get(subject, "optic_rx_dbm"); ok {
		least, err := strconv.ParseFloat(now.Text, 64)
		if power, bad := strconv.ParseFloat(dbm, 64); err != nil || bad != nil || least <= power {
			return
		}
	}
	s.Set(subject, "optic_rx_dbm", dbm, l)
}
