package change

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/routing"
)

// surroundings is who answered whom: what held before a change must hold after
// it.
type surroundings struct {
	answers map[way]bool
	// passes is the packet size that was proven each way, zero none.
	passes map[way]int
}

// way is from an address of a host to one of another host or of a gateway.
type way struct {
	from string
	src  netip.Addr // the zero Addr where the routes choose
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
	s := surroundings{answers: map[way]bool{}, passes: map[way]int{}}
	for _, w := range c.ways(state) {
		s.answers[w] = c.pings(ctx, w, 0)
		if size := frameSize(state, w); s.answers[w] && size > 0 && c.pings(ctx, w, size) {
			s.passes[w] = size
		}
	}
	return s
}

// ways lists what is pinged: every path both ways, in both families, over each
// pair of links once, and gateways.
func (c *Change) ways(state predict.Fabric) []way {
	var all []way
	add := func(w way) {
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	for _, p := range c.pairs(state) {
		for _, ends := range [][2]string{{p.From, p.To}, {p.To, p.From}} {
			for _, l := range lanesByLinks(state, ends[0], ends[1]) {
				add(way{ends[0], l.Src, l.Dst, ends[1]})
			}
		}
	}
	for _, name := range c.order {
		for _, r := range state.Hosts[name].Routes {
			if gatewayOf(r) {
				add(way{from: name, to: r.Gateway})
			}
		}
	}
	return all
}

func gatewayOf(r netstate.Route) bool {
	return r.Dst.Bits() == 0 && r.Gateway.IsValid() && r.Type == ""
}

// lanesByLinks are lanes between two hosts, the first of each family, pair of
// links and subnet: aliases beside them take the same way.
func lanesByLinks(state predict.Fabric, from, to string) []flow.Lane {
	type over struct {
		out, in string
		subnet  netip.Prefix
	}
	var lanes []flow.Lane
	seen := map[over]bool{}
	for _, family := range []string{"ipv4", "ipv6"} {
		all, err := predict.Lanes(state, from, to, family)
		if err != nil {
			continue // none in this family
		}
		for _, l := range all {
			out, subnet := place(state.Hosts[from], l.Src)
			in, _ := place(state.Hosts[to], l.Dst)
			if pair := (over{out, in, subnet}); !seen[pair] {
				seen[pair] = true
				lanes = append(lanes, l)
			}
		}
	}
	return lanes
}

// place is the link that has an address, and the address's subnet there.
func place(h netstate.Host, a netip.Addr) (string, netip.Prefix) {
	l, _ := h.LinkWith(a)
	for _, p := range l.Addresses {
		if p.Addr() == a {
			return l.Name, p.Masked()
		}
	}
	return l.Name, netip.Prefix{}
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

// pings sends a packet of the size, unfragmented, and asks again where nothing
// comes back; size zero is a small one.
func (c *Change) pings(ctx context.Context, w way, size int) bool {
	for range pingTries {
		reply, err := ask.Call(ctx, c.hosts[w.from], agentapi.Ping, agentapi.PingRequest{
			Dst: w.to, Src: w.src, Count: 1, Timeout: pingTimeout, Packet: size, DontFragment: size > 0,
		})
		if err == nil && len(reply.RTTs) > 0 {
			return true
		}
		if ctx.Err() != nil || reply.TooBig > 0 {
			return false
		}
	}
	return false
}

// reached asks again who answered before, and who is there now.
func (c *Change) reached(ctx context.Context, before surroundings, after predict.Fabric) []Proved {
	var proofs []Proved
	var asked []way
	for w, answered := range before.answers {
		p := Proved{Proof: ProofReach, What: w.String(), Verdict: Impossible}
		switch {
		case !w.stands(after):
			p.Detail = "the change takes it away"
		case !answered:
			p.Detail = "did not answer before either"
		default:
			asked = append(asked, w)
			continue
		}
		proofs = append(proofs, p)
	}
	for _, w := range c.ways(after) {
		if _, old := before.answers[w]; !old && w.peer != "" {
			asked = append(asked, w)
		}
	}
	lost := c.unanswered(ctx, asked)
	for _, w := range asked {
		p := Proved{Proof: ProofReach, What: w.String(), Verdict: Passed}
		if slices.Contains(lost, w) {
			p.Verdict, p.Detail = Broken, "no answer at the new address"
			if before.answers[w] {
				p.Detail = "answered before and does not now"
			}
		}
		proofs = append(proofs, p)
	}
	slices.SortFunc(proofs, func(a, b Proved) int { return strings.Compare(a.What, b.What) })
	return proofs
}

// unanswered asks with patience and returns the ways that stay silent.
func (c *Change) unanswered(ctx context.Context, ways []way) []way {
	silent := slices.Clone(ways)
	for begun := time.Now(); ; {
		silent = slices.DeleteFunc(silent, func(w way) bool { return c.pings(ctx, w, 0) })
		if len(silent) == 0 || time.Since(begun) > patience {
			return silent
		}
		select {
		case <-ctx.Done():
			return silent
		case <-time.After(look):
		}
	}
}

// stands reports whether both ends still have what the way leads from and to.
func (w way) stands(state predict.Fabric) bool {
	if w.peer == "" {
		return slices.ContainsFunc(state.Hosts[w.from].Routes, func(r netstate.Route) bool { return gatewayOf(r) && r.Gateway == w.to })
	}
	_, out := state.Hosts[w.from].LinkWith(w.src)
	_, in := state.Hosts[w.peer].LinkWith(w.to)
	return out && in
}

// String names both ends.
func (w way) String() string {
	if w.peer == "" {
		return fmt.Sprintf("%s to gateway %s", w.from, w.to)
	}
	return fmt.Sprintf("%s to %s (%s)", w.from, w.peer, w.to)
}

// network is the hosts as package measure wants them, with what the file says
// of speeds.
func (c *Change) network(state predict.Fabric) measure.Network {
	n := measure.Network{Endpoints: map[string]ask.Host{}, Machines: map[string]string{},
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

// frameSize is the largest packet that both ends of a way can send; zero where
// an end is not known.
func frameSize(state predict.Fabric, w way) int {
	from, to := routing.FacingOne(state.Hosts[w.from], w.src, w.to), routing.FacingOne(state.Hosts[w.peer], w.to, w.src)
	if from.Name == "" || to.Name == "" {
		return 0
	}
	return min(from.MTU, to.MTU)
}

// mtus proves the MTU of every way that the change leaves or makes.
func (c *Change) mtus(ctx context.Context, before surroundings, after predict.Fabric) []Proved {
	var proofs []Proved
	for _, w := range c.ways(after) {
		size := frameSize(after, w)
		if size == 0 {
			continue
		}
		p := Proved{Proof: ProofMTU, What: w.String(), Verdict: Passed, Detail: fmt.Sprintf("packets of %d bytes pass", size)}
		if !c.pings(ctx, w, size) {
			p.Verdict, p.Detail = Broken, fmt.Sprintf("packets of %d bytes do not pass", size)
			if _, old := before.answers[w]; old && frameSize(c.before, w) == size && before.passes[w] != size {
				p.Verdict, p.Detail = Impossible, p.Detail+", as before"
			}
		}
		proofs = append(proofs, p)
	}
	return proofs
}
