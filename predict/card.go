package predict

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/predict/pcie"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// CardRate is what a card's slot moves to the wire (transmit) or from it, all
// its ports together, when nothing goes the other way: frames of that many
// bytes, both counted from the Ethernet header on; zero bytes is a full frame
// at MTU 1500. Low and high bound it where MaxPayload is unknown (128 to 512
// instead of the usual 256) and by what the link layer takes (2 to 8 %
// instead of 5). All zero when generation or lanes are unknown.
func CardRate(c netstate.Card, frame int, transmit bool) (rate, low, high unit.BitRate) {
	if frame <= 0 {
		frame = framing.DefaultMTU + framing.EthernetHeader
	}
	t := pcie.Traffic{Frame: frame, Transmit: transmit, TCP: true}
	var at [3]unit.BitRate
	for _, l := range []level{middle, lowest, highest} {
		s, ok := pcie.At(c, l)
		if !ok {
			return 0, 0, 0
		}
		at[l] = s.RateOf(t)
	}
	return at[middle], at[lowest], at[highest]
}

// slotTraffic is what a leg asks of a slot at one end of the way.
func (w *way) slotTraffic(l leg, transmit bool) pcie.Traffic {
	return pcie.Traffic{
		Frame: w.segment(l).Frame(netstate.FramingL2, 0), Transmit: transmit,
		TCP: framing.IsTCP(w.traffic.protocol()), Duplex: w.traffic.duplex,
	}
}

// slotWeight is how many bits of its slot a bit of the leg's payload takes;
// zero where the slot is unknown.
func (w *way) slotWeight(c netstate.Card, l leg, transmit bool, at level) float64 {
	s, ok := pcie.At(c, at)
	payload := w.segment(l).Payload()
	if !ok || payload <= 0 {
		return 0
	}
	return s.PerFrame(w.slotTraffic(l, transmit)) / float64(payload)
}

// slotPayload is what the card's slot moves of the way's payload, by the leg
// that takes least of it; a zero rate when the slot is unknown.
func (w *way) slotPayload(c netstate.Card, transmit bool) estimate {
	var e estimate
	for _, at := range []level{middle, lowest, highest} {
		s, ok := pcie.At(c, at)
		if !ok {
			return estimate{}
		}
		best := math.Inf(1)
		for _, l := range w.legs {
			if weight := w.slotWeight(c, l, transmit, at); weight > 0 {
				best = math.Min(best, weight)
			}
		}
		rate := s.Rate / unit.BitRate(best)
		switch at {
		case lowest:
			e.low = rate
		case highest:
			e.high = rate
		default:
			e.rate = rate
		}
	}
	e.open = slotOpen(c)
	return e
}

// slotOpen says what is uncertain of a slot.
func slotOpen(c netstate.Card) string {
	link := "what the link layer of " + c.Name + "'s slot takes differs by device"
	if s, ok := pcie.At(c, middle); ok && s.Flit {
		link = ""
	}
	if c.MaxPayload > 0 {
		return link
	}
	payload := fmt.Sprintf("the payload size of %s's slot is unknown: %d is usual, %d and %d occur", c.Name, pcie.UsualMaxPayload, pcie.SmallestMaxPayload, pcie.LargestMaxPayload)
	if link == "" {
		return payload
	}
	return payload + "; " + link
}

// slotWhy is the arithmetic of slotPayload.
func (w *way) slotWhy(c netstate.Card, transmit bool, rate unit.BitRate) string {
	s, _ := pcie.At(c, middle)
	t := w.slotTraffic(w.legs[0], transmit)
	assumed, link, both := "", " x 0.95 (link layer)", ""
	if c.MaxPayload <= 0 {
		assumed = " (assumed)"
	}
	if s.Flit {
		link = ""
	}
	if t.Duplex {
		both = ", the other way's requests among them"
	}
	why := fmt.Sprintf("its slot is PCIe generation %d x%d: %s raw%s = %s; a frame of %d bytes takes %.0f in packets of at most %d%s, with headers and descriptors%s: %s of payload, shared by the card's ports",
		c.Generation, c.Lanes, s.Raw, link, s.Rate, t.Frame, s.PerFrame(t), s.MaxPayload, assumed, both, rate)
	if better := BetterSlot(c); better != "" {
		why += "; " + better
	}
	return why
}

// BetterSlot says what the card could run at in a better slot; "" when it
// runs at its best, or that is unknown.
func BetterSlot(c netstate.Card) string {
	if c.Generation < 1 || c.Lanes < 1 {
		return ""
	}
	var could []string
	if c.MaxGeneration > c.Generation {
		could = append(could, fmt.Sprintf("generation %d", c.MaxGeneration))
	}
	if c.MaxLanes > c.Lanes {
		could = append(could, fmt.Sprintf("x%d", c.MaxLanes))
	}
	if len(could) == 0 {
		return ""
	}
	return "the card could run " + strings.Join(could, " ") + " in a better slot"
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
	card  netstate.Card
	slot  estimate
	ports unit.BitRate
	// share is the part of what is striped over all ports that is this card's;
	// zero where nothing is.
	share float64
}

// tight: the slot moves less than its ports.
func (s slotUse) tight() bool { return s.slot.rate < s.ports }

// cardLimit is what one side's cards let through of the plan: where a slot is
// slower than the ports in use on it the slot counts, else all slots do, and
// ports on no known card come on top, so that one of unknown speed among them
// leaves no limit. What is striped over all ports goes no faster than the
// tightest slot's share allows. False when no slot is known.
func (w *way) cardLimit(p plan, transmit bool) (Limit, bool) {
	u := w.usage(p, transmit)
	slots, elsewhere := w.slots(u)
	if len(slots) == 0 || math.IsInf(float64(elsewhere), 1) {
		return Limit{}, false
	}
	l := Limit{Cause: record.CardSlot, Where: u.host + ": ", Rate: elsewhere, Low: elsewhere, High: elsewhere}
	if i := tightestStripe(slots); i >= 0 {
		s := slots[i]
		k := unit.BitRate(1 / s.share)
		l.Rate, l.Low, l.High = s.slot.rate*k, s.slot.low*k, s.slot.high*k
		l.Where += s.card.Name
		l.Why = s.card.Name + ": " + w.slotWhy(s.card, transmit, s.slot.rate)
		if s.share < 1 {
			l.Why += fmt.Sprintf("; it has %.0f %% of what is striped: %s in all", 100*s.share, l.Rate)
		}
		return l.settled(), true
	}
	tight, others := slices.ContainsFunc(slots, slotUse.tight), elsewhere
	var names, whys []string
	for _, s := range slots {
		if tight && !s.tight() {
			l.Rate, l.Low, l.High = l.Rate+s.ports, l.Low+s.ports, l.High+s.ports
			others += s.ports
			continue
		}
		l.Rate, l.Low, l.High = l.Rate+s.slot.rate, l.Low+s.slot.low, l.High+s.slot.high
		names = append(names, s.card.Name)
		whys = append(whys, s.card.Name+": "+w.slotWhy(s.card, transmit, s.slot.rate))
	}
	if others > 0 {
		whys = append(whys, fmt.Sprintf("with %s by ports on other cards", others))
	}
	if len(whys) > 1 {
		whys = append(whys, fmt.Sprintf("%s in all", l.Rate))
	}
	l.Where += strings.Join(names, ", ")
	l.Why = strings.Join(whys, "; ")
	return l.settled(), true
}

// settled is the limit without a range that says nothing.
func (l Limit) settled() Limit {
	if l.Low == l.Rate && l.High == l.Rate {
		l.Low, l.High = 0, 0
	}
	return l
}

// tightestStripe is the slot that holds back what is striped over all ports;
// -1 where nothing is.
func tightestStripe(slots []slotUse) int {
	best := -1
	for i, s := range slots {
		if s.share == 0 {
			continue
		}
		if best < 0 || float64(s.slot.rate)/s.share < float64(slots[best].slot.rate)/slots[best].share {
			best = i
		}
	}
	return best
}

func (w *way) slots(u usage) (slots []slotUse, elsewhere unit.BitRate) {
	striped := u.striped && len(u.side.at) == 1
	for _, p := range u.ports {
		a := u.side.at[p.at]
		payload := p.payload * unit.BitRate(p.probability)
		if a.caps[p.port].Rate == 0 && p.probability > 0 {
			payload = unit.BitRate(math.Inf(1)) // its speed is unknown
		}
		card, ok := cardOf(a.host, a.ports[p.port].Card)
		slot := w.slotPayload(card, u.transmit)
		if !ok || slot.rate == 0 {
			elsewhere += payload
			continue
		}
		i := slices.IndexFunc(slots, func(s slotUse) bool { return s.card.Name == card.Name })
		if i < 0 {
			i = len(slots)
			slots = append(slots, slotUse{card: card, slot: slot})
		}
		slots[i].ports += payload
		if striped {
			slots[i].share += 1 / float64(len(u.ports))
		}
	}
	return slots, elsewhere
}

// slotsOpen says what makes slots uncertain that may bind at that rate.
func (w *way) slotsOpen(limits []Limit, high unit.BitRate) string {
	var whys []string
	for _, l := range limits {
		if l.Cause != record.CardSlot || l.Low == 0 || float64(l.Low) >= float64(high)*(1-Differs) {
			continue
		}
		for _, s := range []side{w.out, w.in} {
			for _, a := range s.at {
				for _, p := range a.ports {
					c, ok := cardOf(a.host, p.Card)
					if _, known := pcie.At(c, middle); !ok || !known || !strings.HasPrefix(l.Where, a.host.Name+": ") {
						continue
					}
					if why := slotOpen(c); why != "" && !slices.Contains(whys, why) {
						whys = append(whys, why)
					}
				}
			}
		}
	}
	return strings.Join(whys, "; ")
}

// bothWays notes that traffic goes both ways at once.
func (t Traffic) bothWays(d flow.Direction) Traffic {
	t.Direction, t.duplex = d, true
	return t
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
