package steer

import (
	"github.com/linerate/linerate/flow"
)

// place is where on the way a side is.
type place uint8

const (
	atNear place = iota
	atFar
	atBack
	atBackFar
)

// placeNames is what the places are called before a reason.
var placeNames = [...]string{atNear: "", atFar: "far side", atBack: "way back", atBackFar: "far side of the way back"}

// side is one place where the streams are spread over links.
type side struct {
	spreader Spreader
	at       place
	// back: what it spreads are the frames that come back.
	back bool
	// computed: the link of each flow can be computed, or looked up.
	computed bool
	// bundle is the spreader where that is a bond: hashed without the words
	// around it, and in every world that is open.
	bundle *Bundle
}

// sides are the request's, the first to be even first.
func (req PickRequest) sides() []side {
	var all []side
	for at, spreader := range [...]Spreader{atNear: req.Near, atFar: req.Far, atBack: req.Back, atBackFar: req.BackFar} {
		if spreader == nil {
			continue
		}
		s := side{spreader: spreader, at: place(at), back: place(at) >= atBack}
		if b, ok := bundleOf(spreader); ok {
			s.bundle = &b
		}
		s.computed = req.computes(s)
		all = append(all, s)
	}
	return all
}

// computes reports whether a side can tell the links of flows apart.
func (req PickRequest) computes(s side) bool {
	if s.bundle == nil {
		if len(req.Lanes) == 0 {
			return false
		}
		f := req.frame(s, req.Lanes[0], req.FirstPort, req.Dports[0])
		return s.spreader.Reach().Chosen || s.spreader.Place(f).Index >= 0
	}
	if !s.bundle.hashes() {
		return false
	}
	for _, l := range req.Lanes {
		f := req.frame(s, l, req.FirstPort, req.Dports[0])
		if s.bundle.hasher(s.bundle.Era).unknowable(f) != "" {
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

// class is a flow's class: its link, for a bond in the likeliest world; -1
// where a side that computes others cannot tell this one.
func (s side) class(f flow.Frame) int {
	switch {
	case !s.computed:
		return 0
	case s.bundle != nil:
		return int(s.bundle.sumIn(f, world{era: s.bundle.Era}) % uint32(len(s.bundle.Ports)))
	}
	return s.spreader.Place(f).Index
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
	return r.Ports && r.Chosen
}

// linkOn is the stream's link number on a side.
func (st *Stream) linkOn(s side) *int {
	switch s.at {
	case atFar:
		return &st.FarLink
	case atBack:
		return &st.BackLink
	case atBackFar:
		return &st.BackFarLink
	}
	return &st.Link
}

// countsOn is the answer's counts for a side.
func (p *Picked) countsOn(s side) *[]int {
	switch s.at {
	case atFar:
		return &p.FarPerLink
	case atBack:
		return &p.BackPerLink
	case atBackFar:
		return &p.BackFarPerLink
	}
	return &p.PerLink
}

// attribute says of which side a remark is; the sender's own needs no name.
func (s side) attribute(remark string) string {
	if s.at == atNear || remark == "" {
		return remark
	}
	return placeNames[s.at] + ": " + remark
}
