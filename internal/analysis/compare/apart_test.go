package compare

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
)

func TestApart(t *testing.T) {
	at := func(side string, streams int, d flow.Direction, variant string) Unmatched {
		return Unmatched{Key{From: "a", To: "b", Direction: d, Streams: streams, Protocol: "tcp", Variant: variant}, side}
	}
	for _, c := range []struct {
		name string
		all  []Unmatched
		want []string
	}{
		{"nothing", nil, nil},
		{"stream counts", []Unmatched{at("before", 1, flow.Forward, ""), at("before", 2, flow.Forward, ""), at("after", 4, flow.Forward, "")}, []string{"stream count: 1, 2 before, 4 after"}},
		{"two things", []Unmatched{at("before", 1, flow.Forward, ""), at("after", 1, flow.Reverse, "mss=536")}, []string{"direction: forward before, reverse after", "setting: none before, mss=536 after"}},
		{"only together", []Unmatched{at("before", 1, flow.Forward, ""), at("before", 2, flow.Reverse, ""), at("after", 2, flow.Forward, ""), at("after", 1, flow.Reverse, "")}, nil},
		{"one side", []Unmatched{at("before", 1, flow.Forward, "")}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Apart(c.all)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
