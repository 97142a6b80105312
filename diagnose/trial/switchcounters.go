package trial

import (
	"github.com/linerate/linerate/diagnose/remedy"
	"github.com/linerate/linerate/diagnose/trial/onswitch"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/record"
)

// onSwitches: what the switches on the way counted shows that they are the limit.
func (v *wayView) onSwitches() (hypothesis, bool) {
	f := onswitch.Flows{From: v.from, To: v.to, Rate: v.goodput, Count: len(v.lanes), Pairs: v.pairs()}
	for _, p := range v.fabric.Paths {
		if p.Leads(v.from, v.to) {
			f.Network = fabric.NetworkOf(p)
		}
	}
	found, ok := onswitch.Limit(v.trial, f)
	v.trunk = v.trunk || ok && found.Between
	todo := record.ByHand(found.Remedy)
	if words := remedy.SwitchWords(v.fabric.Paths, found.Switch); ok && found.Switch != "" && words != "" {
		todo[0] = append(todo[0], record.Ask("on "+found.Switch+": "+words))
	}
	return hypothesis{cause: found.Cause, seen: true, sure: 0.95, summary: found.Summary, evidence: append(found.Evidence, v.loads()...), remedy: todo, mended: found.Mended, switches: found.Switch != ""}, ok
}

// switchLoss is what a switch on the way lost, where that is half of what was sent
// again.
func (v *wayView) switchLoss() (onswitch.Loss, bool) {
	all := onswitch.Losses(v.trial, v.from, v.to)
	if len(all) == 0 || v.waits.repeated < 1 || float64(all[0].Count) < v.waits.repeated/2 {
		return onswitch.Loss{}, false
	}
	return all[0], true
}
