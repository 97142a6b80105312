package predicting

import (
	"os"
	"testing"

	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// A lab kernel always: bonds and delays are wanted, whatever runs here.
func TestMain(m *testing.M) { os.Exit(floor.Main(m, lab.UML)) }
