// Package plan turns the difference between an observed and a desired host
// into ordered steps. A step changes one thing; it has its precondition, how
// disruptive it is, the command a person would type, and how it is rolled back.
//
// When a bond option can change is a row of internal/bondopt. What else a change
// needs (routes away, bond down, ports out, and all of it backwards) are steps
// like any other, so that rollback and crash recovery need no second program, and
// a bounce can be shown and interrupted.
//
// The kernel restores connected routes after a bounce and nothing else: routes
// with a gateway or outside the main table become steps, IPv6 addresses that
// would be lost (no keep_addr_on_down) are an error.
//
// It must never carry a step out. Don't put a shell string in a step.
package plan

import (
	"net/netip"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
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
	// PortMaster moves a port: its Old and New are a bond's name or "none". A
	// port is taken down before a bond takes it; the bond brings it up
	// (bond_enslave), and one let go is down (bond_release).
	PortMaster Kind = "port-master"
	// PortOrder puts the ports of bond Link in the order of New, which is the
	// order the transmit hash counts them in: Old and New are the names, joined
	// by commas. The kernel appends what it takes, so every port from the first
	// that differs is taken out and back, one at a time, each carrying again
	// before the next; a port of New that is in no bond is taken in.
	PortOrder Kind = "port-order"
	// Route is "present" or "absent": a link that goes down loses its routes
	// and does not get those with a gateway back by itself.
	Route Kind = "route"
	// Address is "present" or "absent": an address of a link.
	Address Kind = "address"
	// LinkPresence makes or deletes a link that Make describes: "present" or
	// "absent". What is made is bare and down: options, ports, addresses and
	// its state are steps of their own.
	LinkPresence Kind = "link"
	// LinkMAC sets a link's hardware address: "02:00:00:00:00:01".
	LinkMAC Kind = "link-mac"
	// PortOption is a port's own option in its bond: Key "prio" (a signed
	// number; Linux 5.19), "queue_id" or "actor_port_prio" (of 802.3ad; 6.18).
	PortOption Kind = "port-option"
	// Rule is "present" or "absent": a policy routing rule.
	Rule Kind = "rule"
	// Qdisc sets a link's root queueing discipline; its Old and New are the
	// words of tc(8) as QdiscWords spells them and ParseQdisc reads them
	// ("fq maxrate 10000000000bit"), "default" the kernel's own.
	Qdisc Kind = "qdisc"
	// Offload is "on" or "off": Key a feature by ethtool's short name.
	Offload Kind = "offload"
	// Ring sets a descriptor ring: Key "rx" or "tx". Channel sets a number of
	// queues: Key "rx", "tx" or "combined". Coalesce sets interrupt moderation:
	// Key as `ethtool -C` has it. Most drivers restart the port for the first
	// two.
	Ring     Kind = "ring"
	Channel  Kind = "channel"
	Coalesce Kind = "coalesce"
	// MPTCPLimit sets a limit of MPTCP's path manager: Key "subflows" or
	// "add_addr_accepted". MPTCPEndpoint is "present" or "absent": its address,
	// port, Link and flags say which; its ID, where not zero, which number it
	// is to have; its Index is zero.
	MPTCPLimit    Kind = "mptcp-limit"
	MPTCPEndpoint Kind = "mptcp-endpoint"
)

// The words of steps that have two sides.
const (
	Up       = "up"
	Down     = "down"
	NoMaster = "none"
	Present  = "present"
	Absent   = "absent"
	// DefaultQdisc is the queueing discipline that the kernel puts there when
	// nobody asks for another (net.core.default_qdisc, or none).
	DefaultQdisc = "default"
	// NoValue is a bond option that names no port ("primary") or holds no
	// address ("arp_ip_target").
	NoValue = bondopt.None
)

// Disruption says what traffic feels of a step.
type Disruption string

// Disruptions, mildest first.
const (
	Online   Disruption = "online"    // nothing is lost
	PortFlap Disruption = "port-flap" // one port leaves its bond for seconds
	LinkDown Disruption = "link-down" // a link carries nothing for seconds
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
	// NoBroadcast: an Address without a broadcast address, which it would else
	// have.
	NoBroadcast bool `json:"no_broadcast,omitempty"`
	// Rule is what a step of kind Rule adds or removes, Endpoint what one of
	// kind MPTCPEndpoint does, Make what one of kind LinkPresence does.
	Rule     *netstate.Rule          `json:"rule,omitempty"`
	Endpoint *netstate.MPTCPEndpoint `json:"endpoint,omitempty"`
	Make     *Made                   `json:"make,omitempty"`
	// Old is what was observed when the plan was made, New what to set: the
	// kernel's words or numbers.
	Old        string     `json:"old"`
	New        string     `json:"new"`
	Disruption Disruption `json:"disruption"`
	// DisruptionOfRollback is what traffic feels of the step's undo, where that is
	// not the same.
	DisruptionOfRollback Disruption `json:"disruption_undone,omitempty"`
	// Why is the reason a person is shown, By who wants it: the file with its
	// line, or a profile.
	Why string `json:"why,omitempty"`
	By  string `json:"by,omitempty"`
	// Ready are links that the step disturbs and that must carry again before
	// the next step begins, if they did before: up, with carrier, and as a
	// bond's port in use by it.
	Ready []string `json:"ready,omitempty"`
	// ReadyRolledBack is the same for the step's undo.
	ReadyRolledBack []string `json:"ready_undone,omitempty"`
	// Redrawn: undoing the steps after this one leaves another value than New to
	// be found, which the kernel drew by chance and which is ours to replace.
	Redrawn bool `json:"redrawn,omitempty"`
	// Settle is how long the step's effect may take to show when read back.
	Settle time.Duration `json:"settle_ns,omitempty"`
}

// Made is a link that a step makes: kinds "bond", "vlan" and "dummy".
type Made struct {
	Kind string `json:"kind"`
	// Parent and ID are a VLAN's; Protocol its tag's, "" is 802.1Q.
	Parent   string `json:"parent,omitempty"`
	ID       int    `json:"id,omitempty"`
	Protocol string `json:"protocol,omitempty"`
	// MAC is the hardware address it is made with (IFLA_ADDRESS); zero leaves
	// it to the kernel: a bond then takes its first port's, a VLAN its
	// parent's.
	MAC flow.MAC `json:"mac,omitzero"`
}

// Plan is an ordered list of steps for one host.
type Plan struct {
	Host  string `json:"host"`
	Steps []Step `json:"steps"`
	// Files are written when the change is confirmed, and not before.
	Files []File `json:"files,omitempty"`
	// Left are differences that the plan leaves as they are, and why.
	Left []string `json:"left,omitempty"`
}

// File is a configuration file that makes a confirmed change outlive a reboot.
type File struct {
	Path string `json:"path"`
	// Mode is a new file's; a file that is there keeps its own, and its owner.
	Mode uint32 `json:"mode"`
	// Old is the whole text that the plan was made with, nil where there was no
	// file; New the whole new text, nil to remove it.
	Old *string `json:"old"`
	New *string `json:"new"`
}

// Reason is who wants a value, and why.
type Reason struct {
	By  string `json:"by"`
	Why string `json:"why,omitempty"`
}

// Explain fills in who wants each step and why, by the step's target; what a
// step says already stays.
func (p Plan) Explain(reasons map[string]Reason) Plan {
	steps := make([]Step, len(p.Steps))
	for i, s := range p.Steps {
		if r, ok := reasons[s.Target()]; ok {
			if s.By == "" {
				s.By = r.By
			}
			if s.Why == "" {
				s.Why = r.Why
			}
		}
		steps[i] = s
	}
	p.Steps = steps
	return p
}

// Rollback is the step that takes s back; undoing that gives s again.
func (s Step) Rollback() Step {
	s.Old, s.New = s.New, s.Old
	s.Ready, s.ReadyRolledBack = s.ReadyRolledBack, s.Ready
	if s.DisruptionOfRollback != "" {
		s.Disruption, s.DisruptionOfRollback = s.DisruptionOfRollback, s.Disruption
	}
	return s
}

// Rollback is the steps that take p back, last one first.
func (p Plan) Rollback() Plan {
	u := Plan{Host: p.Host, Steps: make([]Step, 0, len(p.Steps))}
	for i := len(p.Steps) - 1; i >= 0; i-- {
		u.Steps = append(u.Steps, p.Steps[i].Rollback())
	}
	return u
}

// order lists the disruptions, mildest first.
var order = [...]Disruption{Online, PortFlap, LinkDown, BondDown, Recreate}

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
		return "none"
	case PortFlap:
		return "a port may leave for some seconds"
	case LinkDown:
		return "a link, or an address on it, carries nothing for some seconds"
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
