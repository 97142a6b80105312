package plan_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// TestModelRefuses: the model that the property test trusts must itself fail.
func TestModelRefuses(t *testing.T) {
	host := netstate.Host{Links: []netstate.Link{
		{Name: "b", Kind: "bond", Up: true, MTU: 1500, Bond: &netstate.Bond{Mode: netstate.LACP, Ports: []string{"p"}}},
		{Name: "x", Kind: "bond", Up: true, MTU: 1500, Bond: &netstate.Bond{Mode: netstate.BalanceXOR}},
		{Name: "v", MTU: 1500, VLAN: &netstate.VLAN{ID: 1, Parent: "b"}},
	}}
	option := func(link, key, was, want string) plan.Step {
		return plan.Step{Kind: plan.BondOption, Link: link, Key: key, Old: was, New: want}
	}
	for why, s := range map[string]plan.Step{
		"EBUSY":     option("b", "lacp_rate", "slow", "fast"),
		"ENOTEMPTY": option("b", "mode", "802.3ad", "balance-xor"),
		"EACCES":    option("x", "lacp_rate", "slow", "fast"),
		"it is":     option("b", "xmit_hash_policy", "layer3+4", "layer2"),
		"ERANGE":    {Kind: plan.LinkMTU, Link: "v", Old: "1500", New: "9000"},
		"larger":    {Kind: plan.LinkMTU, Link: "b", Old: "1500", New: "1400"},
		"no such":   {Kind: plan.LinkMTU, Link: "nope", Old: "1500", New: "1400"},
	} {
		_, err := plan.Apply(host, plan.Plan{Steps: []plan.Step{s}})
		var state *plan.StateError
		if !errors.As(err, &state) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", s.Change(), err, why)
		}
	}
}
