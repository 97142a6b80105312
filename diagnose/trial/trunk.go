package trial

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/diagnose/remedy"
	"github.com/linerate/linerate/diagnose/trial/onswitch"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// nearTrunk is how far a result may lie from what a switch's links carry.
const nearTrunk = 0.05

// switchTrunk: the result is what the links between two described switches carry, and
// the hosts' own have room. Where nobody read the switch's counters the result alone
// speaks for it.
func (v *wayView) switchTrunk() (hypothesis, bool) {
	described := false
	for _, p := range v.fabric.Paths {
		described = described || p.Switches != nil && p.Leads(v.from, v.to)
	}
	if !described || v.trial.Direction != v.way || onswitch.Counted(v.trial, v.from, v.to, v.goodput) {
		return hypothesis{}, false
	}
	p, ok := v.foreseen()
	if !ok {
		return hypothesis{}, false
	}
	hosts := p.Ceiling
	for _, l := range p.Limits {
		if l.Switch == "" && l.Cause != record.Unknown {
			hosts = min(hosts, l.Rate)
		}
	}
	for _, l := range p.Limits {
		if l.Switch == "" || l.Rate <= 0 || l.Rate > hosts*slackLink && l.Cause != record.LineRate ||
			v.goodput > l.Rate*(1+nearTrunk) || v.goodput < l.Rate*(1-nearTrunk) {
			continue
		}
		if l.Cause == record.LineRate && v.hostsFull() {
			continue
		}
		v.trunk = true
		return v.trunkBinds(l, p.RateLow > 0), true
	}
	return hypothesis{}, false
}

// hostsFull: a link of either host is nearly full, and a trunk need not be to blame.
func (v *wayView) hostsFull() bool {
	return slices.ContainsFunc(v.trial.Links, func(u record.LinkUse) bool { return u.Ceiling > 0 && max(u.Tx, u.Rx) > u.Ceiling*slackLink })
}

// trunkBinds is the finding; open: luck decides how flows lie on the switch's links.
func (v *wayView) trunkBinds(l predict.Limit, open bool) hypothesis {
	h := hypothesis{
		cause: l.Cause, seen: true, sure: 0.8,
		summary: fmt.Sprintf("The result is what the links between the switches carry (%s, %v): the hosts' own links have room.", l.Where, l.Rate),
		evidence: append([]record.Evidence{
			{What: "what they carry, " + l.Where, Value: l.Rate.String(), Source: "switches of the fabric file"},
			{What: "how that comes about", Value: l.Why, Source: "switches of the fabric file"}}, v.loads()...),
		remedy: record.ByHand(fmt.Sprintf("on switch %s let the hash read addresses and ports (layer3+4), with another seed than the tier before; it changes all channels of that switch", l.Switch)),
	}
	if words := remedy.SwitchWords(v.fabric.Paths, l.Switch); words != "" {
		h.remedy[0] = append(h.remedy[0], record.Ask("on "+l.Switch+": "+words))
	}
	if l.Cause == record.LineRate {
		h.remedy = record.ByHand("put more or faster links between the switches: those of " + l.Where + " are full")
	}
	if open {
		h.sure = 0.6
	}
	return h
}
