package stopping

import (
	"os"
	"testing"

	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// A lab kernel always: the same one, with netem, wherever it is run.
func TestMain(m *testing.M) { os.Exit(floor.Main(m, lab.UML)) }
