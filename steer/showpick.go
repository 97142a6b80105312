package steer

import (
	"slices"

	"github.com/linerate/linerate/flow"
)

// ShownPick is a pick as a document, the better part of what
// `linerate steer pick --json` prints: ports and addresses of the streams in
// order.
type ShownPick struct {
	Streams int `json:"streams"`
	// Ports are the source ports, Dports the destination ports: left out where
	// all streams have the same one.
	Ports     []uint16    `json:"ports"`
	Dports    []uint16    `json:"dports,omitempty"`
	Addresses []flow.Lane `json:"addresses"`
	// PerLink counts streams on the sender's links, its like those of the
	// other sides that are known. Where Relative, link numbers may differ.
	PerLink        []int   `json:"per_link"`
	FarPerLink     []int   `json:"far_per_link,omitempty"`
	BetweenPerLink [][]int `json:"between_per_link,omitempty"`
	BackPerLink    []int   `json:"back_per_link,omitempty"`
	BackFarPerLink []int   `json:"back_far_per_link,omitempty"`
	// Even: on no side does a link carry two streams more than another.
	Even bool `json:"even"`
	// Relative: links are told apart, but their numbers are not known.
	Relative bool   `json:"relative,omitempty"`
	Why      string `json:"why,omitempty"`
	Remedy   string `json:"remedy,omitempty"`
}

// Shown is the picked streams as a document.
func (p Picked) Shown() ShownPick {
	s := ShownPick{
		Streams: len(p.Streams), PerLink: p.PerLink,
		BetweenPerLink: p.BetweenPerLink, FarPerLink: p.FarPerLink, BackPerLink: p.BackPerLink, BackFarPerLink: p.BackFarPerLink,
		Even: p.Even, Relative: p.Relative, Why: p.Why, Remedy: p.Remedy,
		Ports: make([]uint16, 0, len(p.Streams)), Addresses: make([]flow.Lane, 0, len(p.Streams)),
	}
	for _, st := range p.Streams {
		s.Ports = append(s.Ports, st.Sport)
		s.Dports = append(s.Dports, st.Dport)
		s.Addresses = append(s.Addresses, st.Lane)
	}
	if len(slices.Compact(slices.Clone(s.Dports))) == 1 {
		s.Dports = nil
	}
	return s
}
