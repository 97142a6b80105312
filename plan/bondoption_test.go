package plan_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// TestBondOptionTable states the kernel's preconditions a second time, from
// bond_options.c, so that a slip in the table is seen; internal/kernel/act
// tries them on a running kernel.
func TestBondOptionTable(t *testing.T) {
	tests := []struct {
		option string
		mode   netstate.BondMode
		allows bool
		want   plan.Disruption
	}{
		{"mode", netstate.BalanceRR, true, plan.Recreate},
		{"fail_over_mac", netstate.ActiveBackup, true, plan.Recreate},
		{"xmit_hash_policy", netstate.BalanceXOR, true, plan.Online},
		{"xmit_hash_policy", netstate.LACP, true, plan.Online},
		{"miimon", netstate.LACP, true, plan.Online},
		{"min_links", netstate.LACP, true, plan.Online},
		{"lacp_rate", netstate.LACP, true, plan.BondDown},
		{"lacp_rate", netstate.BalanceXOR, false, plan.BondDown},
		{"ad_select", netstate.LACP, true, plan.BondDown},
		{"packets_per_slave", netstate.BalanceRR, true, plan.Online},
		{"packets_per_slave", netstate.LACP, false, plan.Online},
		{"tlb_dynamic_lb", netstate.BalanceTLB, true, plan.BondDown},
		{"tlb_dynamic_lb", netstate.LACP, false, plan.BondDown},
		{"arp_interval", netstate.ActiveBackup, true, plan.Online},
		{"arp_interval", netstate.LACP, false, plan.Online},
	}
	for _, tt := range tests {
		r, ok := plan.BondOptionRule(tt.option)
		if !ok || r.Disruption() != tt.want || r.Allows(tt.mode) != tt.allows {
			t.Errorf("%s in %s: allowed %v, %s; want %v, %s", tt.option, tt.mode, r.Allows(tt.mode), r.Disruption(), tt.allows, tt.want)
		}
	}
	seen := map[string]bool{}
	for _, r := range plan.BondOptions() {
		kinds := 0
		for _, is := range []bool{r.Words != nil, r.Max != 0, r.Value != ""} {
			if is {
				kinds++
			}
		}
		if seen[r.Name] || !strings.HasPrefix(r.Source, "BOND_OPT_") || kinds != 1 {
			t.Errorf("line %+v: double, without source, or without exactly one of words, maximum and value", r)
		}
		if w, err := r.Word(r.Default); err != nil || w != r.Default {
			t.Errorf("%s: the default %q is spelled %q, %v", r.Name, r.Default, w, err)
		}
		seen[r.Name] = true
	}
}

func TestBondRuleWord(t *testing.T) {
	for _, r := range plan.BondOptions() {
		for i, w := range r.Words {
			n, err := r.Number(w)
			if err != nil || n != int64(i) {
				t.Errorf("%s %s: number %d, %v; want %d", r.Name, w, n, err, i)
			}
			if got, err := r.Word(w + " " + string(rune('0'+i))); err != nil || got != w {
				t.Errorf("%s: sysfs's form of %s gives %q, %v", r.Name, w, got, err)
			}
		}
		for _, bad := range []string{"", "nonsense", "-1", "99999999999999999999"} {
			if r.Value == plan.PortValue || bad == "" && r.Value != plan.MACValue && r.Value != "" {
				continue // a name, or no value
			}
			if w, err := r.Word(bad); err == nil {
				t.Errorf("%s takes %q as %q", r.Name, bad, w)
			}
		}
	}
}

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
