package trunks

import (
	"os"
	"testing"

	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/lab/labtest/stage"
)

// A lab kernel always: the same one wherever it is run.
func TestMain(m *testing.M) { os.Exit(stage.Main(m, lab.UML, floor.More{Modules: []string{"tun"}})) }
