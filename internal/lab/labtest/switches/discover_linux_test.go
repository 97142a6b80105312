package switches

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// TestDiscoverTies: what a switch heard by LLDP at its ports stands in the fabric file that
// discover writes, whether a host's link is known by its address or by its names.
func TestDiscoverTies(t *testing.T) {
	needRoot(t)
	sw, a, b := floor.NewSpace(t, "ties-sw"), floor.NewSpace(t, "ties-a"), floor.NewSpace(t, "ties-b")
	for i, h := range []floor.Space{a, b} {
		port := fmt.Sprintf("p%d", i)
		floor.Must(t, h.Builder.Veth("eth0", sw.Builder, port))
		floor.Must(t, h.Builder.Up("eth0"))
		floor.Must(t, sw.Builder.Up(port))
		floor.Must(t, h.Builder.Address("eth0", netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 79, 0, byte(i + 1)}), 24)))
	}
	floor.Must(t, sw.Builder.Bridge("br0", []string{"p0", "p1"}))
	floor.Must(t, sw.Builder.Up("br0"))
	var address string
	floor.Must(t, a.NS.Do(func() error {
		mac, err := hardwareAddress("eth0")
		address = mac
		return err
	}))
	var rows []string
	for i, remote := range []struct{ kind, port, name, described string }{{"3", "0x" + address, "elsewhere", "x"}, {"5", `"eth0"`, b.NS.Name, "eth0"}} {
		n := i + 3
		rows = append(rows,
			fmt.Sprintf("override .1.0.8802.1.1.2.1.3.7.1.2.%d integer 5", n), fmt.Sprintf(`override .1.0.8802.1.1.2.1.3.7.1.3.%d octet_str "p%d"`, n, i),
			fmt.Sprintf("override .1.0.8802.1.1.2.1.4.1.1.6.0.%d.1 integer %s", n, remote.kind), fmt.Sprintf("override .1.0.8802.1.1.2.1.4.1.1.7.0.%d.1 octet_str %s", n, remote.port),
			fmt.Sprintf(`override .1.0.8802.1.1.2.1.4.1.1.8.0.%d.1 octet_str "%s"`, n, remote.described), fmt.Sprintf(`override .1.0.8802.1.1.2.1.4.1.1.9.0.%d.1 octet_str "%s"`, n, remote.name))
	}
	agent(t, sw, rows...)
	topo, text := discovered(t, sw, a, b)
	for host, port := range map[string]string{a.NS.Name: "p0", b.NS.Name: "p1"} {
		if at, ok := topo.Where(host, "eth0"); !ok || at != (topology.At{Switch: "leaf", Port: port}) {
			t.Errorf("%s hangs on %v, want leaf %s:\n%s", host, at, port, text)
		}
	}
	if s, _ := topo.Switch("leaf"); s.Reach != "snmp://127.0.0.1" {
		t.Errorf("reached by %q", s.Reach)
	}
}

// discovered is how two hosts hang on the switches in the file that discover writes of them
// and of the snmpd beside the program, and that file.
func discovered(t *testing.T, sw, a, b floor.Space) (topo *topology.Network, text []byte) {
	t.Helper()
	dir := t.TempDir()
	floor.Must(t, os.WriteFile(filepath.Join(dir, "secret.yaml"), []byte("community: "+community+"\n"), 0o600))
	t.Setenv("LINERATE_SWITCH_CREDENTIALS", filepath.Join(dir, "secret.yaml"))
	file := filepath.Join(dir, "fabric.yaml")
	linerate(t, sw, "discover", "netns:"+a.NS.Name, "netns:"+b.NS.Name, "snmp://127.0.0.1", "-o", file)
	text, err := os.ReadFile(file)
	floor.Must(t, err)
	f, err := fabric.Parse(file, text)
	floor.Must(t, err)
	if f.Topology == nil {
		t.Fatalf("no switches:\n%s", text)
	}
	return f.Topology, text
}
