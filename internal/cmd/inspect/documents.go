package inspect

import "github.com/linerate/linerate/internal/cmd/console"

// What is printed with --json.
var (
	hostDocument    = console.Document[inspected]{Name: "inspect", About: "`inspect` of one host"}
	pairDocument    = console.Document[inspectedPairs]{Name: "inspect-pair", About: "`inspect` of several hosts"}
	captureDocument = console.Document[capturedDocument]{Name: "inspect-capture", About: "`inspect --capture FILE`"}
)

// Documents are what the commands of this package print with --json.
func Documents() []console.Described {
	return []console.Described{hostDocument, pairDocument, captureDocument}
}
