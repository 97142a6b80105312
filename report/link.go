package report

import (
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// load is one direction of one physical link.
type load struct {
	carried unit.BitRate
	// wire marks counters whose headers could not be taken off.
	wire bool
	// ratio of the link's ceiling; known is false without a ceiling.
	ratio float64
	known bool
	// busy is false for a link that carries nothing at all, acknowledgements
	// included.
	busy bool
	// against is what the load is drawn against where it has no ceiling: the
	// busiest link of the drawing; zero nothing.
	against unit.BitRate
}

// still is the share of a ceiling below which a link is drawn as unused.
const still = 0.001

func loadOf(payload, counter unit.BitRate, packets uint64, ceiling unit.BitRate) load {
	l := load{carried: payload}
	if amount(payload) == 0 && packets == 0 && amount(counter) > 0 {
		l.carried, l.wire = counter, true
	}
	l.ratio, l.known = fraction(l.carried, ceiling)
	c, ok := fraction(counter, ceiling)
	l.busy = !ok && amount(counter) > 0 || ok && c > still
	return l
}

func txLoad(u record.LinkUse) load { return loadOf(u.TxPayload, u.Tx, u.TxPackets, u.Ceiling) }
func rxLoad(u record.LinkUse) load { return loadOf(u.RxPayload, u.Rx, u.RxPackets, u.Ceiling) }

// words say the load: "478 Mbit/s · 96 %", "idle", "no payload" for
// acknowledgements alone.
func (l load) words() string {
	if l.known && l.ratio <= still {
		if l.busy {
			return "no payload"
		}
		return "idle"
	}
	if !l.known && !l.busy {
		return "idle"
	}
	w := counted(l.carried)
	if l.wire {
		w += " wire"
	}
	if l.known {
		w += " · " + wholePercent(l.ratio)
	}
	return w
}

// busiest is the larger of a link's two loads, to order links by.
func busiest(u record.LinkUse) float64 {
	return max(amount(txLoad(u).carried), amount(rxLoad(u).carried))
}

// sending reports whether the host sends the payload of a trial.
func sending(t record.Trial, host string) bool {
	if t.Direction == flow.Reverse {
		return host == t.To
	}
	return host == t.From
}
