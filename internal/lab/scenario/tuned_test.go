package scenario

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestTuneFile: tune finds by itself what others are told, and goes both ways.
func TestTuneFile(t *testing.T) {
	s := parse(t, two+"  name: n\n  steps:\n    - {name: s, measure: [{tool: tune, from: a, to: b, published: 5G}, {tool: tune, from: a, to: b, direction: forward, keep: true, duration: 2s, kind: best}]}\n")
	all := s.Steps[0].Measure
	if m := all[0]; m.Rows() != 1 || m.Direction != flow.Both || m.Keep || m.Streams != nil || !slices.Equal(m.Kinds, []Kind{Best}) {
		t.Errorf("%+v", m)
	}
	if m := all[1]; m.Direction != flow.Forward || !m.Keep || m.Duration != 2*time.Second || !slices.Equal(m.Kinds, []Kind{Best}) {
		t.Errorf("%+v", m)
	}
	for more, want := range map[string]string{
		"tool: tune, streams: 2":         "streams: tune finds",
		"tool: tune, aliases: 2":         "aliases: tune finds",
		"tool: tune, ports: chosen":      "ports: tune finds",
		"tool: tune, socket_buffer: 8Mi": "socket_buffer: tune finds",
		"tool: tune, no_delay: true":     "no_delay: tune finds",
		"tool: ping, no_delay: true":     "no_delay: ping has no such choice",
		"tool: tune, fail: a.eth0":       "fail: tune finds",
		"tool: tune, within: 5%":         "within: tune finds",
		"tool: tune, kind: claim":        "kind: claim is none of tune's",
		"tool: tune, duration: 31s":      "a measurement of a tune is 30s at most",
		"tool: tune, published: [1G,2G]": "published: 2 numbers for 1 rows",
		"tool: tune, published_ratio: 2": "published_ratio: tune finds",
		"tool: iperf3, keep: true":       "keep is of tune",
		"tool: iperf3, kind: best":       "kind: best is what tune comes to",
	} {
		_, err := Parse("x.yaml", []byte(two+"  name: n\n  steps:\n    - {name: s, measure: [{from: a, to: b, "+more+"}]}\n"))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "x.yaml:9:") {
			t.Errorf("%s: got %v, want %q", more, err, want)
		}
	}
	_, err := Parse("x.yaml", []byte(two+"  name: n\n  steps:\n    - {name: s, measure: [{tool: tune, from: a, to: b, keep: true}]}\n    - {name: later, with: links=2, measure: []}\n"))
	if err == nil || !strings.Contains(err.Error(), `keep: step "later" builds the network anew`) {
		t.Errorf("got %v", err)
	}
}

// TestBuiltinTuned: each of the articles' networks is tuned once as its first step
// has it, or as it is set again, whatever is tuned later. Where tune's windows stay, the next
// step sets its own.
func TestBuiltinTuned(t *testing.T) {
	all, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		tuned, set := 0, false
		for i, step := range s.Steps {
			set = !asFound(s, step) && (set || step.With != "" || len(step.Sysctl)+len(step.Ports)+len(step.Bond) > 0)
			for _, m := range step.Measure {
				if m.Tool != Tune {
					continue
				}
				if !set {
					tuned++
				}
				if m.Direction != flow.Both {
					t.Errorf("%s, %s: tuned one way", s.Name, step.Name)
				}
				if m.Keep && i+1 < len(s.Steps) && !setsWindows(s.Steps[i+1:]) {
					t.Errorf("%s, %s: what is tuned is kept for rows that somebody published", s.Name, step.Name)
				}
			}
		}
		if tuned != 1 {
			t.Errorf("%s is tuned %d times, want once", s.Name, tuned)
		}
	}
}

// asFound reports a step that sets the windows which the hosts have in the file.
func asFound(s Scenario, step Step) bool {
	for _, h := range s.Fabric.Hosts {
		for _, key := range []string{"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"} {
			if step.Sysctl[key] == "" || h.Sysctl[key] != step.Sysctl[key] {
				return false
			}
		}
	}
	return true
}

// setsWindows reports steps of which none has rows before the first sets all windows.
func setsWindows(steps []Step) bool {
	for _, key := range []string{"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.core.rmem_max", "net.core.wmem_max"} {
		if len(steps) > 0 && steps[0].Sysctl[key] == "" {
			return false
		}
	}
	return true
}

func tunedRow(measured unit.BitRate) Row {
	return Row{
		Step: "tuned", From: "client-with-a-long-name", To: "server", Streams: 4, Direction: flow.Both, Tool: string(Tune), Kind: Best, Measured: measured, Predicted: 37e9, Ceiling: 38e9,
		Tuned: &Tuned{Before: 18e9, Forward: measured / 2, Reverse: measured / 2, CeilingMTU: 9000, Changes: []string{"MTU of 9000\non both hosts, and " + strings.Repeat("much more ", 20), "4 streams"}},
	}
}

func TestJudgeTuned(t *testing.T) {
	rate := func(v unit.BitRate) *unit.BitRate { return &v }
	for name, c := range map[string]struct {
		measured  unit.BitRate
		by        record.Cause
		at        unit.BitRate
		published *unit.BitRate
		want      Verdict
	}{
		"reached":                         {measured: 37e9, want: Reached},
		"below":                           {measured: 36e9, want: Off},
		"above what is possible":          {measured: 39e9, want: Off},
		"what was published is not it":    {measured: 37e9, published: rate(50e9), want: Reached},
		"held":                            {measured: 27.5e9, by: record.CardSlot, at: 28e9, want: Limited},
		"held, and others were there too": {measured: 27.5e9, by: record.CardSlot, at: 28e9, published: rate(28e9), want: Limited},
		"others did better":               {measured: 27.5e9, by: record.CardSlot, at: 28e9, published: rate(30e9), want: Off},
		"held, with losses":               {measured: 26e9, by: record.CardSlot, at: 28e9, want: Limited},
		"not as far as what holds it":     {measured: 25e9, by: record.CardSlot, at: 28e9, want: Off},
		"further than what holds it":      {measured: 30e9, by: record.CardSlot, at: 28e9, want: Off},
		"held by nothing below":           {measured: 36e9, by: record.CardSlot, at: 40e9, want: Off},
		"nothing":                         {want: Off},
	} {
		r := tunedRow(c.measured)
		r.Published, r.Tuned.LimitedBy, r.Tuned.LimitedAt = c.published, c.by, c.at
		r.Judge(0, 2)
		if r.Verdict != c.want || r.Tuned.Share != float64(c.measured)/38e9 {
			t.Errorf("%s: %s at %.3f, want %s", name, r.Verdict, r.Tuned.Share, c.want)
		}
	}
	none := Row{Kind: Best, Measured: 1, Ceiling: 1}
	if none.Judge(0, 0); none.Verdict != Off {
		t.Error("a best without a tune was judged")
	}
}

// TestTunedText: what was kept is below the row, within 80 columns, and the best
// of either way beside the rows of that way.
func TestTunedText(t *testing.T) {
	r := tunedRow(36e9)
	r.Tuned.LimitedBy, r.Tuned.LimitedAt = record.CardSlot, 36.5e9
	r.Judge(0, 2)
	forward := Row{Step: "as found", From: r.From, To: "server", Streams: 1, Direction: flow.Forward, Tool: "iperf2", Kind: Rate, Measured: 9e9, Predicted: 9.1e9, Ceiling: 18.8e9}
	larger := forward
	larger.Ceiling = 30e9
	o := Outcome{Scenario: "one", Rows: []Row{forward, r, larger}}
	if got := o.Best(forward); got != 18e9 {
		t.Errorf("best of one way: %v", got)
	}
	back := forward
	back.From, back.To, back.Direction = forward.To, forward.From, flow.Reverse
	if got := o.Best(back); got != 18e9 {
		t.Errorf("best of the same way, named from the other end: %v", got)
	}
	if got := o.Best(larger); got != 0 {
		t.Errorf("best of more links: %v", got)
	}
	for _, text := range []string{Page([]Outcome{o}), Text(o.Rows)} {
		for line := range strings.Lines(text) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > tableWidth {
				t.Errorf("%d columns: %s", n, line)
			}
		}
		for _, want := range []string{"18.00G before, then 94.7 % of the ceiling at MTU 9000", "limited by card at 36.50G", "      kept: MTU of 9000 on both hosts, and much more much more", "\n        more much", "kept: 4 streams\n", "38.00G^\n", "\n^ limited below"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
	}
	if page := Page([]Outcome{o}); !strings.Contains(page, "         -    37.00G    36.00G   38.00G^") {
		t.Errorf("tune's rate is the best, and nobody else's:\n%s", page)
	}
}
