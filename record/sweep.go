package record

import (
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/unit"
)

// Sweep is what came of trials of one pair, direction and stream count that
// differ in one setting and were measured by turns.
type Sweep struct {
	// Setting is its name, such as "mss".
	Setting   string         `json:"setting"`
	From      string         `json:"from"`
	To        string         `json:"to"`
	Direction flow.Direction `json:"direction"`
	Streams   int            `json:"streams,omitempty"` // zero where they are what differs
	Values    []SweepValue   `json:"values"`
	// Verdict says in one sentence which value is better, or that none is.
	Verdict string `json:"verdict"`
}

// SweepValue is one value of a sweep over all its rounds.
type SweepValue struct {
	Value  string `json:"value"`
	Trials int    `json:"trials_count"`
	// Goodput is the mean of the trials, Low and High its interval of 95 % over
	// the runs, or with fewer than three what the runs say of themselves.
	Goodput unit.BitRate `json:"goodput_bps"`
	Low     unit.BitRate `json:"goodput_low_bps"`
	High    unit.BitRate `json:"goodput_high_bps"`
	// P is the probability that chance alone makes a difference as large as
	// that to the first value; zero where it is not known.
	P float64 `json:"p_value,omitempty"`
	// Claimed, Wire and Ceiling are the means of the trials' own.
	Claimed unit.BitRate `json:"claimed_bps,omitempty"`
	Wire    unit.BitRate `json:"wire_bps"`
	Ceiling unit.BitRate `json:"ceiling_bps"`
}
