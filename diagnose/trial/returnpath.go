package trial

import (
	"fmt"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/record"
)

// fullReturn is the part of what a receiver's link can send from which its
// acknowledgements fill it.
const fullReturn = 0.85

// fullReturnPath: acknowledgements fill all that the receiver's links may send, and the
// sender hears no faster, while its own way has room.
func (v *wayView) fullReturnPath() (hypothesis, bool) {
	if !v.room() || v.trial.Direction == flow.Both || v.goodput <= 0 {
		return hypothesis{}, false
	}
	h := hypothesis{cause: record.Shaper, seen: true, sure: 0.85, mended: "Without it"}
	at := ""
	for _, u := range v.trial.Links {
		if u.Host != v.to || u.Tx <= 0 {
			continue
		}
		link, _ := v.fabric.Hosts[v.to].Link(u.Link)
		back := framing.CapacityOf(link, true)
		if back.Rate <= 0 || u.Tx < back.Rate*fullReturn || u.TxPayload > u.Tx/2 { // payload is others'
			return hypothesis{}, false
		}
		at = u.Link
		what := "speed of " + u.Link + " of " + v.to
		if back.Shaped {
			what = "rate of the root qdisc of " + u.Link + " of " + v.to
		}
		h.evidence = append(h.evidence, record.Evidence{What: what, Value: fmt.Sprintf("%v, and it sent %v of acknowledgements", back.Rate, u.Tx), Source: fromCounters})
	}
	if at == "" {
		return hypothesis{}, false
	}
	h.summary = fmt.Sprintf("The return path is full: acknowledgements take all that %s of %s may send (%s), and %s sends no faster than it hears.", at, v.to, h.evidence[0].Value, v.from)
	h.remedy = record.ByHand(fmt.Sprintf("raise or remove the shaper on %s of %s (`tc qdisc show dev %s`), or let acknowledgements pass first there", at, v.to, at))
	h.at = v.to
	h.evidence = append(append(h.evidence, v.tcpEvidence()...), v.loads()...)
	return h, true
}
