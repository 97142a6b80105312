package report

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
)

// TestGroupsAndSweeps: sums, values and claims stand in the text, and fit.
func TestGroupsAndSweeps(t *testing.T) {
	r := record.Record{
		Trials: []record.Trial{
			{From: "a", To: "b", Direction: flow.Forward, Streams: 1, Goodput: 1e8, Ceiling: 2e8, Window: 1, Variant: "mss=536"},
			{From: "a", To: "b", Direction: flow.Forward, Streams: 1, Goodput: 2e8, Ceiling: 2e8, Window: 1, Variant: "mss=1448"},
		},
		Groups: []record.Group{{Direction: flow.Both, Streams: 4, Trials: 12, Goodput: 3e8, CeilingSum: 6e8, Limit: strings.Repeat("eth0 of a, ", 9), Notes: []string{"inconsistent: something"}}},
		Sweeps: []record.Sweep{
			{Setting: "mss", From: "a", To: "b", Direction: flow.Forward, Streams: 1, Verdict: "mss: 1448 is better", Values: []record.SweepValue{
				{Value: "536", Trials: 3, Goodput: 1e8, Low: 0.9e8, High: 1.1e8}, {Value: "1448", Trials: 3, Goodput: 2e8, Low: 1.9e8, High: 2.1e8}}},
			{Setting: "aliases", From: "a", To: "b", Direction: flow.Forward, Verdict: "what the senders claim changes", Values: []record.SweepValue{
				{Value: "1", Trials: 1, Goodput: 1e8, Claimed: 1.02e8, Wire: 1.05e8, Ceiling: 2e8}, {Value: "254", Trials: 1, Goodput: 1e8, Claimed: 3e8, Wire: 1.05e8, Ceiling: 2e8}}},
			{Setting: "mtu", Verdict: "fewer than two values were measured"},
		},
	}
	text := Text(r, 80)
	for _, want := range []string{"300 Mbit/s", "50.0 %", "inconsistent", "+100.0 %", "mss: 1448 is better", "clients' sum", "+200.0 %", "fewer than two values"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	for line := range strings.Lines(text) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if strings.Contains(text, "mss=536\n") {
		t.Errorf("a value of a sweep has a table of its own:\n%s", text)
	}
}
