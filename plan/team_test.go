package plan_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// TestTeamIsLeft: a team is not made a bond, neither under its name nor by its ports,
// and the refusal says what comes first.
func TestTeamIsLeft(t *testing.T) {
	for name, want := range map[string]string{
		"team0": "team0: it is a team of teamd's, and no plan touches one: stop teamd first (`systemctl disable --now teamd@team0`",
		"bond0": "p1 is a port of team0, a team of teamd's: stop teamd first",
	} {
		observed := anyHost()
		for i := range observed.Links {
			if observed.Links[i].Name == "p1" {
				observed.Links[i].Master = "team0"
			}
		}
		observed.Links = append(observed.Links, netstate.Link{Name: "team0", Kind: "team", Index: 9, Up: true})
		desired := observed.Clone()
		b := bondOf("p1")
		b.Name, b.Addresses = name, nil
		desired.SetLink(b)
		p, err := plan.Between(observed, desired)
		var broken *plan.RuleError
		if !errors.As(err, &broken) || !strings.Contains(err.Error(), want) || len(p.Steps) > 0 {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		if strings.Contains(err.Error(), "take it out there") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
