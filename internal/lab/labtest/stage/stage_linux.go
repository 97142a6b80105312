package stage

import (
	"os"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/root"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// Main is floor.MainWith for tests that change hosts: the test binary is the
// dead man of a change too.
func Main(m *testing.M, want lab.BackEnd, more floor.More) int {
	if !guest.IsInit() && len(os.Args) > 1 && os.Args[1] == "guard" {
		return root.Run(console.System("test"), os.Args[1:])
	}
	return floor.MainWith(m, want, more)
}
