package accuracy

import (
	"fmt"
	"os"
	"testing"

	"github.com/linerate/linerate/internal/kernel/feature"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// The running kernel where it shapes, since it has more than one processor;
// else, or where it is asked for, the lab's.
func TestMain(m *testing.M) {
	kernel := os.Getenv(floor.EnvKernel)
	if kernel == "" || kernel == string(lab.Local) {
		err := feature.Need(feature.NetNS, feature.TBF, feature.Veth, feature.Bridge)
		if err == nil {
			os.Exit(m.Run())
		}
		fmt.Fprintln(os.Stderr, "not on the running kernel:", err)
		os.Unsetenv(floor.EnvKernel)
	}
	os.Exit(floor.Main(m, lab.UML))
}
