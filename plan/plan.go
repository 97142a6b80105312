// Package plan turns the difference between an observed and a desired host
// into ordered steps, each with its precondition, its undo and how disruptive
// it is. It must never carry a step out.
package plan

import (
	"net/netip"
	"time"

	"github.com/linerate/linerate/netstate"
)

// Kind is what a step changes.
type Kind string

// The kinds of step. Each has one field set of Step.
const (
	BondOption Kind = "bond-option"
	LinkMTU    Kind = "link-mtu"
	Sysctl     Kind = "sysctl"
	// LinkState takes a link "up" or "down": around bond options that the
	// kernel refuses while the bond is up.
	LinkState Kind = "link-state"
	// PortMaster moves a port: its Old and New are a bond's name or "none".
	PortMaster Kind = "port-master"
	// Route is "present" or "absent": a link that goes down loses its routes
	// and does not get those with a gateway back by itself.
	Route Kind = "route"
	// Address is "present" or "absent": an address of a link.
	Address Kind = "address"
)

// The words of steps that have two sides.
const (
	Up       = "up"
	Down     = "down"
	NoMaster = "none"
	Present  = "present"
	Absent   = "absent"
)

// Disruption says what traffic feels of a step.
type Disruption string

// Disruptions, mildest first.
const (
	Online   Disruption = "online"    // nothing is lost
	PortFlap Disruption = "port-flap" // one port leaves its bond for seconds
	BondDown Disruption = "bond-down" // the bond has to go down
	Recreate Disruption = "recreate"  // the bond must lose its slaves first
)

// Step is one change of one thing, typed: never a shell string.
type Step struct {
	Kind Kind `json:"kind"`
	// Link is the bond or link changed; Key the bond option's or sysctl's
	// kernel name; both as the kernel says them.
	Link string `json:"link,omitempty"`
	Key  string `json:"key,omitempty"`
	// Scope is a sysctl's: a global one must not be written from inside a
	// namespace. "" is unknown.
	Scope netstate.Scope `json:"scope,omitempty"`
	// Route is what a step of kind Route adds or removes.
	Route *netstate.Route `json:"route,omitempty"`
	// Address is what a step of kind Address adds to Link or removes from it.
	Address netip.Prefix `json:"address,omitzero"`
	// Old is what was observed when the plan was made, New what to set: the
	// kernel's words or numbers.
	Old        string     `json:"old"`
	New        string     `json:"new"`
	Disruption Disruption `json:"disruption"`
	// Why is the reason a person is shown.
	Why string `json:"why,omitempty"`
	// Settle is how long the step's effect may take to show when read back.
	Settle time.Duration `json:"settle_ns,omitempty"`
}

// Plan is an ordered list of steps for one host.
type Plan struct {
	Host  string `json:"host"`
	Steps []Step `json:"steps"`
}

// Undo is the step that takes s back; undoing that gives s again.
func (s Step) Undo() Step {
	s.Old, s.New = s.New, s.Old
	return s
}

// Undo is the steps that take p back, last one first.
func (p Plan) Undo() Plan {
	u := Plan{Host: p.Host, Steps: make([]Step, 0, len(p.Steps))}
	for i := len(p.Steps) - 1; i >= 0; i-- {
		u.Steps = append(u.Steps, p.Steps[i].Undo())
	}
	return u
}

// order lists the disruptions, mildest first.
var order = [...]Disruption{Online, PortFlap, BondDown, Recreate}

// Worse reports whether d disturbs more than other. A word outside the list
// is worse than all of it.
func (d Disruption) Worse(other Disruption) bool { return d.rank() > other.rank() }

func (d Disruption) rank() int {
	for i, o := range order {
		if o == d {
			return i
		}
	}
	return len(order)
}

// Meaning is what a person is told of d.
func (d Disruption) Meaning() string {
	switch d {
	case Online:
		return "nothing is lost"
	case PortFlap:
		return "a port may leave for some seconds"
	case BondDown:
		return "the bond goes down for some seconds"
	case Recreate:
		return "the bond goes down and loses its ports for some seconds"
	}
	return "unknown"
}

// Worst is the worst disruption of p's steps; Online for an empty plan.
func (p Plan) Worst() Disruption {
	worst := Online
	for _, s := range p.Steps {
		if s.Disruption.Worse(worst) {
			worst = s.Disruption
		}
	}
	return worst
}

// Preconditions returns the steps whose Old must hold before the first step
// of p: of the steps that change the same thing, the first.
func (p Plan) Preconditions() []Step {
	seen := make(map[string]bool)
	var first []Step
	for _, s := range p.Steps {
		if t := s.Target(); !seen[t] {
			seen[t] = true
			first = append(first, s)
		}
	}
	return first
}
