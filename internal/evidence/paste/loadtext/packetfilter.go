package loadtext

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// PacketFilter reads the rules of iptables and nft that limit a rate, and what
// conntrack -S counts.
var PacketFilter = piece.Reader{
	Kind:     "packet filter",
	Commands: []string{"iptables", "ip6tables", "iptables-save", "nft", "conntrack"},
	Starts: func(line string) bool {
		text := strings.TrimSpace(line)
		return strings.HasPrefix(text, "Chain ") && chainHead.MatchString(text) || filterRule.MatchString(text) || conntrackRow.MatchString(text) ||
			(strings.Contains(text, "limit rate ") || strings.Contains(text, "-limit")) && filterLimit.MatchString(text) && (strings.Contains(text, "drop") || strings.HasPrefix(text, "-A "))
	},
	Owns: func(s piece.Segment, line string) bool {
		return s.Runs("iptables", "ip6tables", "iptables-save", "nft") && strings.TrimSpace(line) != ""
	},
	Read: reading(readPacketFilter),
}

var chainHead = piece.Compile(`^Chain (\S+) \((?:policy \w+|\d+ references)`)

// filterRule is a row of iptables -vnL: packets, bytes, target.
var filterRule = piece.Compile(`^(\d+[KMGT]?)\s+(\d+[KMGT]?)\s+([A-Z][\w-]*)\s+(?:tcp|udp|all|icmp|\d+)\s+(?:--|-f)\s+(\S+)\s+(\S+)\s`)

// filterLimit is a rate in bytes, of all or above which a rule matches.
var filterLimit = piece.Compile(`(?:limit: (?:above|up to|avg) |--hashlimit(?:-above|-upto)? |--limit |limit rate (?:over )?)(\d+) ?(kb/s|mb/s|b/s|kbytes/second|mbytes/second|bytes/second|kbytes/s|mbytes/s)`)

var filterBytes = map[string]float64{"b/s": 8, "kb/s": 8 << 10, "mb/s": 8 << 20, "bytes/second": 8, "kbytes/second": 8 << 10, "mbytes/second": 8 << 20, "kbytes/s": 8 << 10, "mbytes/s": 8 << 20}

var filterCount = piece.Compile(`counter packets (\d+) bytes (\d+)`)

var conntrackRow = piece.Compile(`^cpu=\d+\s+(?:searched=\d+ )?found=\d+ .*\bdrop=(\d+)`)

func readPacketFilter(s *sink, lines []piece.Line) int {
	chain, rules, dropped := "", 0, 0
	owned := s.Segment.Runs("iptables", "ip6tables", "iptables-save", "nft")
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		if m := conntrackRow.FindStringSubmatch(text); m != nil {
			dropped += max(piece.Atoi(m[1]), 0)
			s.Set("conntrack", "drop", strconv.Itoa(dropped), l)
			return true
		}
		if m := chainHead.FindStringSubmatch(text); m != nil {
			chain = m[1]
			return true
		}
		row := filterRule.FindStringSubmatch(text)
		limit := filterLimit.FindStringSubmatch(text)
		if row == nil && limit == nil {
			return owned || strings.HasPrefix(text, "pkts ") || strings.HasPrefix(text, "num ")
		}
		if limit == nil {
			return true
		}
		rules++
		subject := "filter " + strconv.Itoa(rules)
		s.Set(subject, "rule", text, l)
		s.Set(subject, "chain", chain, l)
		bits, _ := strconv.ParseFloat(limit[1], 64)
		s.Set(subject, "bps", strconv.FormatFloat(bits*filterBytes[limit[2]], 'f', 0, 64), l)
		if strings.Contains(text, "above") || strings.Contains(text, "over ") {
			s.Set(subject, "above", "yes", l)
		}
		if strings.Contains(text, "DROP") || strings.Contains(text, "REJECT") || strings.HasSuffix(text, "drop") {
			s.Set(subject, "drops", "yes", l)
		}
		if row != nil {
			s.Set(subject, "packets", row[1], l)
			s.Set(subject, "link", row[4], l)
		} else if m := filterCount.FindStringSubmatch(text); m != nil {
			s.Set(subject, "packets", m[1], l)
		}
		return true
	})
}
