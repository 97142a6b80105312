package othertext

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// PCIConf reads FreeBSD's pciconf -lvc: which slot a card has, and its link.
var PCIConf = piece.Reader{
	Kind:     "pciconf",
	Commands: []string{"pciconf"},
	Starts:   func(line string) bool { return pciconfHead.MatchString(line) },
	Owns: func(s piece.Segment, line string) bool {
		return s.Runs("pciconf") && (pciconfLink.MatchString(line) || strings.Contains(line, "PCI-Express"))
	},
	Read: reading(readPCIConf),
}

var pciconfHead = piece.Compile(`^\s*(\w+?)(\d+|none\d+)@pci(\d+):(\d+):(\d+):(\d+):\s`)

var pciconfLink = piece.Compile(`\blink x(\d+)\(x(\d+)\)(?: speed ([\d.]+)\(([\d.]+)\))?(?: ASPM (\S+?)(?:\(([^)]*)\))?)?(?:\s|$)`)

func readPCIConf(s *sink, lines []piece.Line) int {
	subject, link := "", ""
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		if m := pciconfHead.FindStringSubmatch(text); m != nil {
			s.Set("host", "os", "freebsd", l)
			var at [4]int
			for i := range at {
				at[i] = min(max(piece.Atoi(m[3+i]), 0), 0xffff)
			}
			bdf := fmt.Sprintf("%04x:%02x:%02x.%x", at[0], at[1], at[2], at[3])
			subject, link = "pci "+bdf, "link "+m[1]+m[2]
			s.Set(link, "bus", bdf, l)
			return true
		}
		if subject == "" && s.Segment.Runs("pciconf") {
			if names := strings.Fields(s.Segment.Command); len(names) > 2 {
				link = "link " + names[len(names)-1]
				subject = "pci " + names[len(names)-1]
			}
		}
		if m := pciconfLink.FindStringSubmatch(text); m != nil && subject != "" {
			s.Set(subject, "sta_width", m[1], l)
			s.Set(subject, "cap_width", m[2], l)
			if m[3] != "" {
				s.Set(subject, "sta_speed", strings.TrimSuffix(m[3], ".0"), l)
				s.Set(subject, "cap_speed", strings.TrimSuffix(m[4], ".0"), l)
			}
			s.SetIf(link, "aspm", m[5], l)
			return true
		}
		key, value, ok := strings.Cut(text, "=")
		if ok && strings.TrimSpace(key) == "device" {
			s.SetIf(subject, "name", strings.Trim(strings.TrimSpace(value), "'"), l)
			s.SetIf(link, "description", strings.Trim(strings.TrimSpace(value), "'"), l)
		}
		return strings.HasPrefix(l.Text, " ") || strings.HasPrefix(l.Text, "\t")
	})
}

// Dummynet reads the pipes of FreeBSD's shaper: `ipfw pipe show`, `dnctl pipe show`.
var Dummynet = piece.Reader{
	Kind:     "pipes of dummynet",
	Commands: []string{"ipfw", "dnctl", "cat"},
	Starts:   func(line string) bool { return pipeRow.MatchString(line) },
	Read: reading(func(s *sink, lines []piece.Line) int {
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			if m := pipeRow.FindStringSubmatch(text); m != nil {
				s.Set("host", "os", "freebsd", l)
				s.Set("link pipe "+m[1], "shaper dummynet", piece.Bps(m[2], m[3]), l)
				return true
			}
			return pipeOther.MatchString(text)
		})
	}),
}

var pipeRow = piece.Compile(`^(\d{5}): +([\d.]+) ([KMG]?)bit/s +\d+ ms burst`)

var pipeOther = piece.Compile(`^(?:q\d+ |sched |mask: |BKT |Limiters?:|Queues:|Schedulers:|\d+ +\w+ +|FQ_|CoDel|target |\d+ ip )`)
