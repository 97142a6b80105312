package diagnose

import (
	"net/netip"
	"slices"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/steer"
)

// dealt is what deals flows out over one side's links: the sender's bond, or
// for what arrives the receiver's bond or the switch before it.
type dealt struct {
	reach    steer.Reach
	evidence []record.Evidence
	mend     string // what to change so that ports decide; "" unknown
}

func (v *wayView) dealt(sending bool) dealt {
	if len(v.lanes) == 0 {
		return dealt{}
	}
	host, at := v.to, v.lanes[0].Dst
	if sending {
		host, at = v.from, v.lanes[0].Src
	}
	h := v.fabric.Hosts[host]
	bond := bondAt(h, at)
	if sending {
		return sends(h, bond)
	}
	if d, ok := receives(h, bond); ok {
		return d
	}
	return v.switched()
}

func bondAt(h netstate.Host, at netip.Addr) *netstate.Link {
	link, ok := h.LinkWith(at)
	if !ok {
		return nil
	}
	_, _, bond := h.Below(link.Name)
	return bond
}

func sends(h netstate.Host, bond *netstate.Link) dealt {
	if bond == nil {
		return dealt{}
	}
	b, err := steer.BundleOf(h, bond.Name)
	if err != nil {
		return dealt{}
	}
	name := bond.Name + " on " + h.Name
	if !bond.Bond.Mode.Hashes() {
		return ofMode(name, bond.Bond.Mode, b.Reach())
	}
	return dealt{
		reach:    b.Reach(),
		evidence: []record.Evidence{{What: "transmit hash policy of " + name, Value: bond.Bond.HashPolicy.String(), Source: fromBond}},
		mend:     "set the transmit hash policy of " + name + " to layer3+4 and choose source ports (`linerate tune`)",
	}
}

// receives is the bond where its mode, not the switch, says which port takes
// what arrives (bond_alb_xmit and rlb_choose_channel: tlb has one receiving
// port, alb one a peer address).
func receives(h netstate.Host, bond *netstate.Link) (dealt, bool) {
	if bond == nil {
		return dealt{}, false
	}
	name := bond.Name + " on " + h.Name
	switch bond.Bond.Mode {
	case netstate.BalanceTLB:
		return ofMode(name, bond.Bond.Mode, steer.Reach{Why: "balance-tlb receives on its active link only"}), true
	case netstate.BalanceALB:
		return ofMode(name, bond.Bond.Mode, steer.Reach{Addresses: true, Why: "balance-alb receives from each peer address on one link"}), true
	}
	return dealt{}, false
}

func ofMode(name string, mode netstate.BondMode, reach steer.Reach) dealt {
	return dealt{
		reach:    reach,
		evidence: []record.Evidence{{What: "mode of " + name, Value: mode.String(), Source: "IFLA_BOND_MODE"}},
		mend:     "change the mode of " + name + " to 802.3ad with layer3+4, and the switch's ports to LACP",
	}
}

// switched is the switch's hash as the path declares it.
func (v *wayView) switched() dealt {
	var policy netstate.HashPolicy
	for _, p := range v.fabric.Paths {
		there, back := p.From == v.from && p.To == v.to, p.From == v.to && p.To == v.from
		if !there && !(back && !p.Directed) || policy.UnmarshalText([]byte(p.SwitchHash)) != nil {
			continue
		}
		return dealt{
			reach:    steer.Declared(policy, len(v.ingress)).Reach(),
			evidence: []record.Evidence{{What: "transmit hash policy of the switch", Value: policy.String(), Source: "switch_hash of the path, as declared"}},
			mend:     "set the switch's hash toward " + v.to + " to layer3+4 (addresses and ports), and choose source ports (`linerate steer pick`)",
		}
	}
	return dealt{reach: steer.Reach{Ports: true}}
}

// pairs is how many different pairs of addresses the streams have.
func (v *wayView) pairs() int {
	seen := make(map[flow.Lane]bool)
	for _, l := range v.lanes {
		seen[l.Lane] = true
	}
	return len(seen)
}

// misrouted reports an idle link of the sender, in no bond, that holds the
// source address of a stream: what should leave by it leaves by another.
func (v *wayView) misrouted(idle []linkLoad) bool {
	h := v.fabric.Hosts[v.from]
	return slices.ContainsFunc(v.lanes, func(lane record.Lane) bool {
		link, ok := h.LinkWith(lane.Src)
		if !ok || lane.Goodput <= 0 {
			return false
		}
		below, _, bond := h.Below(link.Name)
		return bond == nil && len(below) == 1 && slices.ContainsFunc(idle, func(l linkLoad) bool {
			return l.link == below[0].Name && l.share() <= idleLink
		})
	})
}
