package othertext

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// BSDCounters reads FreeBSD's `netstat -i`, `netstat -I IF -w N` and `vmstat -i`.
var BSDCounters = piece.Reader{
	Kind:     "netstat -i of FreeBSD",
	Commands: []string{"netstat", "vmstat"},
	Starts: func(line string) bool {
		return bsdHead.MatchString(line) || strings.Contains(line, "<Link#") && bsdRow.MatchString(line) || strings.HasPrefix(line, "irq") && bsdIRQ.MatchString(line)
	},
	Read: reading(readBSDCounters),
}

var bsdHead = piece.Compile(`^\s*(?:Name\s+Mtu\s+Network\s+Address\s+Ipkts|input\s+\(?(\w+)\)?\s+output|interrupt\s+total\s+rate)`)

var bsdRow = piece.Compile(`^\s*(\S+?)\*?\s+(\d+)\s+<Link#\d+>\s+(?:([0-9a-f:]{17})\s+)?((?:[\d-]+\s*)+)$`)

var bsdWay = piece.Compile(`^\s*(?:\d+\s+){6,8}\d+$`)

var bsdIRQ = piece.Compile(`^(irq\d+|cpu\d+): ?(\S+(?: \S+)*?)\s+(\d+)\s+(\d+)$`)

var bsdWait = piece.Compile(`-w\s*(\d+)`)

func readBSDCounters(s *sink, lines []piece.Line) int {
	var titles, rates []string
	link, seconds := "", 1
	if m := bsdWait.FindStringSubmatch(s.Segment.Command); m != nil {
		seconds = max(piece.Atoi(m[1]), 1)
	}
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		f := strings.Fields(text)
		if m := bsdHead.FindStringSubmatch(text); m != nil {
			if f[0] == "Name" {
				titles = f
			}
			link = m[1]
			return true
		}
		if f[0] == "packets" {
			rates = f
			return true
		}
		if m := bsdRow.FindStringSubmatch(text); m != nil {
			subject := "link " + m[1]
			s.Set(subject, "mtu", m[2], l)
			s.SetIf(subject, "mac", m[3], l)
			numbers := strings.Fields(m[4])
			names := []string{"Ipkts", "Ierrs", "Idrop", "Opkts", "Oerrs", "Coll"}
			if len(titles) > 4 {
				names = titles[4:]
			}
			for i, n := range numbers {
				if i < len(names) && piece.Digits.MatchString(n) {
					s.SetIf(subject, map[string]string{"Ipkts": "rx_packets", "Ierrs": "rx_errors", "Idrop": "rx_dropped", "Ibytes": "rx_bytes", "Opkts": "tx_packets", "Oerrs": "tx_errors",
						"Obytes": "tx_bytes", "Coll": "collisions", "Drop": "tx_dropped"}[names[i]], n, l)
				}
			}
			return true
		}
		if rates != nil && link != "" && bsdWay.MatchString(text) && len(f) == len(rates) {
			way := "seen_rx_bps"
			for i, title := range rates {
				if title == "bytes" {
					if n := piece.Atoi(f[i]); n >= 0 {
						s.Set("link "+link, way, strconv.Itoa(8*n/seconds), l)
					}
					way = "seen_tx_bps"
				}
			}
			return true
		}
		if m := bsdIRQ.FindStringSubmatch(text); m != nil {
			s.Set("irq "+m[2], "total", m[3], l)
			s.Set("irq "+m[2], "rate", m[4], l)
			return true
		}
		return titles != nil && len(f) >= 6 || len(f) == 3 && f[0] == "Total"
	})
}

// BSDCores reads FreeBSD's `top -P`: one row a core. Its interrupt time is what Linux
// calls soft.
var BSDCores = piece.Reader{
	Kind:     "top -P of FreeBSD",
	Commands: []string{"top"},
	Starts: func(line string) bool {
		return strings.Contains(line, "% interrupt") && bsdCore.MatchString(line)
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			m := bsdCore.FindStringSubmatch(text)
			if m == nil {
				return false
			}
			core := piece.Core{ID: cmp.Or(m[1], "all"), Source: l.Source()}
			for i, field := range []*float64{&core.User, nil, &core.System, &core.Soft, &core.Idle} {
				if field != nil {
					*field, _ = strconv.ParseFloat(m[2+i], 64)
				}
			}
			s.Host.Cores = append(s.Host.Cores, core)
			return true
		})
	}),
}

var bsdCore = piece.Compile(`^\s*CPU ?(\d*): +([\d.]+)% user, +([\d.]+)% nice, +([\d.]+)% system, +([\d.]+)% interrupt, +([\d.]+)% idle`)
