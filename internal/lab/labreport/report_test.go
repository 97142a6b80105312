package labreport

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

func outcomes() []scenario.Outcome {
	seen, ratio := unit.BitRate(10e9), 1.5
	row := scenario.Row{Step: "a <b> | \"c\"", From: "x", To: "y", Streams: 3, Direction: flow.Forward, Tool: "iperf2", Kind: scenario.Rate, Measured: 8e9, Predicted: 8.2e9, Published: &seen, Ceiling: 20e9, Wire: 7e9, Verdict: scenario.Off, Limit: record.ReceiveWindow}
	over := row
	over.Outage = &scenario.Outage{Port: "x.eth0", How: scenario.Silent, Gap: 300, GapLow: 200, GapHigh: 400, Why: "so", Moved: 2, Before: 8e9, During: 4e9, PredictedDuring: 4e9, After: 8e9}
	over.Step, over.Published, over.PublishedRatio, over.MeasuredRatio, over.Wire, over.Verdict = "ratio", nil, &ratio, &ratio, 0, scenario.Reproduced
	ping := scenario.Row{Step: "ping", From: "x", To: "y", Direction: flow.Forward, Tool: "ping", PublishedRTT: 8.9, MeasuredRTT: 9, Verdict: scenario.Reproduced}
	best := scenario.Row{
		Step: "tuned", From: "x", To: "y", Streams: 4, Direction: flow.Forward, Tool: "tune", Kind: scenario.Best, Measured: 20e9, Ceiling: 20e9, Verdict: scenario.Reached, Limit: record.ReceiveWindow,
		Tuned: &scenario.Tuned{Before: 8e9, Share: 1, CeilingMTU: 9000, Changes: []string{"MTU of 9000 <both>"}, LimitedBy: "card", LimitedAt: 19e9},
	}
	return []scenario.Outcome{
		{Scenario: "one", Title: "t*t", BackEnd: "uml", Kernel: "6.1", Scale: 20, Tools: map[scenario.Tool]string{scenario.IPerf2: "iperf 2.1"}, Rows: []scenario.Row{row, over, ping, best}},
		{Scenario: "two", Error: "no kernel"},
		{Scenario: "three", BackEnd: "uml", Rows: []scenario.Row{ping}},
	}
}

// TestDocument: every row, what is off, and what failed are in it; a scenario
// without rates has no chart.
func TestDocument(t *testing.T) {
	d := Of(outcomes())
	for _, want := range []string{
		`| a &lt;b> \| "c" | x, y, forward | 3 | iperf2 | 10 | 8 (arrived: 7) | 8.2 | 20 | 20 | receive-window | off |`,
		"| x 1.50 | x 1.50 (8) |", "| 8.9 ms | 9.0 ms |", "Off: 1 of 4 rows", "iperf 2.1", `t\*t`, "**Failed**: no kernel", "](lab-one.svg)",
		"| 4 | tune |  |  |  | 20 | 20 | receive-window | reached |", "\n*ratio*, x, y, forward:\n\n    x.eth0 fails (silent): stood still 300 ms; as predicted 200 ms to 400 ms\n", "2 flows moved", "*tuned*, by `tune` unaided: 8 Gbit/s before, 20 after, 100.0 % of the ceiling at MTU 9000; limited by card at 19 Gbit/s", "\n- MTU of 9000 &lt;both>\n",
	} {
		if !strings.Contains(d.Text, want) {
			t.Errorf("no %q in\n%s", want, d.Text)
		}
	}
	if len(d.Charts) != 1 || d.Charts["lab-one.svg"] == "" {
		t.Errorf("%d charts, want that of one", len(d.Charts))
	}
}

// TestChart: it is well-formed, and its bars are as long as the rates.
func TestChart(t *testing.T) {
	svg, ok := Chart(outcomes()[0])
	if !ok {
		t.Fatal("no chart")
	}
	long := map[string]string{}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, is := token.(xml.StartElement); is && e.Name.Local == "rect" {
			at := map[string]string{}
			for _, a := range e.Attr {
				at[a.Name.Local] = a.Value
			}
			if _, twice := long[at["class"]]; !twice && at["x"] == "300.0" { // no sample of the legend
				long[at["class"]] = at["width"]
			}
		}
	}
	// The ceiling, 20 Gbit/s, is the longest: 380 pixels.
	for class, want := range map[string]string{"published": "190.0", "reproduced": "152.0", "arrived": "133.0", "best": "380.0"} {
		if long[class] != want {
			t.Errorf("%s is %s long, want %s", class, long[class], want)
		}
	}
	if _, ok := Chart(outcomes()[2]); ok {
		t.Error("a chart of pings")
	}
}

// TestPanel: rows that differ in their streams alone are a line over them, from
// the lowest tick to the highest; others stay bars.
func TestPanel(t *testing.T) {
	o := scenario.Outcome{Scenario: "sweep"}
	for i, rate := range []unit.BitRate{2e9, 4e9, 8e9, 10e9} {
		r := scenario.Row{Step: "s", From: "x", To: "y", Streams: 1 << i, Direction: flow.Forward, Tool: "iperf3", Kind: scenario.Rate, Measured: rate, Published: &rate}
		o.Rows = append(o.Rows, r)
	}
	alone := o.Rows[0]
	alone.Direction = flow.Both
	o.Rows = append(o.Rows, alone)
	svg, ok := Chart(o)
	if !ok {
		t.Fatal("no chart")
	}
	// Zero is at 222, 10 Gbit/s at 80; the streams are evenly apart.
	for _, want := range []string{
		`<polyline class="reproduced" points="52.0,193.6 156.5,165.2 260.9,108.4 365.4,80.0"/>`, `<polyline class="published" points="52.0,193.6`,
		`y="226.0">0</text>`, `y="84.0">10</text>`, `>8</text>`, ">x → y, iperf3<", ">x ↔ y, 1 stream, iperf3<", "<title>8: published 10 Gbit/s</title>",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
	if n := strings.Count(svg, "<polyline"); n != 2 {
		t.Errorf("%d lines, want 2", n)
	}
	if strings.Contains(svg, ">arrived<") || strings.Contains(svg, ">ceiling<") || !strings.Contains(svg, ">published<") {
		t.Error("the legend speaks of what is not drawn, or not of what is")
	}
}

// TestAxis: what lies close together is seen apart.
func TestAxis(t *testing.T) {
	for _, c := range []struct {
		rates           []unit.BitRate
		low, high, step float64
	}{
		{[]unit.BitRate{2.3e9, 24.5e9}, 0, 25e9, 5e9},
		{[]unit.BitRate{0.92e9, 0.99e9}, 0.92e9, 1e9, 0.02e9},
		{[]unit.BitRate{5e9}, 5e9, 5.001e9, 1e6},
	} {
		var rows []scenario.Row
		for _, r := range c.rates {
			rows = append(rows, scenario.Row{Measured: r, Kind: scenario.Rate})
		}
		low, high, step := axis(scenario.Outcome{}, rows)
		for _, v := range [][2]float64{{low, c.low}, {high, c.high}, {step, c.step}} {
			if math.Abs(v[0]-v[1]) > 1 {
				t.Errorf("%v: from %v to %v by %v, want %v, %v, %v", c.rates, low, high, step, c.low, c.high, c.step)
			}
		}
	}
}
