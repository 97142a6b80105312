package steer

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/linerate/linerate/flow"
)

// answeredBy is a route of which a known one answers for a range of ports.
func answeredBy(truth Multipath, l flow.Lane, first, last uint16) Answered {
	var seen []Sighting
	for port := first; port <= last; port++ {
		f := flow.Frame{Tuple: flow.Tuple{Proto: flow.TCP, Src: l.Src, Dst: l.Dst, Sport: port, Dport: DefaultDport}}
		seen = append(seen, Sighting{Frame: f, Link: truth.Place(f).Index})
	}
	asked := truth
	asked.Seed = 0
	return Answered{Table: NewTable(truth.Links(), seen, "not asked"), Route: asked}
}

// Streams picked by the kernel's answers are those picked by the seed: even by
// count, whatever the weights.
func TestPickOnRoutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Multipath{Policy: MultipathL4, Seed: rapid.Uint32Min(1).Draw(t, "seed"), Era: MultipathHashed}
		for i := range rapid.IntRange(2, 6).Draw(t, "hops") {
			m.Hops = append(m.Hops, Hop{Link: string(rune('a' + i)), Weight: rapid.IntRange(1, 4).Draw(t, "weight")})
		}
		req := PickRequest{
			Near: m, Lanes: []flow.Lane{lane("192.0.2.1", "198.51.100.7")}, FirstPort: 40000, LastPort: 42000,
			Streams: rapid.IntRange(1, 64).Draw(t, "streams"),
		}
		computed, err := Pick(req)
		if err != nil || !computed.Even || computed.Relative {
			t.Fatalf("computed: %+v, %v", computed, err)
		}
		req.Near = answeredBy(m, req.Lanes[0], req.FirstPort, req.LastPort)
		answered, err := Pick(req)
		if err != nil || !answered.Even {
			t.Fatalf("answered: %+v, %v", answered, err)
		}
		counts := make([]int, len(m.Hops))
		for i, s := range answered.Streams {
			counts[m.Place(flow.Frame{Tuple: s.Tuple(flow.TCP)}).Index]++
			if s != computed.Streams[i] {
				t.Fatalf("stream %d: answered %+v, computed %+v", i, s, computed.Streams[i])
			}
		}
		if !Evenly(counts) {
			t.Fatalf("on the hops: %v", counts)
		}
	})
}

// Flows that were not asked about are unknown, and never picked.
func TestPickOnAnswersAlone(t *testing.T) {
	m := Multipath{Policy: MultipathL4, Seed: 7, Era: MultipathHashed, Hops: []Hop{{Link: "a"}, {Link: "b"}}}
	near := answeredBy(m, lane("192.0.2.1", "198.51.100.7"), 40100, 40131)
	if p := near.Place(flow.Frame{Tuple: flow.Tuple{Proto: flow.TCP, Sport: 1}}); p.Known || p.Index >= 0 || p.Why != "not asked" {
		t.Errorf("%+v", p)
	}
	for _, s := range mustPick(t, PickRequest{Near: near, Lanes: []flow.Lane{lane("192.0.2.1", "198.51.100.7")}, Streams: 8}).Streams {
		if s.Sport < 40100 || s.Sport > 40131 {
			t.Errorf("port %d was not asked about", s.Sport)
		}
	}
}

// What stands in the way on a route is said in the words of routes.
func TestPickOnRoutesRemedies(t *testing.T) {
	own := addr("10.0.0.1")
	hops := []Hop{{Link: "a", Source: own}, {Link: "b"}}
	for _, tt := range []struct {
		name        string
		near        Spreader
		src         string
		why, remedy string
	}{
		{"no seed", Multipath{Policy: MultipathL4, Hops: hops}, "192.0.2.1", "drawn at boot", "ask the kernel (--route)"},
		{"addresses", Multipath{Seed: 1, Hops: hops, Era: MultipathHashed}, "192.0.2.1", "l3 hashes addresses", "fib_multipath_hash_policy=1"},
		{"addresses, answered", answeredBy(Multipath{Seed: 1, Hops: hops, Era: MultipathHashed}, lane("192.0.2.1", "198.51.100.7"), 40000, 40100), "192.0.2.1", "l3 hashes addresses", "fib_multipath_hash_policy=1"},
		{"a hop's own address", Multipath{Policy: MultipathL4, Seed: 1, Hops: hops}, "10.0.0.1", "prefer the next hop", "such as a loopback's"},
		{"a hop's own address, answered", answeredBy(Multipath{Policy: MultipathL4, Seed: 1, Hops: hops}, lane("10.0.0.1", "198.51.100.7"), 40000, 40100), "10.0.0.1", "prefer the next hop", "such as a loopback's"},
		{"few ports", answeredBy(Multipath{Policy: MultipathL4, Seed: 12345, Hops: hops, Era: MultipathHashed}, lane("192.0.2.1", "198.51.100.7"), 40003, 40004), "192.0.2.1", "reach 1 of 2 links", "allow more"},
	} {
		p := mustPick(t, PickRequest{Near: tt.near, Lanes: []flow.Lane{lane(tt.src, "198.51.100.7")}, Streams: 2})
		if p.Even || !strings.Contains(p.Why, tt.why) || !strings.Contains(p.Remedy, tt.remedy) {
			t.Errorf("%s: even %t, why %q, remedy %q", tt.name, p.Even, p.Why, p.Remedy)
		}
	}
}
