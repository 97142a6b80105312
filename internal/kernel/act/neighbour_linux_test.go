package act

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/linerate/linerate/plan"
)

// TestKernelPermanentNeighbour: the kernel forgets what somebody gave a link for good
// with some steps, and no rollback brings it back: they are refused before one is done.
func TestKernelPermanentNeighbour(t *testing.T) {
	inNewNamespace(t, func() {
		must(t, netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "v0"}, PeerName: "v1"}))
		l, err := netlink.LinkByName("v0")
		must(t, err)
		must(t, netlink.LinkSetUp(l))
		address := netip.MustParsePrefix("10.77.0.1/24")
		must(t, Kernel{}.Do(context.Background(), plan.Step{Kind: plan.Address, Link: "v0", Address: address, New: plan.Present}))
		neighbour := &netlink.Neigh{
			LinkIndex: l.Attrs().Index, Family: netlink.FAMILY_V4, State: netlink.NUD_PERMANENT,
			IP: net.IPv4(10, 77, 0, 2), HardwareAddr: net.HardwareAddr{2, 0, 0, 0, 0, 2},
		}
		steps := map[string]plan.Step{
			"down":         {Kind: plan.LinkState, Link: "v0", Old: plan.Up, New: plan.Down},
			"another MAC":  {Kind: plan.LinkMAC, Link: "v0", Old: l.Attrs().HardwareAddr.String(), New: "02:00:00:00:00:09"},
			"last address": {Kind: plan.Address, Link: "v0", Address: address, Old: plan.Present, New: plan.Absent},
		}
		for name, s := range steps {
			must(t, netlink.NeighSet(neighbour))
			if now, err := (Kernel{}).Read(context.Background(), s); !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("%s: %q, %v", name, now, err)
			}
			must(t, Kernel{}.Do(context.Background(), s))
			left, err := netlink.NeighList(l.Attrs().Index, netlink.FAMILY_V4)
			must(t, err)
			for _, n := range left {
				if n.State&netlink.NUD_PERMANENT != 0 {
					t.Errorf("%s: this kernel keeps it: %v", name, n)
				}
			}
			if now, err := (Kernel{}).Read(context.Background(), s); now != s.New || err != nil {
				t.Errorf("%s, done: %q, %v", name, now, err)
			}
			must(t, Kernel{}.Do(context.Background(), s.Rollback()))
			if now, err := (Kernel{}).Read(context.Background(), s); now != s.Old || err != nil {
				t.Errorf("%s, without one: %q, %v", name, now, err)
			}
		}
	})
}
