package steer

import "github.com/linerate/linerate/netstate"

// Reach says what makes flows between two hosts use more than one link of a
// bundle.
type Reach struct {
	// Striped: one flow alone uses every link (balance-rr), out of order.
	Striped bool
	// Ports: flows that differ only in source port can use several links.
	Ports bool
	// Addresses: flows that differ only in addresses can.
	Addresses bool
	// Chosen: which link is computable, so that ports or addresses can be
	// chosen; otherwise it is chance or load.
	Chosen bool
	// Why is the reason in plain words.
	Why string
}

// Reach returns the bundle's reach for TCP and UDP.
func (b Bundle) Reach() Reach {
	switch n := len(b.Ports); {
	case n == 0:
		return Reach{Why: "no usable link"}
	case n == 1:
		return Reach{Why: "only one link is usable"}
	}
	switch b.Mode {
	case netstate.BalanceRR:
		return Reach{Striped: true, Ports: true, Addresses: true,
			Why: "balance-rr rotates packets over all links: one flow uses them all, and its packets arrive out of order"}
	case netstate.ActiveBackup:
		return Reach{Why: "active-backup sends on one link at a time"}
	case netstate.Broadcast:
		return Reach{Why: "broadcast sends a copy of every frame on every link: the rate of one link"}
	case netstate.BalanceALB:
		if !b.TLBStatic {
			return Reach{Addresses: true,
				Why: "balance-alb assigns each destination address a link by load: all flows to one address share one link"}
		}
	}
	r := policyReach(b.Policy)
	if b.adaptive() && !b.TLBStatic {
		r.Chosen = false
		if r.Ports || r.Addresses {
			r.Why = b.noPlace()
		}
	}
	if !b.Hashes() && !b.adaptive() {
		return Reach{Why: b.noPlace()}
	}
	return r
}

func policyReach(p netstate.HashPolicy) Reach {
	switch p {
	case netstate.Layer2:
		return Reach{Why: "layer2 hashes only MAC addresses: all flows between two hosts share one link"}
	case netstate.Layer23, netstate.Encap23:
		return Reach{Addresses: true, Chosen: true,
			Why: p.String() + " hashes MAC and IP addresses, not ports: all flows of one pair of addresses share one link"}
	case netstate.Layer34:
		return Reach{Ports: true, Addresses: true, Chosen: true,
			Why: "layer3+4 hashes IP addresses and ports: each flow takes one link, and its source port decides which"}
	case netstate.Encap34:
		return Reach{Ports: true, Addresses: true,
			Why: "encap3+4 hashes a random number of each socket: flows use several links by chance, which neither ports nor addresses decide"}
	case netstate.VLANSrcMAC:
		return Reach{Why: "vlan+srcmac hashes the VLAN tag and the sender's MAC address: all flows of one host in one VLAN share one link"}
	}
	if p == netstate.PolicyUnread {
		return Reach{Why: "the transmit hash policy was not read"}
	}
	return Reach{Why: "policy " + p.String() + " is newer than this program"}
}
