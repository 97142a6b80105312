package scenariorun

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/host/apply/testjournal"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/internal/lab/scenariorun"
	"github.com/linerate/linerate/unit"
)

// several is a server with a bond of two links and three clients, two of whom
// have the same link by their addresses.
const several = `
linerate: v1
hosts:
  a: {network: {version: 2, ethernets: {eth0: {macaddress: "02:4c:00:00:01:04", addresses: [10.9.0.1/24]}}}, hardware: {links: {eth0: {speed: 1G}}}}
  b: {network: {version: 2, ethernets: {eth0: {macaddress: "02:4c:00:00:01:06", addresses: [10.9.0.2/24]}}}, hardware: {links: {eth0: {speed: 1G}}}}
  c: {network: {version: 2, ethernets: {eth0: {macaddress: "02:4c:00:00:01:07", addresses: [10.9.0.3/24]}}}, hardware: {links: {eth0: {speed: 1G}}}}
  store:
    network:
      version: 2
      ethernets: {eth0: {}, eth1: {}}
      bonds: {bond0: {interfaces: [eth0, eth1], macaddress: "02:4c:00:00:03:f0", addresses: [10.9.0.9/24], parameters: {mode: 802.3ad, lacp-rate: fast, mii-monitor-interval: 100}}}
    hardware: {links: {eth0: {speed: 1G}, eth1: {speed: 1G}}}
paths:
  - {between: [a, store], switch_hash: layer2}
  - {between: [b, store], switch_hash: layer2}
  - {between: [c, store], switch_hash: layer2}
scenario:
  name: several
  scale: 20
  steps:
    - name: never done
      needs: nfsd
      with: "mtu=9000"
      measure: []
    - name: at once
      measure:
        - {tool: linerate, from: [a, b], to: store, duration: 2s}
        - {tool: linerate, from: [a, b, c], to: store, direction: both, duration: 2s}
`

// TestSeveral: clients at once have the links that their addresses give, and the
// row is their sum; what the kernel lacks, here a module that nobody has loaded,
// is left out with all that it sets.
func TestSeveral(t *testing.T) {
	floor.Turn(t, floor.Rehearsing)
	s, err := scenario.Parse("several.yaml", []byte(several))
	floor.Must(t, err)
	result, err := scenariorun.Run(t.Context(), scenariorun.Config{Scenario: s, Version: "test", BackEnd: "test", JournalDir: testjournal.Dir(t)})
	floor.Must(t, err)
	if len(result.LeftOut) != 1 || result.LeftOut[0].Step != "never done" || !strings.Contains(result.LeftOut[0].Why, "nfsd") {
		t.Errorf("left out: %+v", result.LeftOut)
	}
	if len(result.Rows) != 2 {
		t.Fatalf("%d rows", len(result.Rows))
	}
	const line = unit.Gbps * 1448 / 1538
	for i, want := range []struct {
		from   string
		pairs  int
		lines  unit.BitRate
		shares int
	}{
		{"a,b", 2, 1, 1},   // both on eth0
		{"a,b,c", 3, 4, 2}, // each way over both
	} {
		r := result.Rows[i]
		t.Log(scenario.Text(result.Rows[i : i+1]))
		if r.From != want.from || r.To != "store" || r.Pairs != want.pairs || len(r.Shares) != want.shares {
			t.Errorf("row %+v", r)
		}
		if got := r.Predicted / line; got < want.lines*0.999 || got > want.lines*1.001 {
			t.Errorf("%s: %v lines predicted, want %v", r.From, got, want.lines)
		}
		if got := r.Measured / r.Predicted; got > 1.02 || got < 0.93 && !r.CPUBound {
			t.Errorf("%s: measured %v, predicted %v", r.From, r.Measured, r.Predicted)
		}
		for _, s := range r.Shares {
			if s.Host != "store" || !s.AsPredicted() {
				t.Errorf("%s: shares %+v", r.From, s)
			}
		}
	}
	nothingLeft(t)
}
