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
	// Ways is the remedy as steps, of which Remedy is the text: Do sets both.
	Ways Remedy `json:"remedy_ways,omitempty"`
	// Expected is the rate to expect once the remedy is in; zero unknown.
	Expected unit.BitRate `json:"expected_bps"`
	// Gain is Expected over Rate less one: 0.5 is half again as much.
	Gain float64 `json:"gain_ratio,omitempty"`
	// Against is what speaks against the cause, or does not fit it.
	Against []Evidence `json:"against,omitempty"`
	// Next is what would limit the result once the cause is removed; nil
	// where nobody can say.
	Next *NextLimit `json:"next,omitempty"`
	// Also are the other causes that the evidence allows, most likely first.
	Also []Alternative `json:"also,omitempty"`
	// Missing names the evidence that was not to be had, and Decide the one
	// measurement that would settle the cause: "" where it is settled.
	Missing []string `json:"missing,omitempty"`
	Decide  Decision `json:"decide,omitzero"`
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

// NextLimit is the limit behind the one that binds.
type NextLimit struct {
	Cause Cause        `json:"cause"`
	Rate  unit.BitRate `json:"rate_bps"`
	Why   string       `json:"why"`
}

// Alternative is a cause that was considered and not named first.
type Alternative struct {
	Cause      Cause      `json:"cause"`
	Confidence float64    `json:"confidence_ratio"`
	Summary    string     `json:"summary"`
	For        []Evidence `json:"for,omitempty"`
	Against    []Evidence `json:"against,omitempty"`
	// Expected is the rate once this cause is removed; zero unknown.
	Expected unit.BitRate `json:"expected_bps,omitempty"`
}

// Decision is a measurement that would tell causes apart: what to vary, to
// what, and what each outcome means. Its zero value is none.
type Decision struct {
	Probe ProbeKind `json:"probe"`
	// Value is the streams, bytes or bits per second to measure with, by kind.
	Value float64 `json:"value,omitempty"`
	// Between are the causes that it tells apart, Text says it to a person.
	Between []Cause `json:"between,omitempty"`
	Text    string  `json:"text"`
}

// ProbeKind is a measurement that explain --probe can make by itself.
type ProbeKind string

// The probes.
const (
	ProbeLonger     ProbeKind = "longer"      // the same, for Value seconds
	ProbeStreams    ProbeKind = "streams"     // the same with Value streams
	ProbeSlower     ProbeKind = "slower"      // each stream paced so that Value bits per second are sent in sum
	ProbeDatagrams  ProbeKind = "datagrams"   // UDP at Value bits per second
	ProbePacketSize ProbeKind = "packet-size" // don't-fragment echoes of Value bytes
	ProbeBuffer     ProbeKind = "buffer"      // sockets that ask for Value bytes
	ProbeIdle       ProbeKind = "idle"        // the hosts' processors and links while nothing is sent
	ProbeObserved   ProbeKind = "observed"    // the same, with both hosts observed
)
