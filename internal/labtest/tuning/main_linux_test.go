package tuning

import (
	"os"
	"testing"

	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/labtest/stage"
)

// A lab kernel always: bonds, delays and loss are wanted, whatever runs here.
func TestMain(m *testing.M) { os.Exit(stage.Main(m, lab.UML)) }
