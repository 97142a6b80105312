package scenariorun

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/host/apply/testjournal"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/internal/lab/scenariorun"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// tuned is a bond of two links that carry as much as one, tuned twice: the first
// time the hosts go back, the second they stay as they were made.
const tuned = `
linerate: v1
hosts:
  a:
    network:
      version: 2
      ethernets: {eth0: {}, eth1: {}}
      bonds: {bond0: {interfaces: [eth0, eth1], addresses: [10.9.0.1/24], parameters: {mode: balance-xor, transmit-hash-policy: layer2, mii-monitor-interval: 100}}}
    hardware: {links: {eth0: {speed: 1G}, eth1: {speed: 1G}}}
    sysctl: {net.ipv4.tcp_rmem: "4096 131072 6291456", net.ipv4.tcp_wmem: "4096 16384 4194304"}
  b:
    network:
      version: 2
      ethernets: {eth0: {}, eth1: {}}
      bonds: {bond0: {interfaces: [eth0, eth1], addresses: [10.9.0.2/24], parameters: {mode: balance-xor, transmit-hash-policy: layer2, mii-monitor-interval: 100}}}
    hardware: {links: {eth0: {speed: 1G}, eth1: {speed: 1G}}}
    sysctl: {net.ipv4.tcp_rmem: "4096 131072 6291456", net.ipv4.tcp_wmem: "4096 16384 4194304"}
paths:
  - {between: [a, b], rtt: 1ms, switch_hash: layer3+4}
scenario:
  name: tuned
  scale: 10
  steps:
    - name: put back
      measure: [{tool: tune, from: a, to: b}]
    - name: as found
      measure: []
    - name: kept
      measure: [{tool: tune, from: a, to: b, published: 1900M, keep: true}]
    - name: as kept
      measure: [{tool: linerate, from: a, to: b, streams: 8, ports: chosen, duration: 1s}]
`

// TestTuned: a tune comes to what the lines carry in the largest frames, both
// ways; the hosts and their cables are as they were afterwards, or as it made them.
func TestTuned(t *testing.T) {
	floor.Turn(t, floor.Rehearsing)
	s, err := scenario.Parse("tuned.yaml", []byte(tuned))
	floor.Must(t, err)
	looked, tried := 0, 0
	result, err := scenariorun.Run(t.Context(), scenariorun.Config{Scenario: s, Version: "test", BackEnd: "test", JournalDir: testjournal.Dir(t), Tell: func(p scenariorun.Progress) {
		switch {
		case p.Tried != nil:
			tried++
			t.Logf("%s: %s", p.Tried.Change, p.Tried.Verdict)
		case p.Row != nil:
			t.Log(scenario.Text([]scenario.Row{*p.Row}))
		case p.Step == "as found":
			looked++
			for _, host := range []string{"a", "b"} {
				expect(t, host, 1500, netstate.Layer2, unit.Gbps*1514/1538/10)
			}
		case p.Step == "as kept":
			looked++
			for _, host := range []string{"a", "b"} {
				expect(t, host, 9000, netstate.Layer34, unit.Gbps*9014/9038/10)
			}
		}
	}})
	floor.Must(t, err)
	if looked != 2 || tried == 0 || len(result.Rows) != 3 {
		t.Fatalf("looked %d times, told of %d tries, %d rows", looked, tried, len(result.Rows))
	}
	const ceiling = 2 * 2 * 1e9 * 8948 / 9038 // two ways, two links
	for _, r := range result.Rows[:2] {
		if r.Verdict != scenario.Reached || r.Kind != scenario.Best || r.Tuned == nil {
			t.Fatalf("%s: %+v, %+v", r.Step, r, r.Tuned)
		}
		if off := float64(r.Ceiling)/ceiling - 1; off < -1e-3 || off > 1e-3 {
			t.Errorf("%s: the ceiling is %v, want %v", r.Step, r.Ceiling, unit.BitRate(ceiling))
		}
		if sum := float64((r.Tuned.Forward + r.Tuned.Reverse) / r.Measured); sum < 0.999 || sum > 1.001 {
			t.Errorf("%s: %v and %v are not %v", r.Step, r.Tuned.Forward, r.Tuned.Reverse, r.Measured)
		}
		if r.Tuned.Before > 0.6*r.Measured || r.Tuned.CeilingMTU != 9000 || !strings.Contains(strings.Join(r.Tuned.Changes, "; "), "layer3+4") {
			t.Errorf("%s: before %v, kept %q at MTU %d", r.Step, r.Tuned.Before, r.Tuned.Changes, r.Tuned.CeilingMTU)
		}
	}
	if r := result.Rows[2]; float64(r.Measured) < 0.9*ceiling/2 {
		t.Errorf("what was kept carries %v one way", r.Measured)
	}
	nothingLeft(t)
}
