package record

import (
	"fmt"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/unit"
)

// Cause is what limits a result: one vocabulary for predictions, findings and
// reports.
type Cause string

// The causes, as the contract fixes them.
const (
	LineRate        Cause = "line-rate"
	HashImbalance   Cause = "hash-imbalance"
	SingleLink      Cause = "single-link"
	ReceiveWindow   Cause = "receive-window"
	SendBuffer      Cause = "send-buffer"
	Congestion      Cause = "congestion"
	Reordering      Cause = "reordering"
	SenderCPU       Cause = "sender-cpu"
	ReceiverCPU     Cause = "receiver-cpu"
	CardSlot        Cause = "card"
	Shaper          Cause = "shaper"
	MTU             Cause = "mtu"
	LACPDown        Cause = "lacp-down"
	AsymmetricRoute Cause = "asymmetric-route"
	Pacing          Cause = "pacing"
	Application     Cause = "application"
	Unknown         Cause = "unknown"
)

// Causes lists every cause, in the contract's order.
func Causes() []Cause {
	return []Cause{LineRate, HashImbalance, SingleLink, ReceiveWindow, SendBuffer, Congestion,
		Reordering, SenderCPU, ReceiverCPU, CardSlot, Shaper, MTU, LACPDown, AsymmetricRoute,
		Pacing, Application, Unknown}
}

// UnmarshalText refuses a word that is no cause.
func (c *Cause) UnmarshalText(b []byte) error {
	for _, known := range Causes() {
		if string(known) == string(b) {
			*c = known
			return nil
		}
	}
	return fmt.Errorf("parse cause %q: want one of %v", b, Causes())
}

// Finding is what limits one result.
type Finding struct {
	From       string         `json:"from"`
	To         string         `json:"to"`
	Direction  flow.Direction `json:"direction"`
	Streams    int            `json:"streams"`
	Cause      Cause          `json:"cause"`
	Confidence float64        `json:"confidence_ratio"`
	Rate       unit.BitRate   `json:"rate_bps"`
	Ceiling    unit.BitRate   `json:"ceiling_bps"`
	// Summary is the finding in one or two plain sentences.
	Summary  string     `json:"summary"`
	Evidence []Evidence `json:"evidence"`
	Remedy   string     `json:"remedy"`
	// Expected is the rate to expect once the remedy is in; zero unknown.
	Expected unit.BitRate `json:"expected_bps"`
	// Phase and Step repeat the trial's.
	Phase Phase  `json:"phase,omitempty"`
	Step  string `json:"step,omitempty"`
}

// Evidence is one fact a finding rests on.
type Evidence struct {
	What   string `json:"what"`
	Value  string `json:"value"`
	Source string `json:"source"` // where it was read
}
