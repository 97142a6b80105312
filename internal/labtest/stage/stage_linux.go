package stage

import (
	"os"
	"testing"

	"github.com/linerate/linerate/internal/cli"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/internal/labtest/floor"
)

// Main is floor.Main for tests that change hosts: it can be the dead man of a
// change too.
func Main(m *testing.M, want lab.BackEnd) int {
	if !guest.IsInit() && len(os.Args) > 1 && os.Args[1] == "guard" {
		return cli.Main(cli.System("test"), os.Args[1:])
	}
	return floor.Main(m, want)
}

// EnvKernel chooses the kernel that the tests run on, see floor.EnvKernel.
const EnvKernel = floor.EnvKernel

// Space is a namespace that goes when the test does.
type Space = floor.Space

// NewSpace makes a namespace for a test; it fails the test where it cannot.
func NewSpace(t testing.TB, name string) Space {
	t.Helper()
	return floor.NewSpace(t, name)
}

// Must fails the test on an error.
func Must(t testing.TB, err error) {
	t.Helper()
	floor.Must(t, err)
}

// Pause is the time between two looks at something that comes about by itself.
func Pause() { floor.Pause() }
