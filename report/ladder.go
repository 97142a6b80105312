package report

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Geometry of a ladder.
const (
	ladderWidth = 720.0
	ladderLabel = 250.0 // words on the left
	ladderValue = 92.0  // rates on the right
	ladderTop   = 6.0
	ladderRow   = 38.0
	ladderBar   = 13.0
)

// ladder is the limits of one place from the lowest up: what was measured and
// why it was no more, what the remedy is worth, what would limit next, and the
// ceiling.
type ladder struct {
	ID, Title, Desc string
	Name            string
	Width, Height   float64
	Rungs           []rung
	Table           [][]string
}

type rung struct {
	gauge
	Class      string // "before", "after", "single" were measured, "expected" was not
	Label, Why mapText
}

// step is a rung before it is drawn.
type ladderStep struct {
	class, name, why string
	rate             unit.BitRate
}

// mostLadders is how many places have a ladder on a page.
const mostLadders = 12

// laddersOf are the ladders of the leading places, pair by pair.
func laddersOf(all []series) []ladder {
	var out []ladder
	for i, s := range all {
		for j, c := range s.places() {
			if len(out) == mostLadders {
				return out
			}
			if l, ok := ladderOf(fmt.Sprintf("pair-%d-ladder-%d", i+1, j), s, c); ok {
				out = append(out, l)
			}
		}
	}
	return out
}

// ladderOf draws one place of a series; ok is false where there is nothing to
// say but what was measured, at the ceiling or without one.
func ladderOf(id string, s series, c place) (ladder, bool) {
	steps := ladderSteps(c.cell)
	if limit, _ := c.ceiling(); limit <= 0 || len(steps) < 2 || len(steps) == 2 && full(c.cell) {
		return ladder{}, false // without a ceiling an expectation has no bound
	}
	l := ladder{ID: id, Name: s.way(c.direction) + ", " + c.counted(), Width: ladderWidth, Height: tenth(ladderTop + ladderRow*float64(len(steps)))}
	l.Title = "What limits " + l.Name
	top := 0.0
	for _, step := range steps {
		top = max(top, amount(step.rate))
	}
	span := ladderWidth - ladderLabel - ladderValue
	var words []string
	l.Table = [][]string{{"rung", "rate", "why"}}
	for i, step := range steps {
		y := ladderTop + ladderRow*float64(i)
		l.Rungs = append(l.Rungs, rung{
			Class: step.class,
			Label: mapText{X: ladderLabel - 12, Y: tenth(y + 12), Anchor: "end", Words: fit(step.name, 38)},
			Why:   mapText{X: ladderLabel - 12, Y: tenth(y + 26), Anchor: "end", Words: fit(step.why, 46)},
			gauge: gaugeOf(box{ladderLabel, tenth(y + 4), span, ladderBar}, span*amount(step.rate)/top, 10, rate(step.rate)),
		})
		words = append(words, fmt.Sprintf("%s: %s (%s).", step.name, rate(step.rate), step.why))
		l.Table = append(l.Table, []string{step.name, rate(step.rate), step.why})
	}
	l.Desc = strings.Join(words, " ")
	return l, true
}

// ladderSteps are a place's rungs, the lowest first.
func ladderSteps(c cell) []ladderStep {
	var out []ladderStep
	for _, side := range []struct {
		name string
		t    *record.Trial
	}{{"before", c.before}, {"after", c.after}} {
		if side.t == nil || !positive(float64(side.t.Goodput)) {
			continue
		}
		name, class := "measured "+side.name, side.name
		if c.after == nil || c.before == nil {
			name, class = "measured", "single"
		}
		out = append(out, ladderStep{class, name, "limited by " + string(cause(side.t)), side.t.Goodput})
	}
	last := c.last()
	if f := last.Finding; f != nil && amount(f.Expected) > worthExpecting*amount(last.Goodput) {
		out = append(out, ladderStep{"expected", "with the remedy", cmp.Or(f.Remedy, "for "+string(f.Cause)), f.Expected})
		if f.Next != nil && amount(f.Next.Rate) > 1.01*amount(f.Expected) {
			out = append(out, ladderStep{"expected", "the next limit", cmp.Or(f.Next.Why, string(f.Next.Cause)), f.Next.Rate})
		}
		// Other causes that are possible are worth what they are worth.
		for _, a := range f.Also {
			if amount(a.Expected) > worthExpecting*amount(last.Goodput) && !slices.ContainsFunc(out, func(s ladderStep) bool { return near(s.rate, a.Expected) }) {
				out = append(out, ladderStep{"expected", "if it is " + string(a.Cause), "were that removed", a.Expected})
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return amount(out[i].rate) < amount(out[j].rate) })
	if limit, size := c.ceiling(); positive(float64(limit)) {
		why := "what the links carry at most"
		if size > 0 {
			why += fmt.Sprintf(", MTU %d", size)
		}
		out = append(out, ladderStep{"expected", "ceiling", why, limit})
	}
	return out
}

// full reports a place at its ceiling: there is nothing between them to show.
func full(c cell) bool {
	limit, _ := c.ceiling()
	f, ok := fraction(c.last().Goodput, limit)
	return ok && f >= 0.97
}

// near reports two rates that are the same to a reader.
func near(a, b unit.BitRate) bool {
	return amount(a) < 1.01*amount(b) && amount(b) < 1.01*amount(a)
}
