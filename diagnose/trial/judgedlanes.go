package trial

import (
	"math"
	"slices"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// judgedLanes are the streams to be judged: where some links of a side are full
// and others carry streams too, those on the others; else all. Where only the
// fewer of them lose packets and the others wait in a queue, it is the others:
// what holds these is no loss.
func (v *wayView) judgedLanes() []record.Lane {
	lanes := v.lanesOffFullLinks()
	lossless := slices.DeleteFunc(slices.Clone(lanes), func(l record.Lane) bool { return l.Retransmits > 0 || l.TCP.BytesRetrans > 0 })
	var carried unit.BitRate
	for _, l := range lossless {
		carried += l.Goodput
	}
	if 2*len(lossless) > len(lanes) && carried > v.goodput/2 && v.waitsOf(lossless).queued() > 1 {
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
	return v.byRates(links)
}

// Streams are told from other traffic by their rates: as near as counters and
// sockets agree over one window, and no more streams than can be tried.
const (
	ratesAgree = 0.10
	mostTried  = 14
)

// byRates are the streams whose rates add up to what the links carried; nil
// where none do, or nothing was carried to speak of.
func (v *wayView) byRates(links []linkLoad) []record.Lane {
	var carried float64
	for _, l := range links {
		carried += float64(l.payload)
	}
	n := len(v.lanes)
	if n > mostTried || carried < 0.01*float64(v.goodput) || carried <= 0 {
		return nil
	}
	best, off := 0, ratesAgree
	for set := 1; set < 1<<n-1; set++ {
		var sum float64
		for i, l := range v.lanes {
			if set&(1<<i) != 0 {
				sum += float64(l.Goodput)
			}
		}
		if d := math.Abs(sum/carried - 1); d < off {
			best, off = set, d
		}
	}
	var out []record.Lane
	for i, l := range v.lanes {
		if best&(1<<i) != 0 {
			out = append(out, l)
		}
	}
	return out
}
