package steer

import (
	"slices"

	"github.com/linerate/linerate/flow"
)

// Spot is where on the way a side is.
type Spot uint8

const (
	AtNear Spot = iota
	AtBetween
	AtFar
	AtBack
	AtBackFar
)

// placeNames is what the places are called before a reason.
var placeNames = [...]string{AtNear: "", AtBetween: "between switches", AtFar: "far side", AtBack: "return path", AtBackFar: "far side of the return path"}

// side is one place where the streams are spread over links.
type side struct {
	spreader Spreader
	at       Spot
	tier     int // number of the spreader AtBetween
	// back: what it spreads are the frames that come back.
	back bool
	// computed: the link of each flow can be computed, or looked up.
	computed bool
	// bundle is the spreader where that is a bond: hashed without the words
	// around it, and in every world that is open.
	bundle *Bundle
	// lagg is the spreader where that is a lagg of whose hash some can be told
	// without its key.
	lagg *Lagg
}

// sides are the request's, the first to be even first.
func (req PickRequest) sides() []side {
	all := []side{{spreader: req.Near}}
	for i, spreader := range req.Between[:min(len(req.Between), MostBetween)] {
		all = append(all, side{spreader: spreader, at: AtBetween, tier: i})
	}
	all = append(all, side{spreader: req.Far, at: AtFar}, side{spreader: req.Back, at: AtBack, back: true}, side{spreader: req.BackFar, at: AtBackFar, back: true})
	all = slices.DeleteFunc(all, func(s side) bool { return s.spreader == nil })
	for i := range all {
		s := &all[i]
		if b, ok := BundleIn(s.spreader); ok {
			s.bundle = &b
		}
		if l, ok := s.spreader.(Lagg); ok && req.divides(*s, l) {
			s.lagg = &l
		}
		s.computed = req.computes(*s)
	}
	return all
}

// divides reports whether a lagg's hash tells flows apart whatever its key.
func (req PickRequest) divides(s side, l Lagg) bool {
	if l.Key != nil || len(l.Ports) < 2 {
		return false
	}
	frames := make([]flow.Frame, len(req.Lanes))
	for i, lane := range req.Lanes {
		frames[i] = req.frame(s, lane, req.FirstPort, req.Dports[0])
	}
	_, why := l.Readings(frames)
	return why == ""
}

// computes reports whether a side can tell the links of flows apart.
func (req PickRequest) computes(s side) bool {
	if s.lagg != nil {
		return true
	}
	if s.bundle == nil {
		if len(req.Lanes) == 0 {
			return false
		}
		f := req.frame(s, req.Lanes[0], req.FirstPort, req.Dports[0])
		return s.spreader.Reach().Chosen || s.spreader.Place(f).Index >= 0
	}
	if !s.bundle.Hashes() {
		return false
	}
	for _, l := range req.Lanes {
		f := req.frame(s, l, req.FirstPort, req.Dports[0])
		if s.bundle.hasher(s.bundle.Era).unknowable(&f) != "" {
			return false
		}
	}
	return true
}

// frame is a stream's frame as the side's hash sees it.
func (req *PickRequest) frame(s side, lane flow.Lane, sport, dport uint16) flow.Frame {
	f := flow.Frame{
		Tuple:  flow.Tuple{Proto: req.Proto, Src: lane.Src, Dst: lane.Dst, Sport: sport, Dport: dport},
		SrcMAC: req.SrcMAC, DstMAC: req.DstMAC, VLAN: req.VLAN,
	}
	if s.back {
		f.Tuple, f.SrcMAC, f.DstMAC = f.Reverse(), req.BackSrcMAC, req.BackDstMAC
	}
	return f
}

// classes is how many classes the side sorts flows into: its links, or one
// where it cannot be computed.
func (s side) classes() int {
	if s.computed {
		return len(s.spreader.Links())
	}
	return 1
}

// class is a flow's class: its link, for a bond in the likeliest world, for a
// lagg with any key; -1 where a side that computes others cannot tell this one.
func (s side) class(f flow.Frame) int {
	switch {
	case !s.computed:
		return 0
	case s.bundle != nil:
		return int(s.bundle.sumIn(f, world{era: s.bundle.Era}) % uint32(len(s.bundle.Ports)))
	case s.lagg != nil:
		return int(s.lagg.above(f, 0) % uint32(len(s.lagg.Ports)))
	}
	return s.spreader.Place(f).Index
}

// byPort is the hash of a computed bond's flows by the sender's source port; nil for
// other sides.
func (s side) byPort(f flow.Frame) *PortHash {
	if !s.computed || s.bundle == nil {
		return nil
	}
	p := portHash(f, s.back, func(f *flow.Frame) uint32 { return s.bundle.sumIn(*f, world{era: s.bundle.Era}) })
	return &p
}

// link is the link that a flow of the class takes; -1 unknown.
func (s side) link(f flow.Frame, class int) int {
	if s.computed {
		return class
	}
	return s.spreader.Place(f).Index
}

// portsHelp reports whether other ports could change a placement.
func (s side) portsHelp() bool {
	r := s.spreader.Reach()
	return r.Ports && (r.Chosen || s.lagg != nil)
}

// KeepsLinks reports whether picked streams keep their links on every side
// whatever their source ports, as far as trying some tells: then a program that
// chooses none of its source ports uses the links as picked all the same.
func (req PickRequest) KeepsLinks(p Picked) bool {
	full, err := req.Complete()
	if err != nil {
		return false
	}
	for _, side := range full.sides() {
		if !side.computed {
			return false
		}
		for _, s := range p.Streams {
			want := *s.linkOn(side)
			for _, sport := range [...]uint16{1, 1023, 32768, 40001, 50006, 60999} {
				if side.class(full.frame(side, s.Lane, sport, s.Dport)) != want {
					return false
				}
			}
		}
	}
	return true
}

// linkOn is the stream's link number on a side.
func (st *Stream) linkOn(s side) *int {
	switch s.at {
	case AtBetween:
		return &st.BetweenLinks[s.tier]
	case AtFar:
		return &st.FarLink
	case AtBack:
		return &st.BackLink
	case AtBackFar:
		return &st.BackFarLink
	}
	return &st.Link
}

// countsOn is the answer's counts for a side.
func (p *Picked) countsOn(s side) *[]int {
	switch s.at {
	case AtBetween:
		for len(p.BetweenPerLink) <= s.tier {
			p.BetweenPerLink = append(p.BetweenPerLink, nil)
		}
		return &p.BetweenPerLink[s.tier]
	case AtFar:
		return &p.FarPerLink
	case AtBack:
		return &p.BackPerLink
	case AtBackFar:
		return &p.BackFarPerLink
	}
	return &p.PerLink
}

// attribute says of which side a remark is; the sender's own needs no name.
func (s side) attribute(remark string) string {
	if s.at == AtNear || remark == "" {
		return remark
	}
	return placeNames[s.at] + ": " + remark
}
