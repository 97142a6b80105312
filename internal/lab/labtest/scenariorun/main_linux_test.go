package scenariorun

import (
	"os"
	"testing"

	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/lab/labtest/stage"
)

// A lab kernel always: some scenarios set sysctls of the whole machine.
func TestMain(m *testing.M) { os.Exit(stage.Main(m, lab.UML, floor.More{})) }
