package predict

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// printForesight prints predictions and what they were learned from.
func printForesight(con *console.Console, s *foresight, all []predict.Prediction, show ladderFlag) {
	for _, d := range s.differences {
		fmt.Fprint(con.Stdout, console.Wrapped("", d.String(), con.Width()))
	}
	left := s.leftOut()
	for _, line := range left {
		fmt.Fprint(con.Stdout, console.Wrapped("", line, con.Width()))
	}
	if len(s.differences)+len(left) > 0 {
		fmt.Fprintln(con.Stdout)
	}
	printLearned(con, s)
	pairs := byPair(all)
	for i, pair := range pairs {
		pairs[i] = inOrder(pair)
	}
	if show.all {
		for i, pair := range pairs {
			if i > 0 {
				fmt.Fprintln(con.Stdout)
			}
			(&alikePairs{first: pair, body: pairBody(con, pair)}).print(con.Stdout, con.Width())
			printLadders(con, pair)
		}
		return
	}
	for i, f := range foldPairs(con, pairs) {
		if i > 0 {
			fmt.Fprintln(con.Stdout)
		}
		f.print(con.Stdout, con.Width())
	}
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

// inOrder are a pair's predictions, directions in the order that tables have,
// whatever order they were asked for in: what is as forward comes after it.
func inOrder(pair []predict.Prediction) []predict.Prediction {
	var sorted []predict.Prediction
	for _, d := range flow.Directions() {
		for _, p := range pair {
			if p.Direction == d {
				sorted = append(sorted, p)
			}
		}
	}
	return sorted
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

// carries: the row's rate is this.
func (r row) carries(rate string) bool { return strings.TrimPrefix(r.expected, atMost) == rate }

// countsOf are stream counts in short: "4", "4,8", "1-16" of more.
func countsOf(streams []int) string {
	if n := len(streams); n > 2 {
		return fmt.Sprintf("%d-%d", slices.Min(streams), slices.Max(streams))
	}
	var words []string
	for _, n := range streams {
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

// pairBody is a pair's table and what it says of its limits, without a title.
func pairBody(con *console.Console, pair []predict.Prediction) string {
	b := &strings.Builder{}
	rows := rowsOf(pair, scaleOf(pair))
	c := columnsOf(rows)
	fmt.Fprintln(b, c.line("STREAMS", "EXPECTED", "RANGE", "UNCHOSEN", "CEILING")+"LIMITED BY, NEXT")
	forward := ofDirection(rows, flow.Forward)
	for _, d := range flow.Directions() {
		own := ofDirection(rows, d)
		switch {
		case len(own) == 0:
			continue
		case d == flow.Reverse && len(forward) > 0 && slices.EqualFunc(own, forward, alike):
			fmt.Fprintf(b, "%s: as forward\n", d)
			continue
		}
		head := string(d)
		if d == flow.Both && slices.ContainsFunc(own, func(r row) bool { return r.up != eachWay }) {
			head += ", the two ways added up; limits are of one way"
		}
		fmt.Fprintln(b, head)
		for _, r := range own {
			fmt.Fprint(b, console.Wrapped(c.line(countsOf(r.streams), r.expected, r.span, r.unchosen, r.ceiling), r.up, con.Width()))
		}
	}
	printLimits(b, pair, con.Width())
	printRanges(b, pair, con.Width())
	if slices.ContainsFunc(pair, open) {
		fmt.Fprint(b, console.Wrapped("  ", atMostMeans, con.Width()))
	}
	if c.unchosen > 0 {
		fmt.Fprint(b, console.Wrapped("  ", "unchosen: the mean with source ports that the kernel chooses", con.Width()))
	}
	return b.String()
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

// eachWay stands for the limits of both directions where forward has said them.
const eachWay = "each way as forward"

// rowsOf are a pair's rows, neighbours that say the same folded into one.
func rowsOf(pair []predict.Prediction, u scale) []row {
	forward := map[int]row{}
	var rows []row
	for _, p := range pair {
		r := rowOf(p, u)
		switch f := forward[p.Streams]; {
		case p.Direction == flow.Forward:
			forward[p.Streams] = r
		case p.Direction == flow.Both && f.up == r.up && f.carries(u.text(p.Forward)) && f.carries(u.text(p.Reverse)):
			r.up = eachWay
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
	if open(p) {
		r.expected = atMost + r.expected
	} else if low, high := u.text(p.RateLow), u.text(p.RateHigh); p.RateLow > 0 && p.RateHigh > 0 && low != high {
		r.span = low + "-" + high
	}
	if text := u.text(p.KernelPorts); p.KernelPorts > 0 && text != r.expected {
		r.unchosen = text
	}
	return r
}

// atMost stands before a rate that is a bound, not what to expect.
const (
	atMost      = "<="
	atMostMeans = atMost + " is an upper bound: something unknown may be lower"
)

// open: the rate is one bound of several, for the speed of the links and every
// cap on the way are unknown.
func open(p predict.Prediction) bool { return p.Rate > 0 && p.Ceiling == 0 }

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

// printRanges says why rates are uncertain, each reason once.
func printRanges(w io.Writer, pair []predict.Prediction, width int) {
	for _, why := range rangeReasons(pair) {
		fmt.Fprint(w, console.Wrapped("  uncertain: ", why, width))
	}
}

func rangeReasons(pair []predict.Prediction) []string {
	var reasons []string
	for _, p := range pair {
		if p.RateLow == 0 && p.RateHigh == 0 || p.RangeWhy == "" {
			continue
		}
		for _, why := range strings.Split(p.RangeWhy, "; ") {
			if !slices.Contains(reasons, why) {
				reasons = append(reasons, why)
			}
		}
	}
	return reasons
}
