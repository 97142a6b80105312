package othertext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// WebPorts reads the table of port statistics that small web-managed switches show:
// good and bad packets each way (TP-Link, and those with Realtek's firmware), and
// Netgear's bytes and CRC errors.
var WebPorts = piece.Reader{
	Kind: "port statistics of a web page",
	Starts: func(line string) bool {
		return strings.Contains(line, "TxGoodPkt") && webHead.MatchString(line) || webCRC.MatchString(line)
	},
	Read: reading(readWebPorts),
}

var webHead = piece.Compile(`(?i)TxGoodPkts?\s+TxBadPkts?\s+RxGoodPkts?\s+RxBadPkts?`)

var webCRC = piece.Compile(`(?i)^\s*Port\s+Bytes Received\s+Bytes Sent\s+CRC Error Packets\s*$`)

var webRow = piece.Compile(`(?i)^\s*(?:Port\s*)?(\d+|[A-Z]+\d+)\s+(?:(Enabled?|Disabled?)\s+)?(?:(Link (?:Up|Down)|Down|\d+(?:\.\d+)?[MG]?(?:bps)?[ -]?(?:Full|Half)?(?: ?Duplex)?)\s+)?(\d+)\s+(\d+)\s+(\d+)(?:\s+(\d+))?(?:\s+(On|Off|Enabled?|Disabled?))?\s*$`)

var webSpeed = piece.Compile(`(?i)^(\d+(?:\.\d+)?)([MG]?)`)

func readWebPorts(s *sink, lines []piece.Line) int {
	crc := webCRC.MatchString(lines[0].Text)
	host := s.Host
	if !host.Switch {
		host = s.C.NamelessSwitch()
	}
	rows := 0
	read := piece.EachLine(lines, func(l piece.Line, text string) bool {
		if webHead.MatchString(text) || webCRC.MatchString(text) || strings.Trim(text, "- ") == "" {
			return true
		}
		m := webRow.FindStringSubmatch(text)
		if m == nil || !crc && m[7] == "" || crc && m[7] != "" {
			return false
		}
		rows++
		subject, at := "port "+m[1], l.Source()
		if crc {
			host.Set(subject, "rx_bytes", m[4], at)
			host.Set(subject, "tx_bytes", m[5], at)
			host.Set(subject, "rx_crc", m[6], at)
			return true
		}
		if v := webSpeed.FindStringSubmatch(m[3]); v != nil {
			unit := map[string]string{"": "M", "m": "M", "M": "M", "g": "G", "G": "G"}[v[2]]
			if mbits := piece.Mbits(v[1] + unit); mbits != "" {
				host.Set(subject, "speed", mbits, at)
			}
			host.Set(subject, "state", "up", at)
		} else if strings.Contains(strings.ToLower(m[3]), "down") {
			host.Set(subject, "state", "down", at)
		}
		host.Set(subject, "tx_packets", m[4], at)
		host.Set(subject, "drops", m[5], at)
		host.Set(subject, "rx_packets", m[6], at)
		host.Set(subject, "rx_crc", m[7], at)
		if m[8] != "" {
			host.Set(subject, "flow_control", piece.YesNo[strings.HasPrefix(strings.ToLower(m[8]), "on") || strings.HasPrefix(strings.ToLower(m[8]), "enable")], at)
		}
		return true
	})
	if rows == 0 {
		return 0
	}
	return read
}

// EdgeOffload reads EdgeOS's `show ubnt offload`: what its chip forwards by itself.
var EdgeOffload = piece.Reader{
	Kind:     "EdgeOS offload",
	Commands: []string{"show"},
	Starts:   func(line string) bool { return strings.HasPrefix(line, "IP offload module") },
	Read: reading(func(s *sink, lines []piece.Line) int {
		family := ""
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			if text == "IPv4" || text == "IPv6" {
				family = strings.ToLower(text) + "."
				return true
			}
			m := offloadPair.FindStringSubmatch(text)
			if m == nil {
				return false
			}
			if family != "" && strings.HasPrefix(l.Text, " ") {
				s.Set("host", "offload."+family+m[1], m[2], l)
			}
			return true
		})
	}),
}

var offloadPair = piece.Compile(`^([\w -]+?)\s*: (enabled|disabled|loaded|not loaded)$`)
