package steering

import (
	"os"
	"testing"

	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/lab/labtest/stage"
)

func TestMain(m *testing.M) {
	os.Exit(stage.Main(m, lab.Auto, floor.More{Modules: []string{"vxlan", "geneve", "ip_gre", "ipip", "wireguard"}}))
}
