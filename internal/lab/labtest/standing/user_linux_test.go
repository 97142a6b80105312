package standing

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/lab/scenario"
)

// measured is a network with a bond at each end, and what to measure of it.
const measured = `
linerate: v1
hosts:
  web:
    network:
      version: 2
      ethernets: {eth0: {}, eth1: {}}
      bonds: {bond0: {interfaces: [eth0, eth1], addresses: [10.9.0.1/24], mtu: 9000, parameters: {mode: balance-xor, transmit-hash-policy: layer3+4, mii-monitor-interval: 100}}}
    hardware: &ports {links: {eth0: {speed: 1G}, eth1: {speed: 1G}}}
  store:
    network:
      version: 2
      ethernets: {eth0: {}, eth1: {}}
      bonds: {bond0: {interfaces: [eth0, eth1], addresses: [10.9.0.2/24], mtu: 9000, parameters: {mode: balance-xor, transmit-hash-policy: layer3+4, mii-monitor-interval: 100}}}
    hardware: *ports
paths:
  - {between: [web, store], rtt: 4ms, switch_hash: layer3+4}
scenario:
  name: my-network
  scale: 10
  steps:
    - name: as it is
      measure:
        - {tool: linerate, from: web, to: store, streams: [1, 2], ports: chosen, duration: 3s}
        - {tool: ping, from: web, to: store}
`

// mostApart are round trips of one network, in milliseconds: a busy machine adds to
// each.
const mostApart = 2

// TestSameForBoth: an ordinary user's lab shows what root's does, as the kernel
// of User-Mode Linux is the user's own: one stream over one link, two over both.
func TestSameForBoth(t *testing.T) {
	floor.Turn(t, floor.Standing)
	shown := map[bool]scenario.Outcome{}
	for _, ordinary := range []bool{false, true} {
		p := newPlace(t, ordinary)
		if err := os.WriteFile(filepath.Join(p.dir, "net.yaml"), []byte(measured), 0o644); err != nil {
			t.Fatal(err)
		}
		var o scenario.Outcome
		if err := json.Unmarshal([]byte(p.must(t, "lab", "run", "net.yaml", "--back-end", "uml", "--json")), &o); err != nil {
			t.Fatal(err)
		}
		shown[ordinary] = o
	}
	root, user := shown[false], shown[true]
	if root.Kernel != user.Kernel || len(root.Rows) != 3 || len(user.Rows) != 3 {
		t.Fatalf("root: kernel %s, %d rows; ordinary user: kernel %s, %d rows; want 3", root.Kernel, len(root.Rows), user.Kernel, len(user.Rows))
	}
	for i, r := range root.Rows {
		u := user.Rows[i]
		t.Logf("%s, %d streams: root %v, %.2f ms; ordinary user %v, %.2f ms; predicted %v", r.Tool, r.Streams, r.Measured, r.MeasuredRTT, u.Measured, u.MeasuredRTT, r.Predicted)
		if r.Predicted != u.Predicted || r.Ceiling != u.Ceiling {
			t.Errorf("row %d: predicted %v and %v of %v and %v", i, r.Predicted, u.Predicted, r.Ceiling, u.Ceiling)
		}
		if r.Measured > 0 && math.Abs(float64(u.Measured/r.Measured)-1) > 0.05 || math.Abs(u.MeasuredRTT-r.MeasuredRTT) > mostApart {
			t.Errorf("row %d: root %v, %.2f ms; ordinary user %v, %.2f ms", i, r.Measured, r.MeasuredRTT, u.Measured, u.MeasuredRTT)
		}
	}
	if two := user.Rows[1]; two.Measured < 1.9*user.Rows[0].Measured {
		t.Errorf("two streams carry %v, one %v", two.Measured, user.Rows[0].Measured)
	}
}
