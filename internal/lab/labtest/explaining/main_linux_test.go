package explaining

import (
	"os"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/root"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// envFaults is the directory where instances are kept, and read from again.
const envFaults = "LINERATE_FAULTS_DIR"

// kernelHost, as the kernel of a proof, is the machine's own.
const kernelHost = "host"

// TestMain makes the test binary the program too, for hosts that have an agent
// of their own; and runs the tests in a lab kernel, unless they are about
// processors: an emulated one cannot tell whose time it spends.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "agent" {
		os.Exit(root.Run(console.System("test"), os.Args[1:]))
	}
	if !guest.IsInit() && os.Getenv(floor.EnvKernel) == kernelHost {
		os.Exit(m.Run())
	}
	os.Exit(floor.MainWith(m, lab.UML, floor.More{
		Modules: []string{"act_police", "cls_matchall", "ifb", "act_mirred"}, Env: envFaults,
	}))
}
