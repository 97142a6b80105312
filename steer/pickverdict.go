package steer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/flow"
)

// judge counts the streams on the links of all sides.
func (s *search) judge(streams []Stream) Picked {
	p := Picked{Streams: streams, Even: true}
	frames, on := make([]flow.Frame, len(streams)), make([]int, len(streams))
	var reasons, remedies []string
	for _, side := range s.sides {
		for i := range streams {
			frames[i] = s.req.frame(side, streams[i].Lane, streams[i].Sport, streams[i].Dport)
			on[i] = *streams[i].linkOn(side)
		}
		v := side.verdict(frames, on)
		*p.countsOn(side) = v.perLink
		p.Even, p.Relative = p.Even && v.even, p.Relative || v.relative
		for _, r := range v.reasons {
			reasons = append(reasons, side.attribute(r))
		}
		if !v.even {
			remedies = append(remedies, side.attribute(side.portRemedy(len(s.req.Lanes), v)))
		}
	}
	p.Why, p.Remedy = strings.Join(slices.Compact(reasons), "; "), strings.Join(slices.Compact(remedies), "; ")
	return p
}

// verdict is how chosen streams use one side's links.
type verdict struct {
	perLink        []int
	even, relative bool
	reasons        []string
	// short: other ports or addresses would do, but those allowed do not.
	short bool
	// portless: the spreader goes by ports, and the protocol has none.
	portless bool
	// remark is what the spreader says of a flow whose link it knows.
	remark string
}

// verdict judges frames placed on links; a link of -1 is unknown.
func (s side) verdict(frames []flow.Frame, on []int) verdict {
	v := verdict{perLink: make([]int, len(s.spreader.Links()))}
	unknown := 0
	for _, l := range on {
		if l >= 0 {
			v.perLink[l]++
		} else {
			unknown++
		}
	}
	reach := s.spreader.Reach()
	switch {
	case len(v.perLink) == 1:
		v.even = true
		return v
	case reach.Striped:
		v.even, v.reasons = true, []string{reach.Why}
		return v
	case s.bundle != nil:
		s.bundle.judge(&v, frames, on)
		return v
	case s.lagg != nil:
		s.lagg.judge(&v, frames)
		return v
	case unknown > 0:
		v.even, v.reasons = len(frames) == 1, []string{reach.Why}
		if p := s.spreader.Place(frames[slices.Index(on, -1)]); p.Why != "" {
			v.reasons = []string{p.Why}
		}
		return v
	}
	if v.even = Evenly(v.perLink); !v.even {
		v.shortfall(reach, frames[0].Proto)
		if v.remark = s.spreader.Place(frames[0]).Why; v.remark != "" {
			v.reasons = append(v.reasons, v.remark)
		}
	}
	return v
}

// judge is the verdict on a bond: even must hold in every world that the
// frames and the kernel's release leave open.
func (b Bundle) judge(v *verdict, frames []flow.Frame, on []int) {
	reach := b.Reach()
	open, why := b.openHash(frames)
	switch {
	case !b.Hashes() || why != "" && !reach.Chosen:
		v.even, v.reasons = len(frames) == 1, []string{reach.Why}
		return
	case why != "":
		v.even, v.reasons = len(frames) == 1, []string{why}
		return
	}
	if v.even = Evenly(v.perLink); !v.even {
		v.shortfall(reach, frames[0].Proto)
	}
	agree, evenInAll := b.everywhere(frames, on, open)
	if !agree {
		v.relative = true
		v.reasons = append(v.reasons, b.openReason(frames, open))
	}
	v.even = v.even && evenInAll
}

// judge is the verdict on a lagg whose key is not known: even must hold for
// every key.
func (l Lagg) judge(v *verdict, frames []flow.Frame) {
	reach := l.Reach()
	if v.even = Evenly(v.perLink); !v.even {
		v.shortfall(reach, frames[0].Proto)
	}
	v.relative = true
	parts, _ := l.Readings(frames)
	for _, part := range parts {
		counts := make([]int, len(l.Ports))
		for _, link := range part {
			counts[link]++
		}
		if v.even && !Evenly(counts) {
			v.even, v.short = false, reach.Ports
			v.reasons = append(v.reasons, "with another of the lagg's random keys these flows share ports unevenly")
			return
		}
	}
	if v.even {
		v.reasons = append(v.reasons, "the lagg's random key decides which port is which; these flows spread evenly whatever it is")
	}
}

// openHash is open for bundles whose mode hashes; others leave nothing to open.
func (b Bundle) openHash(frames []flow.Frame) (open bool, why string) {
	if !b.Hashes() {
		return false, ""
	}
	return b.open(frames)
}

// everywhere replays the frames in every world: whether all place them on the
// same links, and whether all are even.
func (b Bundle) everywhere(frames []flow.Frame, on []int, open bool) (agree, evenInAll bool) {
	agree, evenInAll = true, true
	counts := make([]int, len(b.Ports))
	for _, w := range b.worlds(open) {
		clear(counts)
		for i, f := range frames {
			l := int(b.sumIn(f, w) % uint32(len(b.Ports)))
			agree = agree && l == on[i]
			counts[l]++
		}
		evenInAll = evenInAll && Evenly(counts)
	}
	return agree, evenInAll
}

// shortfall says why streams could not be spread evenly.
func (v *verdict) shortfall(reach Reach, p flow.Proto) {
	used := 0
	for _, n := range v.perLink {
		if n > 0 {
			used++
		}
	}
	switch {
	case !reach.Ports && !reach.Addresses:
		v.reasons = []string{reach.Why}
	case reach.Ports && !p.HasPorts():
		v.portless = true
		v.reasons = []string{protocolText(p) + " has no ports to choose: " + reach.Why}
	case reach.Ports:
		v.short = true
		v.reasons = []string{fmt.Sprintf("the ports and addresses allowed reach %d of %d links: %s streams on them", used, len(v.perLink), List(v.perLink))}
	default:
		v.reasons = []string{fmt.Sprintf("%s: the pairs of addresses given reach %d of %d links", reach.Why, used, len(v.perLink))}
	}
}

// Evenly reports counts that differ by one at most.
func Evenly(counts []int) bool {
	low, high := counts[0], counts[0]
	for _, c := range counts {
		low, high = min(low, c), max(high, c)
	}
	return high-low <= 1
}

// protocolText is a protocol's name, or "protocol 89" without one.
func protocolText(p flow.Proto) string {
	name := p.String()
	if name[0] >= '0' && name[0] <= '9' {
		return "protocol " + name
	}
	return name
}
