package switches

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/internal/host/openvswitch/testswitch"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/lab/labtest/openvswitch"
)

// neighbours is Debian's lldpd, unpacked and not installed, of one space.
type neighbours struct {
	space    floor.Space
	programs testswitch.Programs
}

// asUser has lldpd find the user and the directory that its package would have made, and
// the name of its host, in mounts of its own.
const asUser = `hostname "$0" && mount -t tmpfs tmpfs /run && mkdir -p /run/lldpd /run/etc &&
for f in passwd group hosts; do cp /etc/$f /run/etc/$f; done
echo "_lldpd:x:65533:65533::/run/lldpd:/bin/false" >> /run/etc/passwd
echo "_lldpd:x:65533:" >> /run/etc/group
echo "127.0.0.1 $0" >> /run/etc/hosts
for f in passwd group hosts; do mount --bind /run/etc/$f /etc/$f || exit; done
exec "$@"`

// speaks starts it; agentx is the socket of the space's snmpd, "" none.
func speaks(t *testing.T, space floor.Space, agentx string) neighbours {
	t.Helper()
	dir := os.Getenv("LINERATE_LAB_CONFIG")
	if dir == "" {
		dir = "../../../../.lab-config"
	}
	root, err := filepath.Abs(filepath.Join(dir, "lldpd"))
	floor.Must(t, err)
	if !exists(root) {
		t.Skip("lldpd is not there: make deps-config fetches it")
	}
	n := neighbours{space, testswitch.Programs{Root: root, Dir: t.TempDir()}}
	args := []string{"--mount", "--uts", "sh", "-c", asUser, space.NS.Name, filepath.Join(root, "usr/sbin/lldpd"), "-d", "-O", "/dev/null", "-L", filepath.Join(root, "usr/sbin/lldpcli"), "-u", n.socket()}
	if agentx != "" {
		args = append(args, "-x", "-X", agentx)
	}
	in(t, space.NS, n.programs.Command("unshare", args...))
	return n
}

func (n neighbours) socket() string { return filepath.Join(n.programs.Dir, "lldpd.socket") }

// hears waits until so many neighbours are heard.
func (n neighbours) hears(t *testing.T, many int) {
	t.Helper()
	shown := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); floor.Pause() {
		var out []byte
		c := n.programs.Command("usr/sbin/lldpcli", "-u", n.socket(), "show", "neighbors", "summary")
		floor.Must(t, n.space.NS.Do(func() (err error) {
			if out, err = c.CombinedOutput(); err != nil { // not yet at its socket
				err = nil
			}
			return err
		}))
		if shown = string(out); strings.Count(shown, "Interface: ") == many {
			return
		}
	}
	t.Fatalf("want %d neighbours: %s", many, shown)
}

// TestDiscoverLLDP: two hosts, one with two links, at an Open vSwitch; lldpd runs at each, and
// at the switch it tells snmpd. The fabric file that discover writes has every cable.
func TestDiscoverLLDP(t *testing.T) {
	needRoot(t)
	sw, a, b := floor.NewSpace(t, "lldp-sw"), floor.NewSpace(t, "lldp-a"), floor.NewSpace(t, "lldp-b")
	floor.Must(t, a.Builder.Veth("eth0", sw.Builder, "p0"))
	for i := range 2 {
		floor.Must(t, b.Builder.Veth(fmt.Sprintf("eth%d", i), sw.Builder, fmt.Sprintf("q%d", i)))
	}
	for _, port := range []string{"p0", "q0", "q1"} {
		floor.Must(t, sw.Builder.Up(port))
	}
	for i, at := range []struct {
		space floor.Space
		link  string
	}{{a, "eth0"}, {b, "eth0"}, {b, "eth1"}} {
		floor.Must(t, at.space.Builder.Up(at.link))
		floor.Must(t, at.space.Builder.Address(at.link, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 79, byte(i / 2), byte(i + 1)}), 24)))
	}
	s := openvswitch.New(t, sw)
	for _, port := range []string{"p0", "q0", "q1"} {
		s.Vsctl("add-port", "br0", port)
	}
	agentx := filepath.Join(t.TempDir(), "agentx")
	agent(t, sw, "master agentx", "agentXSocket "+agentx, "agentXPerms 0777 0777")
	for _, host := range []floor.Space{a, b} {
		speaks(t, host, "")
	}
	speaks(t, sw, agentx).hears(t, 3)
	topo, text := discovered(t, sw, a, b)
	for _, c := range []struct{ host, link, port string }{{a.NS.Name, "eth0", "p0"}, {b.NS.Name, "eth0", "q0"}, {b.NS.Name, "eth1", "q1"}} {
		if at, ok := topo.Where(c.host, c.link); !ok || at != (topology.At{Switch: "leaf", Port: c.port}) {
			t.Errorf("%s of %s hangs on %v, want leaf %s:\n%s", c.link, c.host, at, c.port, text)
		}
	}
	t.Logf("%s", text)
}
