package steer

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/linerate/linerate/flow"
)

// Shown is the document of `linerate steer show --json`.
type Shown struct {
	// Policy is the bond's transmit hash policy, or the words of another
	// spreader, such as "ecmp l4".
	Policy string `json:"policy"`
	Links  int    `json:"links"`
	// Names are the links in the order they count, where no flag and no bond
	// says which they are.
	Names []string    `json:"names,omitempty"`
	Flows []ShownFlow `json:"flows"`
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
	// Why is the reason of an unknown link, or under what condition a known one
	// holds; "" for neither.
	Why string `json:"why,omitempty"`
}

// Show places frames on a bond, in their order.
func Show(b Bundle, frames []flow.Frame) Shown { return ShowOn(b, b.Policy.String(), frames) }

// ShowOn places frames on any spreader, whose policy is called so.
func ShowOn(on Spreader, policy string, frames []flow.Frame) Shown {
	links := len(on.Links())
	s := Shown{
		Policy: policy, Links: links,
		Flows: make([]ShownFlow, 0, len(frames)), PerLink: make([]int, links),
	}
	for _, f := range frames {
		p := on.Place(f)
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

// Summary names a bond for people: its mode, its policy, how many links it has, and
// the kernels that the answer holds for.
func (b Bundle) Summary() string {
	return fmt.Sprintf("%s, %s over %d links, %s", b.Mode, b.Policy, len(b.Ports), b.Kernels())
}

// Kernels says for which kernels an answer of the bond holds.
func (b Bundle) Kernels() string {
	order := "little-endian"
	if b.BigEndian {
		order = "big-endian"
	}
	eras := []string{b.Era.String()}
	for _, e := range b.Doubt {
		eras = append(eras, e.String())
	}
	return "kernels " + strings.Join(eras, " or ") + ", " + order
}
