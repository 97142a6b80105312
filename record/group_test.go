package record

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/unit"
)

// arriving is a trial whose receiver's one link took in a rate.
func arriving(from, to string, goodput, ingress unit.BitRate) Trial {
	return Trial{
		From: from, To: to, Direction: flow.Forward, Goodput: goodput, GoodputLow: goodput, GoodputHigh: goodput, Ceiling: 100, Window: 10, Group: "g",
		Lanes: []Lane{{Way: flow.Forward, Goodput: goodput}},
		Links: []LinkUse{{Host: to, Link: "eth0", RxPayload: ingress}, {Host: from, Link: "eth0", RxPayload: 3}},
	}
}

func TestGroups(t *testing.T) {
	for _, c := range []struct {
		name    string
		trials  []Trial
		ceiling unit.BitRate
		want    string // in the complaint; "" is none
	}{
		{"two receivers", []Trial{arriving("a", "b", 100, 100), arriving("a", "c", 100, 100)}, 200, ""},
		{"one receiver's link, counted by both", []Trial{arriving("a", "c", 50, 100), arriving("b", "c", 50, 100)}, 100, ""},
		{"more than arrived", []Trial{arriving("a", "c", 60, 100), arriving("b", "c", 60, 100)}, 200, "1.200 of what the links of c took in"},
		{"much less than arrived", []Trial{arriving("a", "c", 30, 100), arriving("b", "c", 30, 100)}, 200, "0.600 of what the links of c took in"},
		{"above the ceiling", []Trial{arriving("a", "b", 100, 100), arriving("a", "c", 100, 100)}, 100, "above the physical ceiling"},
		{"ceiling not known", []Trial{arriving("a", "b", 100, 100)}, 0, ""},
	} {
		got := strings.Join(CheckGroup(c.trials, c.ceiling), "; ")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		for _, trial := range c.trials { // each for itself must not complain of a shared link
			if wrong := trial.Check(); len(wrong) > 0 {
				t.Errorf("%s: %v", c.name, wrong)
			}
		}
	}
	g := Sum([]Trial{arriving("a", "b", 70, 70), arriving("a", "c", 30, 30)})
	if g.Goodput != 100 || g.CeilingSum != 200 || g.Trials != 2 || g.ID != "g" || g.Window != 10 {
		t.Errorf("%+v", g)
	}
}
