package plan

import (
	"slices"
	"testing"

	"github.com/linerate/linerate/netstate"
)

// TestPartnerIsNotWaitedFor: a bond that becomes LACP has no carrier before its
// partner changes too, where it wants more than one link.
func TestPartnerIsNotWaitedFor(t *testing.T) {
	for _, tt := range []struct {
		name      string
		mode, was netstate.BondMode
		minLinks  int
		up, back  bool // waited for on the way there and on the way back
	}{
		{"one link is enough", netstate.LACP, netstate.ActiveBackup, 1, true, true},
		{"two are wanted", netstate.LACP, netstate.ActiveBackup, 2, false, true},
		{"from LACP", netstate.BalanceXOR, netstate.LACP, 2, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bond := func(m netstate.BondMode) *netstate.Bond {
				return &netstate.Bond{Mode: m, Miimon: 1e8, MinLinks: tt.minLinks, Ports: []string{"eth0"}}
			}
			host := netstate.Host{Links: []netstate.Link{
				{Name: "eth0", MTU: 1500, Up: true, Master: "bond0", Port: &netstate.BondPort{Bond: "bond0"}},
				{Name: "bond0", Kind: "bond", MTU: 1500, Up: true, Bond: bond(tt.was)},
			}}
			want := host.Clone()
			want.Links[1].Bond = bond(tt.mode)
			p, err := Between(host, want)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range p.Steps {
				if s.Kind != LinkState || s.Link != "bond0" {
					continue
				}
				if got := slices.Contains(s.Ready, "bond0"); s.New == Up && got != tt.up {
					t.Errorf("waits on the way there: %v", got)
				}
				if got := slices.Contains(s.ReadyUndone, "bond0"); s.New == Down && got != tt.back {
					t.Errorf("waits on the way back: %v", got)
				}
			}
		})
	}
}
