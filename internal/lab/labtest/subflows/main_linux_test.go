package subflows

import (
	"os"
	"testing"

	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/stage"
)

// kernel is the series that the tests run on unless PROVE_KERNEL says another:
// it must have bonding and MPTCP, which User-Mode Linux and many machines' own
// kernels do not have together. Where it cannot be booted the tests fail, and
// say what is missing.
const kernel = "6.1"

func TestMain(m *testing.M) {
	if os.Getenv(stage.EnvKernel) == "" {
		os.Setenv(stage.EnvKernel, kernel)
	}
	os.Exit(stage.Main(m, lab.QEMU))
}
