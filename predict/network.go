package predict

import (
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// network is every shared resource of a way, by number. A resource that is
// unknown or absent has number none and bounds nothing.
type network struct {
	capacity []float64
	out, in  [][]int // port resources by attachment and port
	outCard  map[string]int
	inCard   map[string]int
	shapers  map[string]int
	path     int
	sender   int
	receiver int
	sendCPU  int
	recvCPU  int
}

const none = -1

func (w *way) network() *network {
	n := &network{outCard: map[string]int{}, inCard: map[string]int{}, shapers: map[string]int{}}
	n.out, n.in = n.ports(w.out.at), n.ports(w.in.at)
	n.cards(n.outCard, w.out.at)
	n.cards(n.inCard, w.in.at)
	for _, l := range w.legs {
		for _, s := range l.shapers {
			if _, ok := n.shapers[s.link]; !ok {
				n.shapers[s.link] = n.add(s.rate)
			}
		}
	}
	n.path, n.sender, n.receiver = n.add(w.path.Rate), n.add(w.sender.Rate), n.add(w.receiver.Rate)
	n.sendCPU, n.recvCPU = n.add(coresRate(w.sender.CPU)), n.add(coresRate(w.receiver.CPU))
	return n
}

// coresRate is what all cores move together; zero when not calibrated.
func coresRate(c netstate.CPU) unit.BitRate { return c.StreamRate * unit.BitRate(max(c.Cores, 0)) }

func (n *network) add(rate unit.BitRate) int {
	if rate <= 0 {
		return none
	}
	n.capacity = append(n.capacity, float64(rate))
	return len(n.capacity) - 1
}

func (n *network) ports(at []attachment) [][]int {
	ids := make([][]int, len(at))
	for i, a := range at {
		for _, c := range a.caps {
			ids[i] = append(ids[i], n.add(c.rate))
		}
	}
	return ids
}

func (n *network) cards(ids map[string]int, at []attachment) {
	for _, a := range at {
		for _, p := range a.ports {
			if _, ok := ids[p.Card]; ok {
				continue
			}
			if c, ok := cardOf(a.host, p.Card); ok {
				ids[p.Card] = n.add(CardRate(c))
			}
		}
	}
}

// everyPort is the port number of a flow that is striped over all ports.
const everyPort = -1

// loads lists what a stream of the leg claims when it leaves by one port and
// arrives by another.
func (n *network) loads(w *way, l leg, out, in int) []load {
	var all []load
	add := func(resource int, weight float64) {
		if resource != none {
			all = append(all, load{resource, weight})
		}
	}
	s := w.segment(l)
	frame := 1 / s.share(netstate.FramingL2, 0)
	onPorts := func(a attachment, ids []int, cards map[string]int, port, tags int) {
		first, count := port, 1
		if port == everyPort {
			first, count = 0, len(a.ports)
		}
		for p := first; p < first+count; p++ {
			add(ids[p], 1/a.caps[p].share(s, tags)/float64(count))
			if card, ok := cards[a.ports[p].Card]; ok {
				add(card, frame/float64(count))
			}
		}
	}
	onPorts(w.out.at[l.out], n.out[l.out], n.outCard, out, l.outTags)
	onPorts(w.in.at[l.in], n.in[l.in], n.inCard, in, l.inTags)
	for _, sh := range l.shapers {
		add(n.shapers[sh.link], frame)
	}
	for _, shaped := range []int{n.path, n.sender, n.receiver} {
		add(shaped, frame)
	}
	add(n.sendCPU, 1)
	add(n.recvCPU, 1)
	return all
}
