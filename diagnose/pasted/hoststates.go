package pasted

import (
	"cmp"
	"slices"
	"strings"

	diagnosehost "github.com/linerate/linerate/diagnose/host"
	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/hoststate"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// limits are the findings about hosts that limit traffic by themselves, with the
// cause that they come to, and how sure that is where nothing else was found.
var limits = map[string]struct {
	cause record.Cause
	sure  float64
}{
	diagnosehost.BondFlapping: {record.LACPDown, 0.6}, diagnosehost.ReturnPath: {record.AsymmetricRoute, 0.6}, diagnosehost.HostRoute: {record.AsymmetricRoute, 0.6},
	diagnosehost.ECMPHash: {record.SingleLink, 0.5}, diagnosehost.BondUnwatched: {record.LACPDown, 0.5},
	diagnosehost.HalfDuplex: {record.Congestion, 0.6}, diagnosehost.LinkErrors: {record.Congestion, 0.55}, diagnosehost.CloudCap: {record.Shaper, 0.75},
	diagnosehost.CardSlot: {record.CardSlot, 0.5}, diagnosehost.StrictFilter: {record.AsymmetricRoute, 0.5}, diagnosehost.SoftirqOneCore: {record.ReceiverCPU, 0.5},
	diagnosehost.VLANMTU: {record.MTU, 0.45}, diagnosehost.BondPortMTU: {record.MTU, 0.5}, diagnosehost.ShaperLeft: {record.Shaper, 0.45},
	diagnosehost.ECMPDead: {record.SingleLink, 0.5}, diagnosehost.MPTCPLimits: {record.SingleLink, 0.5}, diagnosehost.PairMTU: {record.MTU, 0.5},
	diagnosehost.BufferForBDP: {record.ReceiveWindow, 0.5}, diagnosehost.BondOneLink: {record.SingleLink, 0.45}, diagnosehost.BondPortOutside: {record.LACPDown, 0.6},
	diagnosehost.BondNoPartner: {record.LACPDown, 0.6}, diagnosehost.BondPassive: {record.LACPDown, 0.6}, diagnosehost.BondTwoPartners: {record.LACPDown, 0.6}, diagnosehost.RingDrops: {record.ReceiverCPU, 0.5},
	diagnosehost.BacklogDrops: {record.ReceiverCPU, 0.5}, diagnosehost.SlowLink: {record.LineRate, 0.5},
}

// hostFindings are what the rules for observed hosts find in the states that the
// text makes: of use where none of the rules for text knew the question.
func hostFindings(v *scene.View) {
	hosts, paths := hoststate.Hosts(*v.Case)
	states := predict.Fabric{Hosts: make(map[string]netstate.Host), Paths: paths}
	var all []diagnosehost.Finding
	for _, h := range hosts {
		states.Hosts[h.Name] = h
		for _, f := range diagnosehost.Judge(h) {
			f.Hosts = []string{h.Name}
			all = append(all, f)
		}
	}
	all = append(all, diagnosehost.Pairs(states, nil)...)
	for _, f := range all {
		l, ok := limits[f.Kind]
		if !ok || f.Severity == diagnosehost.Info || f.Kind != diagnosehost.BondUnwatched && told(v, l.cause, l.sure) {
			continue
		}
		evidence := make([]record.Evidence, len(f.Evidence))
		for i, e := range f.Evidence {
			evidence[i] = record.Evidence{What: e.What, Value: e.Value, Source: "as read"}
		}
		v.Add(l.cause, l.sure, v.HostOf(f.Hosts[0]), placeOf(states.Hosts[f.Hosts[0]], f.What), f.What, f.Remedy, evidence...)
	}
}

// told reports a finding of the rules for text that is as sure of the cause: they know
// more of the question.
func told(v *scene.View, cause record.Cause, sure float64) bool {
	return slices.ContainsFunc(v.Findings, func(f scene.Finding) bool { return f.Cause == cause && f.Confidence >= sure })
}

// placeOf is the link that a sentence about a host names first, with the host where it
// has a name.
func placeOf(h netstate.Host, what string) string {
	first, at := "", len(what)
	for _, l := range h.Links {
		if i := strings.Index(what, l.Name); l.Name != "" && i >= 0 && i < at {
			first, at = l.Name, i
		}
	}
	switch {
	case first == "":
		return cmp.Or(h.Name, "the host")
	case h.Name == "" || h.Name == "host": // the text named none
		return first
	}
	return first + " of " + h.Name
}
