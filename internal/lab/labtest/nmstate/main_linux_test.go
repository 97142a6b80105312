package nmstate

import (
	"os"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/root"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// onHost reports that the tests run on the machine's own kernel, which may have
// MPTCP and no bonds; a lab kernel has it the other way round.
var onHost = os.Getenv(floor.EnvKernel) == "host"

// TestMain makes the test binary the program too: what starts a guard.
func TestMain(m *testing.M) {
	if !guest.IsInit() && len(os.Args) > 1 {
		switch os.Args[1] {
		case "guard", "agent":
			os.Exit(root.Run(console.System("test"), os.Args[1:]))
		}
	}
	if onHost {
		os.Exit(m.Run())
	}
	os.Exit(floor.Main(m, lab.Auto))
}
