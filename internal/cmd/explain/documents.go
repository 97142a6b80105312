package explain

import (
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/record"
)

// What is printed with --json.
var (
	recordAnswer = console.Document[explained]{Name: "explain", About: "`explain RECORD`"}
	pasteAnswer  = console.Document[answerJSON]{Name: "explain-paste", About: "`explain FILE`, `explain -`"}
	liveAnswer   = console.Document[liveDocument]{Name: "explain-live", About: "`explain --live`"}
	probeAnswer  = console.Document[probed]{Name: "explain-probe", About: "`explain RECORD --probe`"}
)

// Documents are what the commands of this package print with --json.
func Documents() []console.Described {
	return []console.Described{recordAnswer, pasteAnswer, liveAnswer, probeAnswer}
}

// explained is what a record's trials were limited by.
type explained struct {
	Findings []record.Finding `json:"findings"`
}
