package root

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/record"
)

// TestExplainAnswersFirst: of several results, what they come to stands before
// the first of them, with probes left out; of one alone the finding does.
func TestExplainAnswersFirst(t *testing.T) {
	path := lone(t, twoSpaces, nil)
	o := run(t, "", "explain", path)
	if !strings.HasPrefix(o.stdout, "a to b, forward, 2 streams: 40.0 Mbit/s of 100 Mbit/s\n") {
		t.Errorf("one result: %s", o.stdout)
	}
	r, err := console.ReadRecord(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	full, probe := r.Trials[0], r.Trials[0]
	full.Streams, full.Phase = 4, record.PhaseAfter
	full.Finding = &record.Finding{Cause: record.LineRate, Confidence: 0.95, Summary: "The link is full.", From: "a", To: "b", Direction: flow.Forward, Streams: 4}
	probe.Streams, probe.Variant = 8, record.Decision{Probe: record.ProbeStreams, Value: 8}.Variant(2)
	r.Trials = append(r.Trials, r.Trials[0], full, probe)
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	o = run(t, "", "explain", file(t, "record.json", string(b)))
	fits(t, o.stdout)
	first, _, _ := strings.Cut(o.stdout, "\n\n")
	if words := strings.Join(strings.Fields(first), " "); !strings.Contains(words, " Of 3 results: 2 ") || !strings.HasSuffix(words, ", 1 line-rate.") || !strings.Contains(words, "40.0 Mbit/s") {
		t.Errorf("answer: %s (%s)", words, o.stderr)
	}
}

// TestExplainNothing: a record without results says so, and not in the
// document.
func TestExplainNothing(t *testing.T) {
	empty := file(t, "record.json", `{"schema":"linerate.record/v1","trials":[],"latency":[]}`)
	if o := run(t, "", "explain", empty); o.status != console.ExitDone || o.stdout != "" || !strings.Contains(o.stderr, "no result to explain") {
		t.Errorf("exit %d: %q, %q", o.status, o.stdout, o.stderr)
	}
}
