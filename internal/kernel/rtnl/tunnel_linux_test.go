package rtnl

import (
	"errors"
	"net"
	"net/netip"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/linerate/linerate/netstate"
)

// TestReadTunnels reads back tunnels that the kernel made.
func TestReadTunnels(t *testing.T) {
	inNewNamespace(t, func() error {
		if err := addVeth("d0", "d1"); err != nil {
			return err
		}
		lower, err := netlink.LinkByName("d0")
		if err != nil {
			return err
		}
		add := func(name string, id, dev int, local, remote string) error {
			attrs := netlink.NewLinkAttrs()
			attrs.Name = name
			v := &netlink.Vxlan{LinkAttrs: attrs, VxlanId: id, VtepDevIndex: dev, Port: 4789 + id}
			if local != "" {
				v.SrcAddr, v.Group = net.ParseIP(local), net.ParseIP(remote)
			}
			return netlink.LinkAdd(v)
		}
		err = add("vx0", 77, lower.Attrs().Index, "192.0.2.1", "192.0.2.2")
		if errors.Is(err, syscall.EOPNOTSUPP) {
			t.Skip("this kernel has no VXLAN")
		}
		if err = errors.Join(err, add("vx1", 78, 0, "2001:db8::1", "2001:db8::2"), add("vx2", 79, 0, "", "")); err != nil {
			return err
		}
		h, _, err := read()
		if err != nil {
			return err
		}
		for name, want := range map[string]netstate.Tunnel{
			"vx0": {Kind: "vxlan", ID: 77, Lower: "d0", Local: netip.MustParseAddr("192.0.2.1"), Remote: netip.MustParseAddr("192.0.2.2")},
			"vx1": {Kind: "vxlan", ID: 78, Local: netip.MustParseAddr("2001:db8::1"), Remote: netip.MustParseAddr("2001:db8::2")},
			"vx2": {Kind: "vxlan", ID: 79},
		} {
			l, _ := h.Link(name)
			if l.Tunnel == nil || *l.Tunnel != want {
				t.Errorf("%s: %+v; want %+v", name, l.Tunnel, want)
			}
		}
		// The kernel took off the headroom itself.
		if l, _ := h.Link("vx0"); l.MTU != 1500-l.Tunnel.Headroom() {
			t.Errorf("MTU %d", l.MTU)
		}
		return nil
	})
}
