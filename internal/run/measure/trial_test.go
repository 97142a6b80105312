package measure

import (
	"context"
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

// TestInterruptedRepetition: a trial that is there is not lost because the
// next one was interrupted, or went wrong.
func TestInterruptedRepetition(t *testing.T) {
	first := record.Trial{From: "a", To: "b", Direction: flow.Forward, Window: 3, Goodput: 100, Lanes: []record.Lane{{Goodput: 100}}}
	for _, interrupted := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		note, err := "a repetition failed: context deadline exceeded", context.DeadlineExceeded
		if interrupted {
			note, err = "a repetition was interrupted", context.Canceled
		}
		tries := 0
		again := func() bool {
			if tries++; tries > 1 && interrupted {
				cancel()
			}
			return tries > 1
		}
		one, failed := soundest(ctx, func() (record.Trial, float64, error) {
			if again() {
				return record.Trial{}, 0, err
			}
			return first, 0.9, nil
		})
		if failed != nil || tries != 2 || one.Goodput != 100 || len(one.Notes) != 1 || one.Notes[0] != note {
			t.Errorf("%+v, %v after %d tries, want the first and %q", one, failed, tries, note)
		}
		tries = 0
		all, failed := soundestTogether(ctx, func() ([]record.Trial, float64, error) {
			if again() {
				return nil, 0, err
			}
			return []record.Trial{first, first}, 0.9, nil
		})
		if failed != nil || tries != 2 || len(all) != 2 || len(all[0].Notes) != 1 || all[0].Notes[0] != note {
			t.Errorf("%+v, %v after %d tries, want the first and %q", all, failed, tries, note)
		}
	}
}
