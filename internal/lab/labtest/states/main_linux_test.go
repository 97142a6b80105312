package states

import (
	"os"
	"testing"

	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// kernelHost, as the kernel of a proof, is the machine's own.
const (
	envKernel  = floor.EnvKernel
	kernelHost = "host"
)

// onHost reports that the tests run on the machine's own kernel.
var onHost = os.Getenv(envKernel) == kernelHost

func TestMain(m *testing.M) {
	if onHost {
		os.Exit(m.Run()) // namespaces are all it needs
	}
	os.Exit(floor.Main(m, lab.Auto))
}
