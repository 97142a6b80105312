package fabric

import (
	"slices"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
)

// What writes a statement of a fabric file reads it back: one that reads as anything
// but what it stands for is none.

// ReadRoute reads a route under its link; false where the file's keys do not take it.
func ReadRoute(n *yamldoc.Node) (r Route, ok bool) {
	ok = reads(func(d *decoder) { routeKeys.decode(d, "", n, &r) })
	return r, ok
}

// ReadMultipath reads a route over several next hops; false as of ReadRoute.
func ReadMultipath(n *yamldoc.Node) (r MultipathRoute, ok bool) {
	ok = reads(func(d *decoder) { multipathKeys.decode(d, "", n, &r) })
	return r, ok
}

// ReadRule reads a policy rule; false as of ReadRoute.
func ReadRule(n *yamldoc.Node) (r Rule, ok bool) {
	ok = reads(func(d *decoder) { ruleKeys.decode(d, "", n, &r) })
	return r, ok
}

// ReadEndpoint reads an MPTCP endpoint; false as of ReadRoute.
func ReadEndpoint(n *yamldoc.Node) (e netstate.MPTCPEndpoint, ok bool) {
	ok = reads(func(d *decoder) { endpointKeys.decode(d, "", n, &e) })
	return e, ok
}

// CanSayCard reports that the file's keys take the card.
func CanSayCard(card *yamldoc.Node) bool {
	return reads(func(d *decoder) { cardKeys.decode(d, "", card, &netstate.Card{}) })
}

func reads(decode func(*decoder)) bool {
	ps := &yamldoc.Collector{}
	decode(&decoder{Collector: ps})
	return len(ps.All) == 0
}

// CanName reports that a device of that name can stand in a section.
func CanName(name string) bool { return BadName(name) == "" && !slices.Contains(sectionKeys, name) }
