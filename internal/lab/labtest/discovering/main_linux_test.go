package discovering

import (
	"os"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/root"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// kernelHost, as the kernel of a proof, is the machine's own.
const kernelHost = "host"

// extra are modules that hosts need and no lab does.
var extra = []string{"dummy", "vrf", "macvlan", "vxlan"}

// TestMain makes the test binary the program too: the dead man of a change.
func TestMain(m *testing.M) {
	if !guest.IsInit() && len(os.Args) > 1 {
		switch os.Args[1] {
		case "agent", "apply", "guard":
			os.Exit(root.Run(console.System("test"), os.Args[1:]))
		}
	}
	if os.Getenv(floor.EnvKernel) == kernelHost {
		os.Exit(m.Run()) // namespaces are all it needs
	}
	os.Exit(floor.MainWith(m, lab.Auto, floor.More{Modules: extra}))
}
