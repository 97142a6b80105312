package diagnose

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

const fromSlot = "current_link_speed and current_link_width of the PCI device"

// nearSlot is how far a result may lie outside a slot's predicted range.
const nearSlot = 0.03

// cardSlot: the prediction says that a card's slot binds, and the result is
// what the slot moves.
func (v *wayView) cardSlot() (record.Finding, bool) {
	if len(v.fabric.Hosts[v.from].Cards)+len(v.fabric.Hosts[v.to].Cards) == 0 {
		return record.Finding{}, false
	}
	t := v.trial
	p, err := predict.Predict(v.fabric, predict.Traffic{
		From: t.From, To: t.To, Direction: v.way, Streams: min(max(t.Streams, 1), mostStreams),
		Protocol: t.Protocol, Ports: predict.PortsChosen, Lanes: v.counted(), ChosenOnly: true,
	})
	if err != nil || p.Limit != record.CardSlot {
		return record.Finding{}, false
	}
	l := p.Limits[0]
	if l.Low == 0 {
		l.Low, l.High = l.Rate, l.Rate
	}
	if v.goodput < l.Low*(1-nearSlot) || v.goodput > l.High*(1+nearSlot) {
		return record.Finding{}, false
	}
	evidence := []record.Evidence{{What: "what the slot moves, " + l.Where, Value: fmt.Sprintf("%s to %s", l.Low, l.High), Source: fromSlot}}
	return record.Finding{
		Cause: record.CardSlot, Confidence: 0.85,
		Summary:  fmt.Sprintf("No link is full, and the result is what the slot of %s moves: %s.", l.Where, l.Why),
		Evidence: append(evidence, v.loads()...),
		Remedy:   v.slotRemedy(),
	}, true
}

// slotRemedy is the first card of either host that could do better in another
// slot, else more cards.
func (v *wayView) slotRemedy() string {
	for _, name := range []string{v.from, v.to} {
		for _, c := range v.fabric.Hosts[name].Cards {
			if better := predict.BetterSlot(c); better != "" {
				return fmt.Sprintf("move card %s of %s: %s", c.Name, name, better)
			}
		}
	}
	return "spread the bond's ports over several cards, or use a card for a faster slot"
}

// narrowSlots finds cards whose slot moves less than their ports.
func narrowSlots(h netstate.Host) []HostFinding {
	var found []HostFinding
	for _, c := range h.Cards {
		var ports unit.BitRate
		var names []string
		frame := 0
		for _, l := range h.Links {
			if l.Card == c.Name && l.Speed > 0 && l.Up {
				ports += l.Speed
				names = append(names, l.Name)
				frame = max(frame, l.MTU+ethernetHeader)
			}
		}
		rate, _, most := predict.CardRate(c, frame, false)
		frames := ports * unit.BitRate(frame) / unit.BitRate(frame+outsideFrame)
		if len(names) == 0 || most == 0 || most >= frames {
			continue
		}
		remedy := "use ports of several cards for one bond"
		if better := predict.BetterSlot(c); better != "" {
			remedy = better
		}
		found = append(found, HostFinding{
			Kind:     CardSlot,
			What:     fmt.Sprintf("the slot of card %s moves about %s of the %s of its ports %s", c.Name, rate, ports, strings.Join(names, ", ")),
			Severity: Warning,
			Evidence: []record.Evidence{fact(c.Name, fmt.Sprintf("PCIe generation %d x%d", c.Generation, c.Lanes), fromSlot)},
			Remedy:   remedy,
		})
	}
	return found
}

const (
	ethernetHeader = 14
	outsideFrame   = 24 // preamble, FCS and gap, which no card hands on
)
