package probing

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/probe"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/steer/affine"
)

// learn learns the switch's hash towards both hosts, from connections of near.
func (n network) learn(t *testing.T, lanes int) probe.LearnReport {
	t.Helper()
	all, err := probe.Lanes(n.a, n.b, "")
	floor.Must(t, err)
	begun := time.Now()
	report, err := probe.Learn(t.Context(), probe.Config{
		A: probe.End{At: n.near, Host: n.a}, B: probe.End{At: n.far, Host: n.b}, Lanes: all[:lanes], Seed: 1,
		Progress: func(l probe.Look) {
			if l.Repeats > 0 || l.Problem != "" {
				t.Logf("  flow %d, %s: %v, %d repeats %s", l.Number, l.Frame.Tuple, l.Links, l.Repeats, l.Problem)
			}
		},
	})
	floor.Must(t, err)
	t.Logf("%d connections, %v sent, %.1f s", report.Probes, report.Sent, time.Since(begun).Seconds())
	return report
}

// TestLearnsSwitch: the hash of a switch of 2 and of 4 links is learned, both
// ways, without being told it, and says of all ports what its rule does; over 3
// links it is refused.
func TestLearnsSwitch(t *testing.T) {
	random := rand.New(rand.NewPCG(floor.Draw(t), 0))
	t.Run("2 and 4 links", func(t *testing.T) {
		n := build(t, random, [2]int{2, 4})
		defer n.down(t)
		for _, policy := range []netstate.HashPolicy{netstate.Layer34, netstate.Layer23} {
			n.setSwitch(t, policy)
			for _, side := range n.learn(t, 2).Sides {
				if side.Hash == nil {
					t.Errorf("switch %s to %s: %s", policy, side.To, side.Why)
					continue
				}
				t.Logf("switch %s to %s: %+v", policy, side.To, *side.Hash)
				n.agrees(t, policy, *side.Hash)
			}
		}
	})
	t.Run("3 links", func(t *testing.T) {
		n := build(t, random, [2]int{3, 2})
		defer n.down(t)
		n.setSwitch(t, netstate.Layer34)
		for _, side := range n.learn(t, 1).Sides {
			if three := side.To == nearHost; three != (side.Hash == nil) || three && !strings.Contains(side.Why, "these are 3") {
				t.Errorf("to %s: %+v, %s", side.To, side.Hash, side.Why)
			}
		}
	})
}

// agrees holds a learned hash against the switch's true rule, under one
// numbering of its links.
func (n network) agrees(t *testing.T, policy netstate.HashPolicy, learned flow.LearnedHash) {
	t.Helper()
	near, _ := n.a.Link("bond0")
	far, _ := n.b.Link("bond0")
	if learned.To == nearHost {
		near, far = far, near
	}
	if learned.Observed > 24 || learned.Checked < affine.Checks {
		t.Errorf("%d observed, %d checked", learned.Observed, learned.Checked)
	}
	link, index := make(map[uint32]string), make(map[string]uint32)
	for _, f := range learned.Flows {
		for port := int(learned.Ports.First); port <= int(learned.Ports.Last); port += 7 {
			tuple := flow.Tuple{Proto: flow.TCP, Src: f.Src, Dst: f.Dst, Sport: uint16(port), Dport: f.Port}
			if learned.Field == flow.LearnedDport {
				tuple.Sport, tuple.Dport = tuple.Dport, tuple.Sport
			}
			frame := flow.Frame{Tuple: tuple, SrcMAC: near.MAC, DstMAC: far.MAC}
			hash, known, why := steer.Hasher{Policy: policy}.Hash(frame)
			if !known {
				t.Fatal(why)
			}
			at, got := hash%uint32(len(learned.Links)), affine.Rule{LearnedHash: learned}.Place(frame)
			if had, seen := link[at]; !got.Known || seen && had != got.Link {
				t.Fatalf("%v is on link %d of the switch, placed on %s, others of that link on %s: %s", tuple, at, got.Link, had, got.Why)
			}
			if had, seen := index[got.Link]; seen && had != at {
				t.Fatalf("%v is on link %d of the switch, placed on %s as those of link %d", tuple, at, got.Link, had)
			}
			link[at], index[got.Link] = got.Link, at
		}
	}
}
