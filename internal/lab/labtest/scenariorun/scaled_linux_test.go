package scenariorun

import (
	"fmt"
	"math"
	"testing"

	"github.com/linerate/linerate/internal/host/apply/testjournal"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/internal/lab/scenariorun"
	"github.com/linerate/linerate/unit"
)

// twice is a network that one emulated core carries unscaled: one stream is
// held by its window, four by the links.
const twice = `
linerate: v1
hosts:
  a:
    network:
      version: 2
      ethernets: {eth0: {}, eth1: {}}
      bonds: {bond0: {interfaces: [eth0, eth1], addresses: [10.9.0.1/24], parameters: {mode: 802.3ad, lacp-rate: fast, mii-monitor-interval: 100, transmit-hash-policy: layer3+4}}}
    hardware: {links: {eth0: {speed: 150M}, eth1: {speed: 150M}}}
    sysctl: &windows {net.ipv4.tcp_rmem: "4096 131072 524288", net.ipv4.tcp_wmem: "4096 16384 2097152"}
  b:
    network:
      version: 2
      ethernets: {eth0: {}, eth1: {}}
      bonds: {bond0: {interfaces: [eth0, eth1], addresses: [10.9.0.2/24], parameters: {mode: 802.3ad, lacp-rate: fast, mii-monitor-interval: 100, transmit-hash-policy: layer3+4}}}
    hardware: {links: {eth0: {speed: 150M}, eth1: {speed: 150M}}}
    sysctl: *windows
paths:
  - {between: [a, b], rtt: 20ms, switch_hash: layer3+4}
scenario:
  name: twice
  scale: %g
  slow: %g
  steps:
    - name: as it is
      measure:
        - {tool: linerate, from: a, to: b, streams: [1, 4], ports: chosen, duration: 3s}
`

// TestScaledAgrees: a network scaled down shows what it shows unscaled, once its
// rows are multiplied back; so does one whose time goes slower.
func TestScaledAgrees(t *testing.T) {
	floor.Turn(t, floor.Rehearsing)
	whole := rowsAt(t, 1, 1)
	for _, c := range []struct{ scale, slow float64 }{{4, 1}, {4, 4}, {6, 2}} {
		scaled := rowsAt(t, c.scale, c.slow)
		if len(whole) != 2 || len(scaled) != len(whole) {
			t.Fatalf("%d rows and %d, want 2", len(whole), len(scaled))
		}
		for i := range whole {
			if off := float64(scaled[i]/whole[i]) - 1; math.Abs(off) > 0.05 {
				t.Errorf("scale %g, slow %g, row %d: %v unscaled, %v scaled (%+.1f %%)", c.scale, c.slow, i, whole[i], scaled[i], 100*off)
			}
		}
	}
	// The two rows are of two kinds, else this shows half of what it says.
	if line := 2 * 150 * unit.Mbps; whole[0] > line*6/10 || whole[1] < line*85/100 {
		t.Errorf("%v and %v: want the first held by its window, the second by two links of 150 Mbit/s", whole[0], whole[1])
	}
	nothingLeft(t)
}

// rowsAt are what the rows come to at the scale.
func rowsAt(t *testing.T, scale, slow float64) (all []unit.BitRate) {
	t.Helper()
	s, err := scenario.Parse("twice.yaml", []byte(fmt.Sprintf(twice, scale, slow)))
	floor.Must(t, err)
	result, err := scenariorun.Run(t.Context(), scenariorun.Config{Scenario: s, Version: "test", BackEnd: "test", JournalDir: testjournal.Dir(t)})
	floor.Must(t, err)
	for _, r := range result.Rows {
		t.Logf("scale %g, slow %g, %d streams: %v, predicted %v, ceiling %v", scale, slow, r.Streams, r.Measured, r.Predicted, r.Ceiling)
		all = append(all, r.Measured)
	}
	return all
}
