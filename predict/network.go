package predict

import (
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/maxmin"
	"github.com/linerate/linerate/predict/pcie"
	"github.com/linerate/linerate/unit"
)

// network is every shared resource of a way, by number. A resource that is
// unknown or absent has number none and bounds nothing.
type network struct {
	capacity []float64
	out, in  [][]int // port resources by attachment and port
	outCard  map[string]slotResource
	inCard   map[string]slotResource
	shared   []int // by the bounds' shared limits
	between  []int // by the switches' links
	bounds   bounds
	at       level
}

// slotResource is a card's slot in one direction; none where it is unknown.
type slotResource struct {
	number int
	card   netstate.Card
}

// network numbers the way's resources, those that are uncertain at one level.
func (w *way) network(b bounds, at level) *network {
	n := &network{outCard: map[string]slotResource{}, inCard: map[string]slotResource{}, bounds: b, at: at}
	n.out, n.in = n.ports(w.out.at), n.ports(w.in.at)
	n.cards(n.outCard, w.out.at)
	n.cards(n.inCard, w.in.at)
	for _, s := range b.shared {
		n.shared = append(n.shared, n.add(s.total.at(at)))
	}
	n.betweenSwitches(w)
	return n
}

func (n *network) add(rate unit.BitRate) int {
	if rate <= 0 {
		return maxmin.None
	}
	n.capacity = append(n.capacity, float64(rate))
	return len(n.capacity) - 1
}

func (n *network) ports(at []attachment) [][]int {
	ids := make([][]int, len(at))
	for i, a := range at {
		for _, c := range a.caps {
			ids[i] = append(ids[i], n.add(c.Rate))
		}
	}
	return ids
}

func (n *network) cards(ids map[string]slotResource, at []attachment) {
	for _, a := range at {
		for _, p := range a.ports {
			if _, ok := ids[p.Card]; ok {
				continue
			}
			if c, ok := cardOf(a.host, p.Card); ok {
				s, _ := pcie.At(c, n.at)
				ids[p.Card] = slotResource{n.add(s.Rate), c}
			}
		}
	}
}

// everyPort is the port number of a flow that is striped over all ports.
const everyPort = -1

// loads lists what a stream of a plan's cell claims.
func (n *network) loads(p plan, c planned) []maxmin.Load {
	var all []maxmin.Load
	w, number := p.way, c.leg
	l := w.legs[number]
	add := func(resource int, weight float64) {
		if resource != maxmin.None {
			all = append(all, maxmin.Load{Resource: resource, Weight: weight})
		}
	}
	s := w.segment(l)
	frame := 1 / s.Share(netstate.FramingL2, 0)
	onPorts := func(a attachment, ids []int, cards map[string]slotResource, port, tags int, transmit bool) {
		first, count := port, 1
		if port == everyPort {
			first, count = 0, len(a.ports)
		}
		for p := first; p < first+count; p++ {
			weight := 1 / a.caps[p].Share(s, tags) / float64(count)
			if transmit {
				weight /= w.arriving()
			}
			add(ids[p], weight)
			if card, ok := cards[a.ports[p].Card]; ok {
				add(card.number, w.slotWeight(card.card, l, transmit, n.at)/float64(count))
			}
		}
	}
	onPorts(w.out.at[l.out], n.out[l.out], n.outCard, c.out, l.outTags, true)
	onPorts(w.in.at[l.in], n.in[l.in], n.inCard, c.in, l.inTags, false)
	n.onSwitches(p, c, add)
	for i, s := range n.bounds.shared {
		switch {
		case !s.covers(number):
		case s.payload:
			add(n.shared[i], 1)
		default:
			add(n.shared[i], frame)
		}
	}
	return all
}
