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
	return l.amount() + l.share()
}

// amount is the load without its share: "478 Mbit/s".
func (l load) amount() string {
	switch {
	case l.known && l.ratio <= still && l.busy:
		return "no payload"
	case l.known && l.ratio <= still, !l.known && !l.busy:
		return "idle"
	case l.wire:
		return counted(l.carried) + " wire"
	}
	return counted(l.carried)
}

// share is the load's share of the ceiling, as it follows the amount: " · 96 %"; ""
// where there is none to say.
func (l load) share() string {
	if !l.known || l.ratio <= still {
		return ""
	}
	return " · " + wholePercent(l.ratio)
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
