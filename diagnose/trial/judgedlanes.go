package trial

import (
	"slices"

	"github.com/linerate/linerate/diagnose/trial/carried"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// judgedLanes are the streams to be judged: where some links of a side are full
// and others carry streams too, those on the others; else all. Where only the
// fewer of them lose packets and the others wait in a queue, it is the others:
// what holds these is no loss.
func (v *wayView) judgedLanes() []record.Lane {
	lanes := v.lanesOffFullLinks()
	lossless := carried.Lossless(lanes)
	if 2*len(lossless) > len(lanes) && carried.Goodput(lossless) > v.goodput/2 && v.waitsOf(lossless).queued() > 1 {
		return lossless
	}
	return lanes
}

// lanesOffFullLinks are the streams on links that are not full, where those of a side
// are told apart; else all.
func (v *wayView) lanesOffFullLinks() []record.Lane {
	for i, side := range [][]linkLoad{v.egress, v.ingress} {
		var full, idle []linkLoad
		for _, l := range side {
			if l.share() >= slackLink {
				full = append(full, l)
			} else if l.share() < roomLink {
				idle = append(idle, l)
			}
		}
		if len(full) == 0 || len(idle) == 0 {
			continue
		}
		on := v.lanesOn(idle, i == 0)
		if len(on) > 0 && len(on) < len(v.lanes) {
			return on
		}
	}
	return v.lanes
}

// lanesOn are the streams on one of the links: where steer places them, or
// where nobody can say, those whose rates make up what the links carried.
func (v *wayView) lanesOn(links []linkLoad, sending bool) []record.Lane {
	var out []record.Lane
	known := true
	for _, l := range v.lanes {
		at := l.IngressLink
		if sending {
			at = l.EgressLink
		}
		known = known && at != ""
		if at != "" && slices.ContainsFunc(links, func(k linkLoad) bool { return k.link == at }) {
			out = append(out, l)
		}
	}
	if known {
		return out
	}
	var payload unit.BitRate
	for _, l := range links {
		payload += l.payload
	}
	if payload < v.goodput/100 {
		return nil
	}
	return carried.Lanes(v.lanes, payload)
}
