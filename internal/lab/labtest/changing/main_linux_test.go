package changing

import (
	"os"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/root"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/lab/labtest/stage"
)

// TestMain makes the test binary the program too: what a shell or sshd starts.
func TestMain(m *testing.M) {
	if !guest.IsInit() && len(os.Args) > 1 {
		switch os.Args[1] {
		case "agent", "apply":
			os.Exit(root.Run(console.System("test"), os.Args[1:]))
		}
	}
	os.Exit(stage.Main(m, lab.Auto, floor.More{}))
}
