package affine

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/describe"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/steer/testhash"
)

// learn learns a hash over flows and returns it with its links' names by number.
func learn(t *testing.T, l *Learner, link func(flow.Tuple) int) *Map {
	t.Helper()
	d, _ := study(t, l, link)
	if d.Map == nil {
		t.Fatalf("not learned: %+v", d)
	}
	return d.Map
}

var names = []string{"p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"}

// TestRule: what is kept of a learned hash places every flow as the switch does.
func TestRule(t *testing.T) {
	for hi, h := range testhash.Affine() {
		for _, links := range []int{2, 4, 8} {
			r := random(uint64(6e6 + hi*10 + links))
			of, order := h.Make(r), r.Perm(links)
			link := func(t flow.Tuple) int { return order[of(t)%uint32(links)] }
			what := fmt.Sprintf("%s over %d links", h.Name, links)

			// Two lanes, all ports; the ports of the source, and those of answers.
			var lanes []flow.Tuple
			var both []flow.Tuple
			for i := range 2 {
				lane := drawn(byte(10+i), byte(20+i), 0, 5201)
				lanes = append(lanes, lane)
				for p := 1024; p < 1<<16; p += 23 {
					lane.Sport = uint16(p)
					both = append(both, lane)
				}
			}
			r.Shuffle(len(both), func(i, j int) { both[i], both[j] = both[j], both[i] })
			ports := flow.PortRange{First: 1, Last: 65535}
			kept, err := learn(t, New(names[:links], both), link).Learned(flow.LearnedSport, ports, lanes)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			rule := Rule{LearnedHash: kept}
			for _, lane := range lanes {
				for p := 1; p < 1<<16; p += 37 {
					lane.Sport = uint16(p)
					got := rule.Place(flow.Frame{Tuple: lane})
					if want := names[link(lane)]; !got.Known || got.Link != want || rule.Links()[got.Index] != want {
						t.Fatalf("%s: %v is on %s, placed %+v", what, lane, want, got)
					}
				}
			}
			// Another destination port is unknown, and shares links as these do.
			other := lanes[0]
			other.Dport = 5202
			other.Sport = 40000
			if got := rule.Place(flow.Frame{Tuple: other}); got.Known {
				t.Errorf("%s: %v is placed: %+v", what, other, got)
			}
			rule.Shared = true
			shared := make(map[string]string)
			for p := 40000; p < 40100; p++ {
				other.Sport = uint16(p)
				placed, truth := rule.Place(flow.Frame{Tuple: other}).Link, names[link(other)]
				if have, seen := shared[placed]; seen && have != truth {
					t.Fatalf("%s: port %d shares a link with others that it does not", what, p)
				}
				shared[placed] = truth
			}
			reached := make(map[int]bool)
			for p := range 1 << 16 {
				other.Sport = uint16(p)
				reached[link(other)] = true
			}
			if rule.Reached() != len(reached) || rule.Reach().Ports != (len(reached) > 1) {
				t.Errorf("%s: %d links reached, says %d, %+v", what, len(reached), rule.Reached(), rule.Reach())
			}
		}
	}
}

// TestRuleOfFewPorts: a range that does not begin at a power of two.
func TestRuleOfFewPorts(t *testing.T) {
	r := random(7e6)
	for trial := range 20 {
		of := testhash.Affine()[trial%10].Make(r)
		link := func(t flow.Tuple) int { return int(of(t) % 4) }
		first := 1 + r.IntN(60000)
		ports := flow.PortRange{First: uint16(first), Last: uint16(first + 20 + r.IntN(300))}
		var some []flow.Tuple
		for p := int(ports.First); p <= int(ports.Last); p++ {
			some = append(some, drawn(1, 2, uint16(p), 5201))
		}
		r.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		m := learn(t, New(names[:4], some), link)
		kept, err := m.Learned(flow.LearnedSport, ports, some[:1])
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range some {
			if got := (Rule{LearnedHash: kept}).Place(flow.Frame{Tuple: f}); got.Link != names[link(f)] {
				t.Fatalf("ports %v: %v placed %+v, is on %s", ports, f, got, names[link(f)])
			}
		}
		if got := (Rule{LearnedHash: kept}).Place(flow.Frame{Tuple: drawn(1, 2, ports.Last+1, 5201)}); got.Known {
			t.Errorf("ports %v: %d is placed", ports, ports.Last+1)
		}
		if _, err := m.Learned(flow.LearnedSport, flow.PortRange{First: 1, Last: 65535}, some[:1]); err == nil {
			t.Errorf("ports %v: kept for all ports", ports)
		}
	}
}

// TestKept: a fabric file says a learned hash, and reads it as it was.
func TestKept(t *testing.T) {
	r := random(8e6)
	of := testhash.Affine()[4].Make(r)
	answers := make([]flow.Tuple, 0, 1<<15)
	for i := range 1 << 15 {
		answers = append(answers, drawn(1, 2, 5201, uint16(1<<15+i)))
	}
	r.Shuffle(len(answers), func(i, j int) { answers[i], answers[j] = answers[j], answers[i] })
	m := learn(t, New(names[:8], answers), func(t flow.Tuple) int { return int(of(t) % 8) })
	kept, err := m.Learned(flow.LearnedDport, flow.PortRange{First: 1 << 15, Last: 1<<16 - 1}, answers[:1])
	if err != nil {
		t.Fatal(err)
	}
	kept.To, kept.Date = "a", "2026-11-26"
	text := "linerate: v1\nhosts: {a: {network: {version: 2}}, b: {network: {version: 2}}}\npaths:\n  - {between: [a, b], learned: " + yamldoc.OneLine(describe.Learned([]flow.LearnedHash{kept})) + "}\n"
	f, err := fabric.Parse("kept.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if diff := cmp.Diff([]flow.LearnedHash{kept}, f.Paths[0].Learned, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Error(diff)
	}
	if got := (Rule{LearnedHash: f.Paths[0].Learned[0]}).Place(flow.Frame{Tuple: answers[0]}); !got.Known {
		t.Errorf("%+v", got)
	}
}
