package flow

import (
	"slices"
	"time"

	"github.com/linerate/linerate/unit"
)

// Path is what lies between two hosts. Rates are per direction and shared by
// all flows of the pair.
type Path struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Directed paths apply to one direction only.
	Directed bool          `json:"directed,omitempty"`
	RTT      time.Duration `json:"rtt_ns,omitempty"` // zero unknown
	Rate     unit.BitRate  `json:"rate_bps,omitempty"`
	// Bucket is how much the shaper behind Rate lets through at once after a
	// pause; zero unknown.
	Bucket unit.Bytes `json:"bucket_bytes,omitempty"`
	Loss   float64    `json:"loss_ratio,omitempty"`
	// SwitchHash is the far side's transmit hash policy: a kernel policy word, what
	// the switch calls it, or "unknown" (also when left out).
	SwitchHash string `json:"switch_hash,omitempty"`
	// Learned are hashes of switches that probes learned, in file order.
	Learned []LearnedHash `json:"learned,omitempty"`
	Family  string        `json:"family,omitempty"` // "ipv4", "ipv6", "" prefers IPv4
	// Switches are those that the file describes, all of them; nil none. Each path has
	// them, as what lies between its hosts.
	Switches Switches `json:"-"`
	// Declared is false for a path made up from a common subnet.
	Declared bool `json:"declared"`
}

// Switches is what described switches say of the hosts that hang on them.
type Switches interface {
	// HashTowards is how they spread flows over a host's links; "" nobody said.
	HashTowards(host string) string
	// LearnedOf are the hashes that probes learned of those the host hangs on.
	LearnedOf(host string) []LearnedHash
}

// HashTowards is how switches spread flows over a host's links, as the path or the
// channels that lead there have it; "" and "unknown": nobody said.
func (p Path) HashTowards(host string) string {
	if p.SwitchHash == "" && p.Switches != nil {
		return p.Switches.HashTowards(host)
	}
	return p.SwitchHash
}

// LearnedTowards are the hashes that probes learned of switches, the path's own and
// those of the channels that lead to the host.
func (p Path) LearnedTowards(host string) []LearnedHash {
	if p.Switches == nil {
		return p.Learned
	}
	return slices.Concat(p.Learned, p.Switches.LearnedOf(host))
}

// Joins reports a path between the two hosts, whichever it names first.
func (p Path) Joins(a, b string) bool {
	return p.From == a && p.To == b || p.From == b && p.To == a
}

// Leads reports a path that says something of the way from one host to the
// other: a directed one does of its own way alone.
func (p Path) Leads(from, to string) bool {
	return p.From == from && p.To == to || !p.Directed && p.Joins(from, to)
}
