package scenario

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/unit"
)

func outcomes() []Outcome {
	seen := unit.BitRate(11.3e9)
	ratio := 1.9
	row := Row{Step: "a step whose name is so long that no table of eighty columns could hold it whole, as people write", From: "client-with-a-long-name", To: "server", Streams: 8, Direction: flow.Forward, Tool: "iperf2", Kind: Rate, Measured: 11e9, Predicted: 11.1e9, Ceiling: 19e9, Published: &seen, Verdict: Reproduced}
	ours := row
	ours.Tool, ours.Measured, ours.Published, ours.MeasuredRatio, ours.PublishedRatio = string(Linerate), 18.5e9, nil, &ratio, &ratio
	back := ours
	back.Direction, back.Measured = flow.Reverse, 18.9e9
	off := row
	off.Step, off.Measured, off.Verdict = "next", 3e9, Off
	return []Outcome{
		{Scenario: "one", BackEnd: "uml", Kernel: "6.1", Scale: 50, Rows: []Row{row, ours, back}},
		{Scenario: "two", Rows: []Row{off}, Error: "start iperf3:\nnot installed, and " + strings.Repeat("much more ", 20)},
	}
}

// TestPage: every scenario and row is on it, within 80 columns, and what failed
// says so.
func TestPage(t *testing.T) {
	page := Page(outcomes())
	for _, line := range strings.Split(page, "\n") {
		if utf8.RuneCountInString(line) > tableWidth {
			t.Errorf("%d columns: %s", utf8.RuneCountInString(line), line)
		}
	}
	for _, want := range []string{"one (uml, kernel 6.1, rates / 50)", "11.30G     11.00G    11.10G    18.50G   19.00G\n", "x 1.90", "next", "3.00G    11.10G         -   19.00G!", "failed: start iperf3: not installed", "! off what was published"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}

// TestBest: linerate's own traffic of the same way counts, and no other.
func TestBest(t *testing.T) {
	o := outcomes()[0]
	if got := o.Best(o.Rows[0]); got != 18.5e9 {
		t.Errorf("forward: %v", got)
	}
	if got := o.Best(o.Rows[2]); got != 18.9e9 {
		t.Errorf("reverse: %v", got)
	}
	other := o.Rows[0]
	other.Ports = []string{"client.a0", "client.b0"}
	if got := o.Best(other); got != 0 {
		t.Errorf("of other links, as fast: %v", got)
	}
	tuned := o.Rows[0]
	tuned.Tool, tuned.Measured = string(Tune), 9.9e9
	if got := o.Best(tuned); got != 9.9e9 {
		t.Errorf("of a tune before the switch was another: %v", got)
	}
}

func TestGreen(t *testing.T) {
	all := outcomes()
	if !Green(all[:1]) || Green(all) || Green([]Outcome{{Error: "x"}}) {
		t.Error("green is what ran with no row off, and nothing else")
	}
	all[1].Error = ""
	if Green(all) || all[1].Off() != 1 {
		t.Error("a row is off")
	}
	busy := Outcome{Rows: make([]Row, 20)}
	for i := range 3 {
		if want := i <= 2; Green([]Outcome{busy}) != want {
			t.Errorf("%d of 20 rows held by the processor: want green %v", i, want)
		}
		busy.Rows[i].CPUBound = true
	}
	if Green([]Outcome{busy}) || !strings.Contains(Page([]Outcome{busy}), "more than one row in ten") {
		t.Error("3 of 20 rows held by the processor")
	}
}
