package recognise

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// lookAt draws flows between two hosts with so many addresses each.
func lookAt(r *rand.Rand, flows, addresses int) []flow.Frame {
	f := flow.Frame{SrcMAC: flow.MAC{2, 0, 0, 0, 0, byte(r.Uint32())}, DstMAC: flow.MAC{2, 0, 0, 0, 1, byte(r.Uint32())}}
	out := make([]flow.Frame, flows)
	for i := range out {
		f.Tuple = flow.Tuple{
			Proto: flow.TCP, Sport: uint16(40000 + r.IntN(20000)), Dport: 5201,
			Src: netip.AddrFrom4([4]byte{10, 0, 0, byte(1 + r.IntN(addresses))}), Dst: netip.AddrFrom4([4]byte{10, 0, 0, byte(100 + r.IntN(addresses))}),
		}
		out[i] = f
	}
	return out
}

// sightingsOf sends the flows through a rule with renumbered links.
func sightingsOf(r *rand.Rand, frames []flow.Frame, links int, rule func(flow.Frame) uint64) []steer.Sighting {
	order := r.Perm(links)
	out := make([]steer.Sighting, len(frames))
	for i, f := range frames {
		out[i] = steer.Sighting{Frame: f, Link: order[rule(f)%uint64(links)]}
	}
	return out
}

// hardlyRun is the prior of an era below which a misread sighting is likelier, as
// long as there are few.
const hardlyRun = 1e-3

// TestRecognisesItsOwn: whatever known policy made the sightings, under
// whatever numbering, explains them, and none explains them much better.
func TestRecognisesItsOwn(t *testing.T) {
	rules := suspects()
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		links := rapid.IntRange(2, 8).Draw(t, "links")
		rule := rapid.SampledFrom(rules).Filter(func(s suspect) bool { return s.ruled }).Draw(t, "rule")
		least := 1
		if rule.prior < hardlyRun {
			least = 20
		}
		frames := lookAt(r, rapid.IntRange(least, 40).Draw(t, "flows"), rapid.IntRange(1, 8).Draw(t, "addresses"))
		seen := sightingsOf(r, frames, links, func(f flow.Frame) uint64 {
			class, ok := rule.class(f, links)
			if !ok {
				t.Skip("the rule says nothing about these")
			}
			return class
		})
		guesses := Believe(seen, links, nil).Guesses()
		at := slices.IndexFunc(guesses, func(g Guess) bool { return g.Policy == rule.policy })
		if at < 0 {
			t.Fatalf("%s is not among %+v", rule.policy, guesses)
		}
		own := guesses[at]
		if own.Contradicted != 0 || own.Consistent != len(seen) {
			t.Fatalf("%s: %d consistent, %d contradicted of %d", rule.policy, own.Consistent, own.Contradicted, len(seen))
		}
		// Those before it must explain everything too, or nearly.
		for _, g := range guesses[:at] {
			if g.Contradicted > 0 {
				t.Fatalf("%s with %d contradicted (%.3f) before %s (%.3f)", g.Policy, g.Contradicted, g.Confidence, own.Policy, own.Confidence)
			}
		}
		sum := 0.0
		for _, g := range guesses {
			sum += g.Confidence
		}
		if sum > 1.0001 || sum < 0.9 {
			t.Fatalf("confidences add up to %.4f", sum)
		}
	})
}

// TestRecognisesPolicies: with thirty flows the policy is plain.
func TestRecognisesPolicies(t *testing.T) {
	for _, policy := range []netstate.HashPolicy{netstate.Layer23, netstate.Layer34} {
		for links := 2; links <= 8; links++ {
			r := rand.New(rand.NewPCG(uint64(links), uint64(policy)))
			seen := sightingsOf(r, lookAt(r, 30, 6), links, func(f flow.Frame) uint64 {
				v, _, _ := steer.Hasher{Policy: policy}.Hash(f)
				return uint64(v)
			})
			g := Believe(seen, links, nil).Guesses()[0]
			// On a power of two layer2+3 and an XOR of addresses differ by a renumbering.
			same := policy == netstate.Layer23 && links&(links-1) == 0 && g.Policy == "src-dst-ip"
			if g.Policy != policy.String() && !same {
				t.Errorf("%s over %d links looks like %+v", policy, links, g)
			}
			if !same && g.Policy == policy.String() && links != 2 && links != 4 && links != 8 && g.Confidence < 0.6 {
				t.Errorf("%s over %d links: only %.3f sure", policy, links, g.Confidence)
			}
			if !slices.Contains(g.Kernels, steer.EraCurrent) && !same {
				t.Errorf("%s over %d links: kernels %v", policy, links, g.Kernels)
			}
		}
	}
}

// TestRandomHashIsNoPolicy: a hash that nobody published is called so.
func TestRandomHashIsNoPolicy(t *testing.T) {
	for links := 2; links <= 8; links++ {
		for _, inputs := range []string{wordAddrAndPorts, wordAddr} {
			sure := 0
			const runs = 40
			for seed := range runs {
				r := rand.New(rand.NewPCG(uint64(seed), uint64(links)))
				drawn := make(map[uint64]int)
				var seen []steer.Sighting
				for _, f := range lookAt(r, 40, 6) {
					key := digest(f.Tuple)
					if inputs == wordAddr {
						key = digest(flow.Tuple{Src: f.Src, Dst: f.Dst})
					}
					if _, ok := drawn[key]; !ok {
						drawn[key] = r.IntN(links)
					}
					seen = append(seen, steer.Sighting{Frame: f, Link: drawn[key]})
				}
				guesses := Believe(seen, links, nil).Guesses()
				for _, g := range guesses {
					if g.Published() && g.Confidence > 0.2 {
						t.Errorf("%d links, seed %d: a random hash is taken for %+v", links, seed, g)
					}
				}
				if guesses[0].Policy == inputs && guesses[0].Confidence > 0.9 {
					sure++
				}
			}
			if sure < runs*9/10 {
				t.Errorf("%d links: %s recognised in %d of %d", links, inputs, sure, runs)
			}
		}
	}
}

// TestFewSightingsSayLittle: honesty with nothing, and with little.
func TestFewSightingsSayLittle(t *testing.T) {
	if g := Believe(nil, 4, nil).Guesses(); len(g) == 0 || g[0].Confidence > 0.4 {
		t.Errorf("from nothing: %+v", g)
	}
	r := rand.New(rand.NewPCG(1, 1))
	seen := sightingsOf(r, lookAt(r, 2, 2), 4, func(f flow.Frame) uint64 {
		v, _, _ := steer.Hasher{Policy: netstate.Layer34}.Hash(f)
		return uint64(v)
	})
	if g := Believe(seen, 4, nil).Guesses(); g[0].Confidence > 0.6 {
		t.Errorf("from two flows: %+v", g[0])
	}
	// A link that is none, as from a table of another host, is left out.
	if g := Believe([]steer.Sighting{{Frame: seen[0].Frame, Link: 9}}, 4, nil).Guesses(); len(g) == 0 {
		t.Error("no guesses")
	}
}

// TestOneMisreadDoesNotDecide: a wrong sighting among many lowers the
// confidence, and the policy stays first.
func TestOneMisreadDoesNotDecide(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	seen := sightingsOf(r, lookAt(r, 40, 6), 3, func(f flow.Frame) uint64 {
		v, _, _ := steer.Hasher{Policy: netstate.Layer34}.Hash(f)
		return uint64(v)
	})
	seen[7].Link = (seen[7].Link + 1) % 3
	if g := Believe(seen, 3, nil).Guesses()[0]; g.Policy != "layer3+4" || g.Contradicted != 1 || g.Consistent != 39 {
		t.Errorf("%+v", g)
	}
}

// TestChancesAddUp: every belief gives each flow one link in all.
func TestChancesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		links := rapid.IntRange(1, 8).Draw(t, "links")
		var own steer.Spreader
		if rapid.Bool().Draw(t, "own") {
			own = steer.Declared(netstate.Layer34, links)
		}
		frames := lookAt(r, 20, 3)
		seen := sightingsOf(r, frames[:rapid.IntRange(0, 19).Draw(t, "seen")], links, func(flow.Frame) uint64 { return r.Uint64() })
		b := Believe(seen, links, own)
		sum := 0.0
		for _, p := range b.Chances(frames[19]) {
			if p < 0 {
				t.Fatalf("chance %v", p)
			}
			sum += p
		}
		if sum < 0.97 || sum > 1.001 {
			t.Fatalf("chances add up to %.4f", sum)
		}
		if bits := b.Information(frames[19]); bits < 0 || bits > 3.01 {
			t.Fatalf("%v bits", bits)
		}
	})
}

// TestOwnRuleIsDropped: a host's own rule is believed until it is wrong.
func TestOwnRuleIsDropped(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	frames := lookAt(r, 30, 1)
	own := steer.Declared(netstate.Layer34, 4)
	place := func(b Belief) float64 { return b.Chances(frames[29])[own.Place(frames[29]).Index] }
	if p := place(Believe(nil, 4, own)); p < 0.95 {
		t.Errorf("before anything was seen: %.3f", p)
	}
	seen := sightingsOf(r, frames[:20], 4, func(flow.Frame) uint64 { return r.Uint64() })
	if p := place(Believe(seen, 4, own)); p > 0.6 {
		t.Errorf("after 20 contradictions: %.3f", p)
	}
}
