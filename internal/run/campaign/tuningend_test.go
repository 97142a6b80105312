package campaign

import (
	"math"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/tune"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// TestAsSeen: what the search saw reach the target is to be shown there; below it
// a moment's disturbance is allowed for.
func TestAsSeen(t *testing.T) {
	for _, c := range []struct {
		share, seen float64
		want        bool
	}{
		{0.975, 0.99, true},
		{0.968, 0.99, false},
		{0.968, 0.971, false},
		{0.968, 0.969, true},
		{0.96, 0.968, false},
	} {
		if got := asSeen(c.share, c.seen, 0.97); got != c.want {
			t.Errorf("%v of the ceiling, %v seen: %v", c.share, c.seen, got)
		}
	}
}

// TestRefusedMTU: once a proof has shown that the path does not take larger frames,
// the ceiling is the one at the MTU that is set, for what was measured before too, and
// they are not proposed again.
func TestRefusedMTU(t *testing.T) {
	f, err := fabric.Parse("f.yaml", []byte(`linerate: v1
hosts:
  a: {network: {ethernets: {eth0: {addresses: [10.0.0.1/24]}}}, hardware: {links: {eth0: {speed: 100M}}}}
  b: {network: {ethernets: {eth0: {addresses: [10.0.0.2/24]}}}, hardware: {links: {eth0: {speed: 100M}}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	state := predict.Fabric{Hosts: make(map[string]netstate.Host), Paths: f.Paths}
	for _, h := range f.Hosts {
		s, err := f.State(h.Name)
		if err != nil {
			t.Fatal(err)
		}
		state.Hosts[h.Name] = s
	}
	traffic := predict.Between("a", "b", flow.Forward, 1)
	at9000, _, err := predict.CeilingOf(state, traffic, 9000)
	if err != nil {
		t.Fatal(err)
	}
	at1500, _, err := predict.CeilingOf(state, traffic, 0)
	if err != nil || at1500 >= at9000 {
		t.Fatalf("ceilings %v and %v, %v", at1500, at9000, err)
	}
	measured := record.Trial{Goodput: at1500, Ceiling: at9000, CeilingMTU: 9000}
	u := &tuning{c: &Campaign{}, Tuning: Tuning{CeilingMTU: 9000}}
	u.c.record.Trials = []record.Trial{measured}
	u.s = tune.State{Fabric: state, Load: tune.Load{Traffic: traffic}, Refused: map[tune.Name]bool{}, Tried: map[tune.Name]bool{}, CeilingMTU: 9000, Trials: []record.Trial{measured}}
	u.found.Trial, u.founds = measured, []record.Trial{measured}
	u.refuseMTU()
	if u.CeilingMTU != 0 || u.s.CeilingMTU != 0 || !u.s.Refused[tune.MTU] {
		t.Errorf("ceiling at %d, refused %v", u.CeilingMTU, u.s.Refused)
	}
	for _, got := range []record.Trial{u.c.record.Trials[0], u.s.Trials[0], u.found.Trial, u.founds[0]} {
		if share := float64(got.Goodput / got.Ceiling); math.Abs(share-1) > 1e-6 || got.CeilingMTU != 1500 {
			t.Errorf("%v of %v at an MTU of %d", got.Goodput, got.Ceiling, got.CeilingMTU)
		}
	}
}
