package replica

import (
	"fmt"
	"html"
	"strings"

	"github.com/linerate/linerate/scenario"
	"github.com/linerate/linerate/unit"
)

// Geometry of a chart, in pixels.
const (
	width  = 760.0
	label  = 300.0 // of a row, on the left
	value  = 80.0  // of a bar, on the right
	top    = 44.0
	bar    = 11.0
	space  = 8.0
	titles = 20.0
)

// Chart is the rows of rates as bars, as SVG: published, reproduced, and what
// arrived where that is another number, with a line at each row's ceiling. False
// where no row is a rate.
func Chart(o scenario.Outcome) (svg string, ok bool) {
	var most unit.BitRate
	for _, r := range o.Rows {
		if r.Measured <= 0 || r.MeasuredRTT > 0 {
			continue
		}
		ok = true
		most = max(most, r.Measured, r.Ceiling, r.Wire)
		if r.Published != nil {
			most = max(most, *r.Published)
		}
	}
	if !ok {
		return "", false
	}
	x := func(r unit.BitRate) float64 { return label + (width-label-value)*float64(r/most) }
	var b strings.Builder
	y, step := top, ""
	for _, r := range o.Rows {
		if r.Measured <= 0 || r.MeasuredRTT > 0 {
			continue
		}
		if r.Step != step {
			step = r.Step
			fmt.Fprintf(&b, "<text class=\"step\" x=\"4\" y=\"%.1f\">%s</text>\n", y+11, html.EscapeString(step))
			y += titles
		}
		begin := y
		for _, one := range bars(r) {
			fmt.Fprintf(&b, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>%s %s Gbit/s</title></rect>\n", one.class, label, y, x(one.rate)-label, bar, one.class, gigabits(one.rate))
			fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", x(one.rate)+4, y+9, gigabits(one.rate))
			y += bar + 1
		}
		fmt.Fprintf(&b, "<text text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", label-6, (begin+y)/2+3, html.EscapeString(fmt.Sprintf("%s, %s, %s, %d, %s", r.From, r.To, r.Direction, r.Streams, r.Tool)))
		if r.Ceiling > 0 {
			fmt.Fprintf(&b, "<line class=\"ceiling\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"><title>ceiling %s Gbit/s</title></line>\n", x(r.Ceiling), x(r.Ceiling), begin-2, y+1, gigabits(r.Ceiling))
		}
		y += space
	}
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 %.0f %.0f" font-family="sans-serif" font-size="11">
<title>%s: published and reproduced, Gbit/s</title>
<style>text{fill:#222}.step{font-weight:bold}.published{fill:#8a8f98}.reproduced{fill:#2563ab}.arrived{fill:#2f8f5b}.ceiling{stroke:#b3261e;stroke-dasharray:3 2}@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>
<text x="4" y="16">Gbit/s: published (grey), reproduced (blue), arrived (green), ceiling (red line)</text>
`, width, y, html.EscapeString(o.Scenario))
	return head + b.String() + "</svg>\n", true
}

type oneBar struct {
	class string
	rate  unit.BitRate
}

// bars are a row's; of a ratio nobody published a rate.
func bars(r scenario.Row) (all []oneBar) {
	if r.Published != nil {
		all = append(all, oneBar{"published", *r.Published})
	}
	all = append(all, oneBar{"reproduced", r.Measured})
	if r.Wire > 0 {
		all = append(all, oneBar{"arrived", r.Wire})
	}
	return all
}
