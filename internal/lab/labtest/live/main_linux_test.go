package live

import (
	"os"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/root"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// envRole makes this binary another program: the one under test, or one of
// those that it watches.
const envRole = "LIVE_ROLE"

// A lab kernel always: bonds and delays are wanted, whatever runs here.
func TestMain(m *testing.M) {
	switch role := os.Getenv(envRole); role {
	case "":
		os.Exit(floor.Main(m, lab.UML))
	case roleSelf:
		os.Exit(root.Run(console.System("test"), os.Args[1:]))
	default:
		os.Exit(play(role, os.Args[1:]))
	}
}
