package flow

import (
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
	// SwitchHash is the far side's transmit hash policy: a kernel policy word,
	// or "unknown" (also when left out).
	SwitchHash string `json:"switch_hash,omitempty"`
	// Learned are hashes of switches that probes learned, in file order.
	Learned []LearnedHash `json:"learned,omitempty"`
	Family  string        `json:"family,omitempty"` // "ipv4", "ipv6", "" prefers IPv4
	// Declared is false for a path made up from a common subnet.
	Declared bool `json:"declared"`
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
