package steer

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// noPlace says why a mode gives flows no port of their own.
func (b Bundle) noPlace() string {
	switch b.Mode {
	case netstate.BalanceRR:
		return b.rotation() + ": a flow has no link of its own"
	case netstate.BalanceTLB:
		return "balance-tlb moves flows between links by load every 10 s"
	case netstate.BalanceALB:
		return "balance-alb assigns each destination address a link by load; ports do not matter"
	}
	if b.Mode == netstate.ModeUnread {
		return "the bonding mode was not read"
	}
	return fmt.Sprintf("mode %s is newer than this program", b.Mode)
}

// rotation is what balance-rr does with packets (bond_rr_gen_slave_id). The
// counter is each CPU's own; a packet is one that the stack hands down, up to
// 64 KB before the card cuts it up.
func (b Bundle) rotation() string {
	switch {
	case b.PacketsPerSlave == 0:
		return "balance-rr rotates packets over all links, at random (packets_per_slave 0)"
	case b.PacketsPerSlave > 1:
		return fmt.Sprintf("balance-rr rotates packets over all links, %d at a time (packets_per_slave)", b.PacketsPerSlave)
	}
	return "balance-rr rotates packets over all links"
}

// Discovery is what balance-tlb and balance-alb do with IPv6 neighbour
// discovery (commit 0da8aa00bfcf, 5.18). Zero is current kernels.
type Discovery uint8

// The ways, newest first.
const (
	DiscoveryOnActive Discovery = iota // 5.18 and newer
	DiscoveryBalanced                  // as any other frame
	DiscoveryUnknown                   // the release was not read, or hides what it took over
)

// discoveryOf is what a kernel of that release does, unknown where it cannot be read.
func discoveryOf(release string) Discovery {
	major, minor, _, rest, ok := splitRelease(release)
	switch {
	case ok && major*1000+minor >= 5018:
		return DiscoveryOnActive
	case !ok || backports(rest):
		return DiscoveryUnknown
	}
	return DiscoveryBalanced
}

// unbalanced reports frames that balance-tlb and balance-alb leave on the
// active link whatever the load (bond_xmit_tlb_slave_get,
// bond_xmit_alb_slave_get, drivers/net/bonding/bond_alb.c).
func (b Bundle) unbalanced(f *flow.Frame) bool {
	if !isIP(f) {
		return b.Mode == netstate.BalanceTLB || f.EtherType != etherARP
	}
	if b.Discovery == DiscoveryOnActive && isDiscovery(f) {
		return true
	}
	if b.Mode == netstate.BalanceTLB {
		return f.DstMAC[0]&1 != 0 // multicast and broadcast
	}
	switch {
	case f.DstMAC == flow.MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}:
		return true
	case !isIPv6(f):
		return f.Dst == netip.AddrFrom4([4]byte{255, 255, 255, 255}) || f.Proto == protoIGMP
	}
	return f.DstMAC == flow.MAC{0x33, 0x33, 0, 0, 0, 1} || f.Src == netip.IPv6Unspecified()
}

const protoIGMP flow.Proto = 2

// isDiscovery reports IPv6 neighbour discovery (alb_determine_nd,
// bond_should_broadcast_neighbor).
func isDiscovery(f *flow.Frame) bool {
	return f.Proto == flow.ICMPv6 && !f.Extended && f.ICMP != nil && (f.ICMP.Type == 135 || f.ICMP.Type == 136)
}

// onActive is the active port, unknown when that is not given.
func (b Bundle) onActive(p Placement, what string) Placement {
	if i := slices.Index(b.Ports, b.Active); i >= 0 {
		return b.on(p, i, "")
	}
	p.Why = what + ", which is not given"
	return p
}
