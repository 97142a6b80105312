// Package workload is the one table of how programs use the network: how many
// TCP connections carry their data, between which addresses and ports, which
// option makes more of them and what that needs. Whoever predicts, chooses
// ports for, or explains a program's traffic reads it here.
//
// A row says what the program does by itself and what its options change. The
// package must never say which link a connection takes (steer does) nor what it
// carries (predict does).
package workload

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/flow"
)

// Counts is what a parameter's number counts.
type Counts uint8

// What parameters count.
const (
	// Nothing: it is one of several words.
	Nothing Counts = iota
	// PerAddress is connections to each address that is used.
	PerAddress
	// InAll is connections over all addresses together, which take turns.
	InAll
	// Addresses is pairs of addresses.
	Addresses
)

// Source is who chooses the source ports.
type Source uint8

// The ways to get source ports.
const (
	// Ephemeral: the kernel's connect() takes them from
	// net.ipv4.ip_local_port_range.
	Ephemeral Source = iota
	// Reserved: the kernel takes them at random between sunrpc.min_resvport and
	// max_resvport, 665 and 1023 unless they are changed.
	Reserved
)

// String is the source in plain words.
func (s Source) String() string {
	if s == Reserved {
		return "665-1023, at random (sunrpc.min_resvport, max_resvport)"
	}
	return "chosen by the kernel (ip_local_port_range)"
}

// Param is an option of a program that decides how many connections there are.
type Param struct {
	// Key is the option's name as the program writes it, without dashes.
	Key string
	// Doc says what its number is.
	Doc string
	// Counts is what the number counts; Nothing where it is one of Words.
	Counts Counts
	// Default is the program's own; zero is a number of the client's cores, and
	// PerCores says which. Most is the largest that the program takes.
	Default, Most int
	PerCores      func(cores int) int
	// Words are what it may be instead of a number, the default first.
	Words []string
	// Written is the option as it is typed, {n} in place of the number.
	Written string
	// Since is the release that has the option first; "" every one that counts.
	Since string
}

// Write is the option as it is typed, with a number.
func (p Param) Write(n int) string {
	value := strconv.Itoa(n)
	if p.Words != nil {
		value = p.Words[n]
	}
	return strings.ReplaceAll(p.Written, "{n}", value)
}

// Program is a row of the table.
type Program struct {
	// Name is the program's word, Aliases other words for the same row, What it
	// is for people: "an NFS mount".
	Name    string
	Aliases []string
	What    string
	Params  []Param
	// Opens says what connections there are, in a sentence.
	Opens string
	// Beside are connections that carry next to nothing; "" none.
	Beside string
	// Each: it uses every pair of addresses that the hosts have; else one,
	// unless an option says otherwise.
	Each bool
	// Most is the most connections between two hosts; zero is no limit.
	Most   int
	Source Source
	// Ports are those that the server listens on, the first the usual one.
	Ports []flow.PortRange
	// ManyPorts: every connection goes to another of them.
	ManyPorts bool
	// ChosenBy says how source ports can be chosen; "" they cannot be.
	ChosenBy string
	// More says how to get more connections, in the program's words; "" where
	// it has no way.
	More string
	// Spread says how to use several addresses, in the program's words; "" where
	// it has no way.
	Spread string
	// Needs are what more connections need or cost.
	Needs []string
	// Kernel: its sockets belong to the kernel, and to no process. Mounts are
	// the kinds of file systems that use it.
	Kernel bool
	Mounts []string
	// Protocol is what the kernel's sockets speak: "NFS".
	Protocol string
	// Processes are the names of processes that are known to be it.
	Processes []string

	// open and widen stand in for the rules that most rows share.
	open  func(u Use, pairs int) (Opened, error)
	widen func(u Use, pairs int) (Use, bool)
}

// Programs are the rows, in the order of the help.
func Programs() []Program { return slices.Concat(storage(), guests(), copiers(), others()) }

// Names are the programs' words.
func Names() []string {
	var names []string
	for _, p := range Programs() {
		names = append(names, p.Name)
	}
	return names
}

// Named is the program of a name or of another word for it.
func Named(name string) (Program, bool) {
	for _, p := range Programs() {
		if p.Name == name || slices.Contains(p.Aliases, name) {
			return p, true
		}
	}
	return Program{}, false
}

// MoreOf is how a named program gets more connections; "" where it cannot, and
// for a name that there is none of.
func MoreOf(name string) string {
	p, _ := Named(name)
	return p.More
}

// SpreadOf is how a named program uses several addresses; "" as of MoreOf.
func SpreadOf(name string) string {
	p, _ := Named(name)
	return p.Spread
}

// Port is the usual port of its server; zero where there is none.
func (p Program) Port() uint16 {
	if len(p.Ports) == 0 {
		return 0
	}
	return p.Ports[0].First
}

// Listens reports a port that the program's server has.
func (p Program) Listens(port uint16) bool {
	return slices.ContainsFunc(p.Ports, func(r flow.PortRange) bool { return port >= r.First && port <= r.Last })
}

// OfMount is the program of a mounted file system of that kind, and whether
// there is one.
func OfMount(kind string) (Program, bool) {
	for _, p := range Programs() {
		if slices.Contains(p.Mounts, kind) {
			return p, true
		}
	}
	return Program{}, false
}

// OfKernel is the program that the kernel itself is at a server's port.
func OfKernel(port uint16) (Program, bool) {
	for _, p := range Programs() {
		if p.Kernel && p.Listens(port) {
			return p, true
		}
	}
	return Program{}, false
}

// OfProcess is the program that a process of that name is, when one of its
// connection's ports does not speak against it. A process that does several
// things (a virtual machine's) is known by the port as well.
func OfProcess(process string, ports ...uint16) (Program, bool) {
	if process == "" {
		return Program{}, false
	}
	for _, p := range Programs() {
		for _, name := range p.Processes {
			stem, some := strings.CutSuffix(name, "*")
			if process != name && !(some && strings.HasPrefix(process, stem)) {
				continue
			}
			if !some || slices.ContainsFunc(ports, p.Listens) {
				return p, true
			}
		}
	}
	return Program{}, false
}

// Knob is the parameter whose number is of connections; false where the program
// has none.
func (p Program) Knob() (Param, bool) {
	i := slices.IndexFunc(p.Params, func(q Param) bool { return q.Counts == PerAddress || q.Counts == InAll })
	if i < 0 {
		return Param{}, false
	}
	return p.Params[i], true
}

// PortText is the server's ports for people.
func (p Program) PortText() string {
	var parts []string
	for _, r := range p.Ports {
		if r.First == r.Last {
			parts = append(parts, strconv.Itoa(int(r.First)))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", r.First, r.Last))
		}
	}
	text := strings.Join(parts, ", ")
	if p.ManyPorts {
		text += ", another for each connection"
	}
	return text
}

// one is the row of a port.
func one(port uint16) flow.PortRange { return flow.PortRange{First: port, Last: port} }

// asMany takes the number of cores.
func asMany(cores int) int { return cores }

// halfLog is floor(2 ln cores) + 1.
func halfLog(cores int) int { return int(math.Floor(2*math.Log(float64(cores)))) + 1 }
