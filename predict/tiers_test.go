package predict

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/testfabric"
	"github.com/linerate/linerate/unit"
)

// spinePair is a leaf of Linux with hosts h0, h1 and h2 (of 1G), two spines of 8G uplinks, and
// a pair of leaves with 4G from each spine, a bonded host on both and h3 on the first.
func spinePair(spine string) Fabric {
	by := by("layer3+4", "first")
	linux := func(name string, ecmp topology.Balance, ports ...topology.Port) topology.Switch {
		return topology.Switch{Name: name, System: "linux", ECMP: &ecmp, Ports: ports}
	}
	up := func(n int, rate unit.BitRate) []topology.Port {
		d := []string{"d0", "d1", "d2"}[n]
		return []topology.Port{cabled("u0", "spine0", d, rate), cabled("u1", "spine1", d, rate)}
	}
	leaf0 := linux("leaf0", by, append(up(0, 8e9), hung("p0", "h0", "ens3"), hung("p1", "h1", "ens3"), hung("p2", "h2", "ens3"))...)
	leaf1 := linux("leaf1", by, append(up(1, 4e9), hung("ps", "store", "store0"), hung("p3", "h3", "ens3"), cabled("peer", "leaf2", "peer", 25e9))...)
	leaf2 := linux("leaf2", by, append(up(2, 4e9), hung("ps", "store", "store1"))...)
	leaf1.Channels = []topology.Channel{{Name: "po10", Members: []string{"ps"}}}
	leaf2.Channels = leaf1.Channels
	leaf1.MLAG = &topology.MLAG{Peer: "leaf2", Link: "peer"}
	other := by
	other.Seed = spine
	hosts := plainHosts(4, 25e9)
	hosts[2].Links[0].Speed = 2e9
	bonded := testfabric.Bond{Name: "store", Addrs: []string{"10.0.0.100/24"}, Ports: 2, Speed: 25e9, Mode: netstate.LACP, Policy: netstate.Layer34, Mtu: 1500, Kernel: "6.1"}.Host()
	return behindSwitches(append(hosts, bonded), leaf0, leaf1, leaf2, linux("spine0", other), linux("spine1", other))
}

// TestLinuxTiers: routes of a Linux switch are chosen by a hash of their own, which is not
// bonding's: a host's bond and the leaf behind it do not choose alike, two tiers of one seed
// do.
func TestLinuxTiers(t *testing.T) {
	down := 4e9 * share1500
	many := func(from, to string) Traffic {
		return Traffic{From: from, To: to, Direction: flow.Forward, Streams: 64, Ports: PortsKernel}
	}
	for _, c := range []struct {
		seed, from, to string
		links          float64
		why            string
	}{
		{"first", "h0", "store", 2, "polarisation"},
		{"second", "h0", "store", 4, ""},
		{"first", "store", "h0", 4, ""},
		{"second", "store", "h0", 4, ""},
	} {
		p, err := Predict(spinePair(c.seed), many(c.from, c.to))
		if err != nil || !near(p.Rate, c.links*down, 0.01) || !strings.Contains(p.Limits[0].Why, c.why) {
			t.Errorf("%s seed, %s to %s: %v (%+v), %v; want %v", c.seed, c.from, c.to, p.Rate, p.Limits[0], err, unit.BitRate(c.links*down))
		}
	}
	// h2 has 2G in all, a quarter of what two of four links have; h0 and h1 the rest of all four.
	rows, err := Together(spinePair("second"), []Traffic{many("h0", "store"), many("h1", "store"), many("h2", "h3")})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{7e9 * share1500, 7e9 * share1500, 2e9 * share1500} {
		if !near(rows[i].Together, want, 0.01) {
			t.Errorf("%s: %v, %s: %s; want %v", rows[i].From, rows[i].Together, rows[i].TogetherWhere, rows[i].TogetherWhy, unit.BitRate(want))
		}
	}
}
