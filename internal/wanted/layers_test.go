package wanted_test

import (
	"slices"
	"testing"

	"github.com/linerate/linerate/plan"
)

// TestNewOnNew makes what rides on links that the same plan makes, whatever order the
// file has them in (finding 10).
func TestNewOnNew(t *testing.T) {
	for name, tt := range map[string]struct {
		network string
		made    []string
	}{
		"VLAN on a dummy":            {"dummy-devices: {d0: {}}, vlans: {d0.101: {id: 101, link: d0}}", []string{"d0", "d0.101"}},
		"VLAN on a bond":             {"ethernets: {eth4: {}}, bonds: {b1: {interfaces: [eth4]}}, vlans: {v: {id: 5, link: b1}}", []string{"b1", "v"}},
		"VLAN on an empty bond":      {"bonds: {b1: {interfaces: []}}, vlans: {v: {id: 5, link: b1}}", []string{"b1", "v"}},
		"VLAN on a later VLAN":       {"ethernets: {eth4: {}}, vlans: {a.7: {id: 7, link: z}, z: {id: 8, link: eth4}}", []string{"z", "a.7"}},
		"three VLANs, upside down":   {"ethernets: {eth4: {}}, vlans: {a: {id: 7, link: b}, b: {id: 8, link: c}, c: {id: 9, link: eth4}}", []string{"c", "b", "a"}},
		"bond of dummies":            {"dummy-devices: {d0: {}, d1: {}}, bonds: {b1: {interfaces: [d0, d1]}}", []string{"d0", "d1", "b1"}},
		"VLAN on a bond of dummies":  {"dummy-devices: {d0: {}}, bonds: {b1: {interfaces: [d0]}}, vlans: {v: {id: 5, link: b1}}", []string{"d0", "b1", "v"}},
		"VLAN on a bond's new dummy": {"dummy-devices: {d0: {}}, bonds: {b1: {interfaces: [d0]}}, vlans: {v: {id: 5, link: d0}}", []string{"d0", "b1", "v"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := twice(t, running(), noProfiles+"    network: {"+tt.network+"}\n")
			var made []string
			for _, s := range p.Steps {
				if s.Kind == plan.LinkPresence && s.New == plan.Present {
					made = append(made, s.Link)
				}
			}
			slices.Sort(made)
			slices.Sort(tt.made)
			if !slices.Equal(made, tt.made) {
				t.Errorf("made: %v, want %v\n%s", made, tt.made, p.Text(80))
			}
			after, err := plan.Apply(running(), p)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range tt.made {
				if is, ok := after.Link(l); !ok || !is.Up {
					t.Errorf("%s is there: %v, up: %v", l, ok, is.Up)
				}
			}
			if _, err := plan.Apply(after, p.Rollback()); err != nil {
				t.Errorf("undo: %v", err)
			}
		})
	}
}
