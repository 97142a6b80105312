package tune

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// world is a network that only measurements show: the prediction with what the
// fabric file does not say (loss, a rate in the middle), and noise.
type world struct {
	*rand.Rand
	noise   float64
	windows int
	paths   []fabric.Path // as they are
	mtu     int
}

// network draws a network as somebody finds it, what they know of it, and the
// truth.
func network(seed uint64) (*world, State) {
	w := &world{Rand: rand.New(rand.NewPCG(seed, 1)), noise: 0.003}
	pick := func(all ...float64) float64 { return all[w.IntN(len(all))] }
	b := bonded{mode: netstate.LACP, links: 1 + w.IntN(4), mtu: int(pick(1500, 9000)), maxMTU: int(pick(1500, 9000, 65535))}
	b.maxMTU = max(b.maxMTU, b.mtu)
	b.mode = []netstate.BondMode{netstate.LACP, netstate.BalanceXOR, netstate.LACP}[w.IntN(3)]
	b.policy = []netstate.HashPolicy{netstate.Layer2, netstate.Layer23, netstate.Layer34}[w.IntN(3)]
	buffer := unit.Bytes(1) << (17 + w.IntN(9))
	hosts := [2]netstate.Host{b.host("alpha", 1), b.host("beta", 2)}
	for i, h := range hosts {
		h.Sysctls[rmemKey] = netstate.Sysctl{Value: fmt.Sprintf("4096 65536 %d", buffer), Scope: netstate.ScopeNamespace}
		h.Sysctls[wmemKey] = netstate.Sysctl{Value: fmt.Sprintf("4096 16384 %d", buffer), Scope: netstate.ScopeNamespace}
		h.Sysctls[congestionKey] = netstate.Sysctl{Value: "cubic", Scope: netstate.ScopeNamespace}
		h.Sysctls[availableKey] = netstate.Sysctl{Value: []string{"reno cubic", "reno cubic bbr"}[w.IntN(2)], Scope: netstate.ScopeNamespace}
		hosts[i] = h
	}
	s := state(hosts[0], hosts[1])
	p := &s.Fabric.Paths[0]
	p.RTT = time.Duration(pick(0.3, 1, 4, 9, 25, 60) * float64(time.Millisecond))
	s.Traffic.Direction = flow.Directions()[w.IntN(3)]
	truth := *p
	truth.Loss = pick(0, 0, 0, 1e-4, 1e-5)
	if w.IntN(2) == 0 {
		p.Loss = truth.Loss // somebody knows
	}
	w.paths, w.mtu = []fabric.Path{truth}, LargestMTU(s.Fabric, "alpha", "beta")
	return w, s
}

// truly is what a state carries.
func (w *world) truly(f predict.Fabric, l Load) predict.Prediction {
	f.Paths = w.paths
	l.Traffic.ChosenOnly = true
	p, err := predict.Predict(f, l.Traffic)
	if err != nil {
		return predict.Prediction{}
	}
	return p
}

// ceiling is that of the largest frames.
func (w *world) ceiling(f predict.Fabric, l Load) unit.BitRate {
	s := State{Fabric: f, Load: l}
	for _, o := range mtuOptions(s) {
		s = s.after(o)
	}
	return w.truly(s.Fabric, l).Ceiling
}

// measure is one window.
func (w *world) measure(f predict.Fabric, l Load) record.Trial {
	w.windows++
	p := w.truly(f, l)
	rate := p.Rate * unit.BitRate(1+w.noise*w.NormFloat64())
	t := record.Trial{From: "alpha", To: "beta", Direction: l.Traffic.Direction, Streams: l.Traffic.Streams, Ports: l.Traffic.Ports,
		Goodput: rate, GoodputLow: rate * 0.995, GoodputHigh: rate * 1.005, Ceiling: w.ceiling(f, l), Finding: &record.Finding{Cause: p.Limit}}
	lane := record.Lane{Goodput: rate / unit.BitRate(l.Traffic.Streams)}
	ms := unit.Milliseconds(w.paths[0].RTT)
	lane.TCP = record.TCP{SndMSS: 1448, RTTMS: ms, MinRTTMS: ms, BytesSent: 1e9, BytesRetrans: uint64(1e9 * w.paths[0].Loss)}
	switch p.Limit {
	case record.ReceiveWindow:
		lane.TCP.RwndLimited = 0.9
	case record.SendBuffer:
		lane.TCP.SndbufLimited = 0.9
	}
	t.Lanes = []record.Lane{lane}
	return t
}

// tuneIn runs the loop as a campaign does, on the world; steps are told.
func tuneIn(w *world, s State, tell func(p Proposal, kept bool, a, b record.Trial)) State {
	s.Trials = []record.Trial{w.measure(s.Fabric, s.Load)}
	for {
		all := Propose(s)
		if len(all) == 0 || w.windows+1 > DefaultWindows-3 {
			return s
		}
		p := all[0]
		for _, key := range append([]Name{p.Key}, p.Keys...) {
			s.Tried[key] = true
		}
		a, ok := newest(s, s.Traffic.Direction)
		if !ok || p.ProofA.Traffic.Streams != a.Streams || p.ProofA.Traffic.Ports != a.Ports {
			a = w.measure(s.Fabric, p.ProofA)
		}
		f := with(s.Fabric, p.Hosts)
		b := w.measure(f, p.ProofB)
		kept, _ := Judge(a, b)
		if p.Cheaper {
			kept, _ = JudgeCheaper(a, b)
		}
		if tell != nil {
			tell(p, kept, a, b)
		}
		if kept {
			s.Fabric, s.Load, s.Trials = f, p.Load, []record.Trial{b}
		}
	}
}

// grid is the best of all points that somebody could try by hand.
func (w *world) grid(s State) (best unit.BitRate) {
	host := []Name{HashPolicy, MTU, Congestion}
	for set := range 1 << len(host) {
		at := s
		for i, name := range host {
			if set>>i&1 == 0 {
				continue
			}
			if left := at.left(moveNamed(name)); len(left) > 0 {
				at = at.after(left[0])
			}
		}
		for _, buffer := range []unit.Bytes{0, 64 << 20} {
			f := at.Fabric
			if buffer > 0 {
				hosts := make(map[string]netstate.Host)
				for name, h := range f.Hosts {
					hosts[name], _ = withBuffers(h, []string{rmemKey, wmemKey}, buffer)
				}
				f = with(f, hosts)
			}
			for _, n := range []int{1, 2, 3, 4, 8} {
				l := at.Load
				l.Traffic.Streams, l.Traffic.Ports = n, predict.PortsChosen
				best = max(best, w.truly(f, l).Rate)
			}
		}
	}
	return best
}

// TestWorlds: whatever the network, the loop ends within its budget, at 98 %
// of what a grid finds and 97 % of the ceiling where the grid does, no slower
// than it began, and the same for the same seed.
func TestWorlds(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	const networks = 120
	most, sum := 0, 0
	for seed := range uint64(networks) {
		w, s := network(seed)
		before := w.truly(s.Fabric, s.Load).Rate
		var story string
		end := tuneIn(w, s, func(p Proposal, kept bool, a, b record.Trial) {
			story += fmt.Sprintf("  %v: %s (%s): %v, then %v\n", kept, p.Change, p.Why, a.Goodput, b.Goodput)
		})
		after, best, ceiling := w.truly(end.Fabric, end.Load).Rate, w.grid(s), w.ceiling(s.Fabric, s.Load)
		most, sum = max(most, w.windows), sum+w.windows
		if w.windows > DefaultWindows || after < 0.98*best || best >= 0.97*ceiling && after < 0.97*ceiling || after < 0.99*before {
			t.Errorf("seed %d: %v, then %v (best %v, ceiling %v, %d windows)\n%s", seed, before, after, best, ceiling, w.windows, story)
		}
	}
	t.Logf("%d networks: %.1f windows on average, %d at most", networks, float64(sum)/networks, most)
	again := func() string {
		w, s := network(7)
		story := ""
		tuneIn(w, s, func(p Proposal, kept bool, a, b record.Trial) { story += fmt.Sprint(p.Key, kept, b.Goodput) })
		return story
	}
	if a, b := again(), again(); a != b {
		t.Errorf("one seed, two stories: %s; %s", a, b)
	}
}
