package root

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
)

// TestSteerShowFabric: each switch that a flow crosses, with the port where it is known.
func TestSteerShowFabric(t *testing.T) {
	const trunk = `linerate: v1
hosts:
  a: {network: {ethernets: {e0: {macaddress: "02:00:00:00:00:01", addresses: [10.0.0.1/24]}}}, hardware: {links: {e0: {speed: 25G}}}}
  b: {network: {ethernets: {e0: {macaddress: "02:00:00:00:00:02", addresses: [10.0.0.2/24]}}}, hardware: {links: {e0: {speed: 25G}}}}
switches:
  left:
    SYSTEM
    hash: HASH
    ports: {p: {host: a, link: e0}, t0: {switch: right, port: t0, speed: 10G}, t1: {switch: right, port: t1, speed: 10G}}
    channels: {po1: {members: [t0, t1]}}
  right: {ports: {p: {host: b, link: e0}}}
paths:
  - {between: [a, b]}
`
	show := func(system, hash string) string {
		text := strings.NewReplacer("SYSTEM", system, "HASH", hash).Replace(trunk)
		o := run(t, "", "steer", "show", "--fabric", file(t, "trunk.yaml", text), "--src", "10.0.0.1", "--dst", "10.0.0.2", "--sport", "40000-40007", "--dport", "5201")
		if o.status != console.ExitDone {
			t.Fatalf("exit %d, %s", o.status, o.stderr)
		}
		return o.stdout
	}
	// 01 xor 02 xor the protocol's 08 is odd: the second link.
	if got := show("system: linux", "layer2"); strings.Count(got, "e0 > left t1 > right p > b e0") != 8 {
		t.Errorf("layer2 of bonding:\n%s", got)
	}
	if got := show("system: linux", "layer3+4"); strings.Count(got, "left t0 ") != 4 || strings.Count(got, "left t1 ") != 4 {
		t.Errorf("layer3+4 of bonding:\n%s", got)
	}
	if got := show("seed: 1", "layer3+4"); strings.Count(got, "e0 > left ? > right p\n") != 8 || !strings.Contains(got, "not known at left (t0, t1)") {
		t.Errorf("a hash that nobody computes:\n%s", got)
	}
	o := run(t, "", "steer", "show", "--fabric", file(t, "none.yaml", manyClients(1, "1G")), "--src", "10.0.0.1", "--dst", "10.0.0.2")
	if o.status != console.ExitUsage || !strings.Contains(o.stderr, "describes no switch") {
		t.Errorf("a file without switches: exit %d, %s", o.status, o.stderr)
	}
}
