// Package cloud says what a cloud provider lets an instance's network carry:
// the host in all, each interface and each flow, with the rule, its source and
// the day it was read. The rules are data, clouds.yaml, which a file of the
// user's corrects. Pure: it reads no file and asks no provider, and it answers
// an unknown name with an error that lists the nearest, never with a guess.
package cloud

import (
	"errors"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Errors that callers may act on. Their texts name what is known.
var (
	// ErrUnknownProvider is a provider that no rule is known of.
	ErrUnknownProvider = errors.New("unknown cloud provider")
	// ErrUnknownInstance is an instance type that neither the table nor a
	// rule of its provider knows.
	ErrUnknownInstance = errors.New("unknown instance type")
	// ErrUnsized means that the provider's rules need an instance type, or
	// the number of vCPUs, that nobody said.
	ErrUnsized = errors.New("instance size not said")
)

// Source is where a rule was found.
type Source struct {
	Title string `yaml:"title" json:"title"`
	URL   string `yaml:"url" json:"url"`
	// Dated is the day the source itself names, "" where it names none.
	Dated string `yaml:"dated" json:"dated,omitempty"`
	// Read is the day it was read, or written down from memory.
	Read string `yaml:"read" json:"read"`
	// Confidence is Read or Recalled.
	Confidence Confidence `yaml:"confidence" json:"confidence"`
}

// Confidence is how a rule became known.
type Confidence string

// A rule was read in its source, or written down from memory.
const (
	Read     Confidence = "read"
	Recalled Confidence = "recalled"
)

// String is "Title (2021-12-02), read 2026-11-21".
func (s Source) String() string {
	text := s.Title
	if s.Dated != "" {
		text += " (" + s.Dated + ")"
	}
	if s.Confidence == Recalled {
		return text + ", recalled " + s.Read + ", not looked up"
	}
	return text + ", read " + s.Read
}

// Query asks for the caps of one host towards another.
type Query struct {
	netstate.Cloud
	// Interfaces is how many the host has; below 1 counts as 1.
	Interfaces int
	// Peer is the other end; nil where it is not declared as an instance.
	Peer *netstate.Cloud
	// UDP asks for a flow of datagrams.
	UDP bool
}

// Cap is one limit in one direction, counted from the Ethernet header on as
// far as anybody says. A zero Rate is no limit that is known.
type Cap struct {
	Rate unit.BitRate
	// Burst is what a host reaches while its network credits last; zero none.
	Burst unit.BitRate
	// Low and High bound Rate where the rule is uncertain, for the reason in
	// Open; zero where it is certain.
	Low, High unit.BitRate
	Open      string
	// Why is the arithmetic and the source, in plain words.
	Why string
	// Sources are what Why rests on.
	Sources []Source
}

// Caps are what holds for one host towards one peer.
type Caps struct {
	Provider string // its full name
	// Egress and Ingress are of the host in all.
	Egress, Ingress Cap
	// OutsideEgress and OutsideIngress are of what goes beyond the provider's
	// network (or region), where the peer is there or may be; they hold beside
	// the host's total.
	OutsideEgress, OutsideIngress Cap
	// Interface is of each interface, each direction.
	Interface Cap
	// Flow is of one five-tuple.
	Flow Cap
	// Adds tells that interfaces add up until the host's total is reached.
	Adds bool
}
