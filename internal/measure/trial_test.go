package measure

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

func TestDisturbed(t *testing.T) {
	carried := func(goodput, arrived unit.BitRate, busiest float64) record.Trial {
		return record.Trial{
			From: "a", To: "b", Direction: flow.Forward, Window: 3, Goodput: goodput,
			Lanes: []record.Lane{{Goodput: goodput}},
			Links: []record.LinkUse{{Host: "b", Link: "eth0", RxPayload: arrived}},
			CPU:   []record.CPUUse{{Host: "b", Busiest: busiest, BusiestThread: busiest}},
		}
	}
	sound, full, odd := carried(100, 100, 0.2), carried(100, 100, 1), carried(110, 100, 1)
	for _, c := range []struct {
		what string
		t    record.Trial
		dip  float64
		want string
	}{
		{"sound", sound, 0, ""},
		{"fell", sound, 0.9, "fell by 90 %"},
		{"fell on a full processor", full, 0.9, ""},
		{"contradicts itself on a full processor", odd, 0, "contradicted itself"},
	} {
		if got := disturbed(c.t, c.dip); !strings.HasPrefix(got, c.want) || got != "" && c.want == "" {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	if !sounder(sound, 0.9, odd, 0) || sounder(odd, 0, sound, 0.9) || !sounder(sound, 0.1, sound, 0.2) {
		t.Error("fewer contradictions come first, then the smaller fall")
	}
}
