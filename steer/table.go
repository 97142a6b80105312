package steer

import (
	"slices"

	"github.com/linerate/linerate/flow"
)

// Table is a spreader of which nothing is known but what was seen, or what
// the kernel answered, flow by flow: an ECMP route with a random key, or a
// switch that was probed. Other flows are unknown.
type Table struct {
	links []string
	seen  map[flow.Tuple]int
	why   string
}

var _ Spreader = Table{}

// NewTable holds the sightings; links are the names in the order in which
// Sighting.Link counts. A sighting of no such link is left out, and of two of
// one flow the later counts. Why says of a flow that is not in it why not.
func NewTable(links []string, sightings []Sighting, why string) Table {
	t := Table{links: slices.Clone(links), seen: make(map[flow.Tuple]int, len(sightings)), why: why}
	for _, s := range sightings {
		if s.Link >= 0 && s.Link < len(links) {
			t.seen[s.Frame.Tuple] = s.Link
		}
	}
	return t
}

// Links are the names given.
func (t Table) Links() []string { return t.links }

// Place says where f was seen.
func (t Table) Place(f flow.Frame) Placement {
	i, found := t.seen[f.Tuple]
	if !found {
		return Placement{Index: -1, Why: t.why}
	}
	return Placement{Index: i, Link: t.links[i], Known: true}
}

// Reach goes by what was seen: ports, or addresses, count where flows that
// differ in nothing else took different links.
func (t Table) Reach() Reach {
	if len(t.links) < 2 {
		return Reach{Why: "only one link is usable"}
	}
	var r Reach
	byPort := make(map[flow.Tuple]int, len(t.seen))
	byAddress := make(map[flow.Tuple]int, len(t.seen))
	for tuple, link := range t.seen {
		r.Ports = differs(byPort, flow.Tuple{Proto: tuple.Proto, Src: tuple.Src, Dst: tuple.Dst, Dport: tuple.Dport}, link) || r.Ports
		r.Addresses = differs(byAddress, flow.Tuple{Proto: tuple.Proto, Sport: tuple.Sport, Dport: tuple.Dport}, link) || r.Addresses
	}
	r.Chosen = r.Ports || r.Addresses
	switch {
	case r.Ports:
		r.Why = "flows that differ in their source port alone were seen on different links"
	case r.Addresses:
		r.Why = "flows that differ in their addresses alone were seen on different links"
	default:
		r.Why = "all flows of one kind were seen on one link"
	}
	return r
}

// differs notes a link under a key and reports that another was noted before.
func differs(seen map[flow.Tuple]int, key flow.Tuple, link int) bool {
	before, found := seen[key]
	if !found {
		seen[key] = link
		return false
	}
	return before != link
}
