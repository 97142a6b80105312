package stage

import (
	"os"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/root"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/unit"
)

// Main is floor.Main for tests that change hosts: it can be the dead man of a
// change too.
func Main(m *testing.M, want lab.BackEnd) int {
	if !guest.IsInit() && len(os.Args) > 1 && os.Args[1] == "guard" {
		return root.Run(console.System("test"), os.Args[1:])
	}
	return floor.Main(m, want)
}

// MainOn is Main on a distribution's kernel, emulated: of the series, unless EnvKernel
// says another.
func MainOn(m *testing.M, series string) int {
	if !guest.IsInit() && len(os.Args) > 1 && os.Args[1] == "guard" {
		return root.Run(console.System("test"), os.Args[1:])
	}
	return floor.MainWith(m, lab.QEMU, floor.More{Series: series})
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

// Samples for Turn, see floor.
const (
	Tuning     = floor.Tuning
	Rehearsing = floor.Rehearsing
)

// Draw is the number that a sample is drawn by, see floor.Draw.
func Draw(t *testing.T) uint64 {
	t.Helper()
	return floor.Draw(t)
}

// Turn skips a test whose sample is not drawn, see floor.Turn.
func Turn(t *testing.T, s floor.Sample) {
	t.Helper()
	floor.Turn(t, s)
}

// Await waits for a bond's ports, see floor.Await.
func Await(t testing.TB, space Space, bond string, ports int, patience time.Duration) {
	t.Helper()
	floor.Await(t, space, bond, ports, patience)
}

// Bucket is a shaper's, see floor.Bucket.
func Bucket(rate unit.BitRate) unit.Bytes { return floor.Bucket(rate) }
