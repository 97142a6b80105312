package tune

import (
	"cmp"
	"slices"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/unit"
)

// pick is a move with the option of it that was chosen.
type pick struct {
	move   move
	option option
}

// rate is what the prediction expects of a state; zero where it cannot say.
func (s State) rate() unit.BitRate { return s.rateOf(s.Load) }

func (s State) rateOf(l Load) unit.BitRate {
	t := l.Traffic
	t.ChosenOnly, t.LoadedRTT = true, s.learnt.rtt
	p, err := predict.Predict(s.learnt.into(s.Fabric, t), t)
	if err != nil {
		return 0
	}
	return p.Rate
}

// onPaper is the way to the cheapest state that carries as much as any, one
// proposal after the other; what does not pay alone goes together.
func onPaper(s State) []Proposal {
	s = s.learn()
	todo := cheapestBest(s)
	var out []Proposal
	for len(todo) > 0 {
		step := nextStep(s, todo)
		if len(step) == 0 {
			break
		}
		p, end := proposalOf(s, step)
		out = append(out, p)
		s = end
		todo = slices.DeleteFunc(todo, func(name Name) bool { return slices.Contains(p.Moves, name) })
	}
	return out
}

// cheapestBest names the moves to the state that the prediction likes best: of
// those within leastGain of the highest rate the one with the fewest streams,
// then the one that bounces nothing, then the one with the fewest changes.
func cheapestBest(s State) []Name {
	type candidate struct {
		moves                   []Name
		rate                    unit.BitRate
		streams, bounces, count int
	}
	var all []candidate
	best := unit.BitRate(0)
	add := func(at State, moves []Name, bounces int) {
		c := candidate{slices.Clone(moves), at.rate(), at.Traffic.Streams, bounces, len(moves)}
		best = max(best, c.rate)
		all = append(all, c)
	}
	var grow func(at State, rest []move, taken []Name, bounces int)
	grow = func(at State, rest []move, taken []Name, bounces int) {
		if len(rest) == 0 {
			add(at, taken, bounces)
			for _, o := range at.left(moveNamed(Streams)) {
				add(at.after(o), append(slices.Clone(taken), Streams), bounces)
			}
			return
		}
		grow(at, rest[1:], taken, bounces)
		if left := at.left(rest[0]); len(left) > 0 {
			if at.bounces(rest[0]) {
				bounces++
			}
			grow(at.after(left[0]), rest[1:], append(slices.Clone(taken), rest[0].name), bounces)
		}
	}
	grow(s, hostMoves(), nil, 0)
	all = slices.DeleteFunc(all, func(c candidate) bool { return c.rate < best*(1-leastGain) })
	if len(all) == 0 {
		return nil
	}
	return slices.MinFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.streams, b.streams), cmp.Compare(a.bounces, b.bounces), cmp.Compare(a.count, b.count), cmp.Compare(b.rate, a.rate))
	}).moves
}

// hostMoves are the moves that the prediction knows the worth of, all but the
// traffic's.
func hostMoves() []move {
	return slices.DeleteFunc(moves(), func(m move) bool { return !m.modelled || m.name == Streams })
}

func moveNamed(name Name) move {
	all := moves()
	return all[slices.IndexFunc(all, func(m move) bool { return m.name == name })]
}

// nextStep is what of the moves to try first: what gains most, those that
// bounce nothing before those that do. Two that gain nothing singly may gain
// most together, and what is left after that goes as a whole.
func nextStep(s State, todo []Name) []pick {
	if s.Thorough && slices.Contains(todo, HashPolicy) { // it has a proof of its own
		return picks(s, []Name{HashPolicy})
	}
	var online []Name
	for _, name := range todo {
		if !s.bounces(moveNamed(name)) {
			online = append(online, name)
		}
	}
	for _, names := range [][]Name{online, todo} {
		var idle []Name
		for _, name := range names {
			if bestOf(s, [][]Name{{name}}) == nil {
				idle = append(idle, name)
			}
		}
		if best := bestOf(s, append(singles(names), pairs(idle)...)); best != nil {
			return best
		}
		if best := bestOf(s, [][]Name{names}); best != nil {
			return best
		}
	}
	return nil
}

func singles(names []Name) [][]Name {
	var out [][]Name
	for _, n := range names {
		out = append(out, []Name{n})
	}
	return out
}

func pairs(names []Name) [][]Name {
	var out [][]Name
	for i, a := range names {
		for _, b := range names[i+1:] {
			out = append(out, []Name{a, b})
		}
	}
	return out
}

// bestOf is the set of moves that gains most, nil when none gains enough.
func bestOf(s State, sets [][]Name) []pick {
	var best []pick
	most, now := s.rate()*(1+leastGain), s.rate()
	if now <= 0 {
		return nil
	}
	for _, set := range sets {
		chosen := picks(s, set)
		if len(chosen) == 0 {
			continue
		}
		if r := reached(s, chosen).rate(); r > most*(1+1e-9) || best == nil && r >= most {
			best, most = chosen, r
		}
	}
	return best
}

// picks chooses an option for each of the moves, each in the state that those
// before it lead to; nil where one has none left. The traffic comes last, with
// the fewest streams that carry as much as any.
func picks(s State, names []Name) []pick {
	var out []pick
	at := s
	for _, m := range moves() {
		if !slices.Contains(names, m.name) || m.name == Streams {
			continue
		}
		left := at.left(m)
		if len(left) == 0 {
			return nil
		}
		out = append(out, pick{m, left[0]})
		at = at.after(left[0])
	}
	if slices.Contains(names, Streams) {
		o, ok := fewestStreams(at)
		if !ok {
			return nil
		}
		out = append(out, pick{moveNamed(Streams), o})
	}
	return out
}

// fewestStreams is the option of the traffic that carries within leastGain of
// what any carries, with the fewest streams.
func fewestStreams(s State) (option, bool) {
	left := s.left(moveNamed(Streams))
	best, rates := unit.BitRate(0), make([]unit.BitRate, len(left))
	for i, o := range left {
		rates[i] = s.rateOf(o.load)
		best = max(best, rates[i])
	}
	for i, o := range left {
		if rates[i] > 0 && rates[i] >= best*(1-leastGain) {
			return o, true
		}
	}
	return option{}, false
}

// reached is the state behind all of the picks.
func reached(s State, all []pick) State {
	for _, p := range all {
		s = s.after(p.option)
	}
	return s
}

// proposalOf is a proposal of the picks together, and the state it leads to.
func proposalOf(s State, chosen []pick) (Proposal, State) {
	end := reached(s, chosen)
	p := Proposal{Name: chosen[0].move.name, Load: end.Load, ProofA: s.Load, ProofB: end.Load}
	var keys, changes, whys []string
	for _, c := range chosen {
		if c.option.reason != nil {
			c.option.why = c.option.reason()
		}
		p.Moves, p.Keys = append(p.Moves, c.move.name), append(p.Keys, c.option.key)
		keys, changes, whys = append(keys, string(c.option.key)), append(changes, c.option.change), append(whys, c.option.why)
		p.Bounces = p.Bounces || s.bounces(c.move)
		p.ProbeMTU = max(p.ProbeMTU, c.option.probe)
		if c.option.hosts != nil {
			p.HostMoves = append(p.HostMoves, c.move.name)
		}
		for name := range c.option.hosts {
			if p.Hosts == nil {
				p.Hosts = make(map[string]netstate.Host)
			}
			p.Hosts[name] = end.Fabric.Hosts[name]
		}
	}
	p.Key, p.Change, p.Why = Name(strings.Join(keys, "+")), strings.Join(changes, ", "), strings.Join(whys, "; ")
	if s.Thorough && len(chosen) == 1 && p.Name == HashPolicy {
		p.ProofA.Traffic.Streams, p.ProofA.Traffic.Ports = kernelPerLink*width(s), predict.PortsKernel
		p.ProofB = p.ProofA
	}
	p.Expected = end.rateOf(p.ProofB)
	if a := s.rateOf(p.ProofA); a > 0 {
		p.Gain = float64(p.Expected/a) - 1
	}
	return p, end
}

// kernelPerLink streams a link leave an idle link to chance in less than one
// run of a hundred where the kernel picks the ports.
const kernelPerLink = 4
