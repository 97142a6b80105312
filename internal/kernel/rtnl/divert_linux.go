package rtnl

import (
	"syscall"

	"github.com/vishvananda/netlink"
)

// Funnel makes an intermediate device (ifb) and sets it up: what is diverted to
// it goes on, after its queueing discipline, where it was going.
func (b *Builder) Funnel(name string, mtu int) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MTU = name, mtu
	if err := b.h.LinkAdd(&netlink.Ifb{LinkAttrs: attrs}); err != nil {
		return b.wrap("make funnel", name, err)
	}
	return b.Up(name)
}

// Divert sends what a link receives through one funnel, and what it is to send
// through another.
func (b *Builder) Divert(link, received, sent string) error {
	from, err := b.find(link)
	if err != nil {
		return err
	}
	if err := b.h.QdiscAdd(hook(from)); err != nil {
		return b.wrap("divert", link, err)
	}
	for parent, funnel := range map[uint32]string{netlink.HANDLE_MIN_INGRESS: received, netlink.HANDLE_MIN_EGRESS: sent} {
		to, err := b.find(funnel)
		if err != nil {
			return err
		}
		err = b.h.FilterAdd(&netlink.MatchAll{
			FilterAttrs: everything(from, parent),
			Actions:     []netlink.Action{netlink.NewMirredAction(to.Attrs().Index)},
		})
		if err != nil {
			return b.wrap("divert", link, err)
		}
	}
	return nil
}

// hook is where a link's packets can be taken up, both ways.
func hook(l netlink.Link) *netlink.Clsact {
	return &netlink.Clsact{QdiscAttrs: netlink.QdiscAttrs{
		LinkIndex: l.Attrs().Index, Handle: netlink.MakeHandle(0xffff, 0), Parent: netlink.HANDLE_CLSACT,
	}}
}

// everything is a filter's place on one way of the hook, for every protocol.
func everything(l netlink.Link, way uint32) netlink.FilterAttrs {
	return netlink.FilterAttrs{LinkIndex: l.Attrs().Index, Parent: way, Priority: 1, Protocol: syscall.ETH_P_ALL}
}

// MTUOf is a link's MTU as it is now.
func (b *Builder) MTUOf(name string) (int, error) {
	l, err := b.find(name)
	if err != nil {
		return 0, err
	}
	return l.Attrs().MTU, nil
}
