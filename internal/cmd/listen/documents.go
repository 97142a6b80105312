package listen

import "github.com/linerate/linerate/internal/cmd/console"

// What is printed with --json.
var (
	document = console.Document[listened]{Name: "listen", About: "`listen`, when it ends"}
)

// Documents are what the commands of this package print with --json.
func Documents() []console.Described {
	return []console.Described{document}
}
