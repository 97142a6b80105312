package tui

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/unit"
)

// Widths of a row's columns.
const (
	rateColumn  = len("99.9 Mbit/s") + 1
	shareColumn = len("100 %")
	barLeast    = 8
	barLongest  = 60
	nameLongest = 15 // of a link, which is the kernel's limit (IFNAMSIZ)
	hostLongest = 20
	streamsMost = 24
)

// layout is where the columns of all rows are.
type layout struct{ host, name, bar, streams int }

// rows are the lines of all hosts, in columns.
func (s Style) rows(hosts []Host, width int) []string {
	l := layoutOf(hosts, width)
	var out []string
	for _, h := range hosts {
		name := h.Name
		for _, r := range h.Rows {
			out = append(out, s.row(name, r, l, width))
			name = "" // once a host
		}
	}
	return out
}

// layoutOf gives the bar what the words leave over; where that is too little
// for a bar the streams go first.
func layoutOf(hosts []Host, width int) layout {
	var l layout
	for _, h := range hosts {
		l.host = max(l.host, min(columns(h.Name), hostLongest))
		for _, r := range h.Rows {
			l.name = max(l.name, min(columns(r.Name), max(nameLongest, width/3)))
			l.streams = max(l.streams, min(columns(numbers(r.Streams)), streamsMost))
		}
	}
	free := func() int {
		left := width - l.host - 1 - l.name - 3 - 1 - rateColumn - 1 - shareColumn
		if l.streams > 0 {
			left -= 2 + l.streams
		}
		return left
	}
	if free() < barLeast {
		l.streams = 0
	}
	if free() < barLeast {
		l.host = min(l.host, 8)
	}
	l.bar = max(min(free(), barLongest), 0)
	return l
}

func (s Style) row(host string, r Row, l layout, width int) string {
	rate, share := "idle", ""
	if r.Rate > 0 {
		rate = r.Rate.String()
	}
	filled := 0.0
	if r.Ceiling > 0 && r.Rate > 0 {
		filled = float64(r.Rate / r.Ceiling)
		share = fmt.Sprintf("%.0f %%", 100*filled)
	}
	lead := ""
	if l.host > 0 {
		lead = fit(host, l.host) + " "
	}
	lead += fit(r.Name, l.name) + " " + r.Way.arrow() + " "
	tail := right(rate, rateColumn) + " " + right(share, shareColumn)
	if l.streams > 0 && len(r.Streams) > 0 {
		tail += "  " + cut(numbers(r.Streams), l.streams)
	}
	tail = strings.TrimRight(tail, " ")
	if columns(lead)+l.bar+1+columns(tail) > width {
		return cut(lead+tail, width)
	}
	if r.Ceiling <= 0 {
		return s.Soft(lead) + strings.Repeat(" ", l.bar) + " " + tail
	}
	full, rest := bar(filled, l.bar)
	paint := s.Load
	if filled >= fullLoad {
		paint = s.Full
	}
	if r.Rate <= 0 {
		tail = s.Soft(tail)
	}
	return s.Soft(lead) + paint(full) + s.Track(rest) + " " + tail
}

// fullLoad is the share of the ceiling from which a link counts as full: the
// mission's 97 %.
const fullLoad = 0.97

// numbers are the streams of a row: "1-4 7".
func numbers(streams []int) string {
	parts := unit.Runs(streams)
	if len(parts) == 0 {
		return ""
	}
	noun := "stream "
	if len(streams) > 1 {
		noun = "streams "
	}
	return noun + strings.Join(parts, " ")
}

// bar is a bar's filled and free part. Eighths of a column are drawn, so that
// a small load is seen.
func bar(share float64, width int) (full, rest string) {
	eighths := int(min(max(share, 0), 1)*float64(8*width) + 0.5)
	if share > 0 && eighths == 0 {
		eighths = 1
	}
	full = strings.Repeat("█", eighths/8)
	if part := eighths % 8; part > 0 && eighths/8 < width {
		full += string([]rune("▏▎▍▌▋▊▉")[part-1])
	}
	return full, strings.Repeat("·", max(width-columns(full), 0))
}

// sparkLongest is how many moments of its history a rate is shown with.
const sparkLongest = 40

// spark is the newest values as one line, against the ceiling, or the largest
// of them where there is none.
func spark(values []unit.BitRate, ceiling unit.BitRate, width int) string {
	if len(values) > width {
		values = values[len(values)-width:]
	}
	top := ceiling
	for _, v := range values {
		top = max(top, v)
	}
	if top <= 0 {
		return ""
	}
	var b strings.Builder
	for _, v := range values {
		b.WriteRune([]rune("▁▂▃▄▅▆▇█")[min(int(max(v, 0)/top*8), 7)])
	}
	return b.String()
}
