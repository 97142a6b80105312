package hashsurvey

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// network is two hosts whose bonds hash by a known rule and a switch whose
// rule is hidden; each side's links are renumbered at random.
type network struct {
	state  State
	rules  [sideCount]func(f flow.Frame) int
	frames []flow.Frame
}

func policyRule(p netstate.HashPolicy, links int) func(flow.Frame) int {
	return func(f flow.Frame) int {
		hash, known, why := steer.Hasher{Policy: p}.Hash(f)
		if !known {
			panic(why)
		}
		return int(hash % uint32(links))
	}
}

// randomRule sends each flow on a link of its own drawing, the same each time.
func randomRule(r *rand.Rand, links int) func(flow.Frame) int {
	drawn := make(map[flow.Tuple]int)
	return func(f flow.Frame) int {
		if _, ok := drawn[f.Tuple]; !ok {
			drawn[f.Tuple] = r.IntN(links)
		}
		return drawn[f.Tuple]
	}
}

func renumber(r *rand.Rand, links int, rule func(flow.Frame) int) func(flow.Frame) int {
	order := r.Perm(links)
	return func(f flow.Frame) int { return order[rule(f)] }
}

// newNetwork makes hosts with so many links and addresses; hidden is the
// switch's rule.
func newNetwork(r *rand.Rand, near, far, addresses int, hidden func(links int) func(flow.Frame) int) network {
	n := network{}
	n.state.Links = [sideCount]int{near, far, far, near}
	for _, side := range Sides() {
		links := n.state.Links[side]
		if side.Out() {
			n.state.Own[side] = steer.Declared(netstate.Layer34, links)
			n.rules[side] = policyRule(netstate.Layer34, links)
		} else {
			n.rules[side] = renumber(r, links, hidden(links))
		}
	}
	smac, dmac := flow.MAC{2, 0, 0, 0, 0, byte(r.Uint32())}, flow.MAC{2, 0, 0, 0, 1, byte(r.Uint32())}
	base := byte(r.IntN(100))
	for a := range addresses {
		for b := range addresses {
			src, dst := netip.AddrFrom4([4]byte{10, 0, 0, 1 + base + byte(a)}), netip.AddrFrom4([4]byte{10, 0, 0, 120 + base + byte(b)})
			for range 256 / (addresses * addresses) {
				f := flow.Frame{SrcMAC: smac, DstMAC: dmac}
				f.Tuple = flow.Tuple{Proto: flow.TCP, Src: src, Dst: dst, Sport: uint16(40000 + r.IntN(20000)), Dport: 5201}
				n.frames = append(n.frames, f)
			}
		}
	}
	r.Shuffle(len(n.frames), func(i, j int) { n.frames[i], n.frames[j] = n.frames[j], n.frames[i] })
	return n
}

// run surveys the network and returns the end of it.
func (n *network) run(req Request) Decision {
	for {
		d := n.state.Decide(n.frames, req)
		if d.Next < 0 {
			return d
		}
		n.look(n.frames[d.Next])
	}
}

func (n *network) look(f flow.Frame) {
	seen := SeenFlow{Frame: f}
	for _, side := range Sides() {
		seen.Links[side] = n.rules[side](side.On(f))
	}
	n.state.Seen = append(n.state.Seen, seen)
}

// check replays the set through the hidden rules.
func (n *network) check(t *testing.T, c Cover) {
	t.Helper()
	for _, side := range Sides() {
		counts := make([]int, n.state.Links[side])
		for _, f := range c.Flows {
			counts[n.rules[side](side.On(f.Frame))]++
		}
		if slices.Max(counts)-slices.Min(counts) > 1 || slices.Min(counts) == 0 {
			t.Errorf("side %d carries %v", side, counts)
		}
		if len(c.Flows) == 0 {
			t.Error("no set")
		}
	}
}

var pairs = [][2]int{{2, 2}, {2, 3}, {3, 3}, {3, 4}, {2, 4}, {4, 4}}

func hidden(policy netstate.HashPolicy) func(int) func(flow.Frame) int {
	return func(links int) func(flow.Frame) int { return policyRule(policy, links) }
}

// TestFindsEvenSets: hidden policies with a hidden numbering are always found
// within 2*n*H(n) flows, all of them seen.
func TestFindsEvenSets(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	for _, policy := range []netstate.HashPolicy{netstate.Layer23, netstate.Layer34} {
		addresses := 1
		if policy == netstate.Layer23 {
			addresses = 4
		}
		for _, links := range pairs {
			total, worst, streams := 0, 0, 0
			const runs = 12
			for seed := range runs {
				r := rand.New(rand.NewPCG(uint64(seed), uint64(links[0]*10+links[1])))
				n := newNetwork(r, links[0], links[1], addresses, hidden(policy))
				d := n.run(Request{Quick: true})
				if d.Why != "" || !d.Cover.EvenAll() || d.Cover.Derived > 0 {
					t.Errorf("%s, links %v, seed %d: %s, even %v, %d derived", policy, links, seed, d.Why, d.Cover.Even, d.Cover.Derived)
					continue
				}
				n.check(t, d.Cover)
				total, worst, streams = total+len(n.state.Seen), max(worst, len(n.state.Seen)), streams+len(d.Cover.Flows)
			}
			s := State{Links: [sideCount]int{links[0], links[1], links[1], links[0]}}
			t.Logf("%s, links %d and %d: %.1f flows on average, %d at most (expected %.1f, limit %d); %.1f streams", policy, links[0], links[1],
				float64(total)/runs, worst, s.Expected(), s.ProbeLimit(), float64(streams)/runs)
			if worst > s.ProbeLimit() {
				t.Errorf("%s, links %v: %d flows, limit %d", policy, links, worst, s.ProbeLimit())
			}
		}
	}
}

// TestRandomHash: a hash that nobody can compute costs what hitting every
// link by chance does: n*H(n) where one side is hidden, and the later of two
// such where both are, which is a third more.
func TestRandomHash(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	for _, links := range append(pairs, [2]int{1, 2}, [2]int{1, 4}) {
		total, found := 0, 0
		const runs = 24
		for seed := range runs {
			r := rand.New(rand.NewPCG(uint64(seed), uint64(links[0]*10+links[1])))
			n := newNetwork(r, links[0], links[1], 1, func(links int) func(flow.Frame) int { return randomRule(r, links) })
			d := n.run(Request{Quick: true})
			total += len(n.state.Seen)
			if d.Cover.EvenAll() && d.Cover.Derived == 0 {
				found++
				n.check(t, d.Cover)
			}
		}
		s := State{Links: [sideCount]int{links[0], links[1], links[1], links[0]}}
		mean := float64(total) / runs
		t.Logf("random hash, links %d and %d: %.1f flows on average (n*H(n) %.1f, limit %d), even in %d of %d", links[0], links[1], mean, s.Expected(), s.ProbeLimit(), found, runs)
		most := 1.4 * s.Expected()
		if links[0] == 1 {
			most = 1.1 * s.Expected()
		}
		if mean > most || found < runs*3/4 {
			t.Errorf("links %v: %.1f flows on average, want at most %.1f; found in %d of %d", links, mean, most, found, runs)
		}
	}
}

// TestPortsDoNotHelp: behind layer2+3 one pair of addresses has one link. The
// hosts' own sides are even all the same, and the report says what would help.
func TestPortsDoNotHelp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	n := newNetwork(r, 2, 3, 1, hidden(netstate.Layer23))
	d := n.run(Request{})
	if d.Cover.Even != [sideCount]bool{NearOut: true, FarOut: true} || d.Why == "" {
		t.Errorf("even %v, why %q", d.Cover.Even, d.Why)
	}
	report := n.state.Report(n.names(), d)
	said := strings.Join(report.Reasons(), "\n")
	if !strings.Contains(said, "no flow took") || !strings.Contains(said, "linerate steer addresses") {
		t.Errorf("reasons: %s", said)
	}
}

func (n network) names() Names {
	names := Names{A: "alpha", B: "beta"}
	for _, side := range Sides() {
		for i := range n.state.Links[side] {
			names.Links[side] = append(names.Links[side], fmt.Sprintf("eth%d", i))
		}
	}
	return names
}

// TestStreamsAskedFor: the number asked for is kept to, and first ones of the
// set are even on the sender's side too.
func TestStreamsAskedFor(t *testing.T) {
	for _, streams := range []int{1, 2, 3, 5, 8} {
		r := rand.New(rand.NewPCG(uint64(streams), 4))
		n := newNetwork(r, 2, 4, 1, hidden(netstate.Layer34))
		d := n.run(Request{Streams: streams, Quick: true})
		if len(d.Cover.Flows) != streams || !d.Cover.EvenAll() {
			t.Errorf("%d streams asked for: %d, even %v %v", streams, len(d.Cover.Flows), d.Cover.Even, d.Why)
		}
		counts := make([]int, 2)
		for i, f := range d.Cover.Flows {
			counts[f.Links[NearOut]]++
			if !even(counts) {
				t.Errorf("%d streams: the first %d use the sender's links %v", streams, i+1, counts)
			}
		}
	}
}

// TestMoreStreamsThanProbes: what cannot be seen within the limit is derived
// from the rule, and marked.
func TestMoreStreamsThanProbes(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 4))
	n := newNetwork(r, 4, 4, 1, hidden(netstate.Layer34))
	d := n.run(Request{Streams: 32})
	if len(d.Cover.Flows) != 32 || !d.Cover.EvenAll() || d.Cover.Derived == 0 || len(n.state.Seen) > n.state.ProbeLimit() {
		t.Fatalf("%d streams, %d derived, even %v, %d looked at: %s", len(d.Cover.Flows), d.Cover.Derived, d.Cover.Even, len(n.state.Seen), d.Why)
	}
	derived := 0
	for _, f := range d.Cover.Flows {
		if !f.Seen {
			derived++
		}
	}
	if derived != d.Cover.Derived {
		t.Errorf("%d marked, %d said", derived, d.Cover.Derived)
	}
	n.check(t, d.Cover)
}

// TestNothingToSpread: hosts with one link each need no probe.
func TestNothingToSpread(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 4))
	n := newNetwork(r, 1, 1, 1, hidden(netstate.Layer34))
	if d := n.run(Request{}); len(n.state.Seen) != 0 || !d.Cover.EvenAll() || len(d.Cover.Flows) != 1 {
		t.Errorf("%d looked at, %+v", len(n.state.Seen), d)
	}
}

// TestRestOfBudgetRecognises: what the set did not need tells the policy.
func TestRestOfBudgetRecognises(t *testing.T) {
	for _, policy := range []netstate.HashPolicy{netstate.Layer23, netstate.Layer34} {
		for _, links := range [][2]int{{3, 3}, {3, 4}} {
			r := rand.New(rand.NewPCG(uint64(policy), 11))
			n := newNetwork(r, links[0], links[1], 4, hidden(policy))
			d := n.run(Request{})
			if len(n.state.Seen) > n.state.ProbeLimit() || !d.Cover.EvenAll() {
				t.Errorf("%d looked at, even %v", len(n.state.Seen), d.Cover.Even)
			}
			g := n.state.Belief(NearIn).Guesses()[0]
			t.Logf("%s, links %v: %d looked at, %s %.3f", policy, links, len(n.state.Seen), g.Policy, g.Confidence)
			if g.Policy != policy.String() || g.Confidence < 0.6 {
				t.Errorf("%s, links %v: looks like %+v", policy, links, g)
			}
		}
	}
}
