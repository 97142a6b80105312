package record

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/unit"
)

// agreed is a trial of direction both whose numbers agree: 2 Gbit/s from a to
// b and 1 Gbit/s back.
func agreed() Trial {
	return Trial{
		From: "a", To: "b", Direction: flow.Both, Goodput: 3e9, Ceiling: 4e9, Window: 3,
		Lanes: []Lane{{Way: flow.Forward, Goodput: 2e9}, {Way: flow.Reverse, Goodput: 1e9}},
		Links: []LinkUse{
			{Host: "a", Link: "eth0", TxPayload: 2e9, RxPayload: 1e9},
			{Host: "b", Link: "eth0", TxPayload: 1e9, RxPayload: 1.5e9}, {Host: "b", Link: "eth1", RxPayload: 0.5e9},
		},
	}
}

func TestCheck(t *testing.T) {
	forward := func(t *Trial) {
		t.Direction, t.Goodput, t.Lanes = flow.Forward, 2e9, t.Lanes[:1]
	}
	for _, c := range []struct {
		name   string
		change func(*Trial)
		want   []string // part of each, in order
	}{
		{"agrees", func(*Trial) {}, nil},
		{"forward alone", forward, nil},
		{"nothing carried", func(t *Trial) { *t = Trial{Direction: flow.Forward} }, nil},
		{"ceiling unknown", func(t *Trial) { t.Ceiling = 0 }, nil},
		{"links not counted", func(t *Trial) { t.Links = nil }, nil},
		{"a hair above the ceiling", func(t *Trial) { t.Ceiling = 3e9 / 1.009 }, nil},
		{"above the ceiling by what had waited to be read", func(t *Trial) { t.Ceiling, t.Unread = 2.9e9, -0.08e9 }, nil},
		{"further above it than what had waited", func(t *Trial) { t.Ceiling, t.Unread = 2.9e9, -0.03e9 }, []string{"impossible: 2.97 Gbit/s is above"}},
		{"a lane missing", func(t *Trial) { t.Lanes = t.Lanes[:1] }, []string{"inconsistent: lanes sum to 2.00 Gbit/s, goodput is 3.00 Gbit/s"}},
		{"a lane too much", func(t *Trial) { t.Lanes = append(t.Lanes, Lane{Goodput: 4e6}) }, []string{"inconsistent: lanes sum"}},
		{"lanes of nothing", func(t *Trial) { t.Goodput, t.Links = 0, nil }, []string{"inconsistent: lanes sum"}},
		{"above the ceiling", func(t *Trial) { t.Ceiling = 2.9e9 }, []string{"impossible: 3.00 Gbit/s is above the physical ceiling of 2.90 Gbit/s"}},
		{"more than the links took in", func(t *Trial) { t.Links[1].RxPayload = 1.4e9 }, []string{"inconsistent: goodput is 1.034 of"}},
		{"a little more, from socket buffers", func(t *Trial) { t.Links[1].RxPayload = 1.49e9 }, nil},
		{"the same in a long window", func(t *Trial) { t.Links[1].RxPayload, t.Window = 1.49e9, 30 }, []string{"inconsistent: goodput is 1.003 of"}},
		{"more on an idle processor", func(t *Trial) { t.Links[1].RxPayload = 1.46e9 }, []string{"inconsistent: goodput is 1.014 of"}},
		{"more on a full processor", func(t *Trial) { t.Links[1].RxPayload, t.CPU = 1.46e9, []CPUUse{{Host: "a", Busiest: 0.97}} }, nil},
		{"less was read, and the rest waits", func(t *Trial) { t.Links[2].RxPayload, t.Unread = 0.9e9, 0.3e9 }, nil},
		{"more waits than came", func(t *Trial) { t.Unread = 0.1e9 }, []string{"inconsistent: goodput is 1.033 of"}},
		{"less than the links took in", func(t *Trial) { t.Links[2].RxPayload = 0.9e9 }, []string{"inconsistent: goodput is 0.882 of"}},
		{"datagrams that the receiver lost", func(t *Trial) {
			t.Links[2].RxPayload, t.UDP = 0.9e9, &UDP{Payload: 1000, Sent: 1300000, Received: 1125000, Lost: 175000}
		}, nil},
		{"more datagrams than were sent", func(t *Trial) { t.UDP = &UDP{Sent: 5, Received: 7} }, []string{"inconsistent: 5 datagrams sent, 7 received and 0 lost"}},
		{"datagrams that are not the goodput", func(t *Trial) { t.UDP = &UDP{Payload: 1000, Sent: 1125000, Received: 1000000, Lost: 125000} }, []string{"1000000 datagrams of 1000 bytes are 2.67 Gbit/s"}},
		{"all of it", func(t *Trial) {
			t.Lanes, t.Ceiling, t.Links[1].RxPayload = nil, 1e9, 0.1e9
		}, []string{"lanes sum to 0 bit/s", "impossible", "inconsistent: goodput is 1.875"}},
		{"what the sender took in does not count", func(t *Trial) { forward(t); t.Links[0].RxPayload = 9e9 }, nil},
	} {
		trial := agreed()
		c.change(&trial)
		got := trial.Check()
		ok := len(got) == len(c.want)
		for i := range min(len(got), len(c.want)) {
			ok = ok && strings.Contains(got[i], c.want[i])
		}
		if !ok {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestShareOfIngress(t *testing.T) {
	trial := agreed()
	if share, ok := trial.ShareOfIngress(); !ok || share != 1 {
		t.Errorf("both: %v, %v; want 1", share, ok)
	}
	trial.Direction, trial.Goodput = flow.Reverse, 0.5e9
	if share, ok := trial.ShareOfIngress(); !ok || share != 0.5 {
		t.Errorf("reverse: %v, %v; want 0.5 of what a took in", share, ok)
	}
	trial.Links = trial.Links[1:]
	if share, ok := trial.ShareOfIngress(); ok || share != 0 {
		t.Errorf("receiver not counted: %v, %v; want none", share, ok)
	}
}

// TestCheckTellsSums: however a goodput is split into lanes, Check is content
// with the sum and with no other.
func TestCheckTellsSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trial := Trial{Direction: flow.Forward}
		for range rapid.IntRange(1, 64).Draw(t, "lanes") {
			l := Lane{Goodput: unit.BitRate(rapid.Float64Range(1e3, 1e11).Draw(t, "lane"))}
			trial.Lanes = append(trial.Lanes, l)
			trial.Goodput += l.Goodput
		}
		if wrong := trial.Check(); wrong != nil {
			t.Fatalf("the sum itself: %q", wrong)
		}
		trial.Goodput *= unit.BitRate(rapid.SampledFrom([]float64{0.5, 0.99, 1.01, 2}).Draw(t, "error"))
		if len(trial.Check()) != 1 {
			t.Fatalf("goodput %v of lanes %v passed", trial.Goodput, trial.Lanes)
		}
	})
}

func TestCauseRoundTrip(t *testing.T) {
	seen := make(map[Cause]bool)
	for _, c := range Causes() {
		text, err := json.Marshal(c)
		var back Cause
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil || back != c || seen[c] {
			t.Errorf("%s: %q came back, %v, twice %v", c, back, err, seen[c])
		}
		seen[c] = true
	}
	contract := []Cause{"line-rate", "hash-imbalance", "single-link", "receive-window", "send-buffer", "congestion", "reordering", "sender-cpu",
		"receiver-cpu", "card", "shaper", "mtu", "lacp-down", "asymmetric-route", "pacing", "application", "unknown"}
	if diff := cmp.Diff(contract, Causes()); diff != "" {
		t.Errorf("causes differ from the contract (-want +got)\n%s", diff)
	}
	for _, word := range []string{`""`, `"line rate"`, `"Line-rate"`, `3`} {
		c := Unknown
		if err := json.Unmarshal([]byte(word), &c); err == nil || c != Unknown {
			t.Errorf("%s was read as %q", word, c)
		}
	}
}

// TestFindingRoundTrip: a finding survives JSON with every field.
func TestFindingRoundTrip(t *testing.T) {
	want := Finding{From: "a", To: "b", Direction: flow.Both, Streams: 2, Cause: SingleLink, Confidence: 0.97, Rate: 1e9, Ceiling: 2e9,
		Summary: "s", Evidence: []Evidence{{What: "w", Value: "v", Source: "s"}}, Remedy: "r", Expected: 2e9, Phase: PhaseStep, Step: "mtu"}
	text, err := json.Marshal(want)
	var got Finding
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func TestCPUBound(t *testing.T) {
	for _, c := range []struct {
		cpu  []CPUUse
		want bool
	}{{nil, false}, {[]CPUUse{{Busiest: 0.89, BusiestThread: 0.89}}, false}, {[]CPUUse{{}, {Busiest: 0.9}}, true}, {[]CPUUse{{BusiestThread: 0.95}}, true}} {
		if got := (Trial{CPU: c.cpu}).CPUBound(); got != c.want {
			t.Errorf("%+v: %v, want %v", c.cpu, got, c.want)
		}
	}
}

// What no measurement has is told by its place, of a record and of one trial.
func TestCheckRates(t *testing.T) {
	for want, trial := range map[string]Trial{
		"": agreed(), "goodput_bps": {Goodput: -1}, "lanes[0].tcp.pacing_bps": {Lanes: []Lane{{TCP: TCP{Pacing: 1e308}}}},
		"window_s": {Window: 1e308}, "series_bps[1]": {Series: []unit.BitRate{1, unit.BitRate(math.NaN())}},
	} {
		for prefix, err := range map[string]error{"": CheckRates(trial), "trials[0].": CheckRates(Record{Trials: []Trial{trial}})} {
			if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), prefix+want+" is ") {
				t.Errorf("%s%s: %v", prefix, want, err)
			}
		}
	}
	if err := CheckRates(Trial{Unread: -1e6}); err != nil {
		t.Errorf("read in the window, and come before it: %v", err)
	}
}
