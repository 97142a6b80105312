package trial

import (
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// inSlots puts the ports of both hosts on one card.
func inSlots(f predict.Fabric, card netstate.Card) predict.Fabric {
	for name, h := range f.Hosts {
		h.Cards = []netstate.Card{card}
		for i, l := range h.Links {
			if l.Bond == nil {
				h.Links[i].Card = card.Name
			}
		}
		f.Hosts[name] = h
	}
	return f
}

// TestCardSlot: two ports of a card that carry no more than its slot moves.
func TestCardSlot(t *testing.T) {
	p := pair{end: end{links: 2, policy: netstate.Layer34, speed: 10e9}}
	for _, c := range []struct {
		name   string
		card   netstate.Card
		scale  float64 // of the predicted rate
		cause  record.Cause
		remedy string
	}{
		{"in a slot of four lanes", netstate.Card{Name: "c0", Generation: 2, Lanes: 4, MaxPayload: 256}, 1, record.CardSlot, "several cards"},
		{"that could run eight", netstate.Card{Name: "c0", Generation: 2, Lanes: 4, MaxPayload: 256, MaxLanes: 8}, 1, record.CardSlot, "x8 in a better slot"},
		{"far below what the slot moves", netstate.Card{Name: "c0", Generation: 2, Lanes: 4, MaxPayload: 256}, .7, "", ""},
		{"in a slot wide enough", netstate.Card{Name: "c0", Generation: 3, Lanes: 8, MaxPayload: 256}, 1, record.LineRate, ""},
	} {
		f := inSlots(p.fabric(), c.card)
		f.Paths[0].RTT = 0
		predicted, err := predict.Predict(f, predict.Traffic{From: "a", To: "b", Direction: forward, Streams: 4})
		if err != nil {
			t.Fatal(err)
		}
		slower := predicted
		slower.Rate *= unit.BitRate(c.scale)
		slower.Links = slices.Clone(predicted.Links)
		for i := range slower.Links {
			slower.Links[i].Load *= unit.BitRate(c.scale)
		}
		trial := synthesised(f, slower)
		got := Judge(f, trial)
		if c.cause == "" && got.Cause == record.CardSlot || c.cause != "" && got.Cause != c.cause || !strings.Contains(got.Remedy, c.remedy) {
			t.Errorf("%s: %s (%s; %s); want %s (%v of %v)", c.name, got.Cause, got.Summary, got.Remedy, c.cause, predicted.Rate, predicted.Ceiling)
		}
	}
}
