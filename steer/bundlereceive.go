package steer

import (
	"net/netip"

	"github.com/linerate/linerate/netstate"
)

// Receive says how traffic toward a bond comes in, as far as the bond's own
// mode decides.
type Receive struct {
	// Links is the most links that what the peers send can arrive on at once;
	// zero when the far side decides.
	Links int
	// Peers is, for each peer in order, the number of its share of the receive
	// table: peers with one number share one link. Nil outside balance-alb.
	Peers []int
	Why   string
}

// Receive says on how many links traffic from the peer addresses arrives.
// Under balance-alb the bond answers each IPv4 peer's ARP with the MAC address
// of one link, in turn among the fastest, so all that one address sends
// arrives on one link; which one depends on the order in which peers came. The
// table has 256 places by ReceiveBucket: of peers in one place only the one
// that asked last keeps a link of its own, the others fall to the active link
// (rlb_choose_channel, drivers/net/bonding/bond_alb.c).
func (b Bundle) Receive(peers []netip.Addr) Receive {
	switch n := len(b.Ports); {
	case n == 0:
		return Receive{Why: "no usable link"}
	case n == 1:
		return Receive{Links: 1, Why: "only one link is usable"}
	}
	switch b.Mode {
	case netstate.ActiveBackup:
		return Receive{Links: 1, Why: "active-backup receives on its active link"}
	case netstate.BalanceTLB:
		return Receive{Links: 1, Why: "balance-tlb answers ARP with the MAC address of its active link: all arrives there"}
	case netstate.BalanceALB:
		return b.receiveByPeer(peers)
	}
	return Receive{Why: "the far side chooses the link: its switch or its bond hashes what it sends"}
}

// receiveByPeer is Receive of balance-alb.
func (b Bundle) receiveByPeer(peers []netip.Addr) Receive {
	const active = -1
	r := Receive{Peers: make([]int, len(peers))}
	number := map[int]int{} // of a bucket, or of the active link
	for i, p := range peers {
		place := active
		if bucket, ok := ReceiveBucket(p); ok {
			place = int(bucket)
		}
		if _, seen := number[place]; !seen {
			number[place] = len(number)
		}
		r.Peers[i] = number[place]
	}
	r.Links = min(len(number), len(b.Ports))
	r.Why = "balance-alb gives each IPv4 peer address one link to send to: one address arrives on one link, more addresses use more"
	if _, only6 := number[active]; only6 && len(number) == 1 {
		r.Why = "balance-alb steers only IPv4 peers: IPv6 arrives on its active link"
	}
	return r
}

// ReceiveBucket is a peer's place in balance-alb's receive table, the XOR of
// its address's bytes (_simple_hash); false for IPv6, which has no such table.
func ReceiveBucket(peer netip.Addr) (bucket byte, ok bool) {
	if !peer.Unmap().Is4() {
		return 0, false
	}
	for _, v := range peer.Unmap().As4() {
		bucket ^= v
	}
	return bucket, true
}
