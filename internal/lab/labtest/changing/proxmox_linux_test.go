package changing

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/change"
	"github.com/linerate/linerate/netstate"
)

// interfaces is what Proxmox VE's page writes for the host of onHypervisor.
const interfaces = `auto lo
iface lo inet loopback

iface eth0 inet manual

iface eth1 inet manual

auto bond0
iface bond0 inet manual
	bond-slaves eth0 eth1
	bond-miimon 100
	bond-mode 802.3ad
	bond-xmit-hash-policy layer2

auto vmbr0
iface vmbr0 inet static
	address 10.0.0.1/24
	bridge-ports bond0
	bridge-stp off
	bridge-fd 0
	bridge-vlan-aware yes
	bridge-vids 2-4094

source /etc/network/interfaces.d/*
`

// onHypervisor: a host of a Proxmox VE cluster, its bond under a bridge that knows
// VLANs, with a guest on it. It is discovered as it is, its hash is changed while the
// guest talks, and the line of its file that says it.
func onHypervisor(t *testing.T) {
	const guest = "linerate-test-guest"
	g := newGround(t, topology(t), "")
	alpha := lab.Namespace("alpha")
	command(t, "ip", "netns", "add", guest)
	t.Cleanup(func() { command(t, "ip", "netns", "delete", guest) })
	for _, words := range []string{
		"link set bond0 type bond xmit_hash_policy layer2", "address flush dev bond0", "link add vmbr0 type bridge vlan_filtering 1", "link set bond0 master vmbr0",
		"address add 10.0.0.1/24 dev vmbr0", "link set vmbr0 up", "link add tap100i0 type veth peer name eth0 netns " + guest, "link set tap100i0 master vmbr0", "link set tap100i0 up",
	} {
		ip(t, "alpha", words)
	}
	command(t, "ip", "-n", guest, "address", "add", "10.0.0.100/24", "dev", "eth0")
	command(t, "ip", "-n", guest, "link", "set", "eth0", "up")
	await(t, "the guest hears beta", 20*time.Second, func() bool { return pings("beta", "10.0.0.100") })

	status, found, errs := program("discover", "netns:"+alpha)
	t.Logf("%s%s", found, errs)
	if status != 0 {
		t.Fatalf("discover: exit status %d", status)
	}
	if strings.Contains(found, "tap100i0, bond0") || !strings.Contains(found, "vmbr0") {
		t.Errorf("discovered otherwise than it is")
	}
	mode := regexp.MustCompile(`(?m)^( +)mode: 802.3ad$`)
	wanted := mode.ReplaceAllString(found, "${0}\n${1}transmit-hash-policy: layer3+4")
	g.write(wanted)

	files := t.TempDir()
	file := filepath.Join(files, "etc/network/interfaces")
	floor.Must(t, os.MkdirAll(filepath.Dir(file), 0o755))
	floor.Must(t, os.WriteFile(file, []byte(interfaces), 0o644))
	stream := newTrickle(t, guest, "10.0.0.2")
	stream.silence()
	c := g.opened(map[string]string{alpha: files}, "ifupdown")
	out, err := c.Apply(t.Context(), change.Options{})
	if err != nil || !out.Confirmed {
		t.Fatalf("not kept: %+v, %v", out, err)
	}
	if silent := stream.silence(); silent >= time.Second {
		t.Errorf("nothing came from the guest for %v", silent.Round(time.Millisecond))
	} else {
		t.Logf("the guest was heard at least every %v", silent.Round(time.Millisecond))
	}
	if b := mustLink(t, g.host("alpha"), "bond0"); b.Bond.HashPolicy != netstate.Layer34 || b.Master != "vmbr0" {
		t.Errorf("bond0 is %+v in %s", b.Bond, b.Master)
	}
	kept, err := os.ReadFile(file)
	floor.Must(t, err)
	want := strings.Replace(interfaces, "bond-xmit-hash-policy layer2\n", "bond-xmit-hash-policy layer3+4\n", 1)
	want = strings.Replace(want, "2-4094\n", "2-4094\n\tmtu 1500\n", 1) // as discover wrote it down
	if diff := cmp.Diff(want, string(kept)); diff != "" {
		t.Errorf("/etc/network/interfaces (-want +got):\n%s", diff)
	}
}
