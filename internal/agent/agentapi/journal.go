package agentapi

import (
	"time"

	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/render"
)

// JournalRequest asks for the changes that are journalled on the host, for the
// agent's namespace.
type JournalRequest struct{}

// JournalReply lists them, oldest first.
type JournalReply struct {
	Entries []JournalEntry `json:"entries"`
	// Problems are journal files that cannot be read, in words.
	Problems []string `json:"problems,omitempty"`
}

// JournalEntry is one change, as far as a controller needs it.
type JournalEntry struct {
	ID string `json:"id"`
	// State is internal/host/apply's: "open", "applied", "confirming", "confirmed",
	// "reverting", "rolled-back" or "failed".
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"`
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

// JournalStep is one step of a change and how far it came ("pending", "begun",
// "done", "undone", "left").
type JournalStep struct {
	Step     plan.Step `json:"step"`
	Progress string    `json:"progress"`
	Note     string    `json:"note,omitempty"`
}

// ConfigFilesRequest asks for the configuration files of one system, which the
// host names by itself: no path travels this way.
type ConfigFilesRequest struct {
	Format render.Format `json:"format"`
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

// ConfirmReply is empty.
type ConfirmReply struct{}
