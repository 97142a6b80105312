package act

import (
	"fmt"
	"io/fs"
	"net/netip"
	"syscall"

	"github.com/vishvananda/netlink"

	"github.com/linerate/linerate/plan"
)

// What an address is besides present and absent: not usable yet, or never
// (include/uapi/linux/if_addr.h). A step that adds one waits until it is.
const (
	tentative    = "tentative"
	duplicate    = "duplicate"
	ifaDADFailed = 0x08 // IFA_F_DADFAILED
	ifaTentative = 0x40 // IFA_F_TENTATIVE
)

// withLink runs do with the link of that name and a socket in the namespace of
// the calling thread.
func withLink(name string, p netip.Prefix, do func(*netlink.Handle, netlink.Link) error) error {
	if !p.IsValid() {
		return fmt.Errorf("address %q: %w", p, fs.ErrInvalid)
	}
	l, err := findLink(name)
	if err != nil {
		return err
	}
	h, err := netlink.NewHandle(syscall.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("open netlink: %w", err)
	}
	defer h.Close()
	return do(h, &netlink.Dummy{LinkAttrs: netlink.LinkAttrs{Name: name, Index: l.index}})
}

// setAddress gives the link an address or takes it away (RTM_NEWADDR).
func setAddress(link string, p netip.Prefix, want string) error {
	return withLink(link, p, func(h *netlink.Handle, l netlink.Link) error {
		net := ipNet(p)
		net.IP = p.Addr().AsSlice()
		if want == plan.Absent {
			return h.AddrDel(l, &netlink.Addr{IPNet: net})
		}
		return h.AddrAdd(l, &netlink.Addr{IPNet: net})
	})
}

func readAddress(link string, p netip.Prefix) (state string, err error) {
	err = withLink(link, p, func(h *netlink.Handle, l netlink.Link) error {
		all, err := h.AddrList(l, family(p))
		if err != nil {
			return fmt.Errorf("list addresses: %w", err)
		}
		state = plan.Absent
		for _, a := range all {
			ones, _ := a.Mask.Size()
			if !a.IP.Equal(p.Addr().AsSlice()) || ones != p.Bits() {
				continue
			}
			switch {
			case a.Flags&ifaDADFailed != 0:
				state = duplicate
			case a.Flags&ifaTentative != 0:
				state = tentative
			default:
				state = plan.Present
			}
		}
		return nil
	})
	return state, err
}
