package tiers

import (
	"fmt"
	"math"
	"net/netip"
	"testing"

	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/flow"
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

// TestRanges: of a hash that is cut into ranges the value that chose the first of two
// chooses the first or the second of three, twice as often the first.
func TestRanges(t *testing.T) {
	var s state
	first := s.ranges("h", []int{1, 1})
	if len(first) != 2 || first[0].share != 0.5 {
		t.Fatalf("%+v", first)
	}
	for i, want := range [][3]float64{{2. / 3, 1. / 3, 0}, {0, 1. / 3, 2. / 3}} {
		var got [3]float64
		for _, o := range first[i].state.ranges("h", []int{1, 1, 1}) {
			got[o.index] = o.share
			if again := o.state.ranges("h", []int{1, 1, 1}); len(again) != 1 || again[0].index != o.index || again[0].share != 1 {
				t.Errorf("chosen again: %+v", again)
			}
		}
		for n := range got {
			if math.Abs(got[n]-want[n]) > 1e-9 {
				t.Errorf("after %d of two: %v, want %v", i, got, want)
			}
		}
	}
}

// TestCatalysts: eight values fall on three links as 3:3:2, and a pair of addresses on the
// link that is computed where that is published.
func TestCatalysts(t *testing.T) {
	of := func(links int) *topology.Network {
		net := chain(2, links, func(int) string { return "" })
		net.Switches[0].Channels[0].Hash = "catalyst-src-dst-ip"
		return topology.New(net.Switches)
	}
	w, _ := Between(of(3), Side{"a", []string{"e"}}, Side{"b", []string{"e"}})
	all, _ := w.Routes(Ask{Mean: true})
	if len(all) != 3 || all[0].Share != 3./8 || all[1].Share != 3./8 || all[2].Share != 2./8 {
		t.Errorf("%+v; want 3:3:2", all)
	}
	w, _ = Between(of(4), Side{"a", []string{"e"}}, Side{"b", []string{"e"}})
	for last, want := range map[byte]int{1: 0, 2: 3, 3: 2, 4: 1} { // the low two bits of .1 XOR .last
		frame := flow.Frame{Tuple: flow.Tuple{Proto: flow.TCP, Src: netip.AddrFrom4([4]byte{10, 0, 0, 1}), Dst: netip.AddrFrom4([4]byte{10, 0, 0, last})}}
		all, _ := w.Routes(Ask{Frame: frame})
		if len(all) != 1 || w.Net.Links[all[0].Links[0]].From.Port != fmt.Sprint("up", want) {
			t.Errorf(".1 to .%d: %+v; want up%d", last, all, want)
		}
	}
}

func TestAlike(t *testing.T) {
	got := Alike([]int{7, 8, 9}, []float64{0.5, 0.25, 0.25})
	if fmt.Sprint(got) != "[7 7 8 9]" {
		t.Errorf("%v", got)
	}
}
