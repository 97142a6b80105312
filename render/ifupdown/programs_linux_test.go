package ifupdown

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// programs is where the unpacked programs are; a test without them says what brings
// them.
func programs(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("LINERATE_LAB_CONFIG")
	if dir == "" {
		dir = "../../.lab-config"
	}
	dir, err := filepath.Abs(filepath.Join(dir, "ifupdown"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skip("ifupdown is not there: make deps-config fetches it")
	}
	return dir
}

// written is a host with everything in it, as interfaces(5).
func written(t *testing.T) string {
	t.Helper()
	in := wantedHost(t, `      ethernets:
        eth0: {}
        eth1: {}
        eth2: {addresses: [192.0.2.5/24, 192.0.2.6/24, "2001:db8::5/64"], mtu: 1400, macaddress: "02:00:00:00:00:09", routes: [{to: default, via: 192.0.2.1, metric: 50}, {to: 10.9.0.0/16, via: 192.0.2.1, table: 101}], routing-policy: [{from: 192.0.2.5, table: 101, priority: 100}]}
        eth3: {addresses: [198.51.100.5/24, "2001:db8:3::5/64"], mtu: 9000, ipv6-mtu: 1300}
      bonds:
        bond0: {interfaces: [eth0, eth1], mtu: 9000, parameters: {mode: 802.3ad, mii-monitor-interval: 100, transmit-hash-policy: layer3+4, lacp-rate: fast, min-links: 1, down-delay: 200}}
      vlans:
        bond0.7: {id: 7, link: bond0, addresses: [10.1.0.2/24]}
      bridges:
        vmbr0: {interfaces: [bond0], addresses: [192.168.1.50/24], parameters: {stp: false, forward-delay: 0}}
`)
	out, err := Write(in)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "interfaces")
	if err := os.WriteFile(file, []byte(out.Files[0].Text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// expected are the options by interface that both programs must have read.
var expected = map[string]map[string]string{
	"bond0":   {"bond-slaves": "eth0 eth1", "bond-mode": "802.3ad", "bond-miimon": "100", "bond-xmit-hash-policy": "layer3+4", "bond-lacp-rate": "fast", "bond-downdelay": "200", "mtu": "9000"},
	"bond0.7": {"address": "10.1.0.2/24"},
	"vmbr0":   {"bridge-ports": "bond0", "bridge-stp": "off", "bridge-fd": "0", "address": "192.168.1.50/24"},
	"eth2":    {"mtu": "1400", "gateway": "192.0.2.1", "metric": "50", "hwaddress": "ether 02:00:00:00:00:09"},
}

// TestIfupdownTakesIt: ifupdown reads the file that is written, and says of every
// option what was meant.
func TestIfupdownTakesIt(t *testing.T) {
	dir, file := programs(t), written(t)
	for name, options := range expected {
		said := map[string]string{}
		text, err := exec.Command(filepath.Join(dir, "ifupdown/sbin/ifquery"), "-i", file, name).CombinedOutput()
		if err != nil {
			t.Fatalf("ifquery %s: %v\n%s", name, err, text)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if key, value, ok := strings.Cut(line, ":"); ok {
				said[strings.TrimSpace(key)] = strings.TrimSpace(value)
			}
		}
		for key, want := range options {
			if said[key] != strings.TrimPrefix(strings.TrimSuffix(want, "/24"), "ether ") { // it has the mask apart
				t.Errorf("ifupdown: %s of %s is %q, want %q\n%s", key, name, said[key], want, text)
			}
		}
	}
	text, err := exec.Command(filepath.Join(dir, "ifupdown/sbin/ifup"), "--no-act", "--force", "--state-dir", t.TempDir(), "-i", file, "eth2", "eth3").CombinedOutput()
	if err != nil {
		t.Fatalf("ifup --no-act: %v\n%s", err, text)
	}
	for _, want := range []string{"192.0.2.5/", "ip address add 192.0.2.6/24", "2001:db8::5/64", "net.ipv6.conf.eth3.mtu=1300", "ip route replace 10.9.0.0/16", "ip rule add from 192.0.2.5"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("ifup would not run %q:\n%s", want, text)
		}
	}
}

// TestIfupdown2TakesIt: the same of ifupdown2, which has its files laid over this
// machine's in a mount namespace of its own.
func TestIfupdown2TakesIt(t *testing.T) {
	dir, file := programs(t), written(t)
	if os.Getuid() != 0 {
		t.Skip("a mount namespace takes root")
	}
	lay := `set -e
for d in etc usr; do mount -t overlay overlay -o lowerdir="$0/ifupdown2/$d:/$d" "/$d"; done
mount -t tmpfs tmpfs /run
mkdir /run/network
ln -s /usr/share/ifupdown2/ifupdown2 /run/ifquery
exec "$1" /run/ifquery -i "$2" -a -o json`
	python := "/usr/bin/python3"
	if _, err := os.Stat(python); err != nil {
		found, err := exec.LookPath("python3")
		if err != nil {
			t.Skip("no python3 for ifupdown2")
		}
		python = found
	}
	text, err := exec.Command("unshare", "-m", "-n", "sh", "-c", lay, dir, python, file).CombinedOutput()
	if err != nil {
		t.Fatalf("ifquery of ifupdown2: %v\n%s", err, text)
	}
	start := strings.IndexByte(string(text), '[')
	var found []struct {
		Name   string
		Config map[string]any
	}
	if start < 0 || json.Unmarshal(text[start:], &found) != nil {
		t.Fatalf("no JSON:\n%s", text)
	}
	if warned := string(text[:start]); strings.Contains(warned, "error") || strings.Contains(warned, "unsupported") {
		t.Errorf("ifupdown2 complains: %s", warned)
	}
	for name, options := range expected {
		config := map[string]any{}
		for _, f := range found {
			if f.Name == name {
				for k, v := range f.Config {
					config[k] = v
				}
			}
		}
		for key, want := range options {
			if got := config[key]; got != want {
				if list, is := got.([]any); !is || !slices.Contains(list, any(want)) {
					t.Errorf("ifupdown2: %s of %s is %v, want %q", key, name, got, want)
				}
			}
		}
	}
}
