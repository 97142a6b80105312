package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/linerate/linerate/internal/chart"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Geometry of a trial's rate over time.
const (
	timeWidth  = 720.0
	timeHeight = 190.0
	timeLeft   = 74.0 // rates
	timeRight  = 12.0
	timeTop    = 26.0 // words of marks
	timeBottom = 24.0 // seconds
	timePoints = 400  // drawn at most: about one for every two units of width
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
	X     float64
	Label mapText
	Down  bool
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
	l := timeline{ID: id, Class: class, Width: timeWidth, Height: timeHeight, Left: timeLeft, Right: timeWidth - timeRight, Top: timeTop, Bottom: timeHeight - timeBottom}
	last := points[len(points)-1].to
	top := amount(t.Ceiling)
	for _, p := range points {
		top = max(top, p.rate)
	}
	top *= 1.04
	across, upward := chart.Scale{High: last, From: l.Left, To: l.Right}, chart.Scale{High: top, From: l.Bottom, To: l.Top}
	x := func(s float64) float64 { return tenth(across.At(s)) }
	y := func(rate float64) float64 { return tenth(upward.At(rate)) }
	l.draw(thinned(points, timePoints), x, y)
	if w := min(t.WarmUp, last); positive(w) {
		l.WarmUp = box{X: l.Left, Y: l.Top, W: tenth(x(w) - l.Left), H: l.Bottom - l.Top}
	}
	if positive(float64(t.Ceiling)) {
		l.CeilingKnown, l.Ceiling = true, y(float64(t.Ceiling))
	}
	l.axes(top, last, x, y)
	l.mark(t, last, x, y)
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
// a shaper's bucket that ran empty.
func (l *timeline) mark(t record.Trial, last float64, x, y func(float64) float64) {
	for _, o := range t.Outages {
		if !finite(o.At) || o.At < 0 || o.At > last {
			continue
		}
		l.Events = append(l.Events, timeEvent{X: x(o.At), Down: o.Event == "down", Label: l.word(x(o.At), fit(orUnknown(o.Host)+" "+orUnknown(o.Link), 24)+" "+orUnknown(o.Event))})
	}
	if s := t.Shaper; s != nil && positive(float64(s.Rate)) && finite(s.BurstFor) && s.BurstFor >= 0 && s.BurstFor < last {
		at := x(s.BurstFor)
		l.Plateau = &box{X: at, Y: y(float64(s.Rate)), W: tenth(l.Right - at)}
		l.Events = append(l.Events, timeEvent{X: at, Label: l.word(at, "bucket of "+s.Bucket.String()+" empty")})
	}
}

// word is a mark's label, on the side where there is room.
func (l *timeline) word(x float64, words string) mapText {
	anchor, at := "start", x+4
	if x > (l.Left+l.Right)/2 {
		anchor, at = "end", x-4
	}
	return mapText{X: tenth(at), Y: l.Top - 8, Anchor: anchor, Words: words}
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
