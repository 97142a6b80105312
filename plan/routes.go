package plan

import (
	"slices"
	"strings"

	"github.com/linerate/linerate/netstate"
)

// madeBy marks the routes and rules that a plan adds (RTPROT_STATIC).
const madeBy = "static"

// routing takes away the rules and routes that are not wanted, those over a
// gateway before those that reach it, then adds what is missing the other way
// round: a rule comes when the routes it points at are there.
func (b *builder) routing() {
	b.rules(Absent)
	b.removeRoutes()
	b.restoreRoutes()
	b.addRoutes()
	b.tellLost()
	b.rules(Present)
}

// tellLost names the routes that went with something else and stay away, and
// refuses to lose a default route that nothing takes the place of.
func (b *builder) tellLost() {
	if b.whole {
		return
	}
	for _, r := range b.lost {
		if b.want.Routes != nil && b.governsRoute(b.observed, r) || slices.ContainsFunc(b.now.Routes, func(have netstate.Route) bool {
			return have.Dst == r.Dst && canonical(have).Table == canonical(r).Table
		}) {
			continue
		}
		if r.Dst.Bits() == 0 && canonical(r).Table == tableMain {
			b.problem("route "+routeWords(&r, false), "it would go and not come back, and no other default route takes its place: say one")
			continue
		}
		b.left = append(b.left, "route "+routeWords(&r, false)+": it goes and does not come back, for what it rests on is gone")
	}
}

// governsRoute reports a route that the plan may add or remove for its own
// sake, on a host that has it.
func (b *builder) governsRoute(h netstate.Host, r netstate.Route) bool {
	if b.whole {
		return !restored(h, r)
	}
	return ours(h, r)
}

func (b *builder) removeRoutes() {
	if b.want.Routes == nil {
		return
	}
	var farther, nearer []netstate.Route
	for _, r := range b.now.Routes {
		if !b.governsRoute(b.now, r) || routeIndex(b.want.Routes, r) >= 0 {
			continue
		}
		if far(r) {
			farther = append(farther, r)
		} else {
			nearer = append(nearer, r)
		}
	}
	for _, r := range append(farther, nearer...) {
		if b.restorable(r) {
			b.do(Step{Kind: Route, Link: r.Link, Route: &r, New: Absent, Disruption: Online})
		}
	}
}

// restorable refuses a route that a step could not put back.
func (b *builder) restorable(r netstate.Route) bool {
	if r.Object == 0 && len(r.Extra) == 0 {
		return true
	}
	b.problem("route "+routeWords(&r, false), "it has settings that a plan cannot roll back: remove it by hand first")
	return false
}

// loseRoute takes away a route that would go with something else.
func (b *builder) loseRoute(r netstate.Route, why string) {
	if !b.restorable(r) {
		return
	}
	b.do(Step{Kind: Route, Link: r.Link, Route: &r, New: Absent, Disruption: LinkDown, Why: why})
	b.lost = append(b.lost, r)
}

// restoreRoutes brings back the routes that had to go for a link's sake and
// that somebody else made, or all where desired says nothing of routes: where
// they were, or on the bond that their link went into with its lease.
func (b *builder) restoreRoutes() {
	for _, nearest := range []bool{true, false} {
		for _, r := range slices.Backward(b.lost) {
			if far(r) == nearest || b.want.Routes != nil && b.governsRoute(b.observed, r) {
				continue
			}
			if bond := b.moved[r.Link]; bond != "" && (leasedRoute(r) || b.want.Routes == nil) {
				r.Link = bond
			} else if onBond, ok := b.ofMaster(r); ok {
				r = onBond
			}
			if b.fits(r) {
				b.do(Step{Kind: Route, Link: r.Link, Route: &r, New: Present, Disruption: Online})
			}
		}
	}
}

// ofMaster is a route of a link that has become a port, on its bond, where
// desired has it there.
func (b *builder) ofMaster(r netstate.Route) (netstate.Route, bool) {
	l, _ := b.now.Link(r.Link)
	if l.Master == "" {
		return r, false
	}
	r.Link = l.Master
	return r, routeIndex(b.want.Routes, r) >= 0
}

// fits reports whether a route can be added as the host is by then.
func (b *builder) fits(r netstate.Route) bool {
	trial := b.now
	_, err := Current(trial, Step{Kind: Route, Route: &r})
	if err != nil || routeIndex(trial.Routes, r) >= 0 {
		return false
	}
	links := []string{r.Link}
	for _, hop := range r.Hops {
		links = append(links, hop.Link)
	}
	for _, name := range links {
		if l, ok := trial.Link(name); name != "" && (!ok || l.Master != "") {
			return false
		}
	}
	return setRoute(&trial, Step{Kind: Route, Route: &r, New: Present}) == nil
}

func (b *builder) addRoutes() {
	if b.want.Routes == nil {
		return
	}
	var nearer, farther []netstate.Route
	for _, r := range b.want.Routes {
		if !b.governsRoute(b.now, r) || routeIndex(b.now.Routes, r) >= 0 {
			continue
		}
		if i := routeIndex(b.observed.Routes, r); i >= 0 {
			r = b.observed.Routes[i] // it was there, and had to go for a while
		} else if !b.whole {
			r.Protocol = madeBy
		}
		if far(r) {
			farther = append(farther, r)
		} else {
			nearer = append(nearer, r)
		}
	}
	for _, r := range append(nearer, farther...) {
		b.do(Step{Kind: Route, Link: r.Link, Route: &r, New: Present, Disruption: Online})
	}
}

// rules removes the rules that are not wanted, or adds those that are missing.
func (b *builder) rules(to string) {
	if b.want.Rules == nil {
		return
	}
	from, other := b.now.Rules, b.want.Rules
	if to == Present {
		from, other = other, from
	}
	for _, r := range slices.Clone(from) {
		if !ourRule(r) || ruleIndex(other, r) >= 0 {
			continue
		}
		switch {
		case r.Priority == 0:
			b.problem("rule "+ruleWords(&r), "it needs a priority: the kernel would choose one, and a plan could not find it again")
			continue
		case r.Action == "goto" || strings.Contains(r.Selectors, "fra-"):
			b.problem("rule "+ruleWords(&r), "it has conditions that a plan cannot write: change it by hand")
			continue
		}
		if to == Present && r.Protocol == "" {
			r.Protocol = madeBy
		}
		b.do(Step{Kind: Rule, Rule: &r, New: to, Disruption: Online})
	}
}

// ourRule reports a rule that a plan may add or remove: not the three that
// every namespace starts with (fib_default_rules_init), nor one of the kernel
// or a daemon.
func ourRule(r netstate.Rule) bool {
	switch r.Priority {
	case 0:
		return r.Table != tableLocal
	case 32766, 32767:
		return false
	}
	switch r.Protocol {
	case "", "static", "boot":
		return true
	}
	return false
}
