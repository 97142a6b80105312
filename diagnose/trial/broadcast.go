package trial

import (
	"fmt"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/diagnose/remedy"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// broadcast: the sender's bond sends every packet over each of its links.
func (v *wayView) broadcast() (hypothesis, bool) {
	h := v.fabric.Hosts[v.from]
	for _, lane := range v.lanes {
		holder, ok := h.LinkWith(lane.Src)
		if !ok {
			continue
		}
		ports, _, bond := h.Below(holder.Name)
		if bond == nil || bond.Bond.Mode != netstate.Broadcast || len(ports) < 2 {
			continue
		}
		out := hypothesis{
			cause: record.SingleLink, sure: 0.75, mended: "With a mode that spreads",
			summary: fmt.Sprintf("%s of %s runs %s: every packet goes out over each of its %d links, so that together they carry what one does.", bond.Name, v.from, netstate.Broadcast, len(ports)),
			evidence: append([]record.Evidence{diagnose.Fact("mode of "+bond.Name+" of "+v.from, netstate.Broadcast.String(), "IFLA_BOND_MODE")},
				v.loads()...),
			remedy: remedy.Aggregated(bond.Name + " on " + v.from),
		}
		if allFull(v.egress) {
			out.seen, out.sure = true, 0.95
		}
		return out, true
	}
	return hypothesis{}, false
}
