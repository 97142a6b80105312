package labreport

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/chart"
	"github.com/linerate/linerate/internal/lab/scenario"
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
	letter = 6.0 // of a label's letters, on average
)

// Chart is the rows of rates as SVG: rows that differ in their number of streams
// as lines, as the articles drew them, the others as bars. Each shows what was
// published, reproduced, predicted, what arrived where that is another number, the
// best of linerate's own and the ceiling. False where no row is a rate.
func Chart(o scenario.Outcome) (svg string, ok bool) {
	var alone []scenario.Row
	var sweeps [][]scenario.Row
	for _, group := range groups(o.Rows) {
		if len(group) >= leastSweep {
			sweeps = append(sweeps, group)
		} else {
			alone = append(alone, group...)
		}
	}
	if len(alone)+len(sweeps) == 0 {
		return "", false
	}
	var b strings.Builder
	y := top
	for i := range sweeps {
		left := margin + float64(i%columns)*(panelWidth+margin)
		panel(&b, o, sweeps[i], left, y)
		if i%columns == columns-1 || i == len(sweeps)-1 {
			y += panelHeight + space
		}
	}
	y = bars(&b, o, alone, y)
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 %.0f %.0f" font-family="sans-serif" font-size="11">
<title>%s: published and reproduced, Gbit/s</title>
<style>%s</style>
<rect class="page" width="%.0f" height="%.0f"/>
`, width, y, html.EscapeString(o.Scenario), style, width, y)
	return head + legend(o) + b.String() + "</svg>\n", true
}

// style colours what the classes name, on light and on dark pages.
const style = `text{fill:#222}.page{fill:#fff}.step{font-weight:bold}.rate{paint-order:stroke;stroke:#fff;stroke-width:3}.published{fill:#8a8f98;stroke:#8a8f98}.reproduced{fill:#2563ab;stroke:#2563ab}.arrived{fill:#2f8f5b;stroke:#2f8f5b}.best{fill:#d97706;stroke:#d97706}.predicted{fill:none;stroke:#222}.ceiling{fill:none;stroke:#b3261e;stroke-dasharray:4 3}rect{stroke:none!important}polyline{fill:none!important;stroke-width:1.6}.axis{stroke:#9994;stroke-width:1}` +
	`@media(prefers-color-scheme:dark){text{fill:#ddd}.page{fill:#181a1f}.rate{stroke:#181a1f}.predicted{stroke:#ddd}.reproduced{fill:#6ea8e8;stroke:#6ea8e8}}`

// drawnKinds are what is drawn, in this order, by the style's classes.
func drawnKinds() []string {
	return []string{"published", "reproduced", "arrived", "best", "predicted", "ceiling"}
}

// legend says which colour is what, of those that are drawn.
func legend(o scenario.Outcome) string {
	var b strings.Builder
	x := 4.0
	fmt.Fprintf(&b, "<text x=\"%.0f\" y=\"16\">Gbit/s:</text>\n", x)
	x += 48
	for _, kind := range drawnKinds() {
		if !slices.ContainsFunc(o.Rows, func(r scenario.Row) bool { return rated(r) && drawn(o, r, kind) > 0 }) {
			continue
		}
		words := kind
		if kind == "best" {
			words = "linerate's best"
		}
		if kind == "predicted" || kind == "ceiling" {
			fmt.Fprintf(&b, "<line class=\"%s\" x1=\"%.0f\" x2=\"%.0f\" y1=\"12\" y2=\"12\"/>\n", kind, x, x+14)
		} else {
			fmt.Fprintf(&b, "<rect class=\"%s\" x=\"%.0f\" y=\"7\" width=\"14\" height=\"10\"/>\n", kind, x)
		}
		fmt.Fprintf(&b, "<text x=\"%.0f\" y=\"16\">%s</text>\n", x+19, words)
		x += 30 + letter*float64(len(words)) + 8
	}
	return b.String()
}

// rated reports a row that is a rate.
func rated(r scenario.Row) bool { return r.Measured > 0 && r.MeasuredRTT == 0 }

// groups are the rows of rates, those together that differ in their number of
// streams alone.
func groups(rows []scenario.Row) (all [][]scenario.Row) {
	for _, r := range rows {
		if !rated(r) {
			continue
		}
		if n := len(all) - 1; n >= 0 {
			last := all[n][len(all[n])-1]
			if last.Step == r.Step && last.From == r.From && last.To == r.To && last.Direction == r.Direction && last.Tool == r.Tool && last.Streams < r.Streams {
				all[n] = append(all[n], r)
				continue
			}
		}
		all = append(all, []scenario.Row{r})
	}
	return all
}

// bars draws rows as bars from y on, and returns where they end.
func bars(b *strings.Builder, o scenario.Outcome, rows []scenario.Row, y float64) float64 {
	most := 0.0
	for _, r := range rows {
		for _, kind := range drawnKinds() {
			most = math.Max(most, float64(drawn(o, r, kind)))
		}
	}
	scale := chart.Scale{High: most, From: label, To: width - value}
	x := func(r unit.BitRate) float64 { return scale.At(float64(r)) }
	step := ""
	for _, r := range rows {
		if r.Step != step {
			step = r.Step
			fmt.Fprintf(b, "<text class=\"step\" x=\"4\" y=\"%.1f\">%s</text>\n", y+11, html.EscapeString(step))
			y += titles
		}
		begin, figures := y, ""
		for _, kind := range []string{"published", "reproduced", "arrived", "best"} {
			rate := drawn(o, r, kind)
			if rate <= 0 {
				continue
			}
			fmt.Fprintf(b, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>%s %s Gbit/s</title></rect>\n", kind, label, y, x(rate)-label, bar, kind, gigabits(rate))
			figures += fmt.Sprintf("<text class=\"rate\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", x(rate)+6, y+9.5, gigabits(rate))
			y += bar + 1
		}
		fmt.Fprintf(b, "<text text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", label-6, (begin+y)/2+3, html.EscapeString(short(fmt.Sprintf("%s, %s, %s", between(r), unit.Counted(r.Streams, "stream"), r.Tool), label-10)))
		for _, kind := range []string{"predicted", "ceiling"} {
			if rate := drawn(o, r, kind); rate > 0 {
				fmt.Fprintf(b, "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"><title>%s %s Gbit/s</title></line>\n", kind, x(rate), x(rate), begin-2, y+1, kind, gigabits(rate))
			}
		}
		b.WriteString(figures) // over the lines
		y += space
	}
	return y
}

// drawn is a row's rate of one kind; zero where it has none. Of a ratio nobody
// published a rate.
func drawn(o scenario.Outcome, r scenario.Row, kind string) unit.BitRate {
	switch kind {
	case "published":
		if r.Published != nil {
			return *r.Published
		}
	case "reproduced":
		if r.Kind != scenario.Best {
			return r.Measured
		}
	case "arrived":
		return r.Wire
	case "best":
		return o.Best(r)
	case "predicted":
		return r.Predicted
	case "ceiling":
		return r.Ceiling
	}
	return 0
}

// between are a row's hosts, with an arrow each way that it sends.
func between(r scenario.Row) string {
	arrow := map[string]string{"forward": "→", "reverse": "←", "both": "↔"}[string(r.Direction)]
	return r.From + " " + arrow + " " + r.To
}

// short is a text that fits into so many pixels.
func short(s string, pixels float64) string {
	if r := []rune(s); float64(len(r))*letter > pixels {
		return string(r[:int(pixels/letter)-1]) + "…"
	}
	return s
}
