package trial

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/diagnose/remedy"
	"github.com/linerate/linerate/diagnose/trial/without"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// nearSlot is how far a result may lie outside a slot's predicted range, and
// oftenSlot the share of it that one keeps which reaches it most of the time.
const (
	nearSlot  = 0.05
	oftenSlot = 0.80
)

// reaches: a good part of the blocks lie at what the limit lets through, and
// none above.
func (v *wayView) reaches(l predict.Limit) bool {
	if v.trial.Direction != v.way {
		return false
	}
	at := 0
	for _, b := range v.trial.Blocks {
		if b > l.High*(1+2*nearSlot) {
			return false
		}
		if b >= l.Low*(1-nearSlot) {
			at++
		}
	}
	return at > 0 && at*4 >= len(v.trial.Blocks)
}

// foreseen is what the model says of the lanes that were counted, as they are; false
// where it cannot be predicted.
func (v *wayView) foreseen() (predict.Prediction, bool) {
	t := v.trial
	sent := predict.Between(t.From, t.To, v.way, min(max(t.Streams, 1), mostStreams))
	sent.Protocol, sent.Lanes, sent.ChosenOnly = t.Protocol, without.Counted(v.fabric, t), true
	p, err := predict.Predict(v.fabric, sent)
	return p, err == nil
}

// cardSlot: a card's slot moves less than its ports, and the result is what
// the slot moves.
func (v *wayView) cardSlot() (hypothesis, bool) {
	if len(v.fabric.Hosts[v.from].Cards)+len(v.fabric.Hosts[v.to].Cards) == 0 || !v.room() {
		return hypothesis{}, false
	}
	p, ok := v.foreseen()
	if !ok {
		return hypothesis{}, false
	}
	for _, l := range p.Limits {
		if l.Cause != record.CardSlot {
			continue
		}
		if l.Low == 0 {
			l.Low, l.High = l.Rate, l.Rate
		}
		switch {
		case v.goodput > l.High*(1+nearSlot):
		case v.goodput >= l.Low*(1-nearSlot):
			return v.slotBinds(l), true
		case v.goodput >= l.Low*oftenSlot && v.reaches(l):
			h := v.slotBinds(l)
			h.sure = 0.72
			return h, true
		}
	}
	return hypothesis{}, false
}

func (v *wayView) slotBinds(l predict.Limit) hypothesis {
	evidence := []record.Evidence{{What: "what the slot moves, " + l.Where, Value: fmt.Sprintf("%s to %s", l.Low, l.High), Source: diagnose.FromSlot}, {What: "how that comes about", Value: l.Why, Source: diagnose.FromSlot}}
	for _, u := range v.trial.Links {
		for name, n := range u.Driver {
			if n > 0 && strings.Contains(name, "pci") {
				evidence = append(evidence, record.Evidence{What: name + " of " + u.Link + " on " + u.Host, Value: fmt.Sprintf("+%d", n), Source: "ethtool -S"})
			}
		}
	}
	slices.SortFunc(evidence[2:], func(a, b record.Evidence) int { return strings.Compare(a.What, b.What) })
	h := hypothesis{
		cause: record.CardSlot, seen: true, sure: 0.85, mended: "In a slot wide enough",
		summary:  fmt.Sprintf("No link is full: the card's slot (%s) moves about %v, less than its ports carry, and that is the result.", l.Where, l.Rate),
		evidence: append(append(evidence, v.tcpEvidence()...), v.loads()...),
		remedy:   record.ByHand(remedy.Slots(v.fabric.Hosts[v.from], v.fabric.Hosts[v.to])),
	}
	if w := v.waits; max(w.rwnd, w.sndbuf, w.idle()) >= 0.5 && w.queued() <= 1 {
		h.sure = 0.5 // TCP waits for something of its own, and the rate is the slot's by chance
		h.against = append(h.against, v.tcpEvidence()...)
	}
	return h
}
