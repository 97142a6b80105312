package probe

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/survey"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// attached is how a host is attached to the network that lies between: the
// links below the addresses of its lanes. As a steer.Spreader it is the
// host's own choice of link for what it sends.
type attached struct {
	host  netstate.Host
	link  string   // the first address's, for the report
	names []string // the usable links below, of all addresses
	parts map[netip.Addr]part
}

// part is what lies below one address: a bond, or one link.
type part struct {
	bundle *steer.Bundle
	first  int // where the part's links begin in names
	single bool
}

// attach reads a host's end of the lanes; own turns a lane so that its source
// is the host's.
func attach(h netstate.Host, lanes []flow.Lane, own func(flow.Lane) flow.Lane) (attached, error) {
	a := attached{host: h, parts: make(map[netip.Addr]part)}
	begins := make(map[string]int)
	for _, lane := range lanes {
		addr := own(lane).Src
		if _, done := a.parts[addr]; done {
			continue
		}
		l, ok := h.LinkWith(addr)
		if !ok {
			return a, fmt.Errorf("probe: %w: %s has no address %s", ErrConfig, h.Name, addr)
		}
		if a.link == "" {
			a.link = l.Name
		}
		below, _, bond := h.Below(l.Name)
		if len(below) == 0 {
			return a, fmt.Errorf("probe: %w: no usable link below %s of %s", ErrConfig, l.Name, h.Name)
		}
		device := below[0].Name
		p := part{single: bond == nil}
		if bond != nil {
			device = bond.Name
			if b, err := steer.BundleOf(h, l.Name); err == nil {
				p.bundle = &b
			}
		}
		if _, done := begins[device]; !done {
			begins[device] = len(a.names)
			for _, port := range below {
				if !slices.Contains(a.names, port.Name) {
					a.names = append(a.names, port.Name)
				}
			}
		}
		p.first = begins[device]
		a.parts[addr] = p
	}
	return a, nil
}

func (a attached) trunk() survey.Trunk { return survey.TrunkOf(a.host, a.link) }

// Links are the names of all links below.
func (a attached) Links() []string { return a.names }

// Place says which link the host sends f by.
func (a attached) Place(f flow.Frame) steer.Placement {
	p, ok := a.parts[f.Src]
	unknown := steer.Placement{Index: -1, Why: "not this host's rule"}
	switch {
	case !ok:
		return unknown
	case p.single:
		return steer.Placement{Index: p.first, Link: a.names[p.first], Known: true}
	case p.bundle == nil:
		return unknown
	}
	placed := p.bundle.Place(f)
	if placed.Index >= 0 {
		placed.Index += p.first
	}
	return placed
}

// Reach says what makes the host's flows use more than one link: other
// addresses, if they are on different devices.
func (a attached) Reach() steer.Reach {
	var only *steer.Bundle
	for _, p := range a.parts {
		if p.single || p.bundle == nil || only != nil && p.bundle.Ports[0] != only.Ports[0] {
			return steer.Reach{Addresses: true, Ports: true, Chosen: true, Why: "each address has a link of its own"}
		}
		only = p.bundle
	}
	if only == nil {
		return steer.Reach{Why: "no address"}
	}
	return only.Reach()
}
