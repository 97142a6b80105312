package steer

import (
	"net/netip"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// Shown is the document of `linerate steer show --json`.
type Shown struct {
	Policy netstate.HashPolicy `json:"policy"`
	Links  int                 `json:"links"`
	Flows  []ShownFlow         `json:"flows"`
	// PerLink counts flows on each link: known ones only, and each flow once
	// on every link under broadcast.
	PerLink []int `json:"per_link"`
}

// ShownFlow is one flow with its link.
type ShownFlow struct {
	Proto flow.Proto `json:"proto"`
	Src   netip.Addr `json:"src"`
	Dst   netip.Addr `json:"dst"`
	Sport uint16     `json:"sport"`
	Dport uint16     `json:"dport"`
	// Hash is null when there is none or it cannot be known.
	Hash *uint32 `json:"hash"`
	// Link counts from 0 in enslave order; null when there is no one link.
	Link  *int `json:"link"`
	Known bool `json:"known"`
	// Why is the reason of an unknown link, for people.
	Why string `json:"-"`
}

// Show places frames, in their order.
func Show(b Bundle, frames []flow.Frame) Shown {
	s := Shown{
		Policy: b.Policy, Links: len(b.Ports),
		Flows: make([]ShownFlow, 0, len(frames)), PerLink: make([]int, len(b.Ports)),
	}
	for _, f := range frames {
		p := b.Place(f)
		row := ShownFlow{
			Proto: f.Proto, Src: f.Src, Dst: f.Dst, Sport: f.Sport, Dport: f.Dport,
			Hash: p.Hash, Known: p.Known, Why: p.Why,
		}
		switch {
		case p.Index >= 0:
			row.Link = &p.Index
			s.PerLink[p.Index]++
		case p.Known:
			for i := range s.PerLink {
				s.PerLink[i]++
			}
		}
		s.Flows = append(s.Flows, row)
	}
	return s
}

// ShownPick is the document of `linerate steer pick --json`: ports and
// addresses of the streams in order.
type ShownPick struct {
	Streams   int         `json:"streams"`
	Ports     []uint16    `json:"ports"`
	Addresses []flow.Lane `json:"addresses"`
	PerLink   []int       `json:"per_link"`
}

// Shown is the picked streams as a document.
func (p Picked) Shown() ShownPick {
	s := ShownPick{
		Streams: len(p.Streams), PerLink: p.PerLink,
		Ports: make([]uint16, 0, len(p.Streams)), Addresses: make([]flow.Lane, 0, len(p.Streams)),
	}
	for _, st := range p.Streams {
		s.Ports = append(s.Ports, st.Sport)
		s.Addresses = append(s.Addresses, st.Lane)
	}
	return s
}
