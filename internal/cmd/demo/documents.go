package demo

import "github.com/linerate/linerate/internal/cmd/console"

// What is printed with --json.
var (
	demoDocument = console.Document[document]{Name: "demo", About: "`demo`"}
)

// Documents are what the commands of this package print with --json.
func Documents() []console.Described {
	return []console.Described{demoDocument}
}
