package compare

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

func swept(variant string, streams int, rates ...unit.BitRate) (all []record.Trial) {
	for _, r := range rates {
		all = append(all, record.Trial{From: "a", To: "b", Direction: flow.Forward, Streams: streams, Variant: variant, Goodput: r * 1e6, GoodputLow: r * 0.99e6, GoodputHigh: r * 1.01e6, Claimed: 2 * r * 1e6})
	}
	return all
}

func TestSweep(t *testing.T) {
	join := func(parts ...[]record.Trial) (all []record.Trial) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	for _, c := range []struct {
		name    string
		values  []string
		trials  []record.Trial
		streams int
		want    []string // in the verdict
	}{
		{"better", []string{"536", "1448"}, join(swept("mss=536", 2, 100, 101, 99), swept("mss=1448", 2, 200, 201, 199)), 2, []string{"mss: 1448 is better than 536 by 100.0 % (p < 0.001)"}},
		{"worse", []string{"off", "on"}, join(swept("mss=off", 2, 100, 101, 99), swept("mss=on", 2, 90, 91, 89)), 2, []string{"on is worse than off by 10.0 %"}},
		{"the same", []string{"off", "on"}, join(swept("mss=off", 2, 100, 100.1, 99.9), swept("mss=on", 2, 100, 100.1, 99.9)), 2, []string{"the same within 1.0 %"}},
		{"not shown", []string{"off", "on"}, join(swept("mss=off", 2, 80, 100, 120), swept("mss=on", 2, 85, 101, 119)), 2, []string{"no difference"}},
		{"three values", []string{"1", "2", "3"}, join(swept("mss=1", 1, 100, 101, 99), swept("mss=2", 2, 200, 201, 199), swept("mss=3", 3, 300, 301, 299)), 0, []string{"2 is better", "3 is better", "the most was carried with 3"}},
		{"one value came through", []string{"1", "2"}, join(swept("mss=1", 1, 100, 101), swept("mss=2", 1, 0, 0), swept("other=2", 1, 1)), 1, []string{"fewer than two"}},
		{"one run each", []string{"1", "2"}, join(swept("mss=1", 1, 100), swept("mss=2", 1, 200)), 1, []string{"2 is better"}},
		{"none", []string{"1", "2"}, nil, 0, []string{"fewer than two"}},
	} {
		got := Sweep("mss", c.values, c.trials)
		if got.Streams != c.streams {
			t.Errorf("%s: streams %d, want %d", c.name, got.Streams, c.streams)
		}
		for _, w := range c.want {
			if !strings.Contains(got.Verdict, w) {
				t.Errorf("%s: %q, want %q", c.name, got.Verdict, w)
			}
		}
		for _, v := range got.Values {
			if v.Low > v.Goodput || v.High < v.Goodput || v.Claimed != 2*v.Goodput {
				t.Errorf("%s: %+v", c.name, v)
			}
		}
	}
}
