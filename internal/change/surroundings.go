package change

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/internal/measure"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
)

// surroundings is who answered whom: what held before a change must hold after
// it.
type surroundings struct {
	answers map[way]bool
	// passes is the packet size that was proven on each path, zero none.
	passes map[[2]string]int
}

// way is from a host to an address, which is another host's or a gateway's.
type way struct {
	from string
	to   netip.Addr
	// peer is the other host's name, "" a gateway.
	peer string
}

const (
	pingTries   = 3
	pingTimeout = 700 * time.Millisecond
)

// lookAround pings between hosts of the file, and every host's gateways.
func (c *Change) lookAround(ctx context.Context, state predict.Fabric) surroundings {
	s := surroundings{answers: map[way]bool{}, passes: map[[2]string]int{}}
	for _, w := range c.ways(state) {
		s.answers[w] = c.pings(ctx, state, w)
	}
	for _, p := range c.pairs(state) {
		if size := frameSize(state, p); size > 0 && c.proves(ctx, state, p, size) == nil {
			s.passes[[2]string{p.From, p.To}] = size
		}
	}
	return s
}

// ways lists what is pinged: both ways of every path, and gateways.
func (c *Change) ways(state predict.Fabric) []way {
	var all []way
	add := func(w way) {
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	for _, p := range c.pairs(state) {
		for _, ends := range [][2]string{{p.From, p.To}, {p.To, p.From}} {
			lanes, err := predict.Lanes(state, ends[0], ends[1], p.Family)
			if err == nil && len(lanes) > 0 {
				add(way{ends[0], lanes[0].Dst, ends[1]})
			}
		}
	}
	for _, name := range c.order {
		for _, r := range state.Hosts[name].Routes {
			if r.Dst.Bits() == 0 && r.Gateway.IsValid() && r.Type == "" {
				add(way{name, r.Gateway, ""})
			}
		}
	}
	return all
}

// pairs are the paths whose both ends are reached and of which one changes.
func (c *Change) pairs(state predict.Fabric) []fabric.Path {
	var out []fabric.Path
	for _, p := range state.Paths {
		if c.hosts[p.From] != nil && c.hosts[p.To] != nil && (slices.Contains(c.order, p.From) || slices.Contains(c.order, p.To)) {
			out = append(out, p)
		}
	}
	return out
}

// pings asks at the address that has the way's peer now.
func (c *Change) pings(ctx context.Context, state predict.Fabric, w way) bool {
	for range pingTries {
		reply, err := c.hosts[w.from].Ping(ctx, agentapi.PingRequest{Dst: w.to, Count: 1, Timeout: pingTimeout})
		if err == nil && len(reply.RTTs) > 0 {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
	}
	return false
}

// reached asks again who answered before.
func (c *Change) reached(ctx context.Context, before surroundings, after predict.Fabric) []Proved {
	var proofs []Proved
	lost := map[way]bool{}
	for i := 0; i < int(patience/look); i++ {
		clear(lost)
		for w, answered := range before.answers {
			if answered && !c.pings(ctx, after, w) {
				lost[w] = true
			}
		}
		if len(lost) == 0 || ctx.Err() != nil {
			break
		}
	}
	for w, answered := range before.answers {
		p := Proved{Proof: ProofReach, What: fmt.Sprintf("%s to %s", w.from, w.name()), Verdict: Held}
		switch {
		case !answered:
			p.Verdict, p.Detail = Impossible, "did not answer before either"
		case lost[w]:
			p.Verdict, p.Detail = Broken, "answered before and does not now"
		}
		proofs = append(proofs, p)
	}
	proofs = append(proofs, c.newWays(ctx, before, after)...)
	slices.SortFunc(proofs, func(a, b Proved) int { return compareText(a.What, b.What) })
	return proofs
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (w way) name() string {
	if w.peer == "" {
		return "gateway " + w.to.String()
	}
	return fmt.Sprintf("%s (%s)", w.peer, w.to)
}

// newWays asks over addresses that the change brought: they must answer when
// both ends are hosts of the file.
func (c *Change) newWays(ctx context.Context, before surroundings, after predict.Fabric) []Proved {
	var proofs []Proved
	for _, w := range c.ways(after) {
		if _, old := before.answers[w]; old || w.peer == "" {
			continue
		}
		p := Proved{Proof: ProofReach, What: fmt.Sprintf("%s to %s", w.from, w.name()), Verdict: Held}
		if !c.pings(ctx, after, w) {
			p.Verdict, p.Detail = Broken, "no answer at the new address"
		}
		proofs = append(proofs, p)
	}
	return proofs
}

// network is the hosts as package measure wants them, with what the file says
// of speeds.
func (c *Change) network(state predict.Fabric) measure.Network {
	n := measure.Network{Endpoints: map[string]measure.Endpoint{}, Machines: map[string]string{},
		Fabric: predict.Fabric{Hosts: map[string]netstate.Host{}, Paths: state.Paths}}
	for name, h := range c.hosts {
		n.Endpoints[name], n.Machines[name] = h, h.Hello.Machine
		host := state.Hosts[name]
		if declared, err := c.cfg.Fabric.State(name); err == nil {
			file, _ := c.cfg.Fabric.Host(name)
			host, _ = fabric.Merge(declared, file, host)
		}
		n.Fabric.Hosts[name] = host
	}
	return n
}

// frameSize is the largest packet that both ends of a path can send; zero
// where no lane is found.
func frameSize(state predict.Fabric, p fabric.Path) int {
	lanes, err := predict.Lanes(state, p.From, p.To, p.Family)
	if err != nil || len(lanes) == 0 {
		return 0
	}
	from, ok1 := state.Hosts[p.From].LinkWith(lanes[0].Src)
	to, ok2 := state.Hosts[p.To].LinkWith(lanes[0].Dst)
	if !ok1 || !ok2 {
		return 0
	}
	return min(from.MTU, to.MTU)
}

// proves sends packets of the size, unfragmented, both ways.
func (c *Change) proves(ctx context.Context, state predict.Fabric, p fabric.Path, size int) error {
	ok, err := measure.ProbeMTU(ctx, c.network(state), p.From, p.To, size)
	if err == nil && !ok {
		err = fmt.Errorf("packets of %d bytes do not pass", size)
	}
	return err
}

// mtus proves the MTU of every path that the change touches.
func (c *Change) mtus(ctx context.Context, before surroundings, after predict.Fabric) []Proved {
	var proofs []Proved
	for _, pair := range c.pairs(after) {
		size := frameSize(after, pair)
		if size == 0 {
			continue
		}
		p := Proved{Proof: ProofMTU, What: pair.From + " to " + pair.To, Verdict: Held, Detail: fmt.Sprintf("packets of %d bytes pass both ways", size)}
		if err := c.proves(ctx, after, pair, size); err != nil {
			p.Verdict, p.Detail = Broken, err.Error()
			was := frameSize(c.before, pair)
			if was == size && before.passes[[2]string{pair.From, pair.To}] != size {
				p.Verdict, p.Detail = Impossible, p.Detail+", as before"
			}
		}
		proofs = append(proofs, p)
	}
	return proofs
}
