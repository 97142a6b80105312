package othertext

import (
	"cmp"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// AIXAttributes reads AIX's `lsattr -El DEVICE`: an attribute, its value, words, and
// whether it can be set.
var AIXAttributes = piece.Reader{
	Kind:     "lsattr",
	Commands: []string{"lsattr"},
	Starts: func(line string) bool {
		return (strings.HasSuffix(line, "True") || strings.HasSuffix(line, "False") || strings.HasSuffix(line, "True+")) && aixNames[strings.Fields(line)[0]]
	},
	Owns: func(s piece.Segment, line string) bool {
		return piece.Program(s.Command) == "lsattr" && aixRow.MatchString(line)
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		name := "etherchannel"
		if m := aixAsked.FindStringSubmatch(s.Segment.Command); m != nil {
			name = m[1]
		}
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			m := aixRow.FindStringSubmatch(text)
			if m == nil {
				return false
			}
			s.OfSystem("aix", l)
			subject := "link " + name
			value := strings.TrimSpace(m[2])
			switch m[1] {
			case "adapter_names":
				s.Set(subject, "kind", "etherchannel", l)
				for _, port := range strings.Split(value, ",") {
					s.Port(name, port, l)
				}
			case "mtu":
				s.SetIf(subject, "mtu", piece.NumberText(value), l)
			case "alt_addr", "netaddr":
			default:
				if value != "NONE" {
					s.SetIf(subject, m[1], value, l)
				}
			}
			return true
		})
	}),
}

var aixNames = piece.Words(`adapter_names alt_addr auto_recovery backup_adapter hash_mode interval mode netaddr noloss_failover num_retries retry_time use_alt_addr use_jumbo_frame
		jumbo_frames large_send large_receive chksum_offload flow_ctrl media_speed rfc1323 tcp_nodelay tcp_recvspace tcp_sendspace mtu_bypass queues_rx queues_tx rx_max_pkts thread
		real_adapter virt_adapters pvid ha_mode`)

var aixRow = piece.Compile(`^\s*([a-z]\w*)\s+(\S*)\s{1,}(?:.*\s)?(?:True\+?|False)$`)

var aixAsked = piece.Compile(`(?:-El|-E -l|-l)\s*(\w+)`)

// AIXStatistics reads AIX's `entstat -d`, and the same blocks of `netstat -v`.
var AIXStatistics = piece.Reader{
	Kind:     "entstat",
	Commands: []string{"entstat", "netstat"},
	Starts: func(line string) bool {
		return strings.HasPrefix(line, "ETHERNET STATISTICS (") || strings.HasPrefix(line, "IEEE 802.3ad Link Aggregation Statistics:") || strings.HasPrefix(line, "IEEE 802.3ad Port Statistics:") || strings.HasPrefix(line, "Statistics for every adapter in the")
	},
	Read: reading(readEntstat),
}

var aixHead = piece.Compile(`^ETHERNET STATISTICS \((\w+)\)`)

var aixPairs = piece.Compile(`([A-Z][A-Za-z0-9 ./-]*?): +(\S+)`)

var aixSpeed = piece.Compile(`^(\d+) (Mbps|Gbps) (Full|Half) Duplex`)

// aixCounters are the rows that have two halves: what was sent, what came.
var aixCounters = map[string][2]string{"Packets": {"tx_packets", "rx_packets"}, "Bytes": {"tx_bytes", "rx_bytes"}, "Transmit Errors": {"tx_errors", ""}, "Receive Errors": {"", "rx_errors"},
	"Packets Dropped": {"tx_dropped", "rx_dropped"}, "Bad Packets": {"", "rx_bad"}, "CRC Errors": {"", "rx_crc"}, "No Resource Errors": {"", "rx_missed"},
	"Max Packets on S/W Transmit Queue": {"tx_queue_max", ""}, "S/W Transmit Queue Overflow": {"tx_queue_overflow", ""}}

func readEntstat(s *sink, lines []piece.Line) int {
	name, channel, side := "", "", "actor"
	s.OfSystem("aix", lines[0])
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		subject := "link " + cmp.Or(name, "etherchannel")
		if m := aixHead.FindStringSubmatch(text); m != nil {
			if name = m[1]; channel != "" && channel != name {
				s.Port(channel, name, l)
			}
			s.Set("link "+name, "there", "yes", l)
			return true
		}
		key, value, ok := strings.Cut(text, ":")
		value = strings.TrimSpace(value)
		if halves := aixPairs.FindAllStringSubmatch(text, -1); ok && len(halves) > 0 {
			for i, half := range halves {
				names, known := aixCounters[strings.TrimSpace(half[1])]
				if !known || !piece.Digits.MatchString(half[2]) {
					continue
				}
				counter := names[min(i, 1)]
				if counter == "" || i == 0 && len(halves) == 1 && names[0] == "" {
					counter = cmp.Or(names[0], names[1])
				}
				s.Set(subject, counter, half[2], l)
			}
		}
		switch strings.TrimSpace(key) {
		case "Device Type":
			s.Set(subject, "description", value, l)
			if strings.Contains(value, "Link Aggregation") || strings.Contains(value, "EtherChannel") {
				channel = name
				s.Set(subject, "kind", "etherchannel", l)
			}
		case "Hardware Address":
			s.SetIf(subject, "mac", piece.MacText(value), l)
		case "Adapter Data Rate":
			s.SetIf(subject, "speed", piece.NumberText(value), l)
		case "Media Speed Running":
			if m := aixSpeed.FindStringSubmatch(value); m != nil {
				s.SetIf(subject, "speed", piece.Mbits(m[1]+" "+m[2]), l)
				s.Set(subject, "duplex", strings.ToLower(m[3]), l)
			}
		case "Physical Port Link State", "Link Status":
			s.Set(subject, "carrier", piece.YesNo[strings.EqualFold(value, "up")], l)
		case "Hash mode":
			s.Set("link "+cmp.Or(channel, name, "etherchannel"), "hash_words", value, l)
		case "Operating mode":
			s.Set("link "+cmp.Or(channel, name, "etherchannel"), "operating_mode", value, l)
		case "Aggregation status":
			s.Set(subject, "aggregation", strings.ToLower(value), l)
		case "Active channel":
			s.Set("link "+cmp.Or(channel, name, "etherchannel"), "active_channel", value, l)
		case "LACPDU Interval":
			s.Set(subject, "lacp_interval", strings.ToLower(value), l)
		case "Received LACPDUs", "Transmitted LACPDUs":
			s.SetIf(subject, map[string]string{"Received LACPDUs": "rx_lacp", "Transmitted LACPDUs": "tx_lacp"}[key], piece.NumberText(value), l)
		case "Actor State":
			side = "actor"
		case "Partner State":
			side = "partner"
		case "Partner System":
			s.SetIf(subject, "partner_mac", piece.MacText(strings.ReplaceAll(value, "0x", "")), l)
		case "Synchronization":
			s.Set(subject, side+"_sync", strings.ToLower(value), l)
		case "Distributing":
			s.Set(subject, side+"_distributing", strings.ToLower(value), l)
		}
		return ok || strings.Trim(text, "-= ") == "" || strings.HasPrefix(l.Text, "\t") || strings.HasPrefix(l.Text, " ") || strings.HasSuffix(text, "Statistics")
	})
}

// AIXDevices reads AIX's `lsdev -Cc adapter`.
var AIXDevices = piece.Reader{
	Kind:     "lsdev",
	Commands: []string{"lsdev"},
	Starts: func(line string) bool {
		return strings.HasPrefix(line, "ent") && aixDevice.MatchString(line)
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			m := aixDevice.FindStringSubmatch(text)
			if m == nil {
				return false
			}
			s.OfSystem("aix", l)
			if strings.HasPrefix(m[1], "en") {
				s.Set("link "+m[1], "status", strings.ToLower(m[2]), l)
				s.SetIf("link "+m[1], "description", m[4], l)
				if strings.HasPrefix(m[4], "EtherChannel") {
					s.Set("link "+m[1], "kind", "etherchannel", l)
				}
			}
			return true
		})
	}),
}

var aixDevice = piece.Compile(`^([a-z]+\d+)\s+(Available|Defined)\s+(?:(\w\w(?:-\w\w)+)\s+)?(\S.*)$`)
