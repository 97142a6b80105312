package report

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/declared"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// limitedBy is a measurement of one place with a finding.
func limitedBy(f record.Finding, os string) record.Record {
	f.From, f.To, f.Direction, f.Streams, f.Rate = "a", "b", flow.Forward, 2, 478e6
	return record.Record{Fabric: record.Fabric{File: "my fabric.yaml"}, Environment: record.Environment{Hosts: []netstate.Host{{Name: "a", Kernel: netstate.Kernel{OS: os}}, {Name: "b"}}},
		Trials: []record.Trial{{From: "a", To: "b", Direction: flow.Forward, Streams: 2, Goodput: 478e6, Ceiling: f.Ceiling, Window: 4, Finding: &f}}}
}

// TestAdvice: each report says one action and commands that run as they stand.
func TestAdvice(t *testing.T) {
	for name, c := range map[string]struct {
		r    record.Record
		want advice
	}{
		"a remedy that names tune": {limitedBy(record.Finding{Cause: record.SingleLink, Ceiling: 956e6, Expected: 956e6, Confidence: 0.97, Remedy: "set the policy (`linerate tune`); then use 2 streams"}, ""),
			advice{"Let the traffic use every link.", "Set the policy (`linerate tune`); then use 2 streams.", []string{"linerate tune 'my fabric.yaml' --dry-run"}, "956 Mbit/s instead of 478 Mbit/s (+100.0 %).", "97 % that this is the cause."}},
		"an expectation above the ceiling": {limitedBy(record.Finding{Cause: record.ReceiveWindow, Ceiling: 956e6, Expected: 5e9, Confidence: 0.5, Remedy: "net.ipv4.tcp_rmem on b"}, ""),
			advice{"Raise the receiver's window.", "net.ipv4.tcp_rmem on b.", []string{"linerate tune 'my fabric.yaml' --dry-run"}, "956 Mbit/s instead of 478 Mbit/s (+100.0 %).", "50 % that this is the cause."}},
		"no ceiling": {limitedBy(record.Finding{Cause: record.Shaper, Expected: 1.29e12, Confidence: 0.78, Remedy: "look: `tc qdisc show` on both hosts"}, ""),
			advice{"Find the rate limit on the way.", "Look: `tc qdisc show` on both hosts.", []string{"tc qdisc show"}, "Not known: nobody declared the links' speed.", "78 % that this is the cause."}},
		"the limit is all there is": {limitedBy(record.Finding{Cause: record.Shaper, Ceiling: 478e6, Confidence: 0.9, Remedy: "ask"}, ""),
			advice{limitReached, "Ask.", []string{"linerate explain record.json"}, "Not known before it is measured.", "90 % that this is the cause."}},
		"a command that lacks what it needs": {limitedBy(record.Finding{Cause: record.CardSlot, Ceiling: 956e6, Remedy: "choose (`linerate steer pick`), `--duration 30s`"}, ""),
			advice{"Give the card more lanes.", "Choose (`linerate steer pick`), `--duration 30s`.", []string{"linerate explain record.json"}, "Not known before it is measured.", "Not known."}},
		"a host that tune leaves alone": {limitedBy(record.Finding{Cause: record.SingleLink, Ceiling: 956e6, Remedy: "several addresses"}, bondopt.ESXi),
			advice{"Let the traffic use every link.", "Several addresses.", []string{"linerate explain record.json"}, "Not known before it is measured.", "Not known."}},
		"a probe would settle it": {limitedBy(record.Finding{Cause: record.Unknown, Ceiling: 956e6, Confidence: 0.2, Decide: record.Decision{Probe: record.ProbeStreams, Text: "measure with 8 streams"}}, ""),
			advice{"Measure once more to find the cause.", "Measure with 8 streams.", []string{"linerate explain record.json --probe"}, "Not known before it is measured.", "20 % that this is the cause."}},
		"full": {limitedBy(record.Finding{Cause: record.LineRate, Ceiling: 479e6, Confidence: 0.9, Remedy: "none needed"}, ""),
			advice{"Nothing to change: more needs faster links, or more of them.", "To see later whether it still does:", []string{"linerate measure 'my fabric.yaml' -o later.json", "linerate compare record.json later.json"}, "Nothing is left to gain on these links.", "90 % that this is the cause."}},
		"nothing": {record.Record{}, advice{"Measure first.", "", []string{"linerate measure FABRIC"}, "Not known.", "Nothing is known yet."}},
	} {
		if diff := cmp.Diff(c.want, adviceOf(c.r, seriesOf(c.r), Options{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, c := range record.Causes() {
		if causeActions[c] == "" {
			t.Errorf("no action for %s", c)
		}
	}
}

// TestTunedAdvice: a tune says what it gained from the rate before, and how to
// roll it back; what is left below the ceiling comes first.
func TestTunedAdvice(t *testing.T) {
	r := sampleTuned()
	before, after := sampleTrial(record.PhaseBefore, flow.Both, 1), sampleTrial(record.PhaseAfter, flow.Both, 2)
	r.Trials = []record.Trial{before, after, sampleTrial(record.PhaseAfter, flow.Forward, 2)}
	r.Environment.BackEnd = ""
	all := seriesOf(r)
	a := adviceOf(r, all, Options{})
	if want := before.Goodput.String() + " to " + after.Goodput.String(); !strings.Contains(a.Gain, want) || !slices.Equal(a.Commands, []string{"linerate rollback 'my fabric.yaml' 20261122T103000.000Z"}) {
		t.Errorf("%+v, want %q", a, want)
	}
	for _, f := range figuresOf(r, all, true) {
		if f.Value == unknown {
			t.Errorf("a figure nobody knows: %+v", f)
		}
	}
	if got := Results(r)[0]; got.Before != before.Goodput || got.After != after.Goodput {
		t.Errorf("results begin with %+v", got)
	}
	r.Trials[1].Goodput /= 2
	r.Trials[1].Finding = &record.Finding{Cause: record.Shaper, Rate: r.Trials[1].Goodput, Ceiling: after.Ceiling, Remedy: "ask"}
	if a := adviceOf(r, seriesOf(r), Options{}); a.Action != causeActions[record.Shaper] || !strings.Contains(a.Gain, "so far") {
		t.Errorf("below the ceiling: %+v", a)
	}
}

// TestNeverAboveAll: what was in flight belongs to the window, so that no share is
// above all; a rate far above it says that the ceiling is wrong.
func TestNeverAboveAll(t *testing.T) {
	for part, want := range map[unit.BitRate]string{499e6: "49.9 %", 999.4e6: "99.9 %", 999.6e6: allOfIt, 1001e6: allOfIt, 1.2e9: "above it"} {
		if got := percent(part, 1e9); got != want {
			t.Errorf("%v: %q, want %q", part, got, want)
		}
	}
	if got := wholePercent(1.02); got != "100 %" {
		t.Error(got)
	}
	r := limitedBy(record.Finding{Cause: record.LineRate, Ceiling: 477e6}, "")
	if got := Headline(r); !strings.Contains(got, "478 Mbit/s, all of the ceiling: ") {
		t.Error(got)
	}
	if got := TrialLine(r.Trials[0], 100); !strings.Contains(got, "478 Mbit/s, all of 477 Mbit/s, line-rate") {
		t.Error(got)
	}
}

// TestWithoutCeiling: where no speed is known the links' own rates stand in its place.
func TestWithoutCeiling(t *testing.T) {
	r := samplePlain()
	r.Failures = nil
	for i := range r.Trials {
		trial := &r.Trials[i]
		trial.Ceiling, trial.CeilingMTU = 0, 0
		trial.Finding.Ceiling = 0
		for j := range trial.Links {
			trial.Links[j].Ceiling = 0
		}
	}
	if got := Headline(r); !strings.Contains(got, "Two 500 Mbit/s links carry 477 Mbit/s, by link 477 Mbit/s, 0 bit/s: ") {
		t.Error(got)
	}
	var labels []string
	for _, f := range figuresOf(r, seriesOf(r), false) {
		labels = append(labels, f.Label+" "+f.Value)
	}
	if diff := cmp.Diff([]string{"Measured 477", "Each link 477 · 0.00"}, labels); diff != "" {
		t.Error(diff)
	}
	html := pageFor(t, r)
	for _, not := range []string{"Of ceiling</th>", "unknown</dd>", `id="ladder"`} {
		first, _, _ := strings.Cut(html, `id="matrix"`)
		if strings.Contains(first, not) {
			t.Errorf("the page's first part holds %q", not)
		}
	}
	grid := record.Record{}
	for i, from := range []string{"h1", "h2", "h3"} {
		for _, to := range []string{"h1", "h2", "h3"} {
			if from != to {
				grid.Trials = append(grid.Trials, record.Trial{From: from, To: to, Direction: flow.Forward, Streams: 4, Goodput: unit.BitRate(i+1) * 1e9, Window: 4})
			}
		}
	}
	h := heatsByHost("grid", seriesOf(grid))[0]
	if h.InRates != "Gbit/s" || h.Cells[0].Label.Words != "1.00" || h.Cells[len(h.Cells)-1].Level != 10 {
		t.Errorf("%q, %+v", h.InRates, h.Cells)
	}
	if got := Headline(grid); got != "Of 6 ways the slowest is h1 → h2 with 1.00 Gbit/s." {
		t.Error(got)
	}
}

// TestOutageHeadline: the failure of a link is what a run with one is about.
func TestOutageHeadline(t *testing.T) {
	r := limitedBy(record.Finding{Cause: record.Unknown, Ceiling: 956e6, Remedy: "measure again"}, "")
	down := record.Outage{Host: "a", Link: "eth0", Event: "down", Stalled: []float64{0.31, 0}, Recovered: 0.42, Resolution: 0.05, Asked: true}
	r.Trials[0].Outages = []record.Outage{down, {Host: "a", Link: "eth0", Event: "up"}}
	if got, want := Headline(r), "a eth0 went down (a → b, 2 streams): streams stood still for 0.31 s, and after 0.42 s the sum was back at 90 % of what the links left allow."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if a := adviceOf(r, seriesOf(r), Options{}); !strings.HasPrefix(a.Action, "Nothing to change") {
		t.Errorf("%+v", a)
	}
	r.Trials[0].Outages[0].Recovered = -1
	if a := adviceOf(r, seriesOf(r), Options{}); !strings.Contains(a.Action, "sooner") {
		t.Errorf("not back: %+v", a)
	}
	r.Trials[0].Outages[0] = record.Outage{Host: "a", Link: "eth0", Event: "down", Resolution: 0.05}
	if got := Headline(r); strings.Contains(got, "went down") {
		t.Errorf("one that cost nothing is told: %q", got)
	}
}

// TestProse: backticks become code, and nothing else does.
func TestProse(t *testing.T) {
	for in, want := range map[string]string{
		"use `a <b>` and `c`": "use <code>a &lt;b&gt;</code> and <code>c</code>", "one ` alone <x>": "one ` alone &lt;x&gt;", "plain": "plain", "``": "<code></code>",
	} {
		if got := string(prose(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// example is the prediction of a file of docs/examples, edited.
func example(t *testing.T, file string, edit func(string) string) Foreseen {
	t.Helper()
	text, err := os.ReadFile("../docs/examples/" + file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fabric.Parse(file, []byte(edit(string(text))))
	if err != nil {
		t.Fatal(err)
	}
	state, err := declared.State(f)
	if err != nil {
		t.Fatal(err)
	}
	m := f.Measure
	m.Streams, m.Directions = []int{1, 2, 8}, flow.Directions()
	all, err := predict.Matrix(state, m)
	if err != nil {
		t.Fatal(err)
	}
	return Foreseen{File: file, Text: string(text), Hosts: state.Hosts, Paths: state.Paths, Predictions: all}
}

// TestForeseen: a prediction's page, picture and Markdown speak of what should be,
// never of a measurement; what nobody knows is no number.
func TestUnbroken(t *testing.T) {
	if got := unbroken("still for 0.31 s, 90 % of 9.41 Gbit/s at 5 ms, 2 streams"); got != "still for 0.31\u00a0s, 90\u00a0% of 9.41\u00a0Gbit/s at 5\u00a0ms, 2 streams" {
		t.Errorf("%q", got)
	}
}

func TestForeseen(t *testing.T) {
	same := func(s string) string { return s }
	for name, c := range map[string]struct {
		f     Foreseen
		wants []string
	}{
		"half of it": {example(t, "one-link.yaml", same), []string{"Two 10 Gbit/s links should carry 9.41 Gbit/s, 50.0 % of the ceiling", "Let the traffic use every link."}},
		"full": {example(t, "one-link.yaml", func(s string) string { return strings.ReplaceAll(s, "layer2}", "layer3+4}") }),
			[]string{"Two 10 Gbit/s links should carry 18.8 Gbit/s, all of the ceiling", "2 streams fill the links."}},
		"speeds unknown": {example(t, "one-link.yaml", func(s string) string {
			return strings.ReplaceAll(s, "links: {eno1: {speed: 10G}, eno2: {speed: 10G}}, ", "")
		}), []string{"is not known: the speed of a link is missing.", "Write the speed of each link into the file."}},
		"a limit on the way": {example(t, "two-hosts-lacp.yaml", same), []string{"the limit on the way is reached", limitReached}},
	} {
		page, err := ForeseenHTML(c.f)
		if err != nil {
			t.Fatal(err)
		}
		wellFormed(t, string(page))
		svg, err := ForeseenSVG(c.f)
		if err != nil {
			t.Fatal(err)
		}
		balanced(t, string(svg))
		md := string(ForeseenMarkdown(c.f))
		plain := strings.NewReplacer("\u00a0", " ", "&#43;", "+")
		for form, text := range map[string]string{"page": string(page), "markdown": md} {
			for _, want := range c.wants {
				if !strings.Contains(plain.Replace(text), want) {
					t.Errorf("%s, %s: no %q", name, form, want)
				}
			}
			for _, not := range []string{"was measured.", "Measured", "Tbit/s", "confidence"} {
				if strings.Contains(strings.ReplaceAll(text, "nothing was measured.", ""), not) {
					t.Errorf("%s, %s: a prediction says %q", name, form, not)
				}
			}
		}
		if name != "speeds unknown" && strings.Contains(string(page), `<td class="r">unknown</td>`) {
			t.Errorf("%s: a prediction says that it is unknown", name)
		}
		if !strings.Contains(string(svg), "<title>") || strings.Contains(string(svg), "NaN") {
			t.Errorf("%s: %.200s", name, svg)
		}
	}
	for _, f := range []Foreseen{{}, {File: evil, Text: evil, Better: Better{Command: evil, Change: evil}, Predictions: []predict.Prediction{{From: evil, To: evil, Direction: flow.Direction(evil), Streams: 1, Rate: 1e9, Ceiling: 1e9, Limit: record.Cause(evil), Limits: []predict.Limit{{Where: evil, Why: evil}}}}}} {
		page, err := ForeseenHTML(f)
		if err != nil {
			t.Fatal(err)
		}
		wellFormed(t, strings.ReplaceAll(string(page), "src=x", ""))
		svg, err := ForeseenSVG(f)
		if err != nil || strings.Contains(string(svg), "<script") {
			t.Errorf("%v: %s", err, svg)
		}
		ForeseenMarkdown(f)
	}
}

// TestPicture: a record's picture by itself is well formed, whatever the record.
func TestPicture(t *testing.T) {
	for name, r := range strange() {
		svg, err := Picture(r, Options{})
		if err != nil {
			t.Fatal(err)
		}
		balanced(t, string(svg))
		for _, banned := range []string{"<script", "NaN", "Inf", "%!"} {
			if strings.Contains(string(svg), banned) {
				t.Errorf("%s holds %q", name, banned)
			}
		}
	}
}
