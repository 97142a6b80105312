package steer

import (
	"fmt"

	"github.com/linerate/linerate/netstate"
)

// portRemedy is what would let streams use the side's links evenly.
func (s side) portRemedy(lanes int, v verdict) string {
	switch {
	case v.short && v.remark == "":
		return "allow more source or destination ports, more pairs of addresses, or another number of streams"
	case v.portless:
		return "use TCP or UDP, which have ports, or more pairs of addresses"
	case s.bundle != nil:
		return s.bundle.portRemedy(lanes, v)
	}
	switch on := s.spreader.(type) {
	case EtherChannel, Lagg, Remedied:
		return RemedyFor(s.spreader)
	case Multipath:
		return on.portRemedy(on.Reach(), lanes, v)
	case Answered:
		on.Route.Opaque = "" // the kernel has been asked
		return on.Route.portRemedy(on.Reach(), lanes, v)
	}
	n := len(v.perLink)
	switch r := s.spreader.Reach(); {
	case r.Ports && r.Chosen:
		return "name the source and destination ports and addresses that it goes by"
	case r.Ports:
		return "look instead of computing: linerate steer probe finds flows that use all links"
	case r.Addresses && r.Chosen:
		return fmt.Sprintf("give more pairs of addresses, at least %d: linerate steer addresses chooses them; or make it go by ports", n)
	case r.Addresses:
		return fmt.Sprintf("use more pairs of addresses, at least %d: linerate steer probe finds those that use all links", n)
	}
	return "make it go by addresses and ports"
}

// portRemedy is what would let streams use the bond's links evenly.
func (b Bundle) portRemedy(lanes int, v verdict) string {
	const hashing = "mode 802.3ad (with LACP on the switch) or balance-xor, with the transmit hash policy layer3+4"
	switch b.Mode {
	case netstate.ActiveBackup, netstate.Broadcast:
		return hashing
	case netstate.BalanceTLB, netstate.BalanceALB:
		if !b.TLBStatic && b.Mode == netstate.BalanceALB {
			return fmt.Sprintf("give the peer at least %d addresses: linerate steer addresses chooses them; or %s", len(b.Ports), hashing)
		}
		if !b.TLBStatic {
			return "tlb_dynamic_lb=0, so that the transmit hash decides; or " + hashing
		}
	}
	const ports = "set the transmit hash policy to layer3+4 (xmit_hash_policy)"
	switch b.Policy {
	case netstate.Layer23, netstate.Encap23:
		switch {
		case lanes < len(b.Ports):
			return fmt.Sprintf("give at least %d pairs of addresses: linerate steer addresses chooses them; or %s", len(b.Ports), ports)
		case v.relative:
			return "give both MAC addresses and the exact kernel release, so that the hash can be computed; or " + ports
		}
		return "give other pairs of addresses: linerate steer addresses chooses them; or " + ports
	case netstate.Layer34:
		if v.relative {
			return "give the exact kernel release: in every reading of it another set is even"
		}
		return "use TCP or UDP, with addresses of one family: layer3+4 goes by their ports"
	case netstate.Layer2:
		return ports + ", or to layer2+3 with several pairs of addresses"
	case netstate.VLANSrcMAC:
		return ports + ", or put the streams on several VLANs"
	}
	return ports
}
