package plan

import (
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
)

// Preconditions returns the steps whose Old must hold before the first step
// of p: of the steps that change the same thing, the first. What a step finds
// on a link, or of a mode, that the plan itself makes cannot be looked at
// before, and is left out.
func (p Plan) Preconditions() []Step {
	seen := make(map[string]bool)
	made := make(map[string]bool)
	mode := make(map[string]string) // of a bond before its mode changes
	var first []Step
	for _, s := range p.Steps {
		t := s.Target()
		switch {
		case seen[t]:
			continue
		case s.Kind == LinkPresence && s.New == Present:
			made[s.Link] = true
		case s.on(made), s.hidden(mode), s.follows(seen):
			continue
		}
		if s.Kind == PortMaster {
			seen[moved(s.Link)] = true
			seen[moved(s.Old)], seen[moved(s.New)] = true, true
		}
		if s.Kind == BondOption && s.Key == "mode" {
			mode[s.Link] = s.Old
		}
		seen[t] = true
		first = append(first, s)
	}
	return first
}

// on reports a step that looks at one of the links.
func (s Step) on(links map[string]bool) bool {
	if s.Kind == Sysctl {
		link, ok := netstate.LinkOfSysctl(s.Key)
		return ok && links[link]
	}
	if s.Route != nil {
		for _, hop := range s.Route.Hops {
			if links[hop.Link] {
				return true
			}
		}
		return links[s.Route.Link]
	}
	if s.Endpoint != nil {
		return links[s.Endpoint.Link]
	}
	return links[s.Link]
}

// moved marks a port that came or went, and the bond it did so in.
func moved(link string) string { return "moved " + link }

// follows reports a thing that changes by itself with the ports moved so far:
// a port's MTU, state, hardware address and options, a bond's address, order
// and active port.
func (s Step) follows(seen map[string]bool) bool {
	switch s.Kind {
	case LinkMTU, LinkState, LinkMAC, PortOption, PortOrder:
		return seen[moved(s.Link)]
	case BondOption:
		return s.Key == bondopt.Active && seen[moved(s.Link)]
	}
	return false
}

// hidden reports an option that the kernel tells of no bond in the mode that
// the bond had before.
func (s Step) hidden(before map[string]string) bool {
	r, ok := bondopt.Find(s.Key)
	was, changed := before[s.Link]
	if s.Kind != BondOption || !ok || !changed || !r.Hidden {
		return false
	}
	for _, m := range r.Modes {
		if m.String() == was {
			return false
		}
	}
	return true
}
