package fabric

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
)

// A bond of a host that is not Linux has its system's own words, the bonding
// driver's mode where one means the same, and what the system makes it with where
// the file is silent.
func TestSystemWords(t *testing.T) {
	f, err := Parse("f", read(t, "testdata/good/system.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	own := func(mode, policy string) *netstate.OwnRule { return &netstate.OwnRule{Mode: mode, Policy: policy} }
	for _, c := range []struct {
		host, bond string
		own        *netstate.OwnRule
		mode       netstate.BondMode
	}{
		{"esx", "vSwitch0", own("portid", ""), netstate.ModeUnread},
		{"esx", "dvs", own("lacp", "srcDestIp"), netstate.LACP},
		{"win", "Team", own("Lacp", "TransportPorts"), netstate.LACP},
		{"win", "Switch", own("SET", "HyperVPort"), netstate.ModeUnread},
		{"nas", "lagg0", own("lacp", "l3,l4"), netstate.LACP},
		{"nas", "lagg1", own("lacp", "l2,l3"), netstate.LACP},
		{"power", "ent2", own("8023ad", "src_dst_port"), netstate.LACP},
		{"plain", "bond0", nil, netstate.LACP},
	} {
		h, err := f.State(c.host)
		if err != nil {
			t.Fatal(err)
		}
		l, ok := h.Link(c.bond)
		if !ok || l.Bond == nil {
			t.Errorf("%s: no bond %s", c.host, c.bond)
			continue
		}
		if diff := cmp.Diff(c.own, l.Bond.Own); diff != "" || l.Bond.Mode != c.mode || len(h.UsablePorts(c.bond)) != 2 {
			t.Errorf("%s of %s: mode %s, ports %v; own words (-want +got):\n%s", c.bond, c.host, l.Bond.Mode, h.UsablePorts(c.bond), diff)
		}
		if want := bondopt.Linux; c.host == "plain" && h.Kernel.OS != want || c.own != nil && !bondopt.Foreign(h.Kernel.OS) {
			t.Errorf("%s runs %q", c.host, h.Kernel.OS)
		}
	}
}

// What the parameters of such a bond are written as reads back as the same.
func TestSystemParametersReadBack(t *testing.T) {
	for _, s := range bondopt.Systems() {
		for _, mode := range s.Modes {
			for _, policy := range s.Policies {
				own := netstate.OwnRule{Mode: mode.Word, Policy: policy.Word}
				if !policy.Counts(mode.Word) {
					continue
				}
				n := BondParameters(netstate.Bond{Own: &own})
				ps, b := &yamldoc.Collector{}, Bond{}
				bondParameters.decode(&decoder{Collector: ps, system: s.Name}, "", n, &b)
				if len(ps.All) > 0 || b.Options.Own == nil || *b.Options.Own != own {
					t.Errorf("%s: %v reads back as %v, %v", s.Name, own, b.Options.Own, ps.All)
				}
			}
		}
	}
}
