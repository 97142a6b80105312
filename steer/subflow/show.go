package subflow

import (
	"net/netip"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// ShownSubflows is a plan of subflows as a document, the better part of what
// `linerate steer mptcp --json` prints.
type ShownSubflows struct {
	Subflows []ShownSubflow `json:"subflows"`
	// PerLink counts subflows on the client's links; null where chance decides.
	PerLink        []int `json:"per_link"`
	FarPerLink     []int `json:"far_per_link,omitempty"`
	BackPerLink    []int `json:"back_per_link,omitempty"`
	BackFarPerLink []int `json:"back_far_per_link,omitempty"`
	// AddNear and AddFar are the addresses to add to client and server.
	AddNear []netip.Addr `json:"add_near"`
	AddFar  []netip.Addr `json:"add_far"`
	// Client and Server are the limits to set and the endpoints to add.
	Client  netstate.MPTCP `json:"client"`
	Server  netstate.MPTCP `json:"server"`
	Chances []ShownChance  `json:"chances,omitempty"`
	Even    bool           `json:"even"`
	Why     string         `json:"why,omitempty"`
	Remedy  string         `json:"remedy,omitempty"`
}

// ShownSubflow is one subflow with its links, which count from 0; null where
// the number is not known.
type ShownSubflow struct {
	flow.Lane
	Link *int `json:"link"`
	// Group is equal for subflows that share a link; null where not known.
	Group       *int `json:"group"`
	FarLink     *int `json:"far_link,omitempty"`
	BackLink    *int `json:"back_link,omitempty"`
	BackFarLink *int `json:"back_far_link,omitempty"`
}

// ShownChance is a side where the kernel's choice of source ports decides.
type ShownChance struct {
	Where    string  `json:"where"`
	Links    int     `json:"links_count"`
	Expected float64 `json:"links_used_expected_count"`
	All      float64 `json:"all_links_ratio"`
}

// Shown is the plan as a document.
func (s Subflows) Shown() ShownSubflows {
	out := ShownSubflows{
		PerLink: s.PerLink, FarPerLink: s.FarPerLink, BackPerLink: s.BackPerLink, BackFarPerLink: s.BackFarPerLink,
		AddNear: append([]netip.Addr{}, s.AddNear...), AddFar: append([]netip.Addr{}, s.AddFar...),
		Client: s.Client, Server: s.Server, Even: s.Even, Why: s.Why, Remedy: s.Remedy,
	}
	for _, f := range s.Flows {
		out.Subflows = append(out.Subflows, ShownSubflow{
			Lane: f.Lane, Link: steer.NumberOrNull(f.Link), Group: steer.NumberOrNull(f.Group), FarLink: steer.NumberOrNull(f.FarLink),
			BackLink: steer.NumberOrNull(f.BackLink), BackFarLink: steer.NumberOrNull(f.BackFarLink),
		})
	}
	for _, c := range s.Chances {
		where := c.Where
		if where == "" {
			where = "client"
		}
		out.Chances = append(out.Chances, ShownChance{where, c.Links, c.Expected, c.All})
	}
	return out
}
