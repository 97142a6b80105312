package record

import (
	"fmt"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/unit"
)

// Group is the sum of trials that ran at the same time, in one window.
type Group struct {
	ID        string         `json:"id"`
	Direction flow.Direction `json:"direction"`
	Streams   int            `json:"streams"` // of each trial, each direction
	Trials    int            `json:"trials_count"`
	// Goodput is over the window that all the trials share.
	Goodput     unit.BitRate `json:"goodput_bps"`
	GoodputLow  unit.BitRate `json:"goodput_low_bps"`
	GoodputHigh unit.BitRate `json:"goodput_high_bps"`
	Wire        unit.BitRate `json:"wire_bps"`
	// Ceiling is what the hosts and links that the trials share let through
	// together, zero unknown, and Limit which of them bind; CeilingSum is the
	// sum of the trials' own ceilings.
	Ceiling    unit.BitRate `json:"ceiling_bps"`
	CeilingSum unit.BitRate `json:"ceiling_sum_bps"`
	Limit      string       `json:"limit,omitempty"`
	Window     float64      `json:"window_s"`
	Notes      []string     `json:"notes"`
}

// Sum adds up trials of one group; the ceiling of all together is left to who
// knows the links.
func Sum(trials []Trial) Group {
	g := Group{Trials: len(trials), Notes: []string{}}
	for _, t := range trials {
		g.ID, g.Direction, g.Streams, g.Window = t.Group, t.Direction, t.Streams, max(g.Window, t.Window)
		g.Goodput, g.GoodputLow, g.GoodputHigh = g.Goodput+t.Goodput, g.GoodputLow+t.GoodputLow, g.GoodputHigh+t.GoodputHigh
		g.Wire, g.CeilingSum = g.Wire+t.Wire, g.CeilingSum+t.Ceiling
	}
	return g
}

// CheckGroup returns what is impossible or doubtful about trials of one group
// taken together: as Trial.Check, of the links that several of them use.
func CheckGroup(trials []Trial, ceiling unit.BitRate) []string {
	var wrong []string
	var sum unit.BitRate
	arrived := make(map[string]unit.BitRate) // by host, unread bytes included
	most := 0.0
	for _, t := range trials {
		sum += t.Goodput
		most = max(most, t.mostOfIngress())
		for host, rate := range t.arrived() {
			arrived[host] += rate
		}
	}
	if ceiling > 0 && float64(sum) > float64(ceiling)*(1+ceilingTolerance) {
		wrong = append(wrong, fmt.Sprintf("impossible: %v together is above the physical ceiling of %v", sum, ceiling))
	}
	took := ingress(trials)
	for _, t := range trials { // in a settled order
		for _, host := range []string{t.From, t.To} {
			in, counted := took[host]
			if rate, ok := arrived[host]; ok && counted && in > 0 {
				if share := float64(rate / in); share < leastOfIngress || share > most {
					wrong = append(wrong, fmt.Sprintf("inconsistent: goodput is %.3f of what the links of %s took in", share, host))
				}
			}
			delete(arrived, host)
		}
	}
	return wrong
}

// arrived is a trial's goodput by the host that received it, each with its
// part of what waits to be read.
func (t Trial) arrived() map[string]unit.BitRate {
	out := make(map[string]unit.BitRate)
	for _, l := range t.Lanes {
		host := t.To
		if l.Way == flow.Reverse {
			host = t.From
		}
		part := l.Goodput
		if t.Goodput > 0 {
			part += t.Unread * l.Goodput / t.Goodput
		}
		out[host] += part
	}
	return out
}

// ingress is what the links of each host took in, each link once though every
// trial that uses it counted it.
func ingress(trials []Trial) map[string]unit.BitRate {
	type port struct{ host, link string }
	seen := make(map[port]unit.BitRate)
	for _, t := range trials {
		for _, l := range t.Links {
			at := port{l.Host, l.Link}
			seen[at] = max(seen[at], l.RxPayload)
		}
	}
	out := make(map[string]unit.BitRate)
	for at, rate := range seen {
		out[at.host] += rate
	}
	return out
}
