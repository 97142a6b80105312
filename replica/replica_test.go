package replica

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/scenario"
	"github.com/linerate/linerate/unit"
)

func outcomes() []scenario.Outcome {
	seen, ratio := unit.BitRate(10e9), 1.5
	row := scenario.Row{Step: "a <b> | \"c\"", From: "x", To: "y", Streams: 3, Direction: flow.Forward, Tool: "iperf2", Kind: scenario.Rate, Measured: 8e9, Predicted: 8.2e9, Published: &seen, Ceiling: 20e9, Wire: 7e9, Verdict: scenario.Off}
	over := row
	over.Step, over.Published, over.PublishedRatio, over.MeasuredRatio, over.Wire, over.Verdict = "ratio", nil, &ratio, &ratio, 0, scenario.Reproduced
	ping := scenario.Row{Step: "ping", From: "x", To: "y", Direction: flow.Forward, Tool: "ping", PublishedRTT: 8.9, MeasuredRTT: 9, Verdict: scenario.Reproduced}
	return []scenario.Outcome{
		{Scenario: "one", Title: "t*t", BackEnd: "uml", Kernel: "6.1", Scale: 20, Tools: map[scenario.Tool]string{scenario.IPerf2: "iperf 2.1"}, Rows: []scenario.Row{row, over, ping}},
		{Scenario: "two", Error: "no kernel"},
		{Scenario: "three", BackEnd: "uml", Rows: []scenario.Row{ping}},
	}
}

// TestDocument: every row, what is off, and what failed are in it; a scenario
// without rates has no chart.
func TestDocument(t *testing.T) {
	d := Of(outcomes())
	for _, want := range []string{
		`| a &lt;b> \| "c" | x, y, forward | 3 | iperf2 | 10 | 8 (arrived: 7) | 8.2 |  | 20 | off |`,
		"| x 1.50 | x 1.50 (8) |", "| 8.9 ms | 9.0 ms |", "Off: 1 of 3 rows", "iperf 2.1", `t\*t`, "**Failed**: no kernel", "](replica-one.svg)",
	} {
		if !strings.Contains(d.Text, want) {
			t.Errorf("no %q in\n%s", want, d.Text)
		}
	}
	if len(d.Charts) != 1 || d.Charts["replica-one.svg"] == "" {
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
			if _, twice := long[at["class"]]; !twice {
				long[at["class"]] = at["width"]
			}
		}
	}
	// The ceiling, 20 Gbit/s, is the longest: 380 pixels.
	for class, want := range map[string]string{"published": "190.0", "reproduced": "152.0", "arrived": "133.0"} {
		if long[class] != want {
			t.Errorf("%s is %s long, want %s", class, long[class], want)
		}
	}
	if _, ok := Chart(outcomes()[2]); ok {
		t.Error("a chart of pings")
	}
}
