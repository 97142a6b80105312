package tiers

import (
	"fmt"
	"math"
	"testing"

	"github.com/linerate/linerate/fabric/topology"
	"pgregory.net/rapid"
)

// chain is switches one behind the other, with n links between each and the next, all
// hashing with one seed or each with its own.
func chain(switches, links int, seed func(i int) string) *topology.Network {
	var all []topology.Switch
	for i := range switches {
		s := topology.Switch{Name: fmt.Sprint("s", i)}
		c := topology.Channel{Name: "po", Balance: topology.Balance{Hash: "layer3+4", Seed: seed(i)}}
		for n := range links {
			if i+1 < switches {
				p := fmt.Sprint("up", n)
				s.Ports = append(s.Ports, topology.Port{Name: p, Switch: fmt.Sprint("s", i+1), Port: fmt.Sprint("down", n), Speed: 1e9})
				c.Members = append(c.Members, p)
			}
		}
		if len(c.Members) > 0 {
			s.Channels = append(s.Channels, c)
		}
		all = append(all, s)
	}
	all[0].Ports = append(all[0].Ports, topology.Port{Name: "h", Host: "a", Link: "e"})
	all[switches-1].Ports = append(all[switches-1].Ports, topology.Port{Name: "h", Host: "b", Link: "e"})
	return topology.New(all)
}

func routes(t interface{ Fatal(...any) }, net *topology.Network) []Route {
	w, ok := Between(net, Side{"a", []string{"e"}}, Side{"b", []string{"e"}})
	if !ok {
		t.Fatal("no way")
	}
	all, ok := w.Routes(Ask{})
	if !ok {
		t.Fatal("too many routes")
	}
	return all
}

// TestHashesThatAgree: with one seed the second choice is the first's; with two each is
// as likely beside each.
func TestHashesThatAgree(t *testing.T) {
	alike := routes(t, chain(3, 2, func(int) string { return "1" }))
	if len(alike) != 2 || alike[0].Share != 0.5 {
		t.Errorf("one seed: %+v; want two routes", alike)
	}
	if others := routes(t, chain(3, 2, func(i int) string { return fmt.Sprint(i) })); len(others) != 4 || others[3].Share != 0.25 {
		t.Errorf("two seeds: %+v; want four routes", others)
	}
}

// TestRoutesAreWhole: all routes together are the flow, however many there are, and each
// leads from switch to switch.
func TestRoutesAreWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		switches, links := rapid.IntRange(1, 5).Draw(t, "switches"), rapid.IntRange(1, 5).Draw(t, "links")
		own := rapid.Bool().Draw(t, "own seeds")
		net := chain(switches, links, func(i int) string {
			if own {
				return fmt.Sprint(i)
			}
			return "1"
		})
		sum, on := 0.0, map[int]float64{}
		for _, r := range routes(t, net) {
			sum += r.Share
			for i, l := range r.Links {
				on[l] += r.Share * r.Weights[i]
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Fatalf("the routes make %v", sum)
		}
		hops := map[string]float64{}
		for l, part := range on {
			hops[net.Links[l].From.Switch] += part
			if math.Abs(part-1/float64(links)) > 1e-9 {
				t.Fatalf("%v has %v of the flow, of %d links", net.Links[l].From, part, links)
			}
		}
		for name, part := range hops {
			if math.Abs(part-1) > 1e-9 {
				t.Fatalf("%s sends on %v", name, part)
			}
		}
		if len(hops) != switches-1 {
			t.Fatalf("%d of %d switches send on", len(hops), switches-1)
		}
	})
}

// TestRemainders: what one choice tells of a value holds for the next.
func TestRemainders(t *testing.T) {
	for value := range 60 {
		var s state
		share := 1.0
		for _, n := range []int{2, 3, 4, 6, 5} {
			found := false
			for _, o := range s.options("h", n) {
				if o.index == value%n {
					s, share, found = o.state, share*o.share, true
				}
			}
			if !found {
				t.Fatalf("%d of %d is ruled out", value, n)
			}
		}
		if r := s.of("h"); r.rest != value || r.mod != 60 || math.Abs(share-1.0/60) > 1e-12 {
			t.Errorf("%d: %+v, with %v", value, r, share)
		}
	}
}

func TestAlike(t *testing.T) {
	got := Alike([]int{7, 8, 9}, []float64{0.5, 0.25, 0.25})
	if fmt.Sprint(got) != "[7 7 8 9]" {
		t.Errorf("%v", got)
	}
}
