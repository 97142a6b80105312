package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
)

// sampleTuned is a tune of which one setting was kept, one predicted, one could
// not be made.
func sampleTuned() record.Record {
	r := sampleRecord()
	r.Fabric.File = "my fabric.yaml"
	r.Steps = append(r.Steps, record.Step{Change: "rings", Verdict: "could not be applied: no such ring"})
	r.Tuning = &record.Tuning{Group: "20261122T103000.000Z", Windows: 11, Traffic: 31.4, Stopped: "target", Load: record.TunedLoad{Streams: 2, Ports: "chosen"},
		Settings: []record.Setting{
			{Host: "a", What: "xmit_hash_policy of bond0", Old: "layer2", New: "layer3+4", Kept: true, Gain: 1},
			{Host: "b", What: "xmit_hash_policy of bond0", Old: "layer2", New: "layer3+4", Kept: true, Gain: 1},
			{Host: "b", What: "net.ipv4.tcp_rmem", Old: "1 | 2", New: "<3>", Gain: -0.0007, Step: 1, Predicted: true},
			{Host: "a", What: "rx ring of a0", Old: "256", New: "4096", Step: 3},
		}, Left: []string{"channels of a0: traffic stops for seconds, which needs consent"}}
	return r
}

func TestSettings(t *testing.T) {
	r := sampleTuned()
	want := []settingRow{
		{"a, b", "xmit_hash_policy of bond0", "layer2", "layer3+4", "+100.0 %", "kept", true},
		{"b", "net.ipv4.tcp_rmem", "1 | 2", "<3>", "about -0.1 %", "rolled back", false},
		{"a", "rx ring of a0", "256", "4096", unknown, "rolled back", false},
	}
	if diff := cmp.Diff(want, settingRows(r)); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	notes := []fact{{"Cost", "11 measurements, 31 s of traffic"}, {"Ended by", "target"}, {"Carries most", "2 streams on chosen source ports"},
		{"Roll it back", "linerate rollback 'my fabric.yaml' 20261122T103000.000Z"}, {"Not tried", "channels of a0: traffic stops for seconds, which needs consent"}}
	if diff := cmp.Diff(notes, tuneNotes(r)); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	page, err := HTML(r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for form, text := range map[string]string{"page": string(page), "markdown": string(Markdown(r))} {
		for _, want := range []string{"layer3+4", "about -0.1 %", "&lt;3&gt;", "11 measurements, 31 s of traffic", "Not tried", "linerate rollback"} {
			if !strings.Contains(strings.NewReplacer("&#43;", "+", "\u00a0", " ").Replace(text), want) {
				t.Errorf("%s: no %q", form, want)
			}
		}
	}
	if rows, notes := settingRows(sampleRecord()), tuneNotes(sampleRecord()); rows != nil || notes != nil {
		t.Errorf("of no tune: %v, %v", rows, notes)
	}
}

// TestTunedHeadline: a tune that ends with more streams than it found compares
// what it measured, and does not say that it had measured nothing.
func TestTunedHeadline(t *testing.T) {
	r := sampleTuned()
	before, after, one := sampleTrial(record.PhaseBefore, flow.Both, 1), sampleTrial(record.PhaseAfter, flow.Both, 2), sampleTrial(record.PhaseAfter, flow.Forward, 2)
	r.Trials = []record.Trial{before, after, one}
	got := Headline(r)
	want := " carried " + before.Goodput.String() + " in both directions together with 1 stream; after 2 changes " + after.Goodput.String() + " with 2 streams, "
	if !strings.Contains(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	r.Trials = []record.Trial{before}
	if got := Headline(r); !strings.Contains(got, "nothing was measured afterwards") {
		t.Errorf("cut short: %q", got)
	}
}

// TestBeyond: what a finding says beside its cause is on the page and in
// Markdown.
func TestBeyond(t *testing.T) {
	f := record.Finding{Cause: record.Shaper, Rate: 1e9, Expected: 2e9, Confidence: 0.6,
		Against: []record.Evidence{{What: "queue", Value: "none"}},
		Also:    []record.Alternative{{Cause: record.Congestion, Confidence: 0.4, Summary: "Something drops."}},
		Next:    &record.NextLimit{Cause: record.SingleLink, Rate: 2e9, Why: "one link"},
		Missing: []string{"the counters of b's links"}, Decide: record.Decision{Text: "measure with 8 streams"}}
	want := []fact{{"Against it", "queue: none"}, {"It may also be", "congestion, 40 %: Something drops."},
		{"Next in line", "single-link at 2.00 Gbit/s (one link)"}, {"Not known", "the counters of b's links"}, {"To be sure", "measure with 8 streams"}}
	if diff := cmp.Diff(want, beyond(f)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r := samplePlain()
	for i := range r.Trials {
		r.Trials[i].Finding = &f
	}
	page, err := HTML(r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for form, text := range map[string]string{"page": string(page), "markdown": string(Markdown(r))} {
		for _, w := range want {
			if !strings.Contains(text, w.Name) {
				t.Errorf("%s: no %q", form, w.Name)
			}
		}
	}
	f.Expected = f.Rate
	if facts := beyond(f); len(facts) != 4 {
		t.Errorf("a next limit that is no gain is said: %v", facts)
	}
}
