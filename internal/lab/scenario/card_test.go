package scenario

import (
	"testing"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/whatif"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestCards: at the lab's scale the slot binds where it did at the published
// one, at the same share of the ports' rate.
func TestCards(t *testing.T) {
	s, _, err := Named("45drives-bond")
	if err != nil {
		t.Fatal(err)
	}
	for step, c := range map[int]struct {
		mtu  int
		slot bool
	}{0: {1500, true}, 3: {9000, true}, 4: {9000, false}, 5: {9000, false}, 7: {9000, true}} {
		now := s
		for i := 0; i <= step; i++ {
			if now, _, err = now.After(Step{Ports: s.Steps[i].Ports}); err != nil {
				t.Fatal(err)
			}
		}
		mtus := map[Port]int{}
		for _, p := range Ports(now.Fabric) {
			mtus[p] = c.mtu
		}
		f := now.Scaled(func(h string) string { return "netns:" + h }, mtus)
		state := predict.Fabric{Hosts: map[string]netstate.Host{}, Paths: f.Paths}
		for _, h := range f.Hosts {
			if state.Hosts[h.Name], err = f.State(h.Name); err != nil {
				t.Fatal(err)
			}
		}
		w, err := whatif.Parse(map[int]string{1500: "mtu=1500", 9000: "mtu=9000"}[c.mtu])
		if err != nil {
			t.Fatal(err)
		}
		if state, _, _, err = w.Apply(state, f.Measure); err != nil {
			t.Fatal(err)
		}
		p, err := predict.Predict(state, predict.Traffic{From: "client", To: "server", Direction: "forward", Streams: 8, Ports: "chosen"})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Limit == record.CardSlot; got != c.slot {
			t.Errorf("%s: held by %s at %v", s.Steps[step].Name, p.Limit, p.Rate*unit.BitRate(s.Scale))
		}
		if p, err = predict.Predict(state, predict.Traffic{From: "client", To: "server", Direction: "forward", Streams: 1, Ports: "chosen"}); err != nil {
			t.Fatal(err)
		}
		if m := s.Steps[step].Measure[0]; m.Kinds[0] == Rate {
			if off := float64(p.Rate*unit.BitRate(s.Scale)/m.Published[0]) - 1; off < -0.1 || off > 0.1 {
				t.Errorf("%s: predicted %v, published %v", s.Steps[step].Name, p.Rate*unit.BitRate(s.Scale), m.Published[0])
			}
		}
	}
}

// TestCoreRate: a core takes frames in singly only where they are striped.
func TestCoreRate(t *testing.T) {
	s, _, err := Named("45drives-bond")
	if err != nil {
		t.Fatal(err)
	}
	h := s.Scaled(func(h string) string { return "netns:" + h }, nil).Hosts[0]
	if got, want := CoreRate(h, 1514)*unit.BitRate(s.Scale), unit.BitRate(1e6*8*1514); got < 0.999*want || got > 1.001*want {
		t.Errorf("a core takes in %v of frames of 1514 bytes, want %v", got, want)
	}
	h.Network.Bonds[0].Options.Mode = netstate.LACP
	if got := CoreRate(h, 1514); got != 0 {
		t.Errorf("of frames that are not striped: %v", got)
	}
}
