package states

import (
	"os"
	"testing"

	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/labtest/floor"
)

func TestMain(m *testing.M) { os.Exit(floor.Main(m, lab.Auto)) }
