package predict

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// TestLearnedSwitch: what a probe learned of a switch counts before what the
// path says of it, for the links that it was learned of.
func TestLearnedSwitch(t *testing.T) {
	const jumbo = 500e6 * 8948.0 / 9014
	for _, c := range []struct {
		name      string
		mask      uint16
		links     []string
		declared  string
		rate, low float64 // low zero: certain
	}{
		{"reads ports", 0x8f31, []string{"b1", "b0"}, "layer2", 2 * jumbo, 0},
		{"reads no port", 0, []string{"b0", "b1"}, "layer3+4", jumbo, 0},
		{"of other links", 0x8f31, []string{"b0", "b7"}, "unknown", 2 * jumbo, jumbo},
	} {
		f := demo(netstate.Layer34, 9000)
		f.Paths[0].SwitchHash = c.declared
		f.Paths[0].Learned = []flow.LearnedHash{{
			To: "b", Links: c.links, Field: flow.LearnedSport, Masks: []uint16{c.mask}, Ports: flow.PortRange{First: 1024, Last: 65535},
			Flows: []flow.LearnedFlow{{Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2"), Port: 5201}},
		}}
		p := mustPredict(t, f, Traffic{Streams: 4})
		if !near(p.Rate, c.rate, 1e-6) || !near(p.RateLow, c.low, 1e-6) {
			t.Errorf("%s: %v, low %v; want %.0f, low %.0f: %+v", c.name, p.Rate, p.RateLow, c.rate, c.low, p.Limits)
		}
		if c.name == "reads no port" && !strings.Contains(p.Limits[0].Why, "learned") {
			t.Errorf("%s: %+v", c.name, p.Limits)
		}
	}
}
