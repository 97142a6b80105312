package trial

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/host"
	"github.com/linerate/linerate/diagnose/remedy"
	"github.com/linerate/linerate/diagnose/trial/without"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// lacpDown: the ports that a bond uses are full, and others that could help
// are down or outside its active aggregator. A standby is neither. Where the
// ports in use are half full and a queue waits, the limit may be at each of
// them: then others bring their share, and which it is cannot be told.
func (v *wayView) lacpDown() (hypothesis, bool) {
	for _, side := range [][]linkLoad{v.egress, v.ingress} {
		sure, full := 0.95, true
		switch {
		case allFull(side):
		case len(side) > 0 && least(side)*v.wireFactorOf(side) >= slackLink:
			sure = 0.85
		case len(side) > 0 && least(side) >= halfUsed && v.waits.queued() > deepQueue:
			sure, full = 0.55, false
		default:
			continue
		}
		h := v.fabric.Hosts[side[0].host]
		for _, l := range h.Links {
			if l.Bond == nil || !without.UsesAll(l.Bond.Mode) || !carries(l, side) {
				continue
			}
			// A stream for each usable port and no more has no use for others.
			usable := h.UsablePorts(l.Name)
			if len(usable) >= len(l.Bond.Ports) || len(v.lanes) <= len(usable) {
				continue
			}
			found := v.aggregator(h, l, usable, full)
			found.sure = sure
			v.weighOwnLimits(&found, side, side)
			return found, true
		}
	}
	return hypothesis{}, false
}

// unbegun: nobody begins LACP on a bond of either end, so that its ports leave the group
// and join it again: meanwhile the rate was that of some of them, or none.
func (v *wayView) unbegun() (hypothesis, bool) {
	blocks := v.trial.Blocks
	if len(blocks) < 5 || v.trial.Direction != v.way || float64(slices.Min(blocks)) > halfUsed*float64(slices.Max(blocks)) {
		return hypothesis{}, false
	}
	for _, end := range []string{v.from, v.to} {
		for _, f := range host.Judge(v.fabric.Hosts[end]) {
			if f.Kind == host.BondPassive {
				return hypothesis{cause: record.LACPDown, at: end, sure: 0.85, nothingToWin: true, summary: fmt.Sprintf("On %s %s.", end, f.What), evidence: append(f.Evidence, v.loads()...), remedy: record.ByHand(f.Remedy)}, true
			}
		}
	}
	return hypothesis{}, false
}

// halfUsed is the share of a link from which a limit at each link is as likely as one
// for all of them.
const halfUsed = 0.5

// What shows which ports a bond uses: any mode's, and an aggregate's.
const (
	fromUsable     = "IFLA_BOND_SLAVE_MII_STATUS and IFLA_BOND_SLAVE_STATE"
	fromAggregator = "IFLA_BOND_SLAVE_AD_AGGREGATOR_ID against IFLA_BOND_AD_INFO_AGGREGATOR"
)

func (v *wayView) aggregator(h netstate.Host, bond netstate.Link, usable []string, full bool) hypothesis {
	in := cmp.Or(strings.Join(usable, ", "), "none")
	var out, down []string
	where, source := "in the active aggregator", fromAggregator
	var mend record.Remedy
	if bond.Bond.Mode != netstate.LACP {
		where, source = "up", fromUsable
		mend = record.ByHand(fmt.Sprintf("find what takes the other ports of %s on %s down (`ip -s link`, the bond's MII and ARP monitoring)", bond.Name, h.Name))
	}
	for _, name := range bond.Bond.Ports {
		if slices.Contains(usable, name) {
			continue
		}
		out = append(out, name)
		if p, ok := h.Link(name); ok && p.Port != nil && (!p.Up || !p.Port.MIIUp) {
			mend = record.ByHand(fmt.Sprintf("bring %s of %s up: it has no link (cable, optic, switch port)", name, h.Name))
			if !p.Up {
				down = append(down, name)
			}
		}
	}
	switch {
	case len(down) > 0:
		mend = record.Remedy{remedy.Up(h.Name, down...)}
	case mend == nil:
		mend = record.Do(record.Action{Host: h.Name, Switch: record.OneChannel, Links: out}).Or(record.Ask("check that LACP is on there"))
	}
	word := "is full"
	switch {
	case !full:
		word = "carries all, with a queue before it,"
	case len(usable) > 1:
		word = "are full"
	}
	return hypothesis{
		cause: record.LACPDown, at: h.Name, seen: full, nothingToWin: !full,
		summary: fmt.Sprintf("%s of %s has %d of its %d ports %s: %s %s while %s may not carry anything.", bond.Name, h.Name, len(usable), len(bond.Bond.Ports), where, in, word, strings.Join(out, " and ")),
		mended:  "With every port in",
		evidence: append([]record.Evidence{{What: "ports in use of " + bond.Name + " on " + h.Name, Value: in,
			Source: source}}, v.loads()...),
		remedy: mend,
	}
}

// carries reports whether a port of the bond is among the links.
func carries(bond netstate.Link, side []linkLoad) bool {
	return slices.ContainsFunc(side, func(l linkLoad) bool { return slices.Contains(bond.Bond.Ports, l.link) })
}

// idleStandby: the links in use are full and an active-backup bond keeps
// others idle, where nothing else is as tight as its one link.
func (v *wayView) idleStandby(side []linkLoad) (hypothesis, bool) {
	bond, idle := v.standby(side)
	if idle == 0 {
		return hypothesis{}, false
	}
	for _, other := range [][]linkLoad{v.egress, v.ingress} {
		if _, n := v.standby(other); n == 0 && len(other) > 0 && total(other) < total(side)*(1+nearTie) {
			return hypothesis{}, false
		}
	}
	host := side[0].host
	return hypothesis{
		cause: record.SingleLink, at: host, seen: true, sure: 0.95, evidence: v.loads(),
		summary: fmt.Sprintf("The one link in use runs at its line rate: %s of %s is active-backup, and %d more of its links only wait for that one to fail.", bond, host, idle),
		remedy:  remedy.Aggregated(bond + " on " + host),
	}, true
}

// standby is the active-backup bond of the side's links, and how many usable
// ports it keeps idle.
func (v *wayView) standby(side []linkLoad) (bond string, idle int) {
	for _, l := range side {
		h := v.fabric.Hosts[l.host]
		port, _ := h.Link(l.link)
		if port.Port == nil {
			continue
		}
		b, ok := h.Link(port.Port.Bond)
		if !ok || b.Bond == nil || b.Bond.Mode != netstate.ActiveBackup {
			continue
		}
		for _, name := range b.Bond.Ports {
			if p, ok := h.Link(name); ok && p.Up && p.Port != nil && p.Port.MIIUp && !p.Port.Active {
				bond, idle = b.Name, idle+1
			}
		}
	}
	return bond, idle
}
