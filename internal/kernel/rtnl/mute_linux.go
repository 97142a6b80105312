package rtnl

import (
	"github.com/vishvananda/netlink"
)

// Mute drops all that a link receives or is to send, and leaves its carrier: a
// failure that nobody is told of. What the link's shaper holds goes out still.
// A link that is muted already stays so.
func (b *Builder) Mute(name string) error {
	l, err := b.find(name)
	if err != nil {
		return err
	}
	if err := b.h.QdiscReplace(hook(l)); err != nil {
		return b.wrap("mute", name, err)
	}
	for _, way := range []uint32{netlink.HANDLE_MIN_INGRESS, netlink.HANDLE_MIN_EGRESS} {
		at := everything(l, way)
		at.Handle = 1 // the one there is, where it is muted already
		err := b.h.FilterReplace(&netlink.MatchAll{
			FilterAttrs: at,
			Actions:     []netlink.Action{&netlink.GenericAction{ActionAttrs: netlink.ActionAttrs{Action: netlink.TC_ACT_SHOT}}},
		})
		if err != nil {
			return b.wrap("mute", name, err)
		}
	}
	return nil
}

// Unmute takes Mute back; a link that is not muted is an error.
func (b *Builder) Unmute(name string) error {
	l, err := b.find(name)
	if err != nil {
		return err
	}
	return b.wrap("unmute", name, b.h.QdiscDel(hook(l)))
}
