package steer

import (
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/steer"
)

// curious asks for each flow once, for so many of a kind, and for none that has
// been answered, not even where the answer was none.
func TestCuriousAsksOnce(t *testing.T) {
	tuple := func(sport, dport uint16) flow.Frame {
		return flow.Frame{Tuple: flow.Tuple{Proto: flow.TCP, Sport: sport, Dport: dport}}
	}
	table := steer.NewTable([]string{"a", "b"}, []steer.Sighting{{Frame: tuple(1, 80), Link: 1}}, notAsked)
	c := curious{
		Spreader: table, depth: 3, asked: map[flow.Tuple]bool{}, count: map[flow.Tuple]int{},
		answered: map[flow.Tuple]string{tuple(1, 80).Tuple: "b", tuple(2, 80).Tuple: ""},
	}
	for range 2 {
		for sport := range uint16(10) {
			for _, dport := range []uint16{80, 81} {
				if p := c.Place(tuple(sport, dport)); p.Known != (sport == 1 && dport == 80) {
					t.Errorf("%d to %d: %+v", sport, dport, p)
				}
			}
		}
	}
	seen := map[flow.Tuple]bool{}
	for _, f := range c.wanted {
		if seen[f.Tuple] || f.Dport == 80 && (f.Sport == 1 || f.Sport == 2) {
			t.Errorf("%s is asked about again", f)
		}
		seen[f.Tuple] = true
	}
	if len(c.wanted) != 6 {
		t.Errorf("%d questions, want 3 for each destination port", len(c.wanted))
	}
}
