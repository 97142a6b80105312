package change

import (
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/cmd/console"
)

// What is printed with --json.
var (
	planDocument             = console.Document[plannedChanges]{Name: "plan", About: "`plan`"}
	applyDocument            = console.Document[applied]{Name: "apply", About: "`apply`"}
	confirmDocument          = console.Document[confirmedChange]{Name: "confirm", About: "`confirm`"}
	rollbackDocument         = console.Document[rolledBackChange]{Name: "rollback", About: "`rollback` of one change"}
	rollbackRunDocument      = console.Document[rolledBack]{Name: "rollback-run", About: "`rollback` of a run"}
	rollbackShownDocument    = console.Document[shownEntry]{Name: "rollback-dry-run", About: "`rollback --dry-run` of one change"}
	rollbackRunShownDocument = console.Document[shownRun]{Name: "rollback-run-dry-run", About: "`rollback --dry-run` of a run"}
	journalDocument          = console.Document[hostJournal]{Name: "journal", About: "`journal` of one host"}
	journalsDocument         = console.Document[hostJournals]{Name: "journal-fabric", About: "`journal FABRIC`"}
)

// Documents are what the commands of this package print with --json.
func Documents() []console.Described {
	return []console.Described{planDocument, applyDocument, confirmDocument, rollbackDocument, rollbackRunDocument, rollbackShownDocument, rollbackRunShownDocument, journalDocument, journalsDocument}
}

// The documents of one host's change, and of plans and journals.
type (
	plannedChanges struct {
		Plans []plannedHost `json:"plans"`
	}
	confirmedChange struct {
		Host      string `json:"host"`
		Journal   string `json:"journal"`
		Confirmed bool   `json:"confirmed"`
	}
	rolledBackChange struct {
		rolledBackHost
		Later []string `json:"later,omitempty"`
	}
	shownHost struct {
		Host    string       `json:"host"`
		Entries []shownEntry `json:"entries"`
	}
	shownRun struct {
		Group string      `json:"group"`
		Title string      `json:"title"`
		Hosts []shownHost `json:"hosts"`
	}
	hostJournal struct {
		Entries []agentapi.JournalEntry `json:"entries"`
	}
	hostJournals struct {
		Hosts []hostEntries `json:"hosts"`
	}
)
