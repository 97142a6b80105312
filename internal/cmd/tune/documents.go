package tune

import (
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/unit"
)

// What is printed with --json.
var (
	tuneDocument   = console.Document[tuned]{Name: "tune", About: "`tune`"}
	dryRunDocument = console.Document[foreseen]{Name: "tune-dry-run", About: "`tune --dry-run`"}
)

// Documents are what the commands of this package print with --json.
func Documents() []console.Described {
	return []console.Described{tuneDocument, dryRunDocument}
}

// foreseen is what `tune --dry-run` sees ahead.
type foreseen struct {
	From      string       `json:"from"`
	To        string       `json:"to"`
	Expected  unit.BitRate `json:"expected_bps"`
	Ceiling   unit.BitRate `json:"ceiling_bps"`
	Proposals []proposed   `json:"proposals"`
}
