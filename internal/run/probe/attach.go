package probe

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/hashsurvey"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/routing"
	"github.com/linerate/linerate/steer"
)

// attached is how a host is attached to the network that lies between: the
// links below the addresses of its lanes. As a steer.Spreader it is the
// host's own choice of link for what it sends.
type attached struct {
	host  netstate.Host
	link  string   // the first bond's, or else the first address's, for the report
	names []string // the usable links below, of all addresses
	parts map[netip.Addr]part
}

// part is what lies below one address: one link, or several, of a bond or of a
// route to an address of lo.
type part struct {
	links []string
	rule  steer.Spreader // of several links; nil where it is not known
}

// attach reads a host's end of the lanes; own turns a lane so that its source
// is the host's.
func attach(h netstate.Host, lanes []flow.Lane, own func(flow.Lane) flow.Lane) (attached, error) {
	a := attached{host: h, parts: make(map[netip.Addr]part)}
	bond := false
	for _, lane := range lanes {
		lane = own(lane)
		if _, done := a.parts[lane.Src]; done {
			continue
		}
		facing := routing.Facing(h, lane.Src, lane.Dst)
		if len(facing) == 0 {
			return a, fmt.Errorf("probe: %w: %s has no address %s, or no route from it to %s", ErrConfig, h.Name, lane.Src, lane.Dst)
		}
		p, bundled := partOf(h, lane, facing)
		if len(p.links) == 0 {
			return a, fmt.Errorf("probe: %w: no usable link below %s of %s", ErrConfig, facing[0].Name, h.Name)
		}
		if a.link == "" || bundled && !bond {
			a.link, bond = facing[0].Name, bundled
		}
		for _, name := range p.links {
			if !slices.Contains(a.names, name) {
				a.names = append(a.names, name)
			}
		}
		a.parts[lane.Src] = p
	}
	return a, nil
}

// partOf is what lies below the links that a lane's address faces; bundled, a
// bond.
func partOf(h netstate.Host, lane flow.Lane, facing []netstate.Link) (p part, bundled bool) {
	for _, l := range facing {
		below, _, bond := h.Below(l.Name)
		for _, port := range below {
			p.links = append(p.links, port.Name)
		}
		bundled = bundled || bond != nil
	}
	switch {
	case len(facing) > 1:
		if m, ok := routing.Multipath(h, lane.Src, lane.Dst); ok {
			p.rule = m
		}
	case bundled:
		if b, err := steer.BundleOf(h, facing[0].Name); err == nil {
			p.rule = b
		}
	}
	return p, bundled
}

// separate reports a host on which each address has one link: nothing chooses.
func (a attached) separate() bool {
	for _, p := range a.parts {
		if len(p.links) > 1 || p.rule != nil {
			return false
		}
	}
	return true
}

// keyed reports a host that spreads flows over next hops by a hash with a key
// that cannot be read.
func (a attached) keyed() bool {
	for _, p := range a.parts {
		if m, ok := p.rule.(steer.Multipath); ok && !m.Reach().Chosen && (m.Reach().Ports || m.Reach().Addresses) {
			return true
		}
	}
	return false
}

// Separate reports hosts whose lanes have one link each at both ends: nothing
// hashes between them. False for what cannot be probed.
func Separate(a, b netstate.Host, lanes []flow.Lane) bool {
	near, err := attach(a, lanes, func(l flow.Lane) flow.Lane { return l })
	far, farErr := attach(b, lanes, flow.Lane.Reverse)
	return err == nil && farErr == nil && near.separate() && far.separate()
}

func (a attached) trunk() hashsurvey.Trunk { return hashsurvey.TrunkOf(a.host, a.link) }

// Links are the names of all links below.
func (a attached) Links() []string { return a.names }

// Place says which link the host sends f by.
func (a attached) Place(f flow.Frame) steer.Placement {
	p, ok := a.parts[f.Src]
	switch {
	case !ok:
		return steer.Placement{Index: -1, Why: "not this host's rule"}
	case p.rule != nil:
		placed := p.rule.Place(f)
		if placed.Index >= 0 {
			placed.Index = slices.Index(a.names, p.rule.Links()[placed.Index])
		}
		placed.Known = placed.Known && placed.Index >= 0
		return placed
	}
	return a.alone(p)
}

// alone is the link of a part that has one.
func (a attached) alone(p part) steer.Placement {
	if len(p.links) != 1 {
		return steer.Placement{Index: -1, Why: "not this host's rule"}
	}
	return steer.Placement{Index: slices.Index(a.names, p.links[0]), Link: p.links[0], Known: true}
}

// Reach says what makes the host's flows use more than one link: other
// addresses, if they are on different devices.
func (a attached) Reach() steer.Reach {
	var only *part
	for _, p := range a.parts {
		if p.rule == nil || only != nil && !slices.Equal(p.links, only.links) {
			return steer.Reach{Addresses: true, Ports: true, Chosen: true, Why: "each address has a link of its own"}
		}
		only = &p
	}
	if only == nil {
		return steer.Reach{Why: "no address"}
	}
	return only.rule.Reach()
}

// arriving is by which link what is sent to a host comes in, where each of its
// addresses has one: no switch has a choice.
type arriving struct{ attached }

// Place says which link f comes in by.
func (a arriving) Place(f flow.Frame) steer.Placement { return a.alone(a.parts[f.Dst]) }
