package switches

import (
	"os"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/root"
)

// envProgram makes the test binary the program: it is started in a switch's namespace,
// from where the switch can be asked.
const envProgram = "LINERATE_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(envProgram) != "" || len(os.Args) > 1 && os.Args[1] == "guard" {
		os.Exit(root.Run(console.System("test"), os.Args[1:]))
	}
	os.Exit(m.Run())
}
