package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// ladderFlag asks for every limit with its arithmetic.
type ladderFlag struct{ all bool }

func (l *ladderFlag) add(c *cobra.Command) {
	c.Flags().BoolVar(&l.all, "limits", false, "every limit of every row, with its arithmetic")
}

// printForesight prints predictions and what they were learned from.
func (a *App) printForesight(s *foresight, all []predict.Prediction, show ladderFlag) error {
	for _, d := range s.differences {
		fmt.Fprint(a.Stdout, wrapped("", d.String(), a.width()))
	}
	if len(s.differences) > 0 {
		fmt.Fprintln(a.Stdout)
	}
	a.printLearned(s)
	for i, pair := range byPair(all) {
		if i > 0 {
			fmt.Fprintln(a.Stdout)
		}
		if err := a.printPair(pair); err != nil {
			return err
		}
		if show.all {
			a.printLadders(pair)
		}
	}
	return nil
}

// byPair cuts a list where another pair begins.
func byPair(all []predict.Prediction) [][]predict.Prediction {
	var pairs [][]predict.Prediction
	for i := 0; i < len(all); {
		end := i
		for end < len(all) && all[end].From == all[i].From && all[end].To == all[i].To {
			end++
		}
		pairs = append(pairs, all[i:end])
		i = end
	}
	return pairs
}

// scale is the unit of one table's numbers.
type scale struct {
	of   unit.BitRate
	name string
}

// scaleOf is the largest unit in which the table's highest rate is one or more.
func scaleOf(all []predict.Prediction) scale {
	var most unit.BitRate
	for _, p := range all {
		most = max(most, p.Rate, p.Ceiling)
	}
	if most >= 1e9 {
		return scale{1e9, "Gbit/s"}
	}
	return scale{1e6, "Mbit/s"}
}

// text is a rate as a bare number of three figures; "unknown" for zero.
func (s scale) text(r unit.BitRate) string {
	v := float64(r / s.of)
	switch {
	case r == 0:
		return "unknown"
	case v >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 0.9995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v >= 0.0995:
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// row is one line of a table: rows with the same numbers share one.
type row struct {
	direction flow.Direction
	streams   []int
	// expected, its range, what ports that nobody chose give, the ceiling,
	// and the limits up to it.
	expected, span, unchosen, ceiling, up string
}

func (r row) same(o row) bool {
	return r.expected == o.expected && r.span == o.span && r.unchosen == o.unchosen && r.ceiling == o.ceiling && r.up == o.up
}

// counts are the row's stream counts: "4", "4,8", "1-16" of more.
func (r row) counts() string {
	if n := len(r.streams); n > 2 {
		return fmt.Sprintf("%d-%d", r.streams[0], r.streams[n-1])
	}
	var words []string
	for _, n := range r.streams {
		words = append(words, strconv.Itoa(n))
	}
	return strings.Join(words, ",")
}

// columns are a table's optional columns and their widths.
type columns struct{ span, unchosen int }

func (c columns) line(counts, expected, span, unchosen, ceiling string) string {
	line := fmt.Sprintf("  %7s  %8s  ", counts, expected)
	if c.span > 0 {
		line += fmt.Sprintf("%-*s  ", c.span, span)
	}
	if c.unchosen > 0 {
		line += fmt.Sprintf("%*s  ", c.unchosen, unchosen)
	}
	return line + fmt.Sprintf("%7s  ", ceiling)
}

func columnsOf(rows []row) columns {
	var c columns
	for _, r := range rows {
		if r.span != "" {
			c.span = max(c.span, len(r.span), len("RANGE"))
		}
		if r.unchosen != "" {
			c.unchosen = len("UNCHOSEN")
		}
	}
	return c
}

func (a *App) printPair(pair []predict.Prediction) error {
	u := scaleOf(pair)
	fmt.Fprintf(a.Stdout, "%s -> %s, %s, payload in %s\n", pair[0].From, pair[0].To, pair[0].Protocol, u.name)
	rows := rowsOf(pair, u)
	c := columnsOf(rows)
	fmt.Fprintln(a.Stdout, c.line("STREAMS", "EXPECTED", "RANGE", "UNCHOSEN", "CEILING")+"LIMITS FROM THE LOWEST UP")
	forward := ofDirection(rows, flow.Forward)
	for _, d := range flow.Directions() {
		own := ofDirection(rows, d)
		switch {
		case len(own) == 0:
			continue
		case d == flow.Reverse && len(forward) > 0 && slices.EqualFunc(own, forward, alike):
			fmt.Fprintf(a.Stdout, "%s: as forward\n", d)
			continue
		}
		fmt.Fprintf(a.Stdout, "%s\n", d)
		for _, r := range own {
			fmt.Fprint(a.Stdout, wrapped(c.line(r.counts(), r.expected, r.span, r.unchosen, r.ceiling), r.up, a.width()))
		}
	}
	printLimits(a.Stdout, pair, a.width())
	printRanges(a.Stdout, pair, a.width())
	if c.unchosen > 0 {
		fmt.Fprint(a.Stdout, wrapped("  ", "unchosen: the mean with source ports that the kernel chooses", a.width()))
	}
	return nil
}

func alike(r, o row) bool { return r.same(o) && slices.Equal(r.streams, o.streams) }

func ofDirection(rows []row, d flow.Direction) []row {
	var own []row
	for _, r := range rows {
		if r.direction == d {
			own = append(own, r)
		}
	}
	return own
}

// rowsOf are a pair's rows, neighbours that say the same folded into one.
func rowsOf(pair []predict.Prediction, u scale) []row {
	forward := map[int]row{}
	var rows []row
	for _, p := range pair {
		r := rowOf(p, u)
		switch f := forward[p.Streams]; {
		case p.Direction == flow.Forward:
			forward[p.Streams] = r
		case p.Direction == flow.Both && f.up == r.up && u.text(p.Forward) == f.expected && u.text(p.Reverse) == f.expected:
			r.up = "each way as forward"
		}
		if n := len(rows); n > 0 && rows[n-1].direction == r.direction && rows[n-1].same(r) {
			rows[n-1].streams = append(rows[n-1].streams, p.Streams)
			continue
		}
		rows = append(rows, r)
	}
	return rows
}

func rowOf(p predict.Prediction, u scale) row {
	r := row{direction: p.Direction, streams: []int{p.Streams}, expected: u.text(p.Rate), ceiling: u.text(p.Ceiling), up: ladderOf(p, u)}
	if low, high := u.text(p.RateLow), u.text(p.RateHigh); p.RateLow > 0 && p.RateHigh > 0 && low != high {
		r.span = low + "-" + high
	}
	if text := u.text(p.KernelPorts); p.KernelPorts > 0 && text != r.expected {
		r.unchosen = text
	}
	return r
}

// ladderOf is "receive-window 2.72, next: shaper 24.8": of each cause the
// lowest, up to the ceiling, for mending what lies above it gains nothing. Of
// direction both the ladder is of one way.
func ladderOf(p predict.Prediction, u scale) string {
	top := p.Ceiling
	if p.Direction == flow.Both {
		top /= 2
	}
	var rungs []string
	told := map[record.Cause]bool{}
	highest := unit.BitRate(0)
	for _, l := range p.Limits {
		if l.Rate == 0 || told[l.Cause] || len(rungs) > 0 && top > 0 && l.Rate > top*1.005 {
			continue
		}
		told[l.Cause] = true
		highest = max(highest, l.Rate)
		rungs = append(rungs, fmt.Sprintf("%s %s", l.Cause, u.text(l.Rate)))
		if top > 0 && l.Rate >= top*0.995 {
			break
		}
	}
	if len(rungs) == 0 {
		return string(p.Limit)
	}
	if top > 0 && highest < top*0.995 {
		rungs = append(rungs, "the ceiling")
	}
	text := rungs[0]
	if len(rungs) > 1 {
		text += ", next: " + strings.Join(rungs[1:], ", ")
	}
	return text
}

// printLadders prints every limit of every row with its arithmetic.
func (a *App) printLadders(pair []predict.Prediction) {
	for _, p := range pair {
		fmt.Fprintf(a.Stdout, "\n  %s, %s: %s of %s\n", p.Direction, counted(p.Streams, "stream"), orUnknown(p.Rate), orUnknown(p.Ceiling))
		for _, l := range p.Limits {
			text := fmt.Sprintf("%s, %s: %s", orUnknown(l.Rate), l.Where, l.Why)
			if l.Low > 0 && l.High > 0 {
				text = fmt.Sprintf("%s (%s to %s), %s: %s", orUnknown(l.Rate), l.Low, l.High, l.Where, l.Why)
			}
			fmt.Fprint(a.Stdout, wrapped(fmt.Sprintf("    %-16s ", l.Cause), text, a.width()))
		}
	}
}

func orUnknown(r unit.BitRate) string {
	if r == 0 {
		return "unknown"
	}
	return r.String()
}

// printLimits says why each limit that binds somewhere does, once, and what is
// unknown that might bind before it.
func printLimits(w io.Writer, pair []predict.Prediction, width int) {
	told := map[string]bool{}
	tell := func(key string, l predict.Limit) {
		if !told[key] {
			told[key] = true
			fmt.Fprint(w, wrapped("  ", fmt.Sprintf("%s, %s: %s", l.Cause, l.Where, l.Why), width))
		}
	}
	for _, p := range pair {
		tell(string(p.Limit), p.Limits[0])
	}
	for _, p := range pair {
		if p.Direction == flow.Both {
			continue // its ways have said it
		}
		for _, l := range p.Limits[1:] {
			if l.Cause == record.Unknown {
				tell(l.Where, l)
			}
		}
	}
}

// printRanges says why rates are uncertain, each reason once.
func printRanges(w io.Writer, pair []predict.Prediction, width int) {
	var told []string
	for _, p := range pair {
		if p.RateLow == 0 && p.RateHigh == 0 || p.RangeWhy == "" {
			continue
		}
		for _, why := range strings.Split(p.RangeWhy, "; ") {
			if !slices.Contains(told, why) {
				told = append(told, why)
				fmt.Fprint(w, wrapped("  uncertain: ", why, width))
			}
		}
	}
}
