package subflows

import (
	"os"
	"testing"

	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/lab/labtest/stage"
)

// kernel is the series that the tests run on unless PROVE_KERNEL says another:
// it must have bonding and MPTCP, which User-Mode Linux and many machines' own
// kernels do not have together.
const kernel = "6.1"

func TestMain(m *testing.M) { os.Exit(stage.Main(m, lab.QEMU, floor.More{Series: kernel})) }
