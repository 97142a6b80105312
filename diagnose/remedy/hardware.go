package remedy

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// Slots is every card of both hosts that could do better in another slot,
// since the next one binds when the first is repaired; else more cards.
func Slots(hosts ...netstate.Host) string {
	var moves []string
	for _, h := range hosts {
		for _, c := range h.Cards {
			if better := predict.BetterSlot(c); better != "" {
				moves = append(moves, fmt.Sprintf("move card %s of %s: %s", c.Name, h.Name, better))
			}
		}
	}
	if len(moves) > 0 {
		return strings.Join(moves, "; ")
	}
	return "spread the bond's ports over several cards, or use a card for a faster slot"
}

// Aggregated is a bond of another mode that is to use every link: no mode changes while
// its ports are in (BOND_OPTFLAG_NOSLAVES), and the switch's ports must follow at once.
func Aggregated(name string) record.Remedy {
	return record.ByHand("in the fabric file set the mode of " + name + " to 802.3ad and its transmit-hash-policy to layer3+4, put the switch's ports into one LACP group, and `linerate apply FABRIC`: it takes the ports out for the change")
}

// InWords is another system's remedy; nil for none.
func InWords(text string) record.Remedy {
	if text == "" {
		return nil
	}
	return record.ByHand(text)
}
