package tuning

import (
	"os"
	"testing"

	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/lab/labtest/stage"
)

// A lab kernel always: bonds, delays and loss are wanted, whatever runs here. But
// a lab cannot write the document.
func TestMain(m *testing.M) {
	if os.Getenv("PROVE_TABLE") != "" {
		os.Exit(m.Run())
	}
	os.Exit(stage.Main(m, lab.UML, floor.More{}))
}
