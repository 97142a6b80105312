package predict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// pcieLane is one lane's rate after line coding, by generation: GT/s x 8/10
// for 1 and 2, x 128/130 for 3 to 5 (PCI Express Base Specification 5.0,
// section 4.2). Generation 0 is unknown.
var pcieLane = [...]unit.BitRate{
	1: 2.5e9 * 8 / 10, 2: 5e9 * 8 / 10,
	3: 8e9 * 128 / 130, 4: 16e9 * 128 / 130, 5: 32e9 * 128 / 130,
}

const (
	// tlpOverhead is what a transaction-layer packet adds to its payload:
	// framing, sequence number, header of 3 or 4 words, LCRC.
	tlpOverhead = 24
	// linkLayerShare is what acknowledgements and credit updates leave.
	linkLayerShare = 0.95
	// usualMaxPayload is taken where MaxPayload is unknown.
	usualMaxPayload = 256
)

// CardRate is what a card's slot moves in one direction: frames from the
// Ethernet header on, all its ports together. Zero when generation or lanes
// are unknown. A MaxPayload that is unknown counts as 256.
func CardRate(c netstate.Card) unit.BitRate {
	if c.Generation < 1 || c.Generation >= len(pcieLane) || c.Lanes < 1 {
		return 0
	}
	mps := float64(maxPayload(c))
	return unit.BitRate(float64(pcieLane[c.Generation]) * float64(c.Lanes) * mps / (mps + tlpOverhead) * linkLayerShare)
}

func maxPayload(c netstate.Card) int {
	if c.MaxPayload <= 0 {
		return usualMaxPayload
	}
	return c.MaxPayload
}

// cardWhy is the arithmetic of CardRate.
func cardWhy(c netstate.Card) string {
	assumed := ""
	if c.MaxPayload <= 0 {
		assumed = " (assumed)"
	}
	mps := maxPayload(c)
	return fmt.Sprintf("its slot is PCIe generation %d x%d: %s raw x %d/%d (payload of %d%s in a packet) x 0.95 (link layer) = %s of frames, shared by the card's ports",
		c.Generation, c.Lanes, pcieLane[c.Generation]*unit.BitRate(c.Lanes), mps, mps+tlpOverhead, mps, assumed, CardRate(c))
}

// cardOf returns the named card of the host.
func cardOf(h netstate.Host, name string) (netstate.Card, bool) {
	for _, c := range h.Cards {
		if name != "" && c.Name == name {
			return c, true
		}
	}
	return netstate.Card{}, false
}

// slotUse is one card's part in a plan: its slot's payload and its ports'.
type slotUse struct {
	card        netstate.Card
	slot, ports unit.BitRate
}

// cardLimit is what one side's cards let through of the plan: where a slot is
// slower than the ports in use on it the slot counts, else all slots do, and
// ports on no known card come on top. False when no slot is known.
func (w *way) cardLimit(p plan, transmit bool) (Limit, bool) {
	u := w.usage(p, transmit)
	if u.unknownPort() != "" {
		return Limit{}, false
	}
	slots, elsewhere := w.slots(u)
	if len(slots) == 0 {
		return Limit{}, false
	}
	tight := slices.ContainsFunc(slots, slotUse.tight)
	rate := elsewhere
	var names, whys []string
	for _, s := range slots {
		switch {
		case tight && !s.tight():
			rate += s.ports
			continue
		default:
			rate += s.slot
		}
		names = append(names, s.card.Name)
		whys = append(whys, s.card.Name+": "+cardWhy(s.card))
	}
	seg := w.segment(w.legs[0])
	whys = append(whys, fmt.Sprintf("%d/%d of a frame is payload: %s in all", seg.payload(), seg.frame(netstate.FramingL2, 0), rate))
	return Limit{Cause: record.CardSlot, Rate: rate, Where: u.host + ": " + strings.Join(names, ", "), Why: strings.Join(whys, "; ")}, true
}

// tight: the slot moves less than its ports.
func (s slotUse) tight() bool { return s.slot < s.ports }

func (w *way) slots(u usage) (slots []slotUse, elsewhere unit.BitRate) {
	for _, p := range u.ports {
		a := u.side.at[p.at]
		payload := p.payload * unit.BitRate(p.probability)
		card, ok := cardOf(a.host, a.ports[p.port].Card)
		slot := CardRate(card) * unit.BitRate(w.shaperShare())
		if !ok || slot == 0 {
			elsewhere += payload
			continue
		}
		i := slices.IndexFunc(slots, func(s slotUse) bool { return s.card.Name == card.Name })
		if i < 0 {
			i = len(slots)
			slots = append(slots, slotUse{card: card, slot: slot})
		}
		slots[i].ports += payload
	}
	return slots, elsewhere
}
