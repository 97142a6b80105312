package measure

import (
	"math/bits"
	"net/netip"
	"testing"

	"github.com/linerate/linerate/flow"
)

// TestChoosePortsLearned: ports are even behind a switch whose hash a probe
// learned, also on a port that the probe did not use, each way by its own hash.
func TestChoosePortsLearned(t *testing.T) {
	masks := map[string][]uint16{"beta": {0x8f31, 0x1c5d}, "alpha": {0x0a0b, 0x7fe1}}
	n := networkOf(bonded("alpha", 4, 1, 1), bonded("beta", 4, 1, 101), "layer2")
	for to, m := range masks {
		n.Fabric.Paths[0].Learned = append(n.Fabric.Paths[0].Learned, flow.LearnedHash{
			To: to, Links: []string{"eth2", "eth0", "eth3", "eth1"}, Field: flow.LearnedSport, Masks: m, Ports: flow.PortRange{First: 5202, Last: 65535},
			Flows: []flow.LearnedFlow{{Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.101"), Port: 5201, Start: 2}},
		})
	}
	for _, d := range []flow.Direction{flow.Forward, flow.Reverse} {
		for _, dport := range []int{5201, 40123} {
			w := wayOf(t, n, d, 8)
			ports, note, err := choosePorts(n, w, dport, occupied{})
			if err != nil || note != "" {
				t.Fatalf("%s: %q, %v", d, note, err)
			}
			var far [4]int
			for _, p := range ports {
				at := 0
				for j, m := range masks[w.to] {
					at |= bits.OnesCount16(m&p) & 1 << j
				}
				far[at]++
			}
			if far != [4]int{2, 2, 2, 2} {
				t.Errorf("%s to port %d: the switch puts %v streams on %s's links", d, dport, far, w.to)
			}
		}
	}
	// Other links than those learned: the declared hash counts.
	n.Fabric.Paths[0].Learned[0].Links[0], n.Fabric.Paths[0].Learned[1].Links[0] = "eth9", "eth9"
	w := wayOf(t, n, flow.Forward, 8)
	if _, note, err := choosePorts(n, w, 5201, occupied{}); err != nil || note == "" {
		t.Errorf("of other links: %q, %v", note, err)
	}
}
