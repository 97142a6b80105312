package fabric

import (
	"testing"

	"github.com/linerate/linerate/internal/bondopt"
)

// TestBondNames: each of netplan's names leads to one option, and back.
func TestBondNames(t *testing.T) {
	names := map[string]bool{}
	for _, o := range bondopt.Options() {
		said, ok := o.Saying(bondopt.Netplan)
		if name, netplans := BondParameter(o.Name); netplans != ok || name != said.Name {
			t.Errorf("BondParameter(%s) = %s, %v", o.Name, name, netplans)
		}
		if !ok {
			continue
		}
		for _, name := range append([]string{said.Name}, said.Older...) {
			if found, _, ok := netplanParameter(name); names[name] || !ok || found.Name != o.Name {
				t.Errorf("netplan's name %s is in two rows, or leads to %q, not %q", name, found.Name, o.Name)
			}
			names[name] = true
		}
		if got := Option(kernelBond(), o.Name); o.Own() && got != InitialOption(o.Name) {
			t.Errorf("the kernel's %s is %q, the table says %q", o.Name, got, InitialOption(o.Name))
		}
	}
	if name, ok := BondParameter("lacp_active"); ok {
		t.Errorf("netplan has no lacp_active, BondParameter says %s", name)
	}
}
