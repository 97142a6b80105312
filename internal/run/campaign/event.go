package campaign

import (
	"time"

	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/internal/run/pathcheck"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/record"
)

// Kind says what an event tells.
type Kind string

// The kinds of event; each fills the fields named.
const (
	Planned  Kind = "planned"  // Done, Total, Rounds, Left, Together (at most)
	Pinged   Kind = "pinged"   // Latency
	Running  Kind = "running"  // Progress, Done, Total, Left, Together
	Measured Kind = "measured" // Trial, Done, Total, Together
	Failed   Kind = "failed"   // Failure, Done, Total
	Trying   Kind = "trying"   // Step (without results), Plans
	Proven   Kind = "proven"   // Step
	Routed   Kind = "routed"   // Problem
	Summed   Kind = "summed"   // Group
	Noted    Kind = "noted"    // Note
)

// Event is something that happened in a campaign.
type Event struct {
	Kind     Kind
	Latency  *record.Latency
	Progress *measure.Progress
	Trial    *record.Trial
	Failure  *record.Failure
	Problem  *pathcheck.Problem
	Group    *record.Group
	Step     *record.Step
	Note     string // one sentence
	// Reach and Err are those of a host that a note says is left out.
	Reach       string
	Err         error
	Plans       []plan.Plan
	Done, Total int
	// Rounds is how many rounds of pairs a matrix takes, Together how many
	// trials run at the same time, Left the time until the end; zero unknown.
	Rounds, Together int
	Left             time.Duration
}
