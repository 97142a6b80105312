package report

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

func TestHeadline(t *testing.T) {
	edit := func(r record.Record, change func(*record.Record)) record.Record { change(&r); return r }
	for _, c := range []struct {
		name string
		r    record.Record
		want string
	}{
		{"demo", sampleRecord(), "Two 500 Mbit/s links carried 477 Mbit/s; after 2 changes 990 Mbit/s, 99.7 % of the ceiling."},
		{"plain", samplePlain(), "Two 500 Mbit/s links carry 477 Mbit/s, 48.0 % of the ceiling: flows share links while other links idle."},
		{"empty", record.Record{}, "Nothing was measured."},
		{"failed", record.Record{Failures: []record.Failure{{}, {}}}, "Nothing could be measured: 2 pairs failed."},
		{"nothing kept", edit(sampleRecord(), func(r *record.Record) {
			for i := range r.Steps {
				r.Steps[i].Kept = false
			}
		}), "Two 500 Mbit/s links carried 477 Mbit/s; no change was kept: 990 Mbit/s, 99.7 % of the ceiling."},
		{"no after", edit(sampleRecord(), func(r *record.Record) { r.Trials = r.Trials[12:24] }), "Two 500 Mbit/s links carry 477 Mbit/s, 48.0 % of the ceiling; nothing was measured afterwards."},
		{"speeds unknown", edit(sampleRecord(), func(r *record.Record) { r.Environment.Hosts = nil }), "Two links carried 477 Mbit/s; after 2 changes 990 Mbit/s, 99.7 % of the ceiling."},
		{"one trial without links", record.Record{Trials: []record.Trial{{From: "a", To: "b", Direction: flow.Forward, Streams: 1, Goodput: 9.41e9, Window: 4}}}, "a → b carries 9.41 Gbit/s: no cause was proven."},
	} {
		if got := Headline(c.r); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestInterruptedHeadline: a run that ended before the way back had two
// streams is told by the best that the way there reached.
func TestInterruptedHeadline(t *testing.T) {
	trial := func(d flow.Direction, n int, goodput unit.BitRate, c record.Cause) record.Trial {
		return record.Trial{From: "a", To: "b", Direction: d, Streams: n, Goodput: goodput, Ceiling: 956e6, Window: 4, Finding: &record.Finding{Cause: c}}
	}
	r := record.Record{Trials: []record.Trial{
		trial(flow.Forward, 1, 477e6, record.SingleLink), trial(flow.Forward, 2, 953e6, record.LineRate), trial(flow.Reverse, 1, 477e6, record.SingleLink),
	}}
	want := "a → b carries 953 Mbit/s, 99.7 % of the ceiling: the links in use are full: nothing left to gain."
	if got := Headline(r); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Trials = r.Trials[:1]
	if got := Headline(r); strings.Contains(got, "bond") {
		t.Errorf("a bond where nobody knows of one: %q", got)
	}
}

func TestResults(t *testing.T) {
	got := Results(sampleRecord())
	round := func(v unit.BitRate) float64 { return float64(int(v / 1e6)) }
	type row struct {
		Direction              flow.Direction
		Streams, MTU           int
		Before, After, Ceiling float64
		CauseBefore, CauseLast record.Cause
	}
	var rows []row
	for _, g := range got {
		rows = append(rows, row{g.Direction, g.Streams, g.CeilingMTU, round(g.Before), round(g.After), round(g.Ceiling), g.CauseBefore, g.CauseAfter})
	}
	want := []row{
		{flow.Forward, 2, 9000, 476, 989, 992, record.HashImbalance, record.LineRate},
		{flow.Reverse, 2, 9000, 476, 989, 992, record.HashImbalance, record.LineRate},
		{flow.Both, 2, 9000, 953, 1979, 1985, record.HashImbalance, record.LineRate},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSummaryStreams(t *testing.T) {
	trial := func(p record.Phase, n int, r unit.BitRate) record.Trial {
		return record.Trial{Phase: p, From: "a", To: "b", Direction: flow.Forward, Streams: n, Goodput: r, Window: 4}
	}
	for _, c := range []struct {
		name   string
		trials []record.Trial
		want   int
	}{
		{"one stream alone", []record.Trial{trial("", 1, 1e9)}, 1},
		{"one is as good: two still show more", []record.Trial{trial("", 1, 1e9), trial("", 2, 1e9), trial("", 4, 1e9)}, 2},
		{"one is better by far", []record.Trial{trial("", 1, 2e9), trial("", 2, 1e9)}, 1},
		{"within one percent the smaller", []record.Trial{trial("", 2, 0.995e9), trial("", 8, 1e9)}, 2},
		{"only what has a before", []record.Trial{trial("before", 2, 1e9), trial("after", 2, 2e9), trial("after", 8, 3e9)}, 2},
	} {
		got := Results(record.Record{Trials: c.trials})
		if len(got) != 1 || got[0].Streams != c.want {
			t.Errorf("%s: %+v, want %d streams", c.name, got, c.want)
		}
	}
}

func TestRepeatedTrialsAndTools(t *testing.T) {
	base := record.Trial{From: "a", To: "b", Direction: flow.Forward, Streams: 2, Protocol: "tcp", Tool: "linerate", Window: 4, Goodput: 1e9}
	better, other := base, base
	better.Goodput = 2e9
	other.Tool, other.Goodput = "iperf3", 3e9
	got := Results(record.Record{Trials: []record.Trial{base, better, base}})
	if len(got) != 1 || got[0].Before != 2e9 {
		t.Errorf("repeated: %+v, want the best", got)
	}
	got = Results(record.Record{Trials: []record.Trial{base, other}})
	if len(got) != 2 || got[0].Before != 1e9 || got[1].Before != 3e9 {
		t.Errorf("two tools: %+v, want a result each", got)
	}
	before, after := base, other
	before.Phase, after.Phase = record.PhaseBefore, record.PhaseAfter
	got = Results(record.Record{Trials: []record.Trial{before, after}})
	if len(got) != 1 || got[0].Before != 1e9 || got[0].After != 3e9 {
		t.Errorf("tool changed between phases: %+v, want one comparison", got)
	}
}

func TestCauseWordsAreComplete(t *testing.T) {
	for _, c := range record.Causes() {
		if causeWords[c] == "" {
			t.Errorf("no words for %s", c)
		}
	}
	if len(causeWords) != len(record.Causes()) {
		t.Errorf("%d words for %d causes", len(causeWords), len(record.Causes()))
	}
}

func TestQuoted(t *testing.T) {
	for in, want := range map[string]string{"a.yaml": "a.yaml", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$(x)": "'$(x)'", "ssh://u@h:22": "ssh://u@h:22"} {
		if got := plaintext.ShellWord(in); got != want {
			t.Errorf("quoted(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestLoadWords(t *testing.T) {
	for _, c := range []struct {
		use  record.LinkUse
		want string
	}{
		{record.LinkUse{Ceiling: 1e9}, "idle"},
		{record.LinkUse{Ceiling: 1e9, Tx: 5e6, TxPackets: 9}, "no payload"},
		{record.LinkUse{Ceiling: 1e9, Tx: 5.2e8, TxPayload: 5e8, TxPackets: 9}, "500 Mbit/s · 50 %"},
		{record.LinkUse{Ceiling: 1e9, Tx: 5e8}, "500 Mbit/s wire · 50 %"},
		{record.LinkUse{Tx: 5e8, TxPayload: 4e8}, "400 Mbit/s"},
		{record.LinkUse{}, "idle"},
	} {
		if got := txLoad(c.use).words(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.use, got, c.want)
		}
	}
}

func TestTextFits(t *testing.T) {
	name := rapid.StringN(0, 60, -1)
	records := strange()
	var keys []string
	for k := range records {
		keys = append(keys, k)
	}
	rapid.Check(t, func(rt *rapid.T) {
		r := records[rapid.SampledFrom(keys).Draw(rt, "record")]
		width := rapid.IntRange(narrowest, 132).Draw(rt, "width")
		r.Trials = append([]record.Trial(nil), r.Trials...)
		from, to := name.Draw(rt, "from"), name.Draw(rt, "to")
		for i := range r.Trials {
			r.Trials[i].From, r.Trials[i].To = from, to
		}
		r.Failures = []record.Failure{{From: from, To: to, Error: name.Draw(rt, "error")}}
		for _, line := range strings.Split(Text(r, width), "\n") {
			if n := utf8.RuneCountInString(line); n > width {
				rt.Fatalf("%d characters of %d: %q", n, width, line)
			}
		}
		for _, trial := range r.Trials {
			if line := TrialLine(trial, width); utf8.RuneCountInString(line) > width || strings.Contains(line, "\n") {
				rt.Fatalf("trial line %q", line)
			}
		}
	})
}

func TestTrialLine(t *testing.T) {
	trial := sampleTrial(record.PhaseBefore, flow.Forward, 4)
	if got, want := TrialLine(trial, 80), "a → b forward, 4 streams: 477 Mbit/s, 48.0 % of 993 Mbit/s, hash-imbalance"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	trial.Ceiling, trial.Finding, trial.From = 0, nil, strings.Repeat("long-", 20)
	if got, want := TrialLine(trial, 80), "long-long-long-…long-long-long- → b forward, 4 streams: 477 Mbit/s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// FuzzNames feeds names and texts from outside to every format.
func FuzzNames(f *testing.F) {
	f.Add("a", "b", "note", 5e8)
	f.Add(evil, "", "\xff\xfe", -1.0)
	f.Fuzz(func(t *testing.T, from, to, text string, v float64) {
		r := sampleRecord()
		r.Trials = r.Trials[10:14]
		for i := range r.Trials {
			r.Trials[i].From, r.Trials[i].To, r.Trials[i].Notes = from, to, []string{text}
			r.Trials[i].Goodput, r.Trials[i].Links[0].Host, r.Trials[i].Links[1].TxPayload = unit.BitRate(v), from, unit.BitRate(v)
		}
		r.Fabric.Text, r.Steps[0].Commands = text, []string{text}
		html, err := HTML(r, Options{})
		if err != nil {
			t.Fatal(err)
		}
		balanced(t, string(html))
		for _, line := range strings.Split(Text(r, 80), "\n") {
			if utf8.RuneCountInString(line) > 80 {
				t.Fatalf("too long: %q", line)
			}
		}
		Markdown(r)
		CSV(r)
	})
}
