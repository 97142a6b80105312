package othertext

import (
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// VMStat reads what vmstat's columns tell of all cores together (Linux, the BSDs, AIX,
// Solaris): the mean of its rows but the first, which is the mean since the start.
var VMStat = piece.Reader{
	Kind:     "load of all cores (vmstat)",
	Commands: []string{"vmstat"},
	Starts: func(line string) bool {
		return strings.Contains(line, " us") && cpuColumns(strings.Fields(line)) >= 0
	},
	Read: reading(readVMStat),
}

// cpuColumns is which column of vmstat's titles is the first of the cores'; -1 other words.
func cpuColumns(titles []string) int {
	at := slices.Index(titles, "us")
	if at < 2 || len(titles) < at+3 || titles[0] != "r" || titles[1] != "b" || titles[at+1] != "sy" || titles[at+2] != "id" {
		return -1
	}
	return at
}

func readVMStat(s *sink, lines []piece.Line) (read int) {
	titles := strings.Fields(lines[0].Text)
	at := cpuColumns(titles)
	if at < 0 {
		return 0
	}
	var rows []piece.Core
	for _, l := range lines[1:] {
		f := strings.Fields(l.Text)
		if cpuColumns(f) >= 0 || strings.HasPrefix(l.Text, "procs") || strings.HasPrefix(l.Text, "kthr") {
			read++ // the titles again
			continue
		}
		if len(f) < at || slices.ContainsFunc(f, func(n string) bool { return piece.Whole(n) < 0 }) {
			break
		}
		read++
		if len(f) != len(titles) {
			continue // cut
		}
		rows = append(rows, piece.Core{User: piece.Float(f[at]), System: piece.Float(f[at+1]), Idle: piece.Float(f[at+2]), Source: l.Source()})
	}
	if len(rows) == 0 {
		return 0
	}
	if len(rows) > 1 {
		rows = rows[1:]
	}
	mean := piece.Core{ID: "all", Source: rows[0].Source}
	for _, row := range rows {
		n := float64(len(rows))
		mean.User, mean.System, mean.Idle = mean.User+row.User/n, mean.System+row.System/n, mean.Idle+row.Idle/n
	}
	if slices.ContainsFunc(s.Host.Cores, func(c piece.Core) bool { return c.ID == "all" }) {
		return read + 1 // of mpstat or sar, which tell more
	}
	s.Host.Cores = append(s.Host.Cores, mean)
	return read + 1
}
