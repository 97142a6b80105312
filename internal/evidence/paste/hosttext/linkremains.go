package hosttext

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// LinkRemains reads what tail and awk leave of ip's output: counters whose links only
// the command names, and names with an MTU.
var LinkRemains = piece.Reader{
	Kind:     "ip link, cut",
	Commands: []string{"ip"},
	Starts:   func(string) bool { return false },
	Owns: func(s piece.Segment, line string) bool {
		return s.Runs("ip") && (remainsHead.MatchString(line) && !strings.Contains(s.Command, "addr") || remainsMTU.MatchString(strings.TrimSpace(line)))
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		turn := piece.InTurn{Names: s.Segment.LinksOf("ip")}
		subject := ""
		var titles []string
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			fields := strings.Fields(text)
			if m := remainsMTU.FindStringSubmatch(text); m != nil {
				s.Set("link "+m[1], "mtu", m[2], l)
				return true
			}
			if remainsHead.MatchString(l.Text) {
				titles = fields
				subject = turn.Next(fields[0])
				return true
			}
			if titles == nil || countText(fields[0]) == "" {
				return false
			}
			s.ipCounters(subject, titles, fields, l)
			titles = nil
			return true
		})
	}),
}

var remainsHead = piece.Compile(`^\s+[RT]X:\s+bytes\s+packets\s`)

var remainsMTU = piece.Compile(`^([A-Za-z][\w.-]*?)(?:@\S+?)?: mtu (\d+)$`)

var shortCount = piece.Compile(`^(\d+(?:\.\d+)?)([KMGTPE])i?$`)

// countText is a counter as digits: `ip -h` prints 91.2T; "" no counter.
func countText(text string) string {
	if piece.Digits.MatchString(text) {
		return text
	}
	m := shortCount.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	n, _ := strconv.ParseFloat(m[1], 64)
	for range strings.Index("KMGTPE", m[2]) + 1 {
		n *= 1000
	}
	return strconv.FormatFloat(n, 'f', 0, 64)
}

// BondStates reads what wicked and networkctl say of a bond that runs.
var BondStates = piece.Reader{
	Kind:     "state of a bond",
	Commands: []string{"wicked", "networkctl"},
	Starts:   func(line string) bool { return strings.Contains(line, "bond, mode ") && wickedBond.MatchString(line) },
	Owns: func(s piece.Segment, line string) bool {
		return s.Runs("wicked") && strings.TrimSpace(line) != "" || s.Runs("networkctl") && networkdMode.MatchString(line)
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		link := ""
		if names := s.Segment.LinksOf("networkctl"); len(names) == 1 {
			link = names[0]
		}
		wicked := s.Segment.Runs("wicked")
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			if m := wickedHead.FindStringSubmatch(l.Text); m != nil && wicked {
				link = m[1]
				return true
			}
			for _, shape := range []piece.Pattern{wickedBond, networkdMode} {
				if m := shape.FindStringSubmatch(l.Text); m != nil && link != "" {
					s.Set("link "+link, "kind", "bond", l)
					s.Set("link "+link, "mode", m[1], l)
					return true
				}
			}
			return wicked
		})
	}),
}

var wickedHead = piece.Compile(`^([A-Za-z][\w.-]*)\s+(?:up|down|device-\S+|setup-\S+|no-device)$`)

var wickedBond = piece.Compile(`^\s+type:\s+bond, mode ([a-z0-9.-]+)`)

var networkdMode = piece.Compile(`^\s+Mode: (balance-rr|active-backup|balance-xor|broadcast|802\.3ad|balance-tlb|balance-alb)\b`)

// FunctionRates reads the virtual functions below a link of `ip link`, which may be
// held to a rate.
var FunctionRates = piece.Reader{
	Kind:     "virtual functions",
	Commands: []string{"ip"},
	Starts:   func(line string) bool { return strings.Contains(line, " vf ") && functionRow.MatchString(line) },
	Read: reading(func(s *sink, lines []piece.Line) int {
		link := ""
		for _, l := range s.Segment.Lines {
			if l.Number >= lines[0].Number {
				break
			}
			if m := ipHead.FindStringSubmatch(l.Text); m != nil {
				link = m[2]
			}
		}
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			m := functionRow.FindStringSubmatch(l.Text)
			if m == nil {
				return false
			}
			subject := "vf " + link + "/" + m[1]
			s.SetIf(subject, "mac", m[2], l)
			if rate := functionRate.FindStringSubmatch(text); rate != nil && rate[1] != "0" {
				s.Set(subject, "max_tx_mbps", rate[1], l)
			}
			return true
		})
	}),
}

var functionRow = piece.Compile(`^\s+vf (\d+)\s+(?:link/ether|MAC) ([0-9a-f]{2}(?::[0-9a-f]{2}){5})`)

var functionRate = piece.Compile(`(?:max_tx_rate|tx rate) (\d+) ?\(?Mbps`)

// FlowHash reads `ethtool -n LINK rx-flow-hash PROTOCOL`: what receive queues are
// chosen by.
var FlowHash = piece.Reader{
	Kind:     "receive hash",
	Commands: []string{"ethtool"},
	Starts: func(line string) bool {
		return strings.Contains(line, "flows use these") && flowHashHead.MatchString(line)
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		link := ""
		if m := flowHashLink.FindStringSubmatch(s.Segment.Command); m != nil {
			link = m[1]
		}
		kind, fields := "", []string{}
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			if m := flowHashHead.FindStringSubmatch(text); m != nil {
				kind, fields = strings.ToLower(m[1])+strings.TrimPrefix(strings.ToLower(m[2]), "ipv"), nil
				return true
			}
			if !flowHashField.MatchString(text) {
				return false
			}
			fields = append(fields, text)
			if link != "" {
				s.Set("link "+link, "rxhash."+kind, strings.Join(fields, ", "), l)
			}
			return true
		})
	}),
}

var flowHashHead = piece.Compile(`^(TCP|UDP|SCTP) over (IPV4|IPV6) flows use these fields for computing Hash flow key:`)

var flowHashLink = piece.Compile(`ethtool (?:-n|-u|--show-nfc|--show-ntuple) (\S+) rx-flow-hash`)

var flowHashField = piece.Compile(`^(?:IP [SD]A|L[234] .*|VLAN tag|None|GTP TEID.*)$`)

// PollThreads reads the poll mode threads of OVS-DPDK: which queues each polls, and
// how busy it is.
var PollThreads = piece.Reader{
	Kind:     "poll mode threads",
	Commands: []string{"ovs-appctl", "ovs-vsctl"},
	Starts:   func(line string) bool { return strings.Contains(line, "pmd thread") && pollHead.MatchString(line) },
	Owns: func(s piece.Segment, line string) bool {
		return strings.Contains(s.Command, "dpif-netdev/") || strings.Contains(s.Command, "get ") && strings.Contains(s.Command, "statistics")
	},
	Read: reading(readPollThreads),
}

var pollHead = piece.Compile(`^\s*pmd thread numa_id (\d+) core_id (\d+):`)

var pollQueue = piece.Compile(`^port: (\S+)\s+queue-id:\s+(\d+)\s+(?:\(enabled\)|\(disabled\))?\s*(?:pmd usage:\s+(\d+|NOT AVAIL)\s?%?)?`)

var pollBusy = piece.Compile(`^processing cycles: \d+ \(([\d.]+)%\)`)

var pollOption = piece.Compile(`\b(n_rxq|rx_missed_errors|ovs_rx_qos_drops|rx_dropped)="?(\d+)`)

var pollPort = piece.Compile(`(?:get|list) [Ii]nterface (\S+)`)

func readPollThreads(s *sink, lines []piece.Line) int {
	owned := strings.Contains(s.Segment.Command, "dpif-netdev/") || pollPort.MatchString(s.Segment.Command)
	asked := ""
	if m := pollPort.FindStringSubmatch(s.Segment.Command); m != nil {
		asked = m[1]
	}
	thread, usage := "", 0
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		if m := pollHead.FindStringSubmatch(text); m != nil {
			thread, usage = "pmd "+m[2], 0
			s.Set(thread, "numa", m[1], l)
			if _, seen := s.Host.Get(thread, "usage"); !seen && !strings.Contains(s.Segment.Command, "stats") {
				s.Set(thread, "usage", "0", l)
			}
			return true
		}
		if m := pollQueue.FindStringSubmatch(text); m != nil && thread != "" {
			s.Set(thread, "queue "+m[1]+" "+m[2], "yes", l)
			if n := piece.Atoi(m[3]); n >= 0 {
				usage += n
				s.Set(thread, "usage", strconv.Itoa(usage), l)
			}
			return true
		}
		if m := pollBusy.FindStringSubmatch(text); m != nil && thread != "" {
			s.Set(thread, "processing", m[1], l)
			return true
		}
		if m := pollOption.FindStringSubmatch(text); m != nil && asked != "" && m[2] != "0" {
			s.Set("link "+asked, "dpdk."+m[1], m[2], l)
		}
		return owned || thread != "" && strings.Contains(text, ": ")
	})
}
