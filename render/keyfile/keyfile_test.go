package keyfile

import (
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/render"
)

// input is a test fabric's host as the command renders it.
func input(t *testing.T, file, host string) render.Input {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return inputOf(t, file, string(text), host)
}

func inputOf(t *testing.T, file, text, host string) render.Input {
	t.Helper()
	f, err := fabric.Parse(file, []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	h, _ := f.Host(host)
	s, err := f.State(host)
	if err != nil {
		t.Fatal(err)
	}
	return render.Input{Host: h, State: s}
}

func written(t *testing.T, in render.Input) render.Output {
	t.Helper()
	out, err := Write(in)
	if err != nil {
		t.Fatal(err)
	}
	sort.Slice(out.Files, func(i, j int) bool { return out.Files[i].Path < out.Files[j].Path })
	return out
}

// TestKeyfilesRead lets NetworkManager itself read what is written, and
// expects what the fabric says back from it.
func TestKeyfilesRead(t *testing.T) {
	out := written(t, input(t, "testdata/full.yaml", "rbx"))
	got, complaints := networkManager(t, out.Files)
	for _, f := range out.Files {
		if got[filepath.Base(f.Path)] == nil {
			t.Errorf("%s was not loaded:\n%s", f.Path, f.Text)
		}
	}
	// What 1.42 drops is what the warnings say that it drops.
	var unexpected []string
	for _, c := range complaints {
		if !strings.Contains(c, "lacp_active") && !strings.Contains(c, "channels-combined") {
			unexpected = append(unexpected, c)
		}
	}
	if unexpected != nil {
		t.Errorf("NetworkManager complains:\n%s", strings.Join(unexpected, "\n"))
	}
	for _, want := range []struct{ file, key, value string }{
		{"bond1", "connection.type", "bond"},
		{"bond1", "bond.options", "mode=802.3ad,ad_actor_sys_prio=1000,lacp_rate=fast,miimon=50,min_links=1,num_grat_arp=3,num_unsol_na=3,peer_notif_delay=100,updelay=100,xmit_hash_policy=layer3+4"},
		{"bond1", "802-3-ethernet.mtu", "9000"},
		{"bond1", "ipv4.method", "manual"},
		{"bond1", "ipv6.addresses", "2001:db8::2/64"},
		{"bond1", "ipv4.routes", "{ ip = 10.9.0.0/16, nh = 10.0.0.1, mt = 100 advmss=1400 mtu=8000 src=10.0.0.2 table=101 }; { ip = 10.8.0.1/32, mt = 0 }; { ip = 203.0.113.0/24, mt = 0 type=blackhole }"},
		{"bond1", "ipv6.routes", "{ ip = 2001:db8:9::/48, nh = 2001:db8::1, mt = 1024 onlink=true }"},
		{"bond1", "ipv4.routing-rules", "priority 101 from 10.0.0.2 fwmark 0x7 table 101"},
		{"bond1", "ipv6.routing-rules", "priority 102 from 2001:db8::2 table 101"},
		{"ens2f0", "connection.master", "bond1"},
		{"ens2f0", "connection.slave-type", "bond"},
		{"ens2f0", "ethtool.feature-gro", "on"},
		{"ens2f0", "ethtool.feature-lro", "off"},
		{"ens2f0", "ethtool.feature-rx-gro-hw", "off"},
		{"ens2f0", "ethtool.ring-rx", "4096"},
		{"ens2f0", "ethtool.ring-tx", "4096"},
		{"ens2f0", "ethtool.coalesce-rx-usecs", "16"},
		{"ens2f0", "ethtool.coalesce-adaptive-rx", "0"},
		{"ens2f1", "802-3-ethernet.mac-address", "52:54:00:00:00:02"},
		{"eth0", "ipv4.method", "auto"},
		{"eth0", "ipv4.ignore-auto-dns", "yes"},
		{"eth0", "ipv4.route-metric", "500"},
		{"eth0", "ipv4.dns", "9.9.9.9"},
		{"eth0", "ipv6.dns", "--"},
		{"eth0", "ipv4.dns-search", "example.org"},
		{"eth0", "ipv6.method", "disabled"},
		{"eth0", "802-3-ethernet.cloned-mac-address", "02:00:00:00:00:01"},
		{"eth1", "tc.qdiscs", "root fq"},
		{"eth2", "tc.qdiscs", "root fq_codel limit 2000"},
		{"eth2", "ipv6.method", "auto"},
		{"eth1", "ipv4.routes", "{ ip = 0.0.0.0/0, nh = 192.0.2.1, mt = 50 }; { ip = 172.16.0.0/12, nh = 192.0.2.1, mt = 5 table=102 weight=1 }"},
		{"eth1", "connection.mptcp-flags", "0x2a (enabled, also-without-default-route, subflow)"},
		{"eth2", "connection.mptcp-flags", "0x6a (enabled, also-without-default-route, subflow, backup)"},
		{"lan", "vlan.parent", "bond1"},
		{"lan", "vlan.id", "1904"},
		{"br0", "bridge.stp", "no"},
		{"br0", "bridge.forward-delay", "4"},
		{"br1", "bridge-port.path-cost", "50"},
		{"dummy1", "connection.type", "dummy"},
	} {
		if value := got[want.file+".nmconnection"][want.key]; value != want.value {
			t.Errorf("%s: %s is %q, want %q", want.file, want.key, value, want.value)
		}
	}
	if t.Failed() {
		for _, f := range out.Files {
			t.Logf("%s\n%s", f.Path, f.Text)
		}
	}
}

func TestKeyfilesStable(t *testing.T) {
	in := input(t, "testdata/full.yaml", "rbx")
	first := written(t, in)
	in.Old = map[string]string{}
	for _, f := range first.Files {
		in.Old[f.Path] = f.Text
	}
	again := written(t, in)
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("rendered again over itself (-first +again):\n%s", diff)
	}
}
