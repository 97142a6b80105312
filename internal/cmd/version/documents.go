package version

import "github.com/linerate/linerate/internal/cmd/console"

// What is printed with --json.
var (
	document = console.Document[versions]{Name: "version", About: "`version`"}
)

// Documents are what the commands of this package print with --json.
func Documents() []console.Described {
	return []console.Described{document}
}
