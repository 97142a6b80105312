package report

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/remedy"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Foreseen is a prediction with what it was made from: a design that can be shown
// before anything is bought.
type Foreseen struct {
	// File and Text are the fabric's; File is as a command line names it, "" is
	// FABRIC.
	File, Text  string
	Hosts       map[string]netstate.Host
	Paths       []fabric.Path
	Predictions []predict.Prediction
	// Better is the change on paper that helps most; its zero value is none.
	Better Better
	// Linerate is the version of the program.
	Linerate string
}

// Better is a change on paper and what it would bring where the report's headline
// looks.
type Better struct {
	Change  string // such as "policy=layer3+4"
	Rate    unit.BitRate
	Command string // that shows it
}

// Leading is the prediction that the headline speaks of; ok is false without any.
func (f Foreseen) Leading() (p predict.Prediction, ok bool) {
	_, c, ok := lead(seriesOf(f.view()))
	if !ok {
		return predict.Prediction{}, false
	}
	t := c.last()
	i := slices.IndexFunc(f.Predictions, func(p predict.Prediction) bool {
		return p.From == t.From && p.To == t.To && p.Direction == t.Direction && p.Streams == t.Streams
	})
	if i < 0 {
		return predict.Prediction{}, false
	}
	return f.Predictions[i], true
}

// ForeseenHTML is a prediction as one page, as HTML is of a record.
func ForeseenHTML(f Foreseen) ([]byte, error) { return htmlOf(f.page()) }

// ForeseenSVG is a prediction's picture: what it comes to, what to do, and the
// load of each link.
func ForeseenSVG(f Foreseen) ([]byte, error) { return pictureOf(f.page()) }

// ForeseenMarkdown is a prediction for a ticket.
func ForeseenMarkdown(f Foreseen) []byte {
	r := f.view()
	all := seriesOf(r)
	p := f.page()
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n", mark(p.Title), mark(p.Headline))
	markdownAdvice(&b, p.Do)
	fmt.Fprintf(&b, "%s\n", mark(p.Context))
	b.WriteString("\n## Result\n\n")
	rows := [][]string{{"direction", "streams", "expected", "from", "to", "ceiling", "of ceiling", "limited by"}}
	for _, s := range all {
		for _, d := range s.directions {
			for _, n := range s.streams {
				c, ok := s.cells[at{d, n}]
				if !ok {
					continue
				}
				t := c.before
				low, high := "", ""
				if hasInterval(*t) {
					low, high = t.GoodputLow.String(), t.GoodputHigh.String()
				}
				rows = append(rows, []string{mark(s.way(d)), fmt.Sprint(n), goodput(t), low, high, rate(t.Ceiling), ofCeiling(t, t.Ceiling), mark(string(cause(t)))})
			}
		}
	}
	tableTo(&b, "lrrrrrrl", rows...)
	markdownLinks(&b, all, false)
	markdownFindings(&b, r)
	b.WriteString("\n## Repeat\n\n")
	fence(&b, p.Repeat)
	return []byte(b.String())
}

// page is a prediction's page: a record's, in words of the future, without what
// only a measurement has.
func (f Foreseen) page() page {
	r := f.view()
	file := fabricWord(r)
	o := Options{Title: "Prediction " + joinWith(", ", f.pairName(), f.File[strings.LastIndex(f.File, "/")+1:]), Repeat: []string{"linerate predict " + file}}
	p := pageOf(r, o)
	all := seriesOf(r)
	p.Kind, p.Headline, p.Started = "Prediction", unbroken(f.headline(r, all)), "computed, not measured"
	p.Words = pageWords{Rate: "Expected", Carried: "expected", Foreseen: true}
	p.Repeat = []string{"linerate predict " + file, "linerate predict " + file + " --limits", "linerate predict " + file + " -o prediction.html"}
	p.Do = f.advice(r, all)
	p.Context = "Computed from " + cmp.Or(f.File, "the fabric") + ": no traffic was sent. " + unit.Counted(len(f.Predictions), "prediction") + " of " + unit.Counted(len(all), "pair") + "."
	for i := range p.Figures {
		p.Figures[i].Label = strings.Replace(p.Figures[i].Label, "Measured", "Expected", 1)
	}
	p.Latency, p.Trials = nil, nil
	p.Facts = slices.DeleteFunc(p.Facts, func(f fact) bool { return f.Name == "Kernel" || f.Name == "Record" || f.Name == "Started" })
	return p
}

func (f Foreseen) pairName() string {
	if len(f.Predictions) == 0 {
		return ""
	}
	return f.Predictions[0].From + " → " + f.Predictions[0].To
}

// headline is the prediction in a sentence; where a speed is missing, that.
func (f Foreseen) headline(r record.Record, all []series) string {
	if _, c, ok := lead(all); ok && goodput(c.last()) == unknown && !many(all) {
		return "What " + orUnknown(c.last().From) + " → " + orUnknown(c.last().To) + " should carry is not known: the speed of a link is missing."
	}
	return headline(r, all, foreseen())
}

func (f Foreseen) advice(r record.Record, all []series) advice {
	_, c, ok := lead(all)
	file := fabricWord(r)
	limits := []string{"linerate predict " + file + " --limits"}
	if !ok {
		return advice{Action: "Name a path between two hosts.", Commands: limits, Gain: unknownGain, Sure: "Nothing was computed."}
	}
	t := c.last()
	a := advice{Action: cmp.Or(causeActions[cause(t)], causeActions[record.Unknown]), How: sentence(t.Finding.Remedy), Commands: limits, Gain: "Not computed.", Sure: "Computed from the file; nothing was measured."}
	if hasInterval(*t) {
		a.Sure += " Between " + t.GoodputLow.String() + " and " + t.GoodputHigh.String() + "."
	}
	switch {
	case cause(t) == record.Shaper && full(c.cell):
		a.Action = limitReached
	case goodput(t) == unknown:
		a.Action, a.Gain = "Write the speed of each link into the file.", unknownGain
	case f.Better.Command != "":
		a.How, a.Commands = "On paper: `"+f.Better.Change+"`. "+sentence(t.Finding.Remedy), []string{f.Better.Command}
		a.Gain = fmt.Sprintf("%s instead of %s (%s).", f.Better.Rate, goodput(t), change(t.Goodput, f.Better.Rate))
	case cause(t) == record.LineRate:
		a.Action = "Nothing to change: " + c.counted() + " " + map[bool]string{true: "fills", false: "fill"}[t.Streams == 1] + " the links."
		a.How, a.Gain = "Every limit with its arithmetic:", "More needs faster links, or more of them."
	}
	return a
}

// view is the prediction as the record that its measurement would give: rates are
// expected ones, findings the limits. It is drawn, and never written as a record.
func (f Foreseen) view() record.Record {
	r := record.Record{Linerate: f.Linerate, Fabric: record.Fabric{File: f.File, Text: f.Text, Paths: f.Paths}}
	for _, name := range slices.Sorted(maps.Keys(f.Hosts)) {
		r.Environment.Hosts = append(r.Environment.Hosts, f.Hosts[name])
	}
	for _, p := range f.Paths {
		if p.RTT > 0 {
			r.Latency = append(r.Latency, record.Latency{From: p.From, To: p.To, AvgMS: float64(p.RTT) / 1e6})
		}
	}
	for _, p := range f.Predictions {
		t := record.Trial{From: p.From, To: p.To, Direction: p.Direction, Streams: p.Streams, Protocol: p.Protocol, Ceiling: p.Ceiling, CeilingMTU: p.CeilingMTU,
			Limit: p.Limit, Forward: p.Forward, Reverse: p.Reverse, Links: f.uses(p)}
		if p.Ceiling > 0 { // without one the rate is only what some limits leave
			t.Goodput, t.Predicted = p.Rate, p.Rate
			if p.RateLow < p.RateHigh {
				t.GoodputLow, t.GoodputHigh = p.RateLow, p.RateHigh
			}
		}
		t.Finding = f.finding(p, t)
		r.Trials = append(r.Trials, t)
	}
	return r
}

// finding is what limits a prediction.
func (f Foreseen) finding(p predict.Prediction, t record.Trial) *record.Finding {
	out := record.Finding{From: p.From, To: p.To, Direction: p.Direction, Streams: p.Streams, Cause: p.Limit, Rate: t.Goodput, Ceiling: p.Ceiling}
	from, to := p.From, p.To
	if p.Direction == flow.Reverse {
		from, to = to, from
	}
	out.Do(remedy.On(f.Hosts, p.Limit, from, to, "", remedy.Usual(p.Limit)))
	if t.Goodput == 0 {
		out.Cause = record.Unknown
		out.Do(record.ByHand("write each link's speed below the host's `hardware`, such as `links: {ens1: {speed: 25G}}`"))
	}
	for i, l := range p.Limits {
		if i == 0 {
			out.Summary = strings.TrimRight(l.Where+": "+l.Why, ". ") + "."
		}
		if len(out.Evidence) < mostLimits {
			out.Evidence = append(out.Evidence, record.Evidence{What: string(l.Cause), Value: rate(l.Rate), Source: l.Where + ": " + l.Why})
		}
	}
	if p.RangeWhy != "" {
		out.Missing = []string{p.RangeWhy}
	}
	return &out
}

// mostLimits is how many limits of one prediction a page lists.
const mostLimits = 8

// uses are the expected loads of the links, in and out of one link together.
func (f Foreseen) uses(p predict.Prediction) []record.LinkUse {
	var out []record.LinkUse
	for _, s := range p.Links {
		i := slices.IndexFunc(out, func(u record.LinkUse) bool { return u.Host == s.Host && u.Link == s.Link })
		if i < 0 {
			i = len(out)
			l, _ := f.Hosts[s.Host].Link(s.Link)
			size := l.MTU
			if size <= 0 {
				size = framing.DefaultMTU
			}
			out = append(out, record.LinkUse{Host: s.Host, Link: s.Link, Ceiling: framing.LinkPayloadOf(p.Protocol, l, size, 0, false)})
		}
		if s.Transmit {
			out[i].Tx, out[i].TxPayload = out[i].Tx+s.Load, out[i].TxPayload+s.Load
		} else {
			out[i].Rx, out[i].RxPayload = out[i].Rx+s.Load, out[i].RxPayload+s.Load
		}
	}
	return out
}

// Picture is a record's leading picture by itself, for a page or a slide: what it
// comes to, what to do, and the load of each link; of a matrix the grid of hosts.
func Picture(r record.Record, o Options) ([]byte, error) { return pictureOf(pageOf(r, o)) }

// Geometry of a picture.
const (
	pictureMargin = 16.0
	pictureLine   = 22.0
	pictureGap    = 14.0
	pictureWords  = 62 // letters in a line
)

// pictureOf draws a page's headline, its action and its first drawings below each
// other.
func pictureOf(p page) ([]byte, error) {
	t, err := parsed()
	if err != nil {
		return nil, err
	}
	var style, body bytes.Buffer
	if err := t.ExecuteTemplate(&style, "style", nil); err != nil {
		return nil, fmt.Errorf("fill style: %w", err)
	}
	width, y := mapWidth, 0.0
	for _, class := range []struct{ name, words string }{{"name", p.Headline}, {"soft", p.Do.Action}} {
		for _, line := range wrap("", "", class.words, pictureWords) {
			y += pictureLine
			fmt.Fprintf(&body, "<text class=%q x=\"0\" y=\"%g\">%s</text>\n", class.name, y, escaped(line))
		}
	}
	y += pictureGap
	draw := func(kind string, w, h float64, data any) error {
		var b bytes.Buffer
		if err := t.ExecuteTemplate(&b, kind, data); err != nil {
			return fmt.Errorf("draw %s: %w", kind, err)
		}
		fmt.Fprintf(&body, "<svg x=\"0\" y=\"%g\" width=\"%g\" height=\"%g\" %s\n", y, w, h, strings.TrimPrefix(strings.TrimSpace(b.String()), "<svg "))
		width, y = max(width, w), y+h+pictureGap
		return nil
	}
	if err := p.drawFirst(draw); err != nil {
		return nil, err
	}
	css := lightStyle(style.String())
	var out bytes.Buffer
	fmt.Fprintf(&out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"%g %g %g %g\" role=\"img\">\n<title>%s</title>\n",
		width+2*pictureMargin, y+2*pictureMargin, -pictureMargin, -pictureMargin, width+2*pictureMargin, y+2*pictureMargin, escaped(p.Headline))
	fmt.Fprintf(&out, "<style>%s\nsvg{font-family:system-ui,\"Liberation Sans\",Arial,sans-serif}</style>\n<rect x=\"%g\" y=\"%g\" width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n%s</svg>\n",
		css, -pictureMargin, -pictureMargin, body.String())
	return visible(out.Bytes()), nil
}

// drawFirst draws what a page shows first: a matrix's grids, else the links of the
// leading pair, else its bars.
func (p page) drawFirst(draw func(kind string, w, h float64, data any) error) error {
	for _, g := range p.Grids {
		return draw("heat", g.Width, g.Height, g)
	}
	for _, s := range p.Series {
		for _, row := range s.Maps {
			for _, m := range row.Maps {
				if err := draw("map", m.Width, m.Height, m); err != nil {
					return err
				}
			}
			return nil
		}
		for _, b := range s.Panels {
			if err := draw("bars", b.Width, b.Height, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// escaped is text inside an element.
func escaped(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(plaintext.Line(s))
}
