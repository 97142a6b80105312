package scenariorun

import (
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/netstate"
)

// TestBecome: what a step sets of bonds is a change of hosts like any other, and
// so is set again when the network is built anew.
func TestBecome(t *testing.T) {
	bonds, err := scenario.ParseBond(map[string]string{"mii-monitor-interval": "1000", "lacp-rate": "fast"})
	if err != nil {
		t.Fatal(err)
	}
	c := hostChange{bonds: bonds}
	if c.isZero() || !(hostChange{}).isZero() {
		t.Error("a change of bonds is one, and nothing is none")
	}
	h := netstate.Host{Links: []netstate.Link{
		{Name: "eth0"},
		{Name: "bond0", Bond: &netstate.Bond{Mode: netstate.LACP, Miimon: 100 * time.Millisecond}},
		{Name: "bond1", Bond: &netstate.Bond{Mode: netstate.BalanceRR, LACPRate: netstate.LACPSlow}},
	}}
	if err := become(&h, c); err != nil {
		t.Fatal(err)
	}
	if b := h.Links[1].Bond; b.Miimon != time.Second || b.LACPRate != netstate.LACPFast {
		t.Errorf("bond0 is %+v", b)
	}
	if b := h.Links[2].Bond; b.Miimon != time.Second || b.LACPRate != netstate.LACPSlow {
		t.Errorf("bond1 is %+v", b)
	}
}
