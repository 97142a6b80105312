package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// lacpDown: the ports that a bond uses are full, and others that could help
// are down or outside its active aggregator. A standby is neither.
func (v *wayView) lacpDown() (hypothesis, bool) {
	for _, side := range [][]linkLoad{v.egress, v.ingress} {
		sure := 0.95
		switch {
		case allFull(side):
		case len(side) > 0 && least(side)*v.wireFactorOf(side) >= slackLink:
			sure = 0.85
		default:
			continue
		}
		h := v.fabric.Hosts[side[0].host]
		for _, l := range h.Links {
			if l.Bond == nil || !usesAll(l.Bond.Mode) || !carries(l, side) {
				continue
			}
			// A stream for each usable port and no more has no use for others.
			usable := h.UsablePorts(l.Name)
			if len(usable) >= len(l.Bond.Ports) || len(v.lanes) <= len(usable) {
				continue
			}
			found := v.aggregator(h, l, usable)
			found.sure = sure
			v.weighOwnLimits(&found, side, side)
			return found, true
		}
	}
	return hypothesis{}, false
}

// usesAll reports modes that carry traffic over every port that is up.
func usesAll(m netstate.BondMode) bool {
	return m != netstate.ActiveBackup && m != netstate.Broadcast
}

// What shows which ports a bond uses: any mode's, and an aggregate's.
const (
	fromUsable     = "IFLA_BOND_SLAVE_MII_STATUS and IFLA_BOND_SLAVE_STATE"
	fromAggregator = "IFLA_BOND_SLAVE_AD_AGGREGATOR_ID against IFLA_BOND_AD_INFO_AGGREGATOR"
)

func (v *wayView) aggregator(h netstate.Host, bond netstate.Link, usable []string) hypothesis {
	in := strings.Join(usable, ", ")
	if in == "" {
		in = "none"
	}
	var out []string
	where, source := "in the active aggregator", fromAggregator
	remedy := "check the switch's LACP on the other ports: same channel group, same speed, LACP on"
	if bond.Bond.Mode != netstate.LACP {
		where, source = "up", fromUsable
		remedy = fmt.Sprintf("find what takes the other ports of %s on %s down (`ip -s link`, the bond's MII and ARP monitoring)", bond.Name, h.Name)
	}
	for _, name := range bond.Bond.Ports {
		if slices.Contains(usable, name) {
			continue
		}
		out = append(out, name)
		if p, ok := h.Link(name); ok && p.Port != nil && (!p.Up || !p.Port.MIIUp) {
			remedy = fmt.Sprintf("bring %s of %s up: it has no link (cable, optic, switch port)", name, h.Name)
		}
	}
	word := "is full"
	if len(usable) > 1 {
		word = "are full"
	}
	return hypothesis{
		cause: record.LACPDown, seen: true,
		summary: fmt.Sprintf("%s of %s has %d of its %d ports %s: %s %s while %s may not carry anything.", bond.Name, h.Name, len(usable), len(bond.Bond.Ports), where, in, word, strings.Join(out, " and ")),
		mended:  "With every port in",
		evidence: append([]record.Evidence{{What: "ports in use of " + bond.Name + " on " + h.Name, Value: in,
			Source: source}}, v.loads()...),
		remedy: remedy,
	}
}

// carries reports whether a port of the bond is among the links.
func carries(bond netstate.Link, side []linkLoad) bool {
	return slices.ContainsFunc(side, func(l linkLoad) bool { return slices.Contains(bond.Bond.Ports, l.link) })
}
