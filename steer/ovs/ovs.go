package ovs

import (
	"errors"
	"fmt"
	"slices"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// ErrNotBond is of a link that is no bond of Open vSwitch.
var ErrNotBond = errors.New("not a bond of Open vSwitch")

// Bond is a bond of Open vSwitch as far as placing flows needs it.
type Bond struct {
	Mode netstate.OVSMode
	// LACP is as netstate.OVSBond has it; what it asks for is taken to be agreed.
	LACP string
	// Members are those that carry traffic.
	Members []string
	Active  string // active-backup's; "" unknown
	Hash    Hash
	Basis   uint32
	// Has is the member of each bucket that was read; it moves with the load.
	Has map[uint8]string
}

var (
	_ steer.Spreader = Bond{}
	_ steer.Remedied = Bond{}
)

// Of reads a bond out of a host. The error is ErrNotBond for another link.
func Of(h netstate.Host, name string) (Bond, error) {
	l, ok := h.Link(name)
	if !ok || l.OVS == nil {
		return Bond{}, fmt.Errorf("read bond %q: %w", name, ErrNotBond)
	}
	return Bond{Mode: l.OVS.Mode, LACP: l.OVS.LACP, Members: h.UsablePorts(name), Active: l.OVS.Active, Basis: l.OVS.Basis, Has: l.OVS.Buckets}, nil
}

// Links are the members.
func (b Bond) Links() []string { return b.Members }

// Place says which member sends f. With balance-slb Hash is the bucket, and the member
// is known where the bucket's was read; with balance-tcp nothing is.
func (b Bond) Place(f flow.Frame) steer.Placement {
	p := steer.Placement{Index: -1}
	if b.Mode == netstate.OVSBalanceSLB && !f.SrcMAC.IsZero() {
		bucket := uint32(b.Hash.Bucket(f.SrcMAC, f.VLAN, b.Basis))
		p.Hash = &bucket
	}
	switch {
	case len(b.Members) == 0:
		p.Why = "no usable link"
	case len(b.Members) == 1:
		p.Index, p.Link, p.Known = 0, b.Members[0], true
	case b.Mode == netstate.OVSBalanceTCP:
		p.Why = TCPUnknown
	case b.Mode == netstate.OVSBalanceSLB:
		b.placeByMAC(&p)
	case b.Mode == "":
		p.Why = unread
	default:
		if p.Index = slices.Index(b.Members, b.Active); p.Index < 0 {
			p.Why = "active-backup sends on its active member, which is unknown: `ovs-appctl bond/show` names it"
			return p
		}
		p.Link, p.Known = b.Active, true
	}
	return p
}

// TCPUnknown is why nobody can tell the member of a flow with balance-tcp: the kernel's
// datapath hashes skb->hash (execute_hash, net/openvswitch/actions.c), a random number
// of the socket, or what the card that received the frame made of it.
const TCPUnknown = "the kernel's datapath hashes a random number of each socket, or the receiving card's own hash: no program can compute it. " +
	"`ovs-appctl bond/show` lists each bucket's member and load, `ovs-appctl dpctl/dump-flows` the member each flow leaves by"

// unread is said of a bond whose mode nobody read.
const unread = "the mode of the bond was not read: `ovs-appctl bond/show` has it"

// placeByMAC is the member of a bucket.
func (b Bond) placeByMAC(p *steer.Placement) {
	switch {
	case p.Hash == nil:
		p.Why = "balance-slb hashes the sender's MAC address, which is not given"
	case b.Has == nil:
		p.Why = "Open vSwitch chooses the member of each bucket and moves buckets with the load: `ovs-appctl bond/show` lists them (--bond-show reads that)"
	default:
		member, listed := b.Has[uint8(*p.Hash)]
		p.Index = slices.Index(b.Members, member)
		switch {
		case !listed:
			p.Why = "bond/show lists no member for the bucket: it lists those with load alone"
		case p.Index < 0:
			p.Why = fmt.Sprintf("the bucket was on %s, which sends no more: it moves with the next frame", member)
		default:
			p.Link, p.Known, p.Why = member, true, "as bond/show lists it: buckets move with the load (other_config:bond-rebalance-interval)"
		}
	}
}

// Remedy is what lets flows of one host use several members.
func (b Bond) Remedy() string {
	if b.Mode == netstate.OVSBalanceTCP {
		return "use more streams: they spread by chance, and no choice of ports decides"
	}
	return "LACP at the switch, and `ovs-vsctl set port BOND bond_mode=balance-tcp lacp=active`; or guests with MAC addresses of their own"
}

// Reach returns the bond's reach for TCP and UDP.
func (b Bond) Reach() steer.Reach {
	switch {
	case len(b.Members) == 0:
		return steer.Reach{Why: "no usable link"}
	case len(b.Members) == 1:
		return steer.Reach{Why: "only one link is usable"}
	}
	switch b.Mode {
	case "":
		return steer.Reach{Why: unread}
	case netstate.OVSBalanceSLB:
		return steer.Reach{Why: "balance-slb of Open vSwitch hashes the sender's MAC address and VLAN: all flows of one MAC address in one VLAN share one link; " +
			"guests with MAC addresses of their own use several, and balance-tcp with LACP spreads flows"}
	case netstate.OVSBalanceTCP:
		return steer.Reach{Ports: true, Addresses: true,
			Why: "balance-tcp of Open vSwitch hashes a number of each flow that no program can compute: flows use several links by chance, and none is moved but with its bucket"}
	}
	return steer.Reach{Why: "active-backup of Open vSwitch sends on one link at a time"}
}
