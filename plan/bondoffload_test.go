package plan_test

import (
	"slices"
	"testing"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// TestBondCutsByItself: a bond's tso is its own, and changes without its ports;
// its other offloads, and all of a VLAN's, follow what is below.
func TestBondCutsByItself(t *testing.T) {
	have := anyHost()
	have.Links = append(have.Links,
		netstate.Link{Name: "b", Kind: "bond", MTU: 1500, Up: true, Bond: &netstate.Bond{Mode: netstate.BalanceRR}, Offloads: map[string]bool{"tso": true, "gso": true, "rx": true}},
		netstate.Link{Name: "b.5", Kind: "vlan", MTU: 1500, Up: true, VLAN: &netstate.VLAN{ID: 5, Parent: "b"}, Offloads: map[string]bool{"tso": true}})
	want := have.Clone()
	for _, name := range []string{"b", "b.5"} {
		l, _ := want.Link(name)
		for key := range l.Offloads {
			l.Offloads[key] = false
		}
		want.SetLink(l)
	}
	pl, err := plan.Between(have, want)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(pl.Steps, func(s plan.Step) bool { return s.Kind == plan.Offload })
	if len(pl.Steps) != 1 || i != 0 {
		t.Fatalf("%+v", pl.Steps)
	}
	if s := pl.Steps[0]; s.Link != "b" || s.Key != "tso" || s.New != "off" || s.Old != "on" || s.Disruption != plan.Online {
		t.Errorf("%+v", s)
	}
}
