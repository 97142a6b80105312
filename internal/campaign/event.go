package campaign

import (
	"github.com/linerate/linerate/internal/measure"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/record"
)

// Kind says what an event tells.
type Kind string

// The kinds of event; each fills the fields named.
const (
	Pinged   Kind = "pinged"   // Latency
	Running  Kind = "running"  // Progress
	Measured Kind = "measured" // Trial, Done, Total
	Failed   Kind = "failed"   // Failure, Done, Total
	Trying   Kind = "trying"   // Step (without results), Plans
	Proven   Kind = "proven"   // Step
)

// Event is something that happened in a campaign.
type Event struct {
	Kind        Kind
	Latency     *record.Latency
	Progress    *measure.Progress
	Trial       *record.Trial
	Failure     *record.Failure
	Step        *record.Step
	Plans       []plan.Plan
	Done, Total int
}
