// Command linerate finds out why several links between hosts do not add up,
// and repairs it.
package main

import (
	"os"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/root"
	"github.com/linerate/linerate/internal/lab/guest"
)

// version is set by the build.
var version = "dev"

func main() {
	if guest.IsInit() {
		guest.Init()
	}
	con := console.System(version)
	con.Agents = agent
	os.Exit(root.Run(con, os.Args[1:]))
}
