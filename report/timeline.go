package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/linerate/linerate/internal/chart"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Geometry of a trial's rate over time.
const (
	timeWidth  = 480.0 // as narrow as its words allow, so that a phone can show it whole
	timePlot   = 140.0 // high
	timeLeft   = 88.0  // rates
	timeRight  = 14.0
	timeTop    = 10.0
	timeMark   = 17.0 // a line of marks' words
	timeLetter = 8.4  // a letter of them on a phone
	timeBottom = 24.0 // seconds
	timePoints = 400  // drawn at most: about one for every unit of width
	timeRows   = 24   // of the table at most
)

// timeline is a trial's rate from the first byte on.
type timeline struct {
	ID, Title, Desc string
	Class           string
	Width, Height   float64
	Left, Right     float64 // of the plot
	Top, Bottom     float64
	Line, Area      string // path data
	WarmUp          box    // before the window; no width where there was none
	Ceiling         float64
	CeilingKnown    bool
	Rates, Times    []mapText
	// Events are times at which something happened, with what.
	Events []timeEvent
	// Plateau is a shaper's rate once its bucket was empty, from then on.
	Plateau *box
	Table   [][]string
}

type timeEvent struct {
	X, Top float64
	Label  mapText
	Down   bool
}

// timePoint is the mean rate of one stretch of time, in seconds.
type timePoint struct {
	from, to float64
	rate     float64
}

// timelineOf draws a trial's series. ok is false where it has none of three
// points or more, or where its times do not run forward.
func timelineOf(id string, t record.Trial) (timeline, bool) {
	points, ok := pointsOf(t)
	if !ok {
		return timeline{}, false
	}
	class := "single"
	if t.Phase == record.PhaseBefore || t.Phase == record.PhaseAfter {
		class = string(t.Phase)
	}
	l := timeline{ID: id, Class: class, Width: timeWidth, Left: timeLeft, Right: timeWidth - timeRight}
	last := points[len(points)-1].to
	top := amount(t.Ceiling)
	for _, p := range points {
		top = max(top, p.rate)
	}
	top *= 1.04
	across := chart.Scale{High: last, From: l.Left, To: l.Right}
	x := func(s float64) float64 { return tenth(across.At(s)) }
	l.mark(t, last, x)
	upward := chart.Scale{High: top, From: l.Bottom, To: l.Top}
	y := func(rate float64) float64 { return tenth(upward.At(rate)) }
	l.draw(thinned(points, timePoints), x, y)
	if w := min(t.WarmUp, last); positive(w) {
		l.WarmUp = box{X: l.Left, Y: l.Top, W: tenth(x(w) - l.Left), H: l.Bottom - l.Top}
	}
	if positive(float64(t.Ceiling)) {
		l.CeilingKnown, l.Ceiling = true, y(float64(t.Ceiling))
	}
	if s, ok := emptied(t, last); ok {
		l.Plateau = &box{X: x(s.BurstFor), Y: y(float64(s.Rate)), W: tenth(l.Right - x(s.BurstFor))}
	}
	l.axes(top, last, x, y)
	l.Title = fmt.Sprintf("Rate over time, %s, %s", t.Direction, unit.Counted(t.Streams, "stream"))
	l.Desc = describeTime(t, points)
	l.Table = append([][]string{{"from", "to", "rate"}}, timeTable(thinned(points, timeRows))...)
	return l, true
}

func pointsOf(t record.Trial) ([]timePoint, bool) {
	if len(t.Series) < 3 || len(t.Series) != len(t.SeriesAt) {
		return nil, false
	}
	var out []timePoint
	last, highest := 0.0, 0.0
	for i, rate := range t.Series {
		at := t.SeriesAt[i]
		if !finite(at) || !finite(float64(rate)) || at <= last {
			return nil, false
		}
		out = append(out, timePoint{last, at, amount(rate)})
		last, highest = at, max(highest, amount(rate))
	}
	return out, highest > 0
}

// thinned joins neighbours until so many are left, each with the mean of what
// it stands for.
func thinned(points []timePoint, most int) []timePoint {
	if len(points) <= most {
		return points
	}
	var out []timePoint
	for i := range most {
		part := points[i*len(points)/most : (i+1)*len(points)/most]
		p := timePoint{from: part[0].from, to: part[len(part)-1].to}
		for _, one := range part {
			p.rate += one.rate * (one.to - one.from)
		}
		p.rate /= p.to - p.from
		out = append(out, p)
	}
	return out
}

// draw makes the line of steps and the area below it.
func (l *timeline) draw(points []timePoint, x, y func(float64) float64) {
	var b strings.Builder
	fmt.Fprintf(&b, "M%g %g", x(points[0].from), y(points[0].rate))
	for _, p := range points {
		fmt.Fprintf(&b, "V%gH%g", y(p.rate), x(p.to))
	}
	l.Line = b.String()
	l.Area = l.Line + fmt.Sprintf("V%gH%gZ", l.Bottom, l.Left)
}

// axes are the numbers beside the plot: three rates, and seconds in round
// steps.
func (l *timeline) axes(top, last float64, x, y func(float64) float64) {
	for _, share := range []float64{0, 0.5, 1} {
		at := y(top * share / 1.04)
		l.Rates = append(l.Rates, mapText{X: l.Left - 8, Y: tenth(at + 4), Anchor: "end", Words: unit.BitRate(top * share / 1.04).String()})
	}
	step := chart.Step(last / 8)
	for s := 0.0; s <= last+step/1e6; s += step {
		l.Times = append(l.Times, mapText{X: x(s), Y: l.Bottom + 16, Anchor: "middle", Words: fmt.Sprintf("%g", math.Round(s*1e6)/1e6)})
	}
	l.Times[len(l.Times)-1].Words += " s"
}

// mark adds what is known to have happened: links that failed or returned, and
// a shaper's bucket that ran empty. Words that would touch stand in lines above
// each other, and the plot is below all of them.
func (l *timeline) mark(t record.Trial, last float64, x func(float64) float64) {
	for _, o := range t.Outages {
		if !finite(o.At) || o.At < 0 || o.At > last {
			continue
		}
		l.Events = append(l.Events, timeEvent{X: x(o.At), Down: o.Event == "down", Label: l.word(x(o.At), fit(orUnknown(o.Host)+" "+orUnknown(o.Link), 24)+" "+orUnknown(o.Event))})
	}
	if s, ok := emptied(t, last); ok {
		at := x(s.BurstFor)
		l.Events = append(l.Events, timeEvent{X: at, Label: l.word(at, "bucket of "+s.Bucket.String()+" empty")})
	}
	var ends []float64 // of each line's words, from the lowest line up
	lines := make([]int, len(l.Events))
	order := make([]int, len(l.Events))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(l.Events[a].Label.from(), l.Events[b].Label.from()) })
	for _, i := range order {
		from := l.Events[i].Label.from()
		line := slices.IndexFunc(ends, func(end float64) bool { return end < from })
		if line < 0 {
			line, ends = len(ends), append(ends, 0)
		}
		lines[i], ends[line] = line, from+l.Events[i].Label.length()+timeLetter
	}
	l.Top = timeTop + timeMark*float64(len(ends))
	l.Bottom = l.Top + timePlot
	l.Height = l.Bottom + timeBottom
	for i := range l.Events {
		l.Events[i].Label.Y = tenth(l.Top - 8 - timeMark*float64(lines[i]))
		l.Events[i].Top = l.Events[i].Label.Y
	}
}

// emptied is the trial's shaper, where its bucket ran empty while the series lasted.
func emptied(t record.Trial, last float64) (*record.TokenBucket, bool) {
	s := t.Shaper
	return s, s != nil && positive(float64(s.Rate)) && finite(s.BurstFor) && s.BurstFor >= 0 && s.BurstFor < last
}

// word is a mark's label, on the side where there is room.
func (l *timeline) word(x float64, words string) mapText {
	t := mapText{X: tenth(x + 4), Anchor: "start", Words: words}
	if x > (l.Left+l.Right)/2 {
		t.X, t.Anchor = tenth(x-4), "end"
	}
	return t
}

// length is how long a mark's words are where letters are largest.
func (t mapText) length() float64 { return timeLetter * float64(utf8.RuneCountInString(t.Words)) }

// from is where they begin.
func (t mapText) from() float64 {
	if t.Anchor == "end" {
		return t.X - t.length()
	}
	return t.X
}

func describeTime(t record.Trial, points []timePoint) string {
	low, high := math.Inf(1), 0.0
	for _, p := range points {
		if p.from >= t.WarmUp {
			low, high = min(low, p.rate), max(high, p.rate)
		}
	}
	words := fmt.Sprintf("%d samples over %s.", len(points), seconds(points[len(points)-1].to))
	if high > 0 {
		words += fmt.Sprintf(" After the warm-up between %s and %s, %s on average.", unit.BitRate(low), unit.BitRate(high), goodput(&t))
	}
	for _, o := range t.Outages {
		words += fmt.Sprintf(" %s on %s went %s at %s.", orUnknown(o.Link), orUnknown(o.Host), orUnknown(o.Event), seconds(o.At))
	}
	if s := t.Shaper; s != nil {
		words += fmt.Sprintf(" A shaper's bucket of %s: %s for %s, then %s.", s.Bucket, rate(s.Burst), seconds(s.BurstFor), rate(s.Rate))
	}
	return words
}

func timeTable(points []timePoint) [][]string {
	var out [][]string
	for _, p := range points {
		from := "0 s"
		if p.from > 0 {
			from = seconds(p.from)
		}
		out = append(out, []string{from, seconds(p.to), unit.BitRate(p.rate).String()})
	}
	return out
}
