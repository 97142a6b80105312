package switchtext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// FortinetAggregate reads FortiOS's `diagnose netlink aggregate name`: the aggregate,
// then each of its ports with both ends' LACP state and its aggregator.
var FortinetAggregate = piece.Reader{
	Kind:     "diagnose netlink aggregate",
	Commands: []string{"diagnose", "diag"},
	Starts: func(line string) bool {
		return strings.HasPrefix(line, "LACP flags: (A|P)") || strings.HasPrefix(line, "(A|P) - LACP mode is ")
	},
	Read: reading(readFortinet),
}

// fortinetLegend explains the six letters of a state.
var fortinetLegend = piece.Compile(`^(?:LACP flags: )?\([A-Z]\|[A-Z]\)`)

// fortinetSet are the letters of a state of which each means that its bit is set.
const fortinetSet = "AFAIEE"

var fortinetState = piece.Compile(`^[AP][SF][AI][IO][ED][ED]$`)

func readFortinet(s *sink, lines []piece.Line) int {
	channel, port, group, rows := "aggregate", "", "", 0
	if f := strings.Fields(s.Segment.Command); len(f) > 4 && f[2] == "aggregate" && f[3] == "name" {
		channel = f[4]
	}
	n := piece.EachLine(lines, func(l piece.Line, text string) bool {
		if fortinetLegend.MatchString(text) {
			return true
		}
		key, value, ok := strings.Cut(text, ": ")
		if !ok {
			return false
		}
		value = strings.TrimSpace(value)
		subject := "port " + port
		switch key {
		case "slave":
			s.ofSwitch("fortios", l)
			port, rows = value, rows+1
			s.join(channel, port, l)
		case "LACP mode":
			s.ofSwitch("fortios", l)
			s.Set("channel "+channel, "protocol", map[bool]string{true: "static", false: "lacp"}[value == "static"], l)
		case "distribution algorithm":
			s.Set("channel "+channel, "hash", value, l)
		case "aggregator ID":
			if port == "" {
				group = value
			} else if group != "" {
				s.Set(subject, "bundled", piece.YesNo[value == group], l)
			}
		case "actor state", "partner state":
			if port != "" && fortinetState.MatchString(value) {
				s.Set(subject, strings.ReplaceAll(key, " ", "_"), fortinetNumber(value), l)
			}
		case "status":
			if port != "" {
				s.Set(subject, "state", value, l)
			}
		case "link failure count", "permanent MAC addr", "ports", "actor key", "actor MAC address", "partner key", "partner MAC address", "LACP speed", "LACP HA", "min-links", "ha",
			"npu", "flush", "asic helper", "oid", "link-up-delay", "speed", "duplex", "RX state", "MUX state", "actor port number", "partner port number":
		default:
			return strings.HasPrefix(key, "actor ") || strings.HasPrefix(key, "partner ")
		}
		return true
	})
	if rows == 0 {
		return 0
	}
	return n
}

// fortinetNumber is a state's letters as the number that LACP sends.
func fortinetNumber(letters string) string {
	bits := []byte(letters)
	for i := range bits {
		bits[i] = '0'
		if letters[i] == fortinetSet[i] {
			bits[i] = '1'
		}
	}
	return bitState(string(bits))
}
