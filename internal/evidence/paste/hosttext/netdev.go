package hosttext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// NetDev reads /proc/net/dev (net-procfs.c dev_seq_printf_stats).
var NetDev = piece.Reader{
	Kind: "/proc/net/dev",
	Starts: func(line string) bool {
		return strings.Contains(line, "|") && (strings.HasPrefix(strings.TrimSpace(line), "Inter-|") || strings.HasPrefix(strings.TrimSpace(line), "face |")) || netDevRow.MatchString(line)
	},
	Read: reading(readNetDev),
}

var netDevRow = piece.Compile(`^\s*([A-Za-z][\w.@-]*):\s*(\d+(?:\s+\d+){15})\s*$`)

var netDevKeys = strings.Fields("rx_bytes rx_packets rx_errors rx_dropped rx_fifo rx_frame - - tx_bytes tx_packets tx_errors tx_dropped tx_fifo tx_collisions tx_carrier -")

func readNetDev(s *sink, lines []piece.Line) (read int) {
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		m := netDevRow.FindStringSubmatch(text)
		if m == nil && !strings.HasPrefix(text, "Inter-|") && !strings.HasPrefix(text, "face |") {
			break
		}
		read = i + 1
		if m == nil {
			continue
		}
		for n, v := range strings.Fields(m[2]) {
			if netDevKeys[n] != "-" {
				s.Set("link "+m[1], netDevKeys[n], v, l)
			}
		}
	}
	return read
}

// NetstatLinks reads `netstat -i` of net-tools: packets, and what was lost, by link
// (lib/interface.c ife_print_short). Cumulus writes its columns with underscores.
var NetstatLinks = piece.Reader{
	Kind:     "netstat -i",
	Commands: []string{"netstat"},
	Starts: func(line string) bool {
		return strings.Contains(line, "RX-OK") && strings.HasPrefix(strings.TrimSpace(line), "Iface")
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		columns := strings.Fields(lines[0].Text)
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			f := strings.Fields(text)
			if f[0] == "Iface" {
				columns = f
				return true
			}
			if len(f) != len(columns) || !piece.Digits.MatchString(f[1]) {
				return false
			}
			for i, name := range columns {
				switch key := netstatKeys[name]; {
				case name == "Flg":
					s.netstatFlags("link "+f[0], f[i], l)
				case key != "" && piece.Digits.MatchString(f[i]):
					s.Set("link "+f[0], key, f[i], l)
				}
			}
			return true
		})
	}),
}

var netstatKeys = map[string]string{"MTU": "mtu", "RX-OK": "rx_packets", "RX-ERR": "rx_errors", "RX-DRP": "rx_dropped", "RX-OVR": "rx_overrun", "TX-OK": "tx_packets", "TX-ERR": "tx_errors", "TX-DRP": "tx_dropped", "TX-OVR": "tx_overrun"}

// netstatFlags reads the letters of a link's flags: m a bond, s one of its ports, U up.
func (s *sink) netstatFlags(subject, letters string, l piece.Line) {
	state := "DOWN"
	for letter, flag := range map[string]string{"s": "SLAVE", "m": "MASTER", "U": "UP"} {
		if !strings.Contains(letters, letter) {
			continue
		}
		if flag == "UP" {
			state = "UP"
			continue
		}
		s.Set(subject, "flags", flag, l)
	}
	s.Set(subject, "state", state, l)
}
