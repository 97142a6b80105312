package nfs

import (
	"os"
	"testing"

	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/lab/labtest/stage"
)

// A lab kernel always, never the running one: the test starts an NFS server.
func TestMain(m *testing.M) { os.Exit(stage.Main(m, lab.UML, floor.More{})) }
