package wanted_test

import (
	"fmt"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// TestBondTablesAgree holds what a file may say of a bond to what a plan can
// set: the same options, in the same modes.
func TestBondTablesAgree(t *testing.T) {
	known := map[string]bool{"num_unsol_na": true} // the driver's other name for num_grat_arp
	for _, name := range fabric.BondingOptions() {
		rule, ok := plan.BondOptionRule(name)
		if !ok {
			if !known[name] {
				t.Errorf("a file may say %s, and no plan can set it", name)
			}
			continue
		}
		known[name] = true
		for _, word := range rule.Words {
			mode := "balance-rr"
			if rule.Modes != nil {
				mode = rule.Modes[0].String()
			}
			if name == "mode" {
				mode = word
			}
			text := fmt.Sprintf("linerate: v1\nhosts: {h: {reach: 'local:', bonding: {bond0: {mode: %s, %s: %s}}}}\n", mode, name, word)
			if name == "mode" {
				text = fmt.Sprintf("linerate: v1\nhosts: {h: {reach: 'local:', bonding: {bond0: {mode: %s}}}}\n", word)
			}
			if _, err := fabric.Parse("f", []byte(text)); err != nil {
				t.Errorf("a plan can set %s to %s, and no file can say it: %v", name, word, err)
			}
		}
		for _, mode := range netstate.BondModes() {
			if fabric.OptionInMode(name, mode) != rule.Allows(mode) {
				t.Errorf("%s in mode %s: a file may say it: %v; a plan can set it: %v", name, mode, fabric.OptionInMode(name, mode), rule.Allows(mode))
			}
		}
	}
	for _, rule := range plan.BondOptions() {
		if !known[rule.Name] {
			t.Errorf("a plan can set %s, and no file can say it", rule.Name)
		}
	}
}
