package labreport

import (
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/linerate/linerate/internal/chart"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/unit"
)

// Geometry of a panel, in pixels.
const (
	columns     = 2
	margin      = 8.0
	panelWidth  = (width - (columns+1)*margin) / columns
	panelHeight = 208.0
	axisLeft    = 44.0
	axisTop     = 36.0
	axisBottom  = 30.0
	dot         = 2.6
	// leastSweep is how many points make a line.
	leastSweep = 3
	// ticks are the steps of an axis at most.
	ticks = 5
)

// panel draws rows that differ in their number of streams as lines over it.
func panel(b *strings.Builder, o scenario.Outcome, rows []scenario.Row, left, y float64) {
	low, high, step := axis(o, rows)
	inner := panelWidth - axisLeft - dot - margin
	bottom := y + panelHeight - axisBottom
	across := chart.Scale{High: float64(len(rows) - 1), From: left + axisLeft, To: left + axisLeft + inner}
	upward := chart.Scale{Low: low, High: high, From: bottom, To: y + axisTop}
	at := func(i int) float64 { return across.At(float64(i)) }
	up := func(r unit.BitRate) float64 { return upward.At(float64(r)) }
	fmt.Fprintf(b, "<text class=\"step\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", left, y+12, html.EscapeString(short(rows[0].Step, panelWidth)))
	fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", left, y+26, html.EscapeString(short(between(rows[0])+", "+rows[0].Tool, panelWidth)))
	for v := low; v <= high+step/2; v += step {
		fmt.Fprintf(b, "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", at(0), at(len(rows)-1), up(unit.BitRate(v)), up(unit.BitRate(v)))
		fmt.Fprintf(b, "<text text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">%.4g</text>\n", at(0)-6, up(unit.BitRate(v))+4, v/float64(unit.Gbps))
	}
	for i, r := range rows {
		fmt.Fprintf(b, "<text text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">%d</text>\n", at(i), bottom+14, r.Streams)
	}
	fmt.Fprintf(b, "<text text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">streams</text>\n", at(0)+inner/2, bottom+26)
	for _, kind := range drawnKinds() {
		var points []string
		var dots strings.Builder
		for i, r := range rows {
			rate := drawn(o, r, kind)
			if rate <= 0 {
				continue
			}
			points = append(points, fmt.Sprintf("%.1f,%.1f", at(i), up(rate)))
			if kind != "predicted" && kind != "ceiling" {
				fmt.Fprintf(&dots, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"><title>%d: %s %s Gbit/s</title></circle>\n", kind, at(i), up(rate), dot, r.Streams, kind, gigabits(rate))
			}
		}
		if len(points) > 1 {
			fmt.Fprintf(b, "<polyline class=\"%s\" points=\"%s\"/>\n", kind, strings.Join(points, " "))
		}
		b.WriteString(dots.String())
	}
}

// axis is from where to where a panel's rates go, and in which steps.
func axis(o scenario.Outcome, rows []scenario.Row) (low, high, step float64) {
	low = math.Inf(1)
	for _, r := range rows {
		for _, kind := range drawnKinds() {
			if rate := float64(drawn(o, r, kind)); rate > 0 {
				low, high = math.Min(low, rate), math.Max(high, rate)
			}
		}
	}
	return chart.Axis(low, high, ticks)
}
