package discover

import "github.com/linerate/linerate/internal/cmd/console"

// What is printed with --json.
var (
	document = console.Document[discovered]{Name: "discover", About: "`discover`"}
)

// Documents are what the commands of this package print with --json.
func Documents() []console.Described {
	return []console.Described{document}
}

// discovered is the fabric file, and where it was written.
type discovered struct {
	File   string `json:"file"`
	Fabric string `json:"fabric"`
}
