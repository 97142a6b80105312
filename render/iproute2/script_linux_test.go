package iproute2

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/render"
)

// TestKernelScript runs the script on a bare host, again, and then the other
// one: the host is as the file says, stays so, and is as it was before.
func TestKernelScript(t *testing.T) {
	if !bonds() {
		t.Skip("no bonds on this kernel: make smoke runs it in the lab")
	}
	const text = `linerate: v1
hosts: {h: {network: {version: 2, ethernets: {sp0: {}, sp1: {}},
  bonds: {sb0: {interfaces: [sp0, sp1], mtu: 9000, addresses: [10.7.0.2/24], parameters: {mode: 802.3ad, transmit-hash-policy: layer3+4, lacp-rate: fast, mii-monitor-interval: 100, min-links: 1},
    routes: [{to: 10.9.0.0/16, via: 10.7.0.1, table: 101, metric: 100}], routing-policy: [{from: 10.7.0.2/32, table: 101, priority: 101}]}},
  vlans: {sv0: {id: 7, link: sb0, addresses: [10.8.0.2/24]}}}}}
`
	f, err := fabric.Parse("script.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	state, err := f.State("h")
	if err != nil {
		t.Fatal(err)
	}
	for i := range state.Routes {
		state.Routes[i].Protocol = "static"
	}
	in := render.Input{Host: f.Hosts[0], State: withoutKernelRoutes(state), Sysctls: map[string]string{"net.ipv4.ip_forward": "1"}}
	out := written(t, in)
	dir := t.TempDir()
	t.Setenv("LINERATE_STATE", filepath.Join(dir, "state"))
	for _, f := range out.Files {
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(f.Path)), []byte(f.Text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sh := func(line string) string {
		t.Helper()
		said, err := exec.Command("sh", "-c", line).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", line, err, said)
		}
		return string(said)
	}
	sh("ip link add sp0 type veth peer name sq0 && ip link add sp1 type veth peer name sq1 && ip link set sq0 up && ip link set sq1 up && ip link set sp1 up && ip link set sp0 up && ip link set sp0 down") // a link that was never up has another qdisc
	t.Cleanup(func() { _ = exec.Command("sh", "-c", "ip link del sp0; ip link del sp1").Run() })
	const look = "for l in sp0 sp1 sb0 sv0; do ip -d -o link show $l 2>/dev/null | sed 's/^[0-9]*: //; s/ state [A-Z]* / /; s/<[^>]*>//; s/actor_.*mac[^ ]*//; s/link\\/ether [^ ]*//; s/allmulti [0-9]*//; s/ad_[a-z_]* [^ ]*//g; s/perm_hwaddr [^ ]*//; s/mii_status [A-Z]*//; s/partner_[^ ]* [^ ]*//g; s/queue_id.*numtxqueues/numtxqueues/; s/port_state [^ ]*//g'; ip -4 -o address show dev $l 2>/dev/null | awk '{print $2, $4}'; done; ip rule; ip route show table 101 2>/dev/null; cat /proc/sys/net/ipv4/ip_forward"
	before := sh(look)
	up := filepath.Join(dir, "network-up.sh")
	if said := sh(up); strings.TrimSpace(said) != "" {
		t.Errorf("the script says:\n%s", said)
	}
	made := sh(look)
	for _, want := range []string{"mode 802.3ad", "xmit_hash_policy layer3+4", "lacp_rate fast", "miimon 100", "min_links 1", "mtu 9000", "vlan protocol 802.1Q id 7",
		"sb0 10.7.0.2/24", "sv0 10.8.0.2/24", "from 10.7.0.2 lookup 101", "10.9.0.0/16 via 10.7.0.1 dev sb0 proto static metric 100", "master sb0"} {
		if !strings.Contains(strings.Join(strings.Fields(made), " "), want) {
			t.Errorf("%q is not there", want)
		}
	}
	if said := sh(up); strings.TrimSpace(said) != "" {
		t.Errorf("run again, the script says:\n%s", said)
	}
	if diff := cmp.Diff(made, sh(look)); diff != "" {
		t.Errorf("run again, the script changes:\n%s", diff)
	}
	if said := sh(filepath.Join(dir, "network-down.sh")); strings.TrimSpace(said) != "" {
		t.Errorf("the undo says:\n%s", said)
	}
	if diff := cmp.Diff(before, sh(look)); diff != "" {
		t.Errorf("taken back, the host is not as before (-before +after):\n%s", diff)
	}
	if t.Failed() {
		t.Logf("made:\n%s\n%s", made, out.Files[1].Text)
	}
}

// withoutKernelRoutes leaves out what the kernel makes of addresses.
func withoutKernelRoutes(h netstate.Host) netstate.Host {
	var kept []netstate.Route
	for _, r := range h.Routes {
		if r.Gateway.IsValid() {
			kept = append(kept, r)
		}
	}
	h.Routes = kept
	return h
}

// bonds reports a kernel that has the bonding driver, on a host where the test
// is root.
func bonds() bool {
	_, err := os.Stat("/sys/class/net/bonding_masters")
	return err == nil && os.Geteuid() == 0
}

func written(t *testing.T, in render.Input) render.Output {
	t.Helper()
	out, err := Write(in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
