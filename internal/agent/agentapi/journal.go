package agentapi

import (
	"time"

	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/render/format"
)

// JournalReply lists them, oldest first.
type JournalReply struct {
	Entries []JournalEntry `json:"entries"`
	// Problems are journal files that cannot be read, in words.
	Problems []string `json:"problems,omitempty"`
}

// JournalEntry is one change, as far as a controller needs it.
type JournalEntry struct {
	ID     string      `json:"id"`
	State  ChangeState `json:"state"`
	Reason string      `json:"reason,omitempty"`
	// Group is the run that it was a step of, "" none; Title is the run's.
	Group    string    `json:"group,omitempty"`
	Title    string    `json:"title,omitempty"`
	Started  time.Time `json:"started"`
	Deadline time.Time `json:"deadline"`
	// Pending: something still has to happen to it.
	Pending bool          `json:"pending"`
	Steps   []JournalStep `json:"steps"`
	// Files are the paths that it writes, or has written, when confirmed.
	Files []string `json:"files,omitempty"`
}

// Waiting says of a pending entry which it is, and what becomes of it if nobody does
// anything.
func (e JournalEntry) Waiting() string {
	what := e.ID
	if e.Title != "" {
		what += " (" + e.Title + ")"
	}
	switch e.State {
	case ChangeApplied:
		return what + " is rolled back at " + e.Deadline.UTC().Format("15:04:05 UTC") + " unless it is confirmed"
	case ChangeOpen:
		return what + " is being made"
	case ChangeConfirming:
		return what + " is being confirmed"
	}
	return what + " is being rolled back"
}

// ReasonDied is why an entry was rolled back whose program was killed.
const ReasonDied = "its process died"

// ChangeState is how far a journalled change has come.
type ChangeState string

// The states. Open, applied, confirming and reverting changes are pending:
// something still has to happen to them.
const (
	ChangeOpen       ChangeState = "open"        // steps are being done
	ChangeApplied    ChangeState = "applied"     // all steps hold; waits to be confirmed
	ChangeConfirming ChangeState = "confirming"  // confirmed; its files are being written
	ChangeConfirmed  ChangeState = "confirmed"   // kept
	ChangeReverting  ChangeState = "reverting"   // being taken back
	ChangeRolledBack ChangeState = "rolled-back" // taken back, or gone with a reboot
	ChangeFailed     ChangeState = "failed"      // could not all be taken back
)

// Pending reports whether something still has to happen to the change.
func (s ChangeState) Pending() bool {
	return s == ChangeOpen || s == ChangeApplied || s == ChangeConfirming || s == ChangeReverting
}

// Known reports whether s is one of the states.
func (s ChangeState) Known() bool {
	return s.Pending() || s == ChangeConfirmed || s == ChangeRolledBack || s == ChangeFailed
}

// StepProgress is how far one step of a change has come.
type StepProgress string

// The progress of a step. A begun step may or may not have happened: only
// looking tells.
const (
	StepPending    StepProgress = "pending"
	StepBegun      StepProgress = "begun"
	StepDone       StepProgress = "done"
	StepRolledBack StepProgress = "undone"
	StepLeft       StepProgress = "left" // somebody else changed it since
)

// Known reports whether p is one of them.
func (p StepProgress) Known() bool {
	switch p {
	case StepPending, StepBegun, StepDone, StepRolledBack, StepLeft:
		return true
	}
	return false
}

// JournalStep is one step of a change and how far it came.
type JournalStep struct {
	Step     plan.Step    `json:"step"`
	Progress StepProgress `json:"progress"`
	Note     string       `json:"note,omitempty"`
}

// ConfigFilesRequest asks for the configuration files of one system, which the
// host names by itself: no path travels this way.
type ConfigFilesRequest struct {
	Format format.Name `json:"format"`
}

// ConfigFilesReply is the files' text by absolute path. They may hold secrets
// (802.1X, wireless): a controller keeps them to itself.
type ConfigFilesReply struct {
	Files map[string]string `json:"files"`
}

// ConfirmRequest keeps a change.
type ConfirmRequest struct {
	Journal string `json:"journal"`
	// Check only asks whether the change could be kept now, and keeps nothing.
	Check bool `json:"check,omitempty"`
}
