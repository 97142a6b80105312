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
