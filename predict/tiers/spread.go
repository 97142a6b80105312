package tiers

import (
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/steer"
)

// Tier is one place of a way where switches spread flows over links: those that are so
// many cables from the sender, or those to the receiver.
type Tier struct {
	way  *Way
	near steer.Spreader
	last string
	// depth is how many cables between switches lie before it.
	depth int
	links []string
	to    string // the receiver, of the links to it; "" of those between switches
	hash  string // what they spread by, as far as all say the same
	// chosen: the link of every flow can be computed.
	chosen bool
}

var _ steer.Spreader = Tier{}

// Tiers are the places of the way where there is more than one link to choose: those
// between switches, and the one to the receiver's links; nil where there is none. Near is
// how the sender spreads over its own links; last is the hash towards the receiver where
// a path says one, "" else. Sample is one of the flows: where its link is known, so is
// every other's.
func (w *Way) Tiers(near steer.Spreader, sample flow.Frame, last string) (between []Tier, receiver *Tier) {
	var all []Tier
	end := Tier{way: w, near: near, last: last}
	add := func(t *Tier, name, hash string) {
		if !slices.Contains(t.links, name) {
			t.links = append(t.links, name)
		}
		switch {
		case t.hash == "":
			t.hash = hash
		case t.hash != hash:
			t.hash = "hashes that differ"
		}
	}
	for out := range w.from {
		routes, _ := w.Routes(Ask{Out: out, Mean: true, Last: last})
		for _, r := range routes {
			if slices.ContainsFunc(r.Weights, func(part float64) bool { return part != 1 }) {
				return nil, nil // so many that they were merged
			}
			for depth, n := range r.Links {
				for len(all) <= depth {
					all = append(all, Tier{way: w, near: near, last: last, depth: len(all)})
				}
				from := w.Net.Links[n].From
				add(&all[depth], from.String(), w.hashAt(from))
			}
			p, _ := w.Net.Port(w.to[r.In])
			end.to = p.Host
			add(&end, p.Link, w.hashAt(w.to[r.In]))
		}
	}
	for _, t := range all {
		if slices.Sort(t.links); len(t.links) > 1 {
			between = append(between, t)
		}
	}
	if slices.Sort(end.links); len(end.links) > 1 {
		receiver = &end
	}
	for i := range between {
		between[i].chosen = between[i].Place(sample).Known
	}
	if receiver != nil {
		receiver.chosen = receiver.Place(sample).Known
	}
	return between, receiver
}

// hashAt is the word for how the switch of a port spreads over it and those beside it.
func (w *Way) hashAt(at topology.At) string {
	if c, ok := w.Net.ChannelOf(at); ok && len(c.Members) > 1 {
		return w.Net.Balance(at.Switch, c).Hash
	}
	return w.Net.Routes(at.Switch).Hash
}

// Links are "SWITCH PORT", of those to the receiver its own links.
func (t Tier) Links() []string { return t.links }

// Place says which of the links a flow takes, where every hash before and there is known.
func (t Tier) Place(f flow.Frame) steer.Placement {
	p := steer.Placement{Index: -1, Why: t.unknown()}
	own := t.near.Place(f)
	outs := []int{own.Index}
	if !own.Known || own.Index < 0 || own.Index >= len(t.way.from) {
		if outs = outs[:0]; len(t.way.from) > 1 {
			p.Why = "which of the sender's links the flow leaves by is not known"
		}
		for i := range t.way.from {
			outs = append(outs, i)
		}
	}
	name := ""
	for _, out := range outs {
		routes, ok := t.way.Routes(Ask{Out: out, Frame: f, Exact: true, Last: t.last})
		if !ok {
			return p
		}
		for _, r := range routes {
			here := ""
			switch {
			case t.to != "":
				at, _ := t.way.Net.Port(t.way.to[r.In])
				here = at.Link
			case t.depth < len(r.Links):
				here = t.way.Net.Links[r.Links[t.depth]].From.String()
			}
			if here == "" || name != "" && here != name {
				return p
			}
			name = here
		}
	}
	if p.Index = slices.Index(t.links, name); p.Index >= 0 {
		p.Known, p.Link, p.Why = true, name, ""
	}
	return p
}

func (t Tier) unknown() string {
	if t.hash == "" || t.hash == topology.Unknown {
		return "how the switch spreads flows over " + t.where() + " is not said"
	}
	return t.hash + " at " + t.where() + " is not computable here"
}

func (t Tier) where() string {
	if t.to != "" {
		return "the links to " + t.to
	}
	return strings.Join(t.links, ", ")
}

// Reach says what makes flows use more than one of the links.
func (t Tier) Reach() steer.Reach {
	switch fields := topology.FieldsOf(t.hash); {
	case !t.chosen:
		return steer.Reach{Ports: fields == topology.ByPort, Addresses: fields != topology.ByMAC, Why: t.unknown()}
	case fields == topology.ByPort:
		return steer.Reach{Ports: true, Addresses: true, Chosen: true, Why: t.hash + " at " + t.where() + " sends each flow by one link, which its ports decide"}
	case fields == topology.ByAddress:
		return steer.Reach{Addresses: true, Chosen: true, Why: t.hash + " at " + t.where() + " puts all flows between two addresses on one link"}
	}
	return steer.Reach{Why: t.hash + " at " + t.where() + " puts all flows between two hosts on one link"}
}
