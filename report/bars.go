package report

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/chart"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Geometry of a panel of bars.
const (
	panelWidth  = 340.0
	panelLabel  = 30.0 // stream counts on the left
	panelValue  = 74.0 // rates on the right
	panelTop    = 34.0
	panelBar    = 12.0
	panelGap    = 10.0
	panelBottom = 6.0
)

// panel is the bars of one direction: goodput at every stream count, before
// and after, against the ceiling.
type panel struct {
	ID, Name, Way string
	Title, Desc   string
	Width, Height float64
	Groups        []barGroup
	CeilingLabel  mapText
	AxisY         float64 // baseline of "streams"
	AxisX0        float64
}

type barGroup struct {
	Label mapText
	Bars  []bar
	// Tick is the ceiling's line across the group's bars.
	Tick  box
	Known bool
}

type bar struct {
	gauge
	Class   string
	Whisker bool
	Low     float64 // x of the interval's ends
	High    float64
	Middle  float64 // y of the bar's middle
	CapTop  float64
	CapEnd  float64
}

// panelsOf draws a series, one panel a direction.
func panelsOf(id string, s series, compared bool) []panel {
	var out []panel
	for i, d := range s.directions {
		out = append(out, panelOf(fmt.Sprintf("%s-bars-%d", id, i), s, d, compared))
	}
	return out
}

func panelOf(id string, s series, d flow.Direction, compared bool) panel {
	p := panel{ID: id, Name: string(d), Way: s.way(d), Width: panelWidth, AxisY: panelTop - 12, AxisX0: panelLabel}
	top, ceiling := scaleOf(s, d)
	span := panelWidth - panelLabel - panelValue
	scale := chart.Scale{High: top, From: panelLabel, To: panelLabel + span}
	x := func(v unit.BitRate) float64 { return tenth(scale.At(amount(v))) }
	y := panelTop
	var words []string
	for _, n := range s.streams {
		c, ok := s.cells[at{d, n}]
		if !ok {
			continue
		}
		g := barGroup{}
		start := y
		sides := []struct {
			class string
			trial *record.Trial
		}{{"single", c.before}}
		if compared {
			sides[0].class = "before"
			sides = append(sides, sides[0])
			sides[1].class, sides[1].trial = "after", c.after
		}
		for _, side := range sides {
			g.Bars = append(g.Bars, barOf(side.class, side.trial, y, span, x))
			words = append(words, fmt.Sprintf("%s %s: %s.", unit.Counted(n, "stream"), side.class, goodput(side.trial)))
			y += panelBar + 2
		}
		y -= 2
		limit, _ := c.ceiling()
		g.Known = positive(float64(limit))
		g.Tick = box{X: x(limit), Y: tenth(start - 4), H: tenth(y - start + 8)}
		g.Label = mapText{X: panelLabel - 8, Y: tenth((start+y)/2 + 4.5), Anchor: "end", Words: fmt.Sprint(n)}
		p.Groups = append(p.Groups, g)
		y += panelGap
	}
	p.Height = tenth(y - panelGap + panelBottom)
	p.CeilingLabel = mapText{X: panelLabel + span, Y: panelTop - 12, Anchor: "middle", Words: "ceiling " + rate(ceiling)}
	if positive(float64(ceiling)) {
		p.CeilingLabel.X = min(x(ceiling), panelWidth-62)
	}
	p.Title = "Goodput " + string(d) + ", " + p.Way
	p.Desc = strings.Join(append(words, "Ceiling: "+rate(ceiling)+"."), " ")
	return p
}

// scaleOf is the largest number a panel shows and its largest ceiling.
func scaleOf(s series, d flow.Direction) (top float64, ceiling unit.BitRate) {
	for k, c := range s.cells {
		if k.direction != d {
			continue
		}
		limit, _ := c.ceiling()
		ceiling = max(ceiling, limit)
		top = max(top, amount(limit))
		for _, t := range []*record.Trial{c.before, c.after} {
			if t != nil {
				top = max(top, amount(t.Goodput), amount(t.GoodputHigh))
			}
		}
	}
	return top, ceiling
}

func barOf(class string, t *record.Trial, y, span float64, x func(unit.BitRate) float64) bar {
	b := bar{Class: class, Middle: tenth(y + panelBar/2), CapTop: tenth(y + 2.5), CapEnd: tenth(y + panelBar - 2.5)}
	if t == nil {
		b.gauge = gaugeOf(box{panelLabel, tenth(y), span, panelBar}, 0, 8, "not measured")
		b.Fill = box{}
		return b
	}
	b.gauge = gaugeOf(box{panelLabel, tenth(y), span, panelBar}, x(t.Goodput)-panelLabel, 8, goodput(t))
	if hasInterval(*t) {
		b.Whisker, b.Low, b.High = true, x(t.GoodputLow), x(t.GoodputHigh)
	}
	return b
}

// gauge is a value as the filled part of a track, with words behind it.
type gauge struct {
	Track, Fill box
	Value       mapText
}

func gaugeOf(track box, filled, gap float64, words string) gauge {
	fill := track
	fill.W = tenth(filled)
	return gauge{track, fill, mapText{X: track.X + track.W + gap, Y: tenth(track.Y + track.H - 2), Anchor: "start", Words: words}}
}
