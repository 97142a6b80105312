package wanted_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/wanted"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// TestTeamIsNoBond: where a file has the bond that a team is to be moved to, and the host
// runs the team, nothing is planned before teamd is stopped.
func TestTeamIsNoBond(t *testing.T) {
	f, err := fabric.Parse("f.yaml", []byte(`linerate: v1
hosts:
  h:
    network:
      version: 2
      ethernets: {eth8: {}, eth9: {}}
      bonds: {team0: {interfaces: [eth8, eth9], parameters: {mode: 802.3ad, mii-monitor-interval: 100}, addresses: [198.51.100.1/24]}}
`))
	if err != nil {
		t.Fatal(err)
	}
	observed := running()
	for i, name := range []string{"eth8", "eth9"} {
		observed.Links = append(observed.Links, netstate.Link{Name: name, Index: 80 + i, Up: true, Carrier: true, Master: "team0", MTU: 1500})
	}
	observed.Links = append(observed.Links, netstate.Link{Name: "team0", Index: 90, Kind: "team", Up: true, Carrier: true, MTU: 1500})
	state, err := wanted.Of(wanted.Request{Fabric: f, Host: "h", Observed: observed})
	if err == nil {
		var p plan.Plan
		p, err = plan.Between(observed, state.Host)
		if len(p.Steps) > 0 {
			t.Errorf("planned:\n%s", p.Text(80))
		}
	}
	var problems yamldoc.Problems
	if !errors.As(err, &problems) || !strings.Contains(problems[0].What, "is a team of teamd's") || !strings.Contains(problems[0].Hint, "stop teamd first") {
		t.Errorf("%v", err)
	}
}
