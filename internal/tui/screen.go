// Package tui is what a terminal shows of a measurement that runs: each
// host's links with their load against the ceiling, the streams on each link,
// the sum, the round trip and the time left. A view and a size in, lines out:
// internal/cmd/progress makes the view, internal/cmd/console draws the lines.
// It must never write to a terminal or look at a clock. Don't say anything by
// colour alone.
package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/linerate/linerate/unit"
)

// View is one moment of a run. Zero of a number is unknown unless said
// otherwise.
type View struct {
	// Done of Total trials are over; Total zero is a run of one.
	Done, Total int
	// What runs now, such as "alpha to beta forward, 4 streams", and the stage
	// it is in, such as "measuring".
	What, Stage string
	// Elapsed is since the trial began; Left says how long the run takes yet, in
	// words, "" unknown.
	Elapsed time.Duration
	Left    string
	// Rate is what is carried now, in sum; zero is nothing. History is what it
	// was until now, one value a moment, the newest last.
	Rate, Ceiling unit.BitRate
	History       []unit.BitRate
	RTT           time.Duration
	Hosts         []Host
	// Found is the newest finding, one sentence; "" before there is one.
	Found string
}

// Host is a block of lines: a host with its links, or pairs of hosts that are
// measured at the same time.
type Host struct {
	Name string
	Rows []Row
}

// Row is one direction of one link, or one pair.
type Row struct {
	Name string
	Way  Way
	Rate unit.BitRate // zero is idle
	// Ceiling is what the bar's full length stands for; zero is unknown, and
	// then there is no bar.
	Ceiling unit.BitRate
	// Streams are the numbers of the streams that are placed here.
	Streams []int
}

// Way is the direction of a row: out of the host, into it, or, of a pair, both.
type Way int

// The directions.
const (
	Out Way = iota
	In
	Both
)

func (w Way) arrow() string {
	switch w {
	case In:
		return "←"
	case Both:
		return "⇄"
	}
	return "→"
}

// The least that is drawn, and what is left of a terminal for the lines that
// were printed before.
const (
	leastWidth  = 40
	mostWidth   = 110 // further apart what belongs together is not seen to
	leastHeight = 4
	spare       = 3
)

// Lines draws the view for a terminal of so many columns and rows: at most
// height-3 lines and at least four, none wider than the terminal but for one
// narrower than 40 columns. What does not fit is counted in the last line.
// Columns are counted as one for each character, which is what those here are.
func Lines(v View, width, height int, s Style) []string {
	width, height = min(max(width, leastWidth), mostWidth), max(height-spare, leastHeight)
	out := []string{s.head(v, width), s.sum(v, width)}
	if v.Found != "" {
		out = append(out, s.Soft(cut("found: "+v.Found, width)))
	}
	rows := s.rows(v.Hosts, width)
	room := height - len(out)
	if len(rows) > room {
		hidden := len(rows) - (room - 1)
		rows = append(rows[:room-1:room-1], s.Soft(cut(fmt.Sprintf("and %s that this window has no room for", unit.Counted(hidden, "line")), width)))
	}
	return append(out, rows...)
}

// head is what runs now on the left and the time left on the right.
func (s Style) head(v View, width int) string {
	count := ""
	if v.Total > 1 {
		count = fmt.Sprintf("%d/%d ", min(v.Done+1, v.Total), v.Total)
	}
	left := ""
	if v.Left != "" {
		left = " " + v.Left + " left"
	}
	stage := v.Stage
	if v.Elapsed > 0 {
		stage += fmt.Sprintf(" %d s", int(v.Elapsed.Seconds()))
	}
	room := width - columns(left)
	what := cut(v.What, room-columns(count)-columns(stage)-2)
	words := cut(count+what+": "+stage, room)
	pad := strings.Repeat(" ", max(room-columns(words), 0))
	if after, ok := strings.CutPrefix(words, count+what); ok { // all but the tail is there: set it off
		words = count + s.Strong(what) + after
	}
	if left == "" {
		return words
	}
	return words + pad + s.Soft(left)
}

// sum is the rate, its share of the ceiling, its way here and the round trip.
func (s Style) sum(v View, width int) string {
	rate := "nothing yet"
	if v.Rate > 0 {
		rate = v.Rate.String()
	}
	words, paint := rate, s.Strong
	if v.Ceiling > 0 {
		words += " of " + v.Ceiling.String()
		if v.Rate > 0 {
			words += fmt.Sprintf(", %.0f %%", 100*float64(v.Rate/v.Ceiling))
		}
	}
	words = cut(words, width)
	tail := ""
	if v.RTT > 0 {
		tail = "  RTT " + milliseconds(v.RTT)
	}
	room := width - columns(words) - columns(tail) - 2
	if room < 0 {
		return paint(words)
	}
	line := spark(v.History, v.Ceiling, min(room, sparkLongest))
	out := paint(words)
	if line != "" || tail != "" {
		out += "  " + s.Load(line)
	}
	if tail != "" {
		out += strings.Repeat(" ", room-columns(line)) + s.Soft(tail)
	}
	return out
}

func milliseconds(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms < 1:
		return fmt.Sprintf("%.2f ms", ms)
	case ms < 100:
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.0f ms", ms)
}
