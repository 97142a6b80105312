package piece

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/linerate/linerate/netstate"
)

// Source is where something was read: a file as it was named, and lines from 1.
type Source struct {
	File     string
	From, To int
}

// String is "FILE:LINE" or "FILE:LINE-LINE"; "line LINE" of a nameless text, "FILE"
// of a whole one.
func (s Source) String() string {
	if s.From == 0 {
		return s.File
	}
	at := strconv.Itoa(s.From)
	if s.To > s.From {
		at += "-" + strconv.Itoa(s.To)
	}
	if s.File == "" || s.File == "-" {
		return "line " + at
	}
	return s.File + ":" + at
}

// Value is one fact's text with its source.
type Value struct {
	Text string
	Source
}

// Case is everything that was read.
type Case struct {
	Hosts   []*Host
	Runs    []Run
	Read    []Read
	NotRead []NotRead
	// Described are the texts that describe something: nothing of them was read.
	Described []Described

	// Topics are what sentences speak of so far, by the words of who reads them: no
	// facts of any host.
	Topics map[string]Value

	sentences int              // how many were listened to
	newest    map[string]*Host // of several hosts that call themselves alike
}

// Complaint is the topic of a text in which somebody misses something.
const Complaint = "complaint"

// Throughput is the topic of a text that asks about a network's throughput, and Question
// that of one that asks something.
const (
	Throughput = "throughput"
	Question   = "question"
)

// LostIndentation is the kind of an output of which the columns that rows begin at were lost.
const LostIndentation = "netplan without its indentation"

// Titled is the topic of a text in which few words name a bundle, as people write above a
// result: no sentence, so that nothing but a measurement beside it says more.
const Titled = "titled bundle"

// Read is an output that was understood.
type Read struct {
	Kind string
	Host string // "" nobody says
	Source
}

// NotRead are lines that nobody understood.
type NotRead struct {
	Source
	Why   string
	Lines int // how many they are where others between them were read; 0 all
}

// Count is how many lines they are; 0 of what is no lines.
func (n NotRead) Count() int {
	if n.Lines > 0 || n.From == 0 {
		return n.Lines
	}
	return n.To - n.From + 1
}

// Host is one host, or one switch, as far as the text shows it. Facts are by
// subject ("link bond0", "host", "pci 01:00.0") and key; the last value is the
// newest, and earlier ones that differ stay before it.
type Host struct {
	Name   string // "" nobody names it
	Switch bool
	Facts  map[string]map[string][]Value
	Routes []Route
	Rules  []Rule
	// Ports are a bond's in the order that was read: the order is the hash's.
	Ports map[string][]string

	Sockets   []Socket
	Cores     []Core
	Processes []Process
	Events    []Event
	Mounts    []Mount
	Paths     []Path
	Pings     []Ping
	Traces    []Trace
	// Counters are the kernel's, by nstat's names ("TcpRetransSegs"). Whether they
	// count from the boot or since the last call only nstat's user knows.
	Counters map[string]Value

	// members and bundles are Members' and Bundles'; nil until they are asked for.
	members, bundles map[string][]string
}

// Route is a route with its source.
type Route struct {
	netstate.Route
	Source
	TableName string // of a table that has a name of the host's own; Table is zero then
	Down      bool   // marked linkdown or dead
}

// Rule is a routing rule with its source.
type Rule struct {
	netstate.Rule
	Source
	TableName string // as a route's
}

// Host is the host of that name, made where the case has none. The one without a
// name is a host, not a switch.
func (c *Case) Host(name string) *Host {
	if h := c.newest[name]; h != nil {
		return h
	}
	for _, h := range c.Hosts {
		if h.Name == name && (name != "" || !h.Switch) {
			return h
		}
	}
	return c.add(Host{Name: name})
}

// Another is a host of the same name as h, from here on the one of that name: default
// names are many hosts' own.
func (c *Case) Another(h *Host) *Host {
	name, n := h.Name, 2
	for first, host := range c.newest {
		if host == h {
			name = first
		}
	}
	for slices.ContainsFunc(c.Hosts, func(o *Host) bool { return o.Name == hostNumber(name, n) }) {
		n++
	}
	if c.newest == nil {
		c.newest = make(map[string]*Host)
	}
	next := c.add(Host{Name: hostNumber(name, n)})
	c.newest[name] = next
	return next
}

func hostNumber(name string, n int) string { return fmt.Sprintf("%s-%d", cmp.Or(name, "host"), n) }

// add adds a host of which nothing was read yet.
func (c *Case) add(h Host) *Host {
	h.Facts, h.Ports = make(map[string]map[string][]Value), make(map[string][]string)
	c.Hosts = append(c.Hosts, &h)
	return &h
}

// Set adds a fact. The same value again is kept once.
func (h *Host) Set(subject, key, value string, at Source) {
	h.members, h.bundles = nil, nil
	if h.Facts[subject] == nil {
		h.Facts[subject] = make(map[string][]Value)
	}
	all := h.Facts[subject][key]
	if n := len(all); n > 0 && all[n-1].Text == value {
		return
	}
	h.Facts[subject][key] = append(all, Value{Text: value, Source: at})
}

// Get is the newest value of a fact; false where it was not read.
func (h *Host) Get(subject, key string) (Value, bool) {
	all := h.Facts[subject][key]
	if len(all) == 0 {
		return Value{}, false
	}
	return all[len(all)-1], true
}

// Keys are those of a subject's facts, in order of their names.
func (h *Host) Keys(subject string) []string { return slices.Sorted(maps.Keys(h.Facts[subject])) }

// Subjects are those of a kind ("link"), in order of their names.
func (h *Host) Subjects(kind string) []string {
	var out []string
	for subject := range h.Facts {
		if len(subject) > len(kind) && subject[:len(kind)] == kind && subject[len(kind)] == ' ' {
			out = append(out, subject[len(kind)+1:])
		}
	}
	slices.Sort(out)
	return out
}
