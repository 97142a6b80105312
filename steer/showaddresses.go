package steer

import (
	"net/netip"

	"github.com/linerate/linerate/flow"
)

// ShownAddresses is a choice of addresses as a document, the better part of
// what `linerate steer addresses --json` prints.
type ShownAddresses struct {
	Lanes []ShownLane `json:"lanes"`
	// Addresses are the lanes' addresses, as in the document of steer pick.
	Addresses   []flow.Lane `json:"addresses"`
	PerLink     []int       `json:"per_link"`
	FarPerLink  []int       `json:"far_per_link,omitempty"`
	BackPerLink []int       `json:"back_per_link,omitempty"`
	// AddNear and AddFar are the addresses to add to each host.
	AddNear []netip.Addr `json:"add_near"`
	AddFar  []netip.Addr `json:"add_far"`
	Even    bool         `json:"even"`
	Why     string       `json:"why,omitempty"`
	Remedy  string       `json:"remedy,omitempty"`
}

// ShownLane is one lane with its links.
type ShownLane struct {
	flow.Lane
	// Link counts from 0 on the near host; null where the number is not known.
	Link *int `json:"link"`
	// Group is equal for lanes that share a link; null where not known.
	Group    *int `json:"group"`
	FarLink  *int `json:"far_link,omitempty"`
	BackLink *int `json:"back_link,omitempty"`
}

// Shown is the choice as a document.
func (a Addresses) Shown() ShownAddresses {
	s := ShownAddresses{
		Lanes: make([]ShownLane, 0, len(a.Lanes)), Addresses: make([]flow.Lane, 0, len(a.Lanes)),
		PerLink: a.PerLink, FarPerLink: a.FarPerLink, BackPerLink: a.BackPerLink,
		AddNear: append([]netip.Addr{}, a.AddNear...), AddFar: append([]netip.Addr{}, a.AddFar...),
		Even: a.Even, Why: a.Why, Remedy: a.Remedy,
	}
	for _, l := range a.Lanes {
		s.Addresses = append(s.Addresses, l.Lane)
		s.Lanes = append(s.Lanes, ShownLane{
			Lane: l.Lane, Link: NumberOrNull(l.Link), Group: NumberOrNull(l.Group),
			FarLink: NumberOrNull(l.FarLink), BackLink: NumberOrNull(l.BackLink),
		})
	}
	return s
}

func NumberOrNull(n int) *int {
	if n < 0 {
		return nil
	}
	return &n
}
