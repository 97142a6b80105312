package netstate

import (
	"net/netip"
	"slices"
	"testing"
)

// bridged is a host with a bond of Open vSwitch below a bridge and a VLAN on that.
func bridged(b OVSBond) Host {
	b.Ports = []string{"eno1", "eno2"}
	up := func(name, master string) Link { return Link{Name: name, Master: master, Up: true, Carrier: true} }
	return Host{Links: []Link{up("eno1", "bond0"), up("eno2", "bond0"),
		{Name: "bond0", Kind: KindOVSBond, Master: "br0", Up: true, Carrier: true, OVS: &b},
		{Name: "br0", Kind: KindOVSBridge, Up: true, Carrier: true, Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/24")}},
		{Name: "lan", Kind: "vlan", Up: true, Carrier: true, VLAN: &VLAN{ID: 20, Parent: "br0"}, Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.20.1/24")}},
	}}
}

func TestOVSMembers(t *testing.T) {
	for _, c := range []struct {
		name           string
		bond           OVSBond
		usable, waits  []string
		sendsSomething bool
	}{
		{"by source", OVSBond{Mode: OVSBalanceSLB}, []string{"eno1", "eno2"}, nil, true},
		{"active-backup", OVSBond{Mode: OVSActiveBackup, Active: "eno2"}, []string{"eno2"}, []string{"eno1"}, true},
		{"its active member unknown", OVSBond{Mode: OVSActiveBackup}, []string{"eno1", "eno2"}, nil, true},
		{"its active member disabled", OVSBond{Mode: OVSActiveBackup, Active: "eno2", Disabled: []string{"eno2"}}, []string{"eno1"}, nil, true},
		{"by flow, with LACP", OVSBond{Mode: OVSBalanceTCP, LACP: OVSLACPActive}, []string{"eno1", "eno2"}, nil, true},
		{"by flow, LACP not read", OVSBond{Mode: OVSBalanceTCP}, []string{"eno1", "eno2"}, nil, true},
		{"by flow, without LACP", OVSBond{Mode: OVSBalanceTCP, LACP: OVSLACPOff}, nil, nil, false},
		{"no partner", OVSBond{Mode: OVSBalanceSLB, LACP: OVSLACPActive, NoPartner: true}, nil, nil, false},
	} {
		h := bridged(c.bond)
		if got := h.UsablePorts("bond0"); !slices.Equal(got, c.usable) {
			t.Errorf("%s: usable %v", c.name, got)
		}
		if got := h.StandbyMembers("bond0"); !slices.Equal(got, c.waits) {
			t.Errorf("%s: standby %v", c.name, got)
		}
		if (c.bond.Silent() == "") != c.sendsSomething {
			t.Errorf("%s: %q", c.name, c.bond.Silent())
		}
		below, tags, bond := h.Below("lan")
		if bond != nil || len(below) != len(c.usable) || tags != 1 {
			t.Errorf("%s: below lan %v, %d tags, a kernel's bond: %v", c.name, below, tags, bond)
		}
	}
}

func TestTagOf(t *testing.T) {
	h := bridged(OVSBond{Mode: OVSBalanceSLB})
	for address, want := range map[string]int{"10.0.0.1": 0, "10.0.20.1": 20, "10.9.9.9": 0} {
		if got := h.TagOf(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %d, want %d", address, got, want)
		}
	}
}
