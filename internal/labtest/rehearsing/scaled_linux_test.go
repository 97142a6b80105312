package rehearsing

import (
	"fmt"
	"math"
	"testing"

	"github.com/linerate/linerate/internal/labtest/stage"
	"github.com/linerate/linerate/internal/rehearsal"
	"github.com/linerate/linerate/scenario"
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
  scale: %d
  steps:
    - name: as it is
      measure:
        - {tool: linerate, from: a, to: b, streams: [1, 4], ports: chosen, duration: 3s}
`

// TestScaledAgrees: a network scaled down shows what it shows unscaled, once its
// rows are multiplied back.
func TestScaledAgrees(t *testing.T) {
	stage.Turn(t, stage.Rehearsing)
	measured := make(map[int][]unit.BitRate)
	scales := []int{1, 4}
	for _, scale := range scales {
		s, err := scenario.Parse("twice.yaml", []byte(fmt.Sprintf(twice, scale)))
		stage.Must(t, err)
		result, err := rehearsal.Run(t.Context(), rehearsal.Config{Scenario: s, Version: "test", BackEnd: "test", JournalDir: t.TempDir()})
		stage.Must(t, err)
		for _, r := range result.Rows {
			t.Logf("scale %d, %d streams: %v, predicted %v, ceiling %v", scale, r.Streams, r.Measured, r.Predicted, r.Ceiling)
			measured[scale] = append(measured[scale], r.Measured)
		}
	}
	whole, scaled := measured[scales[0]], measured[scales[1]]
	if len(whole) != 2 || len(scaled) != len(whole) {
		t.Fatalf("%d rows and %d, want 2", len(whole), len(scaled))
	}
	for i := range whole {
		if off := float64(scaled[i]/whole[i]) - 1; math.Abs(off) > 0.05 {
			t.Errorf("row %d: %v unscaled, %v scaled (%+.1f %%)", i, whole[i], scaled[i], 100*off)
		}
	}
	// The two rows are of two kinds, else this shows half of what it says.
	if line := 2 * 150 * unit.Mbps; whole[0] > line*6/10 || whole[1] < line*85/100 {
		t.Errorf("%v and %v: want the first held by its window, the second by two links of 150 Mbit/s", whole[0], whole[1])
	}
	nothingLeft(t)
}
