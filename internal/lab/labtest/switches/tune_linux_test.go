package switches

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/record"
)

// watched is two hosts at a switch's two ports, and the fabric file that says how the
// switch is asked.
func watched(t *testing.T) (sw floor.Space, hosts [2]floor.Space, file string) {
	t.Helper()
	sw, hosts = floor.NewSpace(t, "tuned-sw"), [2]floor.Space{floor.NewSpace(t, "tuned-a"), floor.NewSpace(t, "tuned-b")}
	var ports []string
	for i, h := range hosts {
		port := fmt.Sprintf("p%d", i)
		floor.Must(t, h.Builder.Veth("eth0", sw.Builder, port))
		for _, up := range []string{"lo", "eth0"} {
			floor.Must(t, h.Builder.Up(up))
		}
		floor.Must(t, h.Builder.Address("eth0", netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 80, 0, byte(i + 1)}), 24)))
		floor.Must(t, h.Builder.Shape("eth0", trunkRate, floor.Bucket(trunkRate), queue))
		floor.Must(t, sw.Builder.Up(port))
		floor.Must(t, sw.Builder.Shape(port, trunkRate, floor.Bucket(trunkRate), queue))
		ports = append(ports, port)
	}
	floor.Must(t, sw.Builder.Bridge("br0", ports))
	agent(t, sw)
	file = described(t, fmt.Sprintf(`linerate: v1
hosts:
  a: {reach: "netns:%s", hardware: {links: {eth0: {speed: 8M, framing: l2}}}}
  b: {reach: "netns:%s", hardware: {links: {eth0: {speed: 8M, framing: l2}}}}
switches:
  leaf:
    reach: snmp://127.0.0.1
    credentials: secret.yaml
    ports: {p0: {host: a, link: eth0}, p1: {host: b, link: eth0}}
paths:
  - {between: [a, b]}
`, hosts[0].NS.Name, hosts[1].NS.Name))
	return sw, hosts, file
}

// TestTuneReadsSwitches: what the switch counted stands in every trial of a tune.
func TestTuneReadsSwitches(t *testing.T) {
	needRoot(t)
	sw, _, file := watched(t)
	out := filepath.Join(filepath.Dir(file), "record.json")
	linerate(t, sw, "tune", file, "--yes", "--direction", "forward", "--duration", "3s", "--max-windows", "6", "--journal", t.TempDir(), "-o", out)
	text, err := os.ReadFile(out)
	floor.Must(t, err)
	r, err := record.Decode(text)
	floor.Must(t, err)
	if len(r.Trials) == 0 {
		t.Fatal("no trials")
	}
	for i, trial := range r.Trials {
		p, ok := trial.PortOf("leaf", "p1")
		if !ok || p.TxBytes == nil || *p.TxBytes == 0 {
			t.Errorf("trial %d: %+v", i, trial.Switches)
		}
	}
	t.Logf("%d trials", len(r.Trials))
}
