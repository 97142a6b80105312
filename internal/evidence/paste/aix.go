package paste

import (
	"regexp"
	"strings"
)

// aixAttributes reads AIX's `lsattr -El DEVICE`: an attribute, its value, words, and
// whether it can be set.
var aixAttributes = reader{
	kind:     "lsattr",
	commands: []string{"lsattr"},
	starts: func(line string) bool {
		return (strings.HasSuffix(line, "True") || strings.HasSuffix(line, "False") || strings.HasSuffix(line, "True+")) && aixNames[strings.Fields(line)[0]]
	},
	owns: func(s Segment, line string) bool { return program(s.Command) == "lsattr" && aixRow.MatchString(line) },
	read: func(s *sink, lines []Line) int {
		name := "etherchannel"
		if m := aixAsked.FindStringSubmatch(s.segment.Command); m != nil {
			name = m[1]
		}
		return eachLine(lines, func(l Line, text string) bool {
			m := aixRow.FindStringSubmatch(text)
			if m == nil {
				return false
			}
			s.ofSystem("aix", l)
			subject := "link " + name
			value := strings.TrimSpace(m[2])
			switch m[1] {
			case "adapter_names":
				s.set(subject, "kind", "etherchannel", l)
				for _, port := range strings.Split(value, ",") {
					s.port(name, port, l)
				}
			case "mtu":
				s.setIf(subject, "mtu", numberText(value), l)
			case "alt_addr", "netaddr":
			default:
				if value != "NONE" {
					s.setIf(subject, m[1], value, l)
				}
			}
			return true
		})
	},
}

var (
	aixNames = words(`adapter_names alt_addr auto_recovery backup_adapter hash_mode interval mode netaddr noloss_failover num_retries retry_time use_alt_addr use_jumbo_frame
		jumbo_frames large_send large_receive chksum_offload flow_ctrl media_speed rfc1323 tcp_nodelay tcp_recvspace tcp_sendspace mtu_bypass queues_rx queues_tx rx_max_pkts thread
		real_adapter virt_adapters pvid ha_mode`)
	aixRow   = regexp.MustCompile(`^\s*([a-z]\w*)\s+(\S*)\s{1,}(?:.*\s)?(?:True\+?|False)$`)
	aixAsked = regexp.MustCompile(`(?:-El|-E -l|-l)\s*(\w+)`)
)

// aixStatistics reads AIX's `entstat -d`, and the same blocks of `netstat -v`.
var aixStatistics = reader{
	kind:     "entstat",
	commands: []string{"entstat", "netstat"},
	starts: func(line string) bool {
		return strings.HasPrefix(line, "ETHERNET STATISTICS (") || strings.HasPrefix(line, "IEEE 802.3ad Link Aggregation Statistics:") || strings.HasPrefix(line, "IEEE 802.3ad Port Statistics:") || strings.HasPrefix(line, "Statistics for every adapter in the")
	},
	read: readEntstat,
}

var (
	aixHead  = regexp.MustCompile(`^ETHERNET STATISTICS \((\w+)\)`)
	aixPairs = regexp.MustCompile(`([A-Z][A-Za-z0-9 ./-]*?): +(\S+)`)
	aixSpeed = regexp.MustCompile(`^(\d+) (Mbps|Gbps) (Full|Half) Duplex`)
	// aixCounters are the rows that have two halves: what was sent, what came.
	aixCounters = map[string][2]string{"Packets": {"tx_packets", "rx_packets"}, "Bytes": {"tx_bytes", "rx_bytes"}, "Transmit Errors": {"tx_errors", ""}, "Receive Errors": {"", "rx_errors"},
		"Packets Dropped": {"tx_dropped", "rx_dropped"}, "Bad Packets": {"", "rx_bad"}, "CRC Errors": {"", "rx_crc"}, "No Resource Errors": {"", "rx_missed"},
		"Max Packets on S/W Transmit Queue": {"tx_queue_max", ""}, "S/W Transmit Queue Overflow": {"tx_queue_overflow", ""}}
)

func readEntstat(s *sink, lines []Line) int {
	name, channel, side := "", "", "actor"
	s.ofSystem("aix", lines[0])
	return eachLine(lines, func(l Line, text string) bool {
		subject := "link " + firstOf(name, "etherchannel")
		if m := aixHead.FindStringSubmatch(text); m != nil {
			if name = m[1]; channel != "" && channel != name {
				s.port(channel, name, l)
			}
			s.set("link "+name, "there", "yes", l)
			return true
		}
		key, value, ok := strings.Cut(text, ":")
		value = strings.TrimSpace(value)
		if halves := aixPairs.FindAllStringSubmatch(text, -1); ok && len(halves) > 0 {
			for i, half := range halves {
				names, known := aixCounters[strings.TrimSpace(half[1])]
				if !known || !digits.MatchString(half[2]) {
					continue
				}
				counter := names[min(i, 1)]
				if counter == "" || i == 0 && len(halves) == 1 && names[0] == "" {
					counter = firstOf(names[0], names[1])
				}
				s.set(subject, counter, half[2], l)
			}
		}
		switch strings.TrimSpace(key) {
		case "Device Type":
			s.set(subject, "description", value, l)
			if strings.Contains(value, "Link Aggregation") || strings.Contains(value, "EtherChannel") {
				channel = name
				s.set(subject, "kind", "etherchannel", l)
			}
		case "Hardware Address":
			s.setIf(subject, "mac", macText(value), l)
		case "Adapter Data Rate":
			s.setIf(subject, "speed", numberText(value), l)
		case "Media Speed Running":
			if m := aixSpeed.FindStringSubmatch(value); m != nil {
				s.setIf(subject, "speed", mbits(m[1]+" "+m[2]), l)
				s.set(subject, "duplex", strings.ToLower(m[3]), l)
			}
		case "Physical Port Link State", "Link Status":
			s.set(subject, "carrier", yesNo[strings.EqualFold(value, "up")], l)
		case "Hash mode":
			s.set("link "+firstOf(channel, name, "etherchannel"), "hash_words", value, l)
		case "Operating mode":
			s.set("link "+firstOf(channel, name, "etherchannel"), "operating_mode", value, l)
		case "Aggregation status":
			s.set(subject, "aggregation", strings.ToLower(value), l)
		case "Active channel":
			s.set("link "+firstOf(channel, name, "etherchannel"), "active_channel", value, l)
		case "LACPDU Interval":
			s.set(subject, "lacp_interval", strings.ToLower(value), l)
		case "Received LACPDUs", "Transmitted LACPDUs":
			s.setIf(subject, map[string]string{"Received LACPDUs": "rx_lacp", "Transmitted LACPDUs": "tx_lacp"}[key], numberText(value), l)
		case "Actor State":
			side = "actor"
		case "Partner State":
			side = "partner"
		case "Partner System":
			s.setIf(subject, "partner_mac", macText(strings.ReplaceAll(value, "0x", "")), l)
		case "Synchronization":
			s.set(subject, side+"_sync", strings.ToLower(value), l)
		case "Distributing":
			s.set(subject, side+"_distributing", strings.ToLower(value), l)
		}
		return ok || strings.Trim(text, "-= ") == "" || strings.HasPrefix(l.Text, "\t") || strings.HasPrefix(l.Text, " ") || strings.HasSuffix(text, "Statistics")
	})
}

// aixDevices reads AIX's `lsdev -Cc adapter`.
var aixDevices = reader{
	kind:     "lsdev",
	commands: []string{"lsdev"},
	starts: func(line string) bool {
		return strings.HasPrefix(line, "ent") && aixDevice.MatchString(line)
	},
	read: func(s *sink, lines []Line) int {
		return eachLine(lines, func(l Line, text string) bool {
			m := aixDevice.FindStringSubmatch(text)
			if m == nil {
				return false
			}
			s.ofSystem("aix", l)
			if strings.HasPrefix(m[1], "en") {
				s.set("link "+m[1], "status", strings.ToLower(m[2]), l)
				s.setIf("link "+m[1], "description", m[4], l)
				if strings.HasPrefix(m[4], "EtherChannel") {
					s.set("link "+m[1], "kind", "etherchannel", l)
				}
			}
			return true
		})
	},
}

var aixDevice = regexp.MustCompile(`^([a-z]+\d+)\s+(Available|Defined)\s+(?:(\w\w(?:-\w\w)+)\s+)?(\S.*)$`)
