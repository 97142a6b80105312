package trunks

import (
	"fmt"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/unit"
)

const (
	hostRate  = 60 * unit.Mbps
	trunkRate = 15 * unit.Mbps
	queue     = 50 * time.Millisecond
	window    = 4 * time.Second
	pairs     = 3 // of two links at least one has two pairs, or all
	near      = 0.05
)

// shape keeps a link to a rate.
func shape(t *testing.T, s floor.Space, link string, rate unit.BitRate) {
	t.Helper()
	floor.Must(t, s.Builder.Shape(link, rate, floor.Bucket(rate), queue))
}

// stand is pairs of hosts at two bridges with a trunk of two links by that hash, and
// whoever measures between them.
func stand(t *testing.T, hash netstate.HashPolicy) *campaign.Campaign {
	t.Helper()
	left, right := floor.NewSpace(t, "trunk-left"), floor.NewSpace(t, "trunk-right")
	hosts, paths := &strings.Builder{}, &strings.Builder{}
	var ports [2]strings.Builder
	bridged := [2][]string{{"bond0"}, {"bond0"}}
	for i := range 2 * pairs {
		host := floor.NewSpace(t, fmt.Sprintf("trunk-h%d", i))
		sw, port := []floor.Space{left, right}[i%2], fmt.Sprintf("p%d", i)
		floor.Must(t, host.Builder.Veth("eth0", sw.Builder, port))
		floor.Must(t, host.Builder.Up("lo"))
		floor.Must(t, host.Builder.Up("eth0"))
		floor.Must(t, host.Builder.Address("eth0", netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 9, 0, byte(i + 1)}), 24)))
		shape(t, host, "eth0", hostRate)
		shape(t, sw, port, hostRate)
		bridged[i%2] = append(bridged[i%2], port)
		fmt.Fprintf(hosts, "  h%d: {reach: \"netns:%s\", hardware: {links: {eth0: {speed: 60M, framing: l2}}}}\n", i, host.NS.Name)
		fmt.Fprintf(&ports[i%2], "      %s: {host: h%d, link: eth0}\n", port, i)
		if i%2 == 1 {
			fmt.Fprintf(paths, "  - {between: [h%d, h%d]}\n", i-1, i)
		}
	}
	for _, link := range []string{"t0", "t1"} {
		floor.Must(t, left.Builder.Veth(link, right.Builder, link))
	}
	for i, sw := range []floor.Space{left, right} {
		floor.Must(t, sw.Builder.Bond("bond0", rtnl.BondSpec{Mode: netstate.BalanceXOR, HashPolicy: &hash, Miimon: 50 * time.Millisecond}, []string{"t0", "t1"}))
		for _, link := range []string{"t0", "t1"} {
			shape(t, sw, link, trunkRate)
		}
		floor.Must(t, sw.Builder.Bridge("br0", bridged[i]))
		floor.Must(t, sw.Builder.Up("br0"))
	}
	f, err := fabric.Parse("trunk.yaml", []byte(fmt.Sprintf(`linerate: v1
hosts:
%sswitches:
  left:
    system: linux
    hash: %s
    ports:
%s      t0: {switch: right, port: t0, speed: 15M, framing: l2}
      t1: {switch: right, port: t1, speed: 15M, framing: l2}
    channels: {bond0: {members: [t0, t1], mode: static}}
  right:
    system: linux
    hash: %s
    ports:
%spaths:
%s`, hosts, hash, &ports[0], hash, &ports[1], paths)))
	floor.Must(t, err)
	time.Sleep(time.Second) // the bonds' links come up
	c, err := campaign.Open(t.Context(), campaign.Config{Fabric: f, Fleet: fleet.Config{Version: "test", JournalDir: t.TempDir(), Unguarded: true}, BackEnd: "test"})
	floor.Must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestTrunk: pairs one by one, and all at once, get what was predicted of the trunk.
func TestTrunk(t *testing.T) {
	link := float64(trunkRate) * 1448 / 1514
	for _, hash := range []netstate.HashPolicy{netstate.Layer2, netstate.Layer34} {
		t.Run(hash.String(), func(t *testing.T) {
			c := stand(t, hash)
			const streams = 8
			m := campaign.Matrix{Streams: []int{streams}, Directions: []flow.Direction{flow.Forward}, Ports: "chosen", Duration: window}
			floor.Must(t, c.Run(t.Context(), m))
			trials := c.Record().Trials
			if len(trials) != pairs {
				t.Fatalf("%d trials: %+v", len(trials), c.Record().Failures)
			}
			for _, got := range trials {
				want, err := predict.Predict(c.State(), predict.Between(got.From, got.To, flow.Forward, streams))
				floor.Must(t, err)
				t.Logf("%s to %s: %v, predicted %v (%s, %s)", got.From, got.To, got.Goodput, want.Rate, want.Limit, want.Limits[0].Where)
				if math.Abs(float64(got.Goodput/want.Rate)-1) > near {
					t.Errorf("%s to %s: %v, predicted %v", got.From, got.To, got.Goodput, want.Rate)
				}
				if hash == netstate.Layer2 && math.Abs(float64(want.Rate)/link-1) > 1e-6 || !strings.HasPrefix(want.Limits[0].Where, "switch left") {
					t.Errorf("predicted %v, %+v; want one link of the trunk", want.Rate, want.Limits[0])
				}
			}
			floor.Must(t, c.Together(t.Context(), m))
			groups := c.Record().Groups
			if len(groups) != 1 {
				t.Fatalf("%d groups: %+v", len(groups), c.Record().Failures)
			}
			rows, err := predict.Together(c.State(), predict.EveryPair(c.State(), fabric.Measure{}, flow.Forward, streams))
			floor.Must(t, err)
			var sum unit.BitRate
			for _, r := range rows {
				t.Logf("%s to %s: predicted %v together, %s: %s", r.From, r.To, r.Together, r.TogetherWhere, r.TogetherWhy)
				sum += r.Together
			}
			t.Logf("together %v, predicted %v", groups[0].Goodput, sum)
			if math.Abs(float64(groups[0].Goodput/sum)-1) > near {
				t.Errorf("together %v, predicted %v", groups[0].Goodput, sum)
			}
		})
	}
}
