package loadtext

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// KernelCounters reads nstat, netstat -s, and /proc/net/netstat and snmp.
var KernelCounters = piece.Reader{
	Kind:     "counters of the kernel",
	Commands: []string{"nstat", "netstat"},
	Starts: func(line string) bool {
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(text, "#kernel"), statsBlocks[text] != "":
			return true
		case strings.Contains(text, "segments retransmi"), strings.Contains(text, "segments sent out"), strings.HasPrefix(text, "Detected reordering"):
			return true
		}
		return nstatRow.MatchString(text) || procStats(text) || statsNamed.MatchString(text) && counterPrefix(text)
	},
	Read: reading(readCounters),
}

var nstatRow = piece.Compile(`^((?:Ip6?|Tcp|TcpExt|Udp6?|UdpLite6?|IpExt|Icmp6?\w*|MPTcpExt)[A-Z]\w*)\s+(\d+)(?:\s+[\d.]+)?$`)

var statsFirst = piece.Compile(`^(\d+) (.+)$`)

var statsNamed = piece.Compile(`^(\w+): (\d+)$`)

var statsInner = piece.Compile(`^Detected reordering (\d+) times using (.+)$`)

// statsBlocks are the headings of netstat -s, and what nstat puts before its names.
var statsBlocks = map[string]string{"Ip:": "Ip", "Icmp:": "Icmp", "IcmpMsg:": "IcmpMsg", "Tcp:": "Tcp", "TcpExt:": "TcpExt", "Udp:": "Udp", "UdpLite:": "UdpLite",
	"IpExt:": "IpExt", "Ip6:": "Ip6", "Udp6:": "Udp6", "MPTcpExt:": "MPTcpExt"}

// statsSentences are netstat's sentences behind or before a number, as nstat's names.
var statsSentences = []struct{ mark, name string }{
	{"bad segments", "TcpInErrs"}, {"segments retransmi", "TcpRetransSegs"}, {"segments sent out", "TcpOutSegs"}, {"segments send out", "TcpOutSegs"}, {"segments received", "TcpInSegs"},
	{"resets sent", "TcpOutRsts"}, {"connection resets received", "TcpEstabResets"}, {"connections established", "TcpCurrEstab"},
	{"active connection", "TcpActiveOpens"}, {"passive connection", "TcpPassiveOpens"}, {"failed connection attempts", "TcpAttemptFails"},
	{"fast retransmits", "TcpExtTCPFastRetrans"}, {"retransmits in slow start", "TcpExtTCPSlowStartRetrans"}, {"other TCP timeouts", "TcpExtTCPTimeouts"},
	{"collapsed in receive queue", "TcpExtTCPRcvCollapsed"}, {"pruned from receive queue because of socket buffer overrun", "TcpExtPruneCalled"},
	{"pruned from receive queue", "TcpExtRcvPruned"}, {"times the listen queue of a socket overflowed", "TcpExtListenOverflows"},
	{"SYNs to LISTEN sockets", "TcpExtListenDrops"}, {"DSACKs sent for old packets", "TcpExtTCPDSACKOldSent"},
	{"DSACKs sent for out of order packets", "TcpExtTCPDSACKOfoSent"}, {"DSACKs for out of order packets received", "TcpExtTCPDSACKOfoRecv"},
	{"DSACKs received", "TcpExtTCPDSACKRecv"}, {"packets rejected in established connections because of timestamp", "TcpExtPAWSEstab"},
	{"packets rejects in established connections because of timestamp", "TcpExtPAWSEstab"}, {"TCP data loss events", "TcpExtTCPLoss"},
	{"receive buffer errors", "UdpRcvbufErrors"}, {"send buffer errors", "UdpSndbufErrors"}, {"packet receive errors", "UdpInErrors"},
	{"packets to unknown port received", "UdpNoPorts"}, {"fragments failed", "IpFragFails"}, {"packet reassembles failed", "IpReasmFails"},
	{"packet reassemblies failed", "IpReasmFails"}, {"reassemblies required", "IpReasmReqds"}, {"fragments created", "IpFragCreates"},
	{"outgoing packets dropped", "IpOutDiscards"}, {"incoming packets discarded", "IpInDiscards"}, {"dropped because of missing route", "IpOutNoRoutes"},
	{"total packets received", "IpInReceives"}, {"incoming packets delivered", "IpInDelivers"}, {"requests sent out", "IpOutRequests"}, {"forwarded", "IpForwDatagrams"},
}

var reorderNames = []struct{ mark, name string }{{"SACK", "TcpExtTCPSACKReorder"}, {"FACK", "TcpExtTCPFACKReorder"}, {"time stamp", "TcpExtTCPTSReorder"}, {"reno", "TcpExtTCPRenoReorder"}}

// counterPrefix reports a name that netstat -s prints as the kernel has it.
func counterPrefix(text string) bool {
	return strings.HasPrefix(text, "TCP") || strings.HasPrefix(text, "InOctets") || strings.HasPrefix(text, "OutOctets") || strings.HasPrefix(text, "IPReversePathFilter")
}

// procStats reports a row of /proc/net/netstat: a block's name, then names or numbers.
func procStats(text string) bool {
	head, rest, ok := strings.Cut(text, ": ")
	if !ok || statsBlocks[head+":"] == "" {
		return false
	}
	return len(strings.Fields(rest)) >= 4
}

func (s *sink) count(name, value string, l piece.Line) {
	if s.Host.Counters == nil {
		s.Host.Counters = make(map[string]piece.Value)
	}
	s.Host.Counters[name] = piece.Value{Text: value, Source: l.Source()}
}

func readCounters(s *sink, lines []piece.Line) (read int) {
	block := ""
	var names []string
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		switch m := nstatRow.FindStringSubmatch(text); {
		case m != nil:
			s.count(m[1], m[2], l)
		case strings.HasPrefix(text, "#kernel"):
		case statsBlocks[text] != "":
			block = statsBlocks[text]
		case procStats(text):
			head, rest, _ := strings.Cut(text, ": ")
			fields := strings.Fields(rest)
			if _, err := strconv.ParseInt(fields[0], 10, 64); err != nil {
				block, names = statsBlocks[head+":"], fields
			} else if statsBlocks[head+":"] == block {
				for n := range min(len(names), len(fields)) {
					s.count(block+names[n], fields[n], l)
				}
			}
		case s.sentence(block, text, l):
		case block != "" && netstatOther(text):
		default:
			return read
		}
		read = i + 1
	}
	return read
}

// netstatOther reports a sentence of netstat -s that is not counted here.
func netstatOther(text string) bool {
	return statsFirst.MatchString(text) || statsNamed.MatchString(text) || strings.HasSuffix(text, "histogram:") || strings.HasPrefix(text, "Quick ack mode was activated") ||
		strings.HasPrefix(text, "Forwarding") || strings.HasPrefix(text, "Default TTL") || regexpWordNumber.MatchString(text)
}

var regexpWordNumber = piece.Compile(`^[a-zA-Z ]+: \d+$`)

// sentence reads a row of netstat -s.
func (s *sink) sentence(block, text string, l piece.Line) bool {
	if m := statsInner.FindStringSubmatch(text); m != nil {
		for _, r := range reorderNames {
			if strings.Contains(m[2], r.mark) {
				s.count(r.name, m[1], l)
				return true
			}
		}
		return true
	}
	if m := statsNamed.FindStringSubmatch(text); m != nil && (block != "" || counterPrefix(m[1])) {
		if block == "" {
			block = "TcpExt"
			if strings.HasSuffix(m[1], "Octets") {
				block = "IpExt"
			}
		}
		if m[1] != "Forwarding" {
			s.count(block+m[1], m[2], l)
		}
		return true
	}
	m := statsFirst.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	for _, sentence := range statsSentences {
		if !strings.Contains(m[2], sentence.mark) {
			continue
		}
		name := sentence.name
		if block == "Udp6" || block == "UdpLite" || block == "Icmp" || block == "Ip6" {
			return true // another protocol's
		}
		s.count(name, m[1], l)
		return true
	}
	switch {
	case block == "Udp" && m[2] == "packets received":
		s.count("UdpInDatagrams", m[1], l)
	case block == "Udp" && m[2] == "packets sent":
		s.count("UdpOutDatagrams", m[1], l)
	default:
		return block != ""
	}
	return true
}
