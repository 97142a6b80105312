package report

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/linerate/linerate/record"
)

// Plot is one drawing of a report by itself.
type Plot struct {
	// Name is a file name without its extension: lower-case letters, digits and
	// dashes. It is the plot's alone in its report.
	Name string
	// SVG is a document of its own: light, with its own style, and no script.
	SVG []byte
}

// Plots are all drawings of a record's page, in the page's order: the load of
// each link, goodput against the ceiling, heat maps, ladders, and each compared
// trial's rate over time. The error is only ever the template's own.
func Plots(r record.Record) ([]Plot, error) {
	t, err := parsed()
	if err != nil {
		return nil, err
	}
	var style bytes.Buffer
	if err := t.ExecuteTemplate(&style, "style", nil); err != nil {
		return nil, fmt.Errorf("fill style: %w", err)
	}
	light := lightStyle(style.String())
	var out []Plot
	var failed error
	add := func(kind, id string, width, height float64, data any) {
		var b bytes.Buffer
		if err := t.ExecuteTemplate(&b, kind, data); err != nil && failed == nil {
			failed = fmt.Errorf("draw %s: %w", id, err)
		}
		alone, err := standalone(b.String(), light, width, height)
		if err != nil && failed == nil {
			failed = err
		}
		out = append(out, Plot{plotName(id), alone})
	}
	p := pageOf(r, Options{})
	for _, s := range p.Series {
		for _, row := range s.Maps {
			for _, m := range row.Maps {
				add("map", m.ID, m.Width, m.Height, m)
			}
		}
		for _, b := range s.Panels {
			add("bars", b.ID, b.Width, b.Height, b)
		}
	}
	for _, h := range append(p.Heats, p.Grids...) {
		add("heat", h.ID, h.Width, h.Height, h)
	}
	for _, l := range p.Ladders {
		add("ladder", l.ID, l.Width, l.Height, l)
	}
	for _, trial := range p.Trials {
		if l := trial.Time; l != nil {
			add("timeline", l.ID, l.Width, l.Height, *l)
		}
	}
	return out, failed
}

// standalone makes a page's drawing a document: with the name space, a size, a
// background and a style.
func standalone(svg, style string, width, height float64) ([]byte, error) {
	head, rest, ok := strings.Cut(svg, ">")
	if !ok {
		return nil, fmt.Errorf("draw: no drawing")
	}
	const margin = 12
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"%d %d %g %g\">\n",
		width+2*margin, height+2*margin, -margin, -margin, width+2*margin, height+2*margin)
	fmt.Fprintf(&b, "<style>%s\nsvg{font-family:system-ui,\"Liberation Sans\",Arial,sans-serif}</style>\n", style)
	fmt.Fprintf(&b, "<rect x=\"%d\" y=\"%d\" width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", -margin, -margin)
	b.WriteString(strings.TrimSpace(head) + fmt.Sprintf(" width=\"%g\" height=\"%g\">", width, height) + rest + "\n</svg>\n")
	return visible([]byte(b.String())), nil
}

// lightStyle is what of the page's style drawings need: the light colours, and
// the rules of drawings.
func lightStyle(css string) string {
	var out []string
	root, rest, _ := strings.Cut(css, "@media")
	out = append(out, strings.TrimSpace(root))
	for _, line := range strings.Split(rest, "\n") {
		if strings.HasPrefix(line, "svg ") && !strings.HasPrefix(line, "svg.") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// plotName is an id as a file name.
func plotName(id string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-':
			return c
		case c >= 'A' && c <= 'Z':
			return c + 'a' - 'A'
		}
		return '-'
	}, id)
}
