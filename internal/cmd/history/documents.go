package history

import (
	"time"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/store"
)

// What is printed with --json.
var (
	runsDocument   = console.Document[listedRuns]{Name: "history", About: "`history`: the runs of a store"}
	pathDocument   = console.Document[pathHistory]{Name: "history-path", About: "`history --from A --to B`: a path over time"}
	addDocument    = console.Document[addedRuns]{Name: "history-add", About: "`history add`"}
	showDocument   = console.Document[writtenRun]{Name: "history-show", About: "`history show RUN -o FILE`; without -o it prints the record"}
	forgetDocument = console.Document[forgotten]{Name: "history-forget", About: "`history forget`"}
)

// Documents are what the commands of this package print with --json.
func Documents() []console.Described {
	return []console.Described{runsDocument, pathDocument, addDocument, showDocument, forgetDocument}
}

// addedRuns is what `history add` kept.
type addedRuns struct {
	Store string      `json:"store"`
	Added []addedFile `json:"added"`
}

// writtenRun is the file that `history show -o` wrote.
type writtenRun struct {
	Run    string `json:"run"`
	Record string `json:"record"`
}

// forgotten is what `history forget` removed, or would.
type forgotten struct {
	Store  string    `json:"store"`
	Before time.Time `json:"before"`
	DryRun bool      `json:"dry_run"`
	store.Forgotten
}
