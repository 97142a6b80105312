package rtnl

import (
	"time"

	"github.com/vishvananda/netlink"
)

// Lose puts a delay and random loss (netem) on a link, below its token bucket
// where it has one; loss is from 0 to 1. netem loses what the stack hands it
// whole, so a link that joins segments (GSO) must be told not to, see
// Singly.
func (b *Builder) Lose(name string, delay time.Duration, loss float64, limit int, underShaper bool) error {
	return b.netem(name, underShaper, netlink.NetemQdiscAttrs{
		Latency: uint32(delay / time.Microsecond), Limit: uint32(limit), Loss: float32(100 * loss),
	})
}

func (b *Builder) netem(name string, underShaper bool, what netlink.NetemQdiscAttrs) error {
	l, err := b.find(name)
	if err != nil {
		return err
	}
	parent := uint32(netlink.HANDLE_ROOT)
	if underShaper {
		parent = netlink.MakeHandle(1, 1)
	}
	attrs := netlink.QdiscAttrs{LinkIndex: l.Attrs().Index, Handle: netlink.MakeHandle(2, 0), Parent: parent}
	return b.wrap("delay", name, b.h.QdiscReplace(netlink.NewNetem(attrs, what)))
}

// Singly has TCP hand the link its segments one by one (gso_max_segs 1).
func (b *Builder) Singly(name string) error {
	l, err := b.find(name)
	if err != nil {
		return err
	}
	return b.wrap("send singly on", name, b.h.LinkSetGSOMaxSegs(l, 1))
}
