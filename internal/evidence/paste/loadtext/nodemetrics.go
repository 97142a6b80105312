package loadtext

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// NodeMetrics reads node_exporter's counters of links.
var NodeMetrics = piece.Reader{
	Kind:     "node_exporter",
	Commands: []string{"curl", "wget"},
	Starts: func(line string) bool {
		return strings.Contains(line, "node_network_") || strings.Contains(line, "node_bonding_")
	},
	Read: reading(readNodeMetrics),
}

var metricRow = piece.Compile(`^(node_(?:network|bonding)_\w+)\{([^}]*)\}\s+([-+\d.eEInfNa]+)$`)

var metricLabel = piece.Compile(`(\w+)="([^"]*)"`)

var metricFacts = map[string]string{"receive_bytes_total": "rx_bytes", "transmit_bytes_total": "tx_bytes", "receive_packets_total": "rx_packets", "transmit_packets_total": "tx_packets",
	"receive_errs_total": "rx_errors", "transmit_errs_total": "tx_errors", "receive_drop_total": "rx_dropped", "transmit_drop_total": "tx_dropped", "receive_fifo_total": "rx_fifo",
	"receive_frame_total": "rx_frame", "transmit_carrier_total": "tx_carrier", "carrier_changes_total": "carrier_changes", "mtu_bytes": "mtu",
	"receive_bytes": "rx_bytes", "transmit_bytes": "tx_bytes", "receive_drop": "rx_dropped", "receive_errs": "rx_errors"}

func readNodeMetrics(s *sink, lines []piece.Line) (read int) {
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		m := metricRow.FindStringSubmatch(text)
		if m == nil {
			if read > 0 && strings.HasPrefix(text, "# ") {
				read = i + 1
				continue
			}
			break
		}
		read = i + 1
		labels := make(map[string]string)
		for _, label := range metricLabel.FindAllStringSubmatch(m[2], 32) {
			labels[label[1]] = label[2]
		}
		value, err := strconv.ParseFloat(m[3], 64)
		if err != nil || !(value >= 0 && value < 1e19) {
			continue
		}
		count := strconv.FormatFloat(value, 'f', 0, 64)
		name := strings.TrimPrefix(m[1], "node_network_")
		switch subject := "link " + labels["device"]; {
		case m[1] == "node_bonding_active" && labels["master"] != "":
			s.Set("link "+labels["master"], "ports_up", count, l)
		case m[1] == "node_bonding_slaves" && labels["master"] != "":
			s.Set("link "+labels["master"], "kind", "bond", l)
			s.Set("link "+labels["master"], "ports", count, l)
		case labels["device"] == "":
		case name == "speed_bytes":
			s.Set(subject, "speed", strconv.FormatFloat(value*8/1e6, 'f', 0, 64), l)
		case name == "carrier":
			s.Set(subject, "carrier", map[bool]string{true: "yes", false: "no"}[value > 0], l)
		case name == "info":
			if d := labels["duplex"]; d != "" && d != "unknown" {
				s.Set(subject, "duplex", d, l)
			}
			if state := labels["operstate"]; state != "" {
				s.Set(subject, "state", strings.ToUpper(state), l)
			}
		case metricFacts[name] != "":
			s.Set(subject, metricFacts[name], count, l)
		}
	}
	return read
}
