package predict

import (
	"slices"

	"github.com/linerate/linerate/predict/chance"
	"github.com/linerate/linerate/predict/maxmin"
	"github.com/linerate/linerate/predict/tiers"
)

// assumption is how a plan resolves what the traffic leaves open.
type assumption struct {
	kernel bool // source ports as the kernel chooses them
	worst  bool // chance puts all flows of a bond on one port
	low    bool // what is unknown turns out worst
	mean   bool // what addresses decide on switches is the mean of many pairs
}

// plan is the traffic's streams on the way's ports.
type plan struct {
	way    *way
	groups []chance.Group
	cells  []planned
	routes []tiers.Route // through the switches
}

// planned is one cell: a leg, the ports it leaves and arrives by, and the plan's route
// through the switches between, counted from 1; zero is none that is described.
type planned struct{ leg, out, in, over int }

// choice is the ports one flow may land on at one side: one, or each of
// several equally likely.
type choice struct {
	ports []int
	// free: whoever picks source ports may pick another port than this one,
	// or the best case of an unknown switch would.
	free bool
	// follow: the port that matches the sender's.
	follow bool
	// classes are the ports that the flows reach together; nil is all of them.
	classes []class
}

// plan deals the flows out: round robin over lanes, then over each
// attachment's ports as its spread allows.
func (w *way) plan(a assumption) plan {
	p := plan{way: w}
	outs, ins := w.choices(a)
	w.align(outs, ins)
	kinds := map[planned]int{}
	for i := range outs {
		n := i % len(w.legs)
		key := planned{n, sole(outs[i]), sole(ins[i]), 0}
		g, ok := kinds[key]
		if !ok {
			g = len(p.groups)
			kinds[key] = g
			p.groups = append(p.groups, chance.Group{Classes: p.classesOf(n, outs[i], ins[i], a)})
		}
		p.groups[g].Streams++
	}
	return p
}

// choices is where each flow may go, each side by itself.
func (w *way) choices(a assumption) (outs, ins []choice) {
	outSeen, inSeen := make([]int, len(w.out.at)), make([]int, len(w.in.at))
	classes := map[int][]class{}
	for i := range w.flows() {
		n := i % len(w.legs)
		l := w.legs[n]
		out, in := w.out.choice(l.out, n, outSeen[l.out], a), w.in.choice(l.in, n, inSeen[l.in], a)
		if a.kernel && !a.worst && len(out.ports) > 1 {
			if _, known := classes[n]; !known {
				classes[n] = w.kernelClasses(l, (w.flows()+len(w.legs)-1-n)/len(w.legs))
			}
			out.classes = classes[n]
		}
		outSeen[l.out]++
		inSeen[l.in]++
		switch {
		case len(out.ports) > 1 && w.in.uses[l.in].spread == notKnown && in.free:
			in.follow = true
		case len(out.ports) > 1 && len(in.ports) > 1:
			in.follow = w.samePartition(l)
		case out.ports[0] == everyPort && w.in.uses[l.in].spread == notKnown && in.free:
			in = choice{ports: []int{everyPort}}
		}
		outs, ins = append(outs, out), append(ins, in)
	}
	return outs, ins
}

func (w *way) samePartition(l leg) bool {
	return samePartition(w.out.uses[l.out], w.in.uses[l.in], len(w.out.at[l.out].ports), len(w.in.at[l.in].ports))
}

// align makes the side that is free follow the one that is not (the receiver
// follows where both are free), so that links are shared no more than they
// must be: each port is fed by one port of the other side where there are
// enough, or feeds several of its own. For powers of two this is what one
// hash on both sides does.
func (w *way) align(outs, ins []choice) {
	fixedOut, fixedIn := newFixed(len(w.in.at)), newFixed(len(w.out.at))
	for i := range outs {
		l := w.legs[i%len(w.legs)]
		if single(outs[i]) && single(ins[i]) {
			fixedOut[l.in].see(l.out, outs[i].ports[0])
			fixedIn[l.out].see(l.in, ins[i].ports[0])
		}
	}
	for i := range outs {
		l := w.legs[i%len(w.legs)]
		switch {
		case !single(outs[i]) || !single(ins[i]):
		case ins[i].free:
			ins[i].ports = []int{fixedOut[l.in].next(l.out, outs[i].ports[0], len(w.in.at[l.in].ports))}
		case outs[i].free:
			outs[i].ports = []int{fixedIn[l.out].next(l.in, ins[i].ports[0], len(w.out.at[l.out].ports))}
		}
	}
}

func single(c choice) bool { return len(c.ports) == 1 && c.ports[0] != everyPort }

// fixed numbers the ports in use on one side that lead to an attachment of
// the other, and deals that attachment's ports out among them.
type fixed struct {
	number map[[2]int]int
	turns  map[[2]int]int
}

func newFixed(n int) []fixed {
	all := make([]fixed, n)
	for i := range all {
		all[i] = fixed{map[[2]int]int{}, map[[2]int]int{}}
	}
	return all
}

func (f fixed) see(at, port int) {
	key := [2]int{at, port}
	if _, ok := f.number[key]; !ok {
		f.number[key] = len(f.number)
	}
}

// next is the next of the n ports that belong to this one: several in turn
// where there are more than ports in use, else one that others share.
func (f fixed) next(at, port, n int) int {
	key := [2]int{at, port}
	own, all := f.number[key], len(f.number)
	if all >= n {
		return own % n
	}
	mine := (n - own + all - 1) / all
	turn := f.turns[key] % mine
	f.turns[key]++
	return own + turn*all
}

// flows is how many transport flows the streams are: an MPTCP connection has
// one on each lane.
func (w *way) flows() int {
	if w.traffic.protocol() == "mptcp" {
		return w.traffic.Streams * len(w.legs)
	}
	return w.traffic.Streams
}

// undecided marks a choice of several ports in a group's key.
const undecided = -2

func sole(c choice) int {
	if len(c.ports) == 1 && !c.follow {
		return c.ports[0]
	}
	return undecided
}

// choice is where the attachment's next flow may go: n is the leg's number,
// seen how many flows the attachment has.
func (s *side) choice(at, n, seen int, a assumption) choice {
	ports := len(s.at[at].ports)
	one := choice{ports: []int{s.at[at].slowest()}}
	turn := choice{ports: []int{seen % ports}, free: true}
	switch s.uses[at].spread {
	case byAddress:
		if s.loose[at] && a.low {
			return one
		}
		return choice{ports: []int{s.ports[n]}}
	case byPort:
		if a.worst {
			return one
		}
		if !a.kernel {
			return turn
		}
		return anyOf(ports)
	case byChance:
		if a.worst {
			return one
		}
		return anyOf(ports)
	case byLoad:
		if a.worst || a.low {
			return one
		}
		return choice{ports: turn.ports}
	case byPacket:
		return choice{ports: []int{everyPort}}
	case notKnown:
		if a.worst || a.low {
			return one
		}
		return turn
	}
	return choice{ports: []int{s.ports[n]}}
}

func anyOf(n int) choice {
	c := choice{ports: make([]int, n)}
	for i := range c.ports {
		c.ports[i] = i
	}
	return c
}

// classesOf lists the cells of a flow with these choices, by class.
func (p *plan) classesOf(n int, out, in choice, a assumption) []chance.Class {
	if len(out.classes) == 0 {
		return []chance.Class{{Cells: p.cellsOf(n, out, in, a), Weight: 1}}
	}
	var all []chance.Class
	for _, c := range out.classes {
		out.ports = c.ports
		all = append(all, chance.Class{Cells: p.cellsOf(n, out, in, a), Weight: c.weight})
	}
	return all
}

// cellsOf lists the equally likely cells of a flow with these choices.
func (p *plan) cellsOf(n int, out, in choice, a assumption) []int {
	if ids, described := p.routed(n, out, in, a); described {
		return ids
	}
	var ids []int
	for _, o := range out.ports {
		arrivals := in.ports
		if in.follow {
			arrivals = []int{o % len(p.way.in.at[p.way.legs[n].in].ports)}
		}
		for _, i := range arrivals {
			ids = append(ids, p.cell(planned{n, o, i, 0}))
		}
	}
	return ids
}

func (p *plan) cell(c planned) int {
	if i := slices.Index(p.cells, c); i >= 0 {
		return i
	}
	p.cells = append(p.cells, c)
	return len(p.cells) - 1
}

// same reports two plans that put the same flows on the same ports.
func (p plan) same(q plan) bool {
	return slices.Equal(p.cells, q.cells) && slices.EqualFunc(p.routes, q.routes, sameRoute) && slices.EqualFunc(p.groups, q.groups, func(a, b chance.Group) bool {
		return a.Streams == b.Streams && slices.EqualFunc(a.Classes, b.Classes, func(x, y chance.Class) bool { return slices.Equal(x.Cells, y.Cells) })
	})
}

// chance reports whether luck decides where some flow goes.
func (p plan) chance() bool {
	return slices.ContainsFunc(p.groups, func(g chance.Group) bool { return len(g.Classes) > 1 || len(g.Classes[0].Cells) > 1 })
}

// result is a plan's outcome, the mean over chance.
type result struct {
	rate float64 // payload, +Inf without a bound
	most float64 // of the best way that luck may have
	// streams and payload on each cell of the plan.
	streams, loads []float64
}

// run computes the plan's mean outcome; streamCap bounds each flow.
func (p plan) run(n *network, streamCap float64) result {
	cells, f := p.prepared(n, streamCap)
	r := result{streams: make([]float64, len(cells)), loads: make([]float64, len(cells))}
	chance.Outcomes(p.groups, len(cells), func(counts []float64, probability float64) {
		for i := range cells {
			cells[i].Streams = counts[i]
		}
		rate := f.Fill(cells)
		r.rate, r.most = r.rate+probability*rate, max(r.most, rate)
		for i, c := range cells {
			r.streams[i] += probability * c.Streams
			r.loads[i] += probability * c.Streams * c.Rate
		}
	})
	return r
}

// prepared is the plan's cells without streams, and what shares the network
// among them.
func (p plan) prepared(n *network, streamCap float64) ([]maxmin.Cell, *maxmin.Filler) {
	cells := make([]maxmin.Cell, len(p.cells))
	for i, c := range p.cells {
		cells[i] = maxmin.Cell{Cap: streamCap, Loads: n.loads(p, c)}
	}
	return cells, &maxmin.Filler{Capacity: n.capacity}
}

// used is the probability that each port of an attachment carries a flow.
// Port tells the cell's port on the attachment, false when it has none there.
func (p plan) used(ports int, port func(planned) (int, bool)) []float64 {
	idle := make([]float64, ports)
	for i := range idle {
		idle[i] = 1
	}
	for _, g := range p.groups {
		missed := make([]float64, ports)
		for _, class := range g.Classes {
			hits := p.hits(class.Cells, ports, port)
			for i := range missed {
				missed[i] += class.Weight * power(1-hits[i]/float64(len(class.Cells)), g.Streams)
			}
		}
		for i := range idle {
			idle[i] *= missed[i]
		}
	}
	for i := range idle {
		idle[i] = 1 - idle[i]
	}
	return idle
}

// hits is how many of the cells lie on each port.
func (p plan) hits(cells []int, ports int, port func(planned) (int, bool)) []float64 {
	hits := make([]float64, ports)
	for _, c := range cells {
		n, ok := port(p.cells[c])
		switch {
		case !ok:
		case n == everyPort:
			for i := range hits {
				hits[i] = float64(len(cells))
			}
		default:
			hits[n]++
		}
	}
	return hits
}

func power(x float64, n int) float64 {
	y := 1.0
	for range n {
		y *= x
	}
	return y
}
