// Package scenario is what a lab does with a network: how far it is scaled
// down, what it needs, step by step what is set and what is measured with which
// tool, and the numbers that somebody published of it. A scenario is a fabric
// file with one key more. Pure: it reads and checks the file, scales it, and
// judges what was measured; it must never build or measure anything. Don't put a
// network into code that a file can declare, and don't mark a row as not scored
// because it is off.
package scenario

import (
	"fmt"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/unit"
)

// Scenario is a checked scenario.
type Scenario struct {
	Name   string
	Title  string // one line for `lab list`
	Source string // where the published numbers are from; "" nothing was published
	// Scale is what rates and windows are divided by in the lab; round trips are
	// kept. 1 is as it is.
	Scale float64
	// Slow is the part of Scale by which the lab is a slow-motion picture: round
	// trips are longer by it, and windows divided by the rest of Scale only. 1 is
	// none; timers are the kernel's own all the same.
	Slow    float64
	BackEnd string // "auto", "host", "uml", "qemu"
	Kernel  string // series of an emulated kernel, such as 5.10; "" any
	// MTU is of the switches; zero is DefaultMTU or the largest of the hosts'.
	MTU int
	// Features are what it needs of a kernel besides what its network shows, see
	// Needs.
	Features []Feature
	// Switches join ports; nil is one switch for all.
	Switches []Switch
	Steps    []Step
	// Fabric is the network at the published scale.
	Fabric fabric.Fabric
}

// Switch is one switch and the ports that are in it.
type Switch struct {
	Name  string
	Ports []string // "HOST.LINK"
}

// Step changes hosts and measures. What a step sets stays for those after it.
type Step struct {
	Name string
	// Needs are features without which the step is left out, with all that it
	// sets, and the others are done.
	Needs []Feature
	// Hosts are those that With, Sysctl, Ports and Bond change; nil is all.
	Hosts []string
	// With are changes as whatif.Parse reads them, at the published
	// scale; "" none.
	With   string
	Sysctl map[string]string
	// Ports are what the bonds of those hosts have from here on; nil is as they
	// were.
	Ports []string
	// Bond are parameters of the hosts' bonds, by netplan's names.
	Bond    map[string]string
	Measure []Measurement
}

// Tool is what measures.
type Tool string

// The tools. All but Linerate and Tune are programs that must be installed.
const (
	Linerate Tool = "linerate"
	Tune     Tool = "tune" // linerate's tune, unaided
	IPerf3   Tool = "iperf3"
	IPerf2   Tool = "iperf2"
	Ping     Tool = "ping"
	NFS      Tool = "nfs" // the kernel's server and client
)

// Measurement is one tool between two hosts, or between several pairs of them at
// the same time, once for each number of streams.
type Measurement struct {
	Tool Tool
	// From and To are the hosts; of several pairs the first of each side.
	From, To string
	// Senders and Receivers are all hosts of each side, see Pairs; nil is From
	// and To alone.
	Senders, Receivers []string
	Direction          flow.Direction
	Streams            []int // of each pair, in each direction; nil for Ping, NFS, Tune and Aliases
	// Aliases are numbers of addresses on the sender, a stream from each, in
	// place of Streams.
	Aliases  []int
	Protocol string     // ProtocolTCP or ProtocolMPTCP
	Ports    string     // "chosen" or "kernel"
	Buffer   unit.Bytes // that each socket asks for; zero leaves autotuning on
	Block    unit.Bytes // of each write of iperf3's and iperf2's; zero is 1 MiB
	NoDelay  bool       // Nagle's algorithm is off (TCP_NODELAY, RFC 896)
	// Duration is the window, Full that of a run that takes its time; zero of the first is
	// the tool's default, of the second Duration.
	Duration, Full time.Duration
	Count          int // of a ping's packets
	// Published are as many as there are rows, or none.
	Published []unit.BitRate
	// Ratios are published in place of rates, of the same row of the step Of.
	Ratios []float64
	Of     string
	RTT    time.Duration // published; zero none
	// CPU are published shares of one thread that the first row took, of the sender
	// and of the receiver; nil none.
	CPU []float64
	// Kinds are as many as there are rows.
	Kinds []Kind
	// Mounts are NFS's, From's of To's export, each with a directory of its own;
	// Size is what each writes, in the lab.
	Mounts []Mount
	Size   unit.Bytes
	// Fail is a link that fails meanwhile, FailKind how.
	Fail     Failure
	FailKind FailureKind
	// Within is how far off a row of kind rate may be; zero is the kind's own.
	Within float64
	// Keep leaves the hosts as Tune made them; else they are rolled back.
	Keep bool
}

// Rows is how many rows the measurement makes.
func (m Measurement) Rows() int {
	switch {
	case m.Tool == Ping || m.Tool == NFS || m.Tool == Tune:
		return 1
	case len(m.Aliases) > 0:
		return len(m.Aliases)
	}
	return len(m.Streams)
}

// The protocols of linerate's own streams. For MPTCP a lab gives both hosts the
// addresses and endpoints under which one connection uses all links of a bond,
// and takes them away again.
const (
	ProtocolTCP   = "tcp"
	ProtocolMPTCP = "mptcp"
)

// Kind says what a published number is.
type Kind string

// The kinds. Burst and claim are shown and not scored.
const (
	Rate  Kind = "rate"  // steady throughput
	Ratio Kind = "ratio" // of two rows
	Burst Kind = "burst" // what a test reads of a bucket that fills and empties
	Best  Kind = "best"  // what tune comes to, held against the ceiling
	Claim Kind = "claim" // no steady rate of this network: over its ceiling, or its cause is not here
)

// DefaultMTU is of the switches unless told otherwise.
const DefaultMTU = 9000

// Parse reads a fabric file as a scenario. A file without the key scenario is
// one of a single step that measures as the file's measure says. The error is
// yamldoc.Problems.
func Parse(name string, text []byte) (Scenario, error) {
	f, err := fabric.Parse(name, text)
	if err != nil {
		return Scenario{}, err
	}
	for i := range f.Paths {
		f.Paths[i].Learned = nil // a lab's switch has a hash of its own
	}
	s := Scenario{Name: "your-network", Title: "the network of " + name, Scale: 1, Slow: 1, BackEnd: "auto", Fabric: f}
	if f.Scenario == nil {
		if err := buildable(f); err != nil {
			return Scenario{}, err
		}
		s.Steps = []Step{{Name: "as it is", Measure: everyPath(f)}}
		return s, nil
	}
	err = fabric.ReadPart(f, "scenario", f.Scenario, keys(), &s, func(complain func(*yamldoc.Node, string, string)) {
		c := checker{s: &s, root: f.Scenario, complain: complain}
		c.check()
	})
	if err == nil {
		err = buildable(f)
	}
	if err != nil {
		return Scenario{}, err
	}
	return s, nil
}

// labSwitch is what the lab calls the place of its switches.
const labSwitch = "switch"

// buildable is nil when the file says all that a lab must know to build its
// hosts.
func buildable(f fabric.Fabric) error {
	var all yamldoc.Problems
	for _, h := range f.Hosts {
		at := f.Places().Host(h.Name)
		if h.Name == labSwitch {
			all = append(all, at.Problem("hosts."+h.Name+" has the name of the lab's own switch", "give the host another name"))
		}
		if bondopt.Foreign(h.System) {
			all = append(all, at.Problem(fmt.Sprintf("hosts.%s runs %s: a lab's hosts run Linux", h.Name, bondopt.SystemTitle(h.System)), "leave system out, and write its bonds in Linux's words", "system"))
			continue
		}
		state, err := f.State(h.Name)
		if err != nil {
			return err
		}
		if h.Network.IsZero() {
			all = append(all, at.Problem(fmt.Sprintf("hosts.%s has no network: a lab builds what the file declares", h.Name), "`linerate discover` writes down what a host has"))
		}
		for _, missing := range state.Missing {
			all = append(all, at.Problem(fmt.Sprintf("hosts.%s: a lab cannot build it: %s", h.Name, missing), "name the ports under hardware.links", "network"))
		}
		for _, l := range state.Links {
			if l.Kind == "" && l.Speed == 0 {
				all = append(all, at.Problem(fmt.Sprintf("hosts.%s: %s has no speed for a lab to keep to", h.Name, l.Name), fmt.Sprintf("write hardware: {links: {%s: {speed: 10G}}}", l.Name), "hardware", "links", l.Name))
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// everyPath are the measurements that a fabric asks for.
func everyPath(f fabric.Fabric) []Measurement {
	m := Measurement{Tool: Linerate, Ports: f.Measure.Ports, Buffer: f.Measure.SocketBuffer, Streams: f.Measure.Streams, Duration: f.Measure.Duration}
	if len(m.Streams) == 0 {
		m.Streams = []int{1, 2, 4}
	}
	if m.Ports == "" {
		m.Ports = "chosen"
	}
	directions := f.Measure.Directions
	if len(directions) == 0 {
		directions = flow.Directions()
	}
	m.Kinds = repeated(Rate, len(m.Streams))
	var all []Measurement
	for _, p := range f.Paths {
		for _, d := range directions {
			if p.Directed && d != flow.Forward {
				continue
			}
			m.From, m.To, m.Direction = p.From, p.To, d
			all = append(all, m)
		}
	}
	return all
}

func repeated(k Kind, n int) []Kind {
	all := make([]Kind, n)
	for i := range all {
		all[i] = k
	}
	return all
}
