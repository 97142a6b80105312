package bondopt_test

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
)

// TestTable states the kernel's preconditions a second time, from
// bond_options.c, so that a slip in the table is seen; internal/lab/labtest/states
// tries them on a running kernel.
func TestTable(t *testing.T) {
	tests := []struct {
		option string
		mode   netstate.BondMode
		allows bool
		want   string
	}{
		{"mode", netstate.BalanceRR, true, "no ports"},
		{"fail_over_mac", netstate.ActiveBackup, true, "no ports"},
		{"xmit_hash_policy", netstate.BalanceXOR, true, "any time"},
		{"xmit_hash_policy", netstate.LACP, true, "any time"},
		{"miimon", netstate.LACP, true, "any time"},
		{"min_links", netstate.LACP, true, "any time"},
		{"lacp_rate", netstate.LACP, true, "down"},
		{"lacp_rate", netstate.BalanceXOR, false, "down"},
		{"ad_select", netstate.LACP, true, "down"},
		{"packets_per_slave", netstate.BalanceRR, true, "any time"},
		{"packets_per_slave", netstate.LACP, false, "any time"},
		{"tlb_dynamic_lb", netstate.BalanceTLB, true, "down"},
		{"tlb_dynamic_lb", netstate.LACP, false, "down"},
		{"arp_interval", netstate.ActiveBackup, true, "any time"},
		{"arp_interval", netstate.LACP, false, "any time"},
	}
	for _, tt := range tests {
		r, ok := bondopt.Find(tt.option)
		when := "any time"
		switch {
		case r.NoPorts:
			when = "no ports"
		case r.NeedsDown:
			when = "down"
		}
		if !ok || when != tt.want || r.Allows(tt.mode) != tt.allows {
			t.Errorf("%s in %s: allowed %v, %s; want %v, %s", tt.option, tt.mode, r.Allows(tt.mode), when, tt.allows, tt.want)
		}
	}
	seen := map[string]bool{}
	for _, r := range bondopt.Options() {
		kinds := 0
		for _, is := range []bool{r.Words != nil, r.Max != 0, r.Kind != bondopt.Number} {
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

func TestWords(t *testing.T) {
	for _, r := range bondopt.Options() {
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
			if r.Kind == bondopt.Port || bad == "" && r.Kind != bondopt.MAC && r.Kind != bondopt.Number {
				continue // a name, or no value
			}
			if w, err := r.Word(bad); err == nil {
				t.Errorf("%s takes %q as %q", r.Name, bad, w)
			}
		}
	}
}
