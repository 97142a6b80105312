package findings

import (
	"os"
	"testing"

	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

func TestMain(m *testing.M) { os.Exit(floor.Main(m, lab.Auto)) }
