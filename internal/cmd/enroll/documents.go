package enroll

import (
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/cmd/console"
)

// What is printed with --json.
var (
	document = console.Document[enrolledHost]{Name: "enroll", About: "`enroll`"}
)

// Documents are what the commands of this package print with --json.
func Documents() []console.Described {
	return []console.Described{document}
}

// enrolledHost is the identity that was written.
type enrolledHost struct {
	Name      string        `json:"name"`
	Role      agentapi.Role `json:"role"`
	NATS      string        `json:"nats"`
	Directory string        `json:"directory"`
}
