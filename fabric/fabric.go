// Package fabric is what a user declares: hosts, their netplan, what has no
// key in netplan, the paths between them and what to measure. It reads and checks
// the YAML file, with file, line and column in every complaint, and turns a
// declared host into the same netstate that observing one gives.
//
// It must never look at a real host. Don't invent what the file leaves out:
// unknown is a value.
package fabric

import (
	"time"

	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Version is the value of the file's first key, "linerate".
const Version = "v1"

// Fabric is a checked fabric file.
type Fabric struct {
	// File and Text are where it came from and what it said.
	File    string
	Text    string
	Hosts   []Host // in file order
	Paths   []Path // declared, or every pair with a common subnet
	Measure Measure
	Prices  *Prices     // nil: the file names none
	Catalog []CardModel // cards that could be bought, in file order
	// Switches is how many a host's links may be spread over; nil is one, 0
	// cables hosts to each other.
	Switches *int
	// Topology is the switches by name and their cables; nil: the file has none.
	Topology *topology.Network
	// Scenario is what `lab run` does with the network, unread here; nil: the
	// file does not say.
	Scenario *yamldoc.Node
}

// Host is one declared host.
type Host struct {
	Name string
	// Reach says how to get there: "ssh://user@host", "local:", "netns:NAME",
	// "nats:NAME"; "" is predict and render only. Parse adds "?become=sudo" to
	// that of a host with Become.
	Reach string
	// System is what the host runs: one of bondopt.SystemNames, "" as linux.
	System string
	Become string // how linerate gets root there: "sudo", or "" not at all
	// Use are the links that carry traffic and may be changed, by netplan ID or
	// interface name; nil leaves it to InUse, empty is none.
	Use     []string
	Network Network
	// Leased is what DHCP servers and routers gave the network's devices, by ID:
	// predictions count on it, nothing of it is planned or rendered.
	Leased   []Device
	Hardware Hardware
	Kernel   string // release, "" unknown
	Sysctl   map[string]string
	Rate     unit.BitRate // cap on the host in all, each direction; zero none
	Cloud    *netstate.Cloud
	Names    map[string]string // names on AIX and FreeBSD by netplan name
	// Settings are what is wanted of the host's network and netplan cannot say.
	Settings
}

// Hardware is what netplan cannot say of a host's devices.
type Hardware struct {
	Links map[string]HardwareLink
	Cards map[string]netstate.Card
	CPU   netstate.CPU
	// FreeSlots is how many cards could be added; zero is not known.
	FreeSlots int
}

// HardwareLink is one port's declared speed, how it is counted, and its card.
type HardwareLink struct {
	Speed   unit.BitRate
	Framing netstate.Framing
	Card    string
	Queues  netstate.GuestQueues
}

// Path is what lies between two hosts.
type Path = flow.Path

// NetworkOf is the switches that the file describes, as a path has them; nil none.
func NetworkOf(p Path) *topology.Network {
	n, _ := p.Switches.(*topology.Network)
	return n
}

// Measure is what the file asks to measure.
type Measure struct {
	Streams    []int
	Directions []flow.Direction
	Duration   time.Duration // the longest a trial may take; zero the default
	Ports      string        // "chosen" or "kernel"; "" chosen
	// SocketBuffer is what each socket asks for; zero leaves autotuning on.
	SocketBuffer unit.Bytes
	Protocol     string // "tcp", "udp", "mptcp"; "" tcp
}

// Host returns the named host.
func (f Fabric) Host(name string) (Host, bool) {
	for i := range f.Hosts {
		if f.Hosts[i].Name == name {
			return f.Hosts[i], true
		}
	}
	return Host{}, false
}
