package observe

import (
	"context"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

func bondOf(t *testing.T, h netstate.Host) netstate.Bond {
	t.Helper()
	l, ok := h.Link("bond0")
	if !ok || l.Bond == nil {
		t.Fatalf("no bond0 in %+v", h)
	}
	return *l.Bond
}

// TestCapturedARPTargets is the finding: of a captured bond's ARP targets the
// first alone was kept, from sysfs and from /proc.
func TestCapturedARPTargets(t *testing.T) {
	h, err := Observe(context.Background(), Config{Root: filepath.Join("testdata", "bond-arp-targets.tar.gz")})
	if err != nil {
		t.Fatal(err)
	}
	if got := bondOf(t, h).Options["arp_ip_target"]; got != "10.0.0.1,10.0.0.2,10.0.0.3" {
		t.Errorf("targets %q", got)
	}
	const proc = "Ethernet Channel Bonding Driver: v6.1\n\nBonding Mode: fault-tolerance (active-backup)\nMII Polling Interval (ms): 0\nARP IP target/s (n.n.n.n form): 10.0.0.1, 10.0.0.2\nNS IPv6 target/s (xx::xx form): fe80::1, fe80::2\n"
	for name, tree := range map[string]fstest.MapFS{
		"proc":  {"proc/net/bonding/bond0": {Data: []byte(proc)}},
		"sysfs": {"sys/class/net/bond0/bonding/mode": {Data: []byte("active-backup 1\n")}, "sys/class/net/bond0/bonding/arp_ip_target": {Data: []byte("10.0.0.1 10.0.0.2 \n")}, "sys/class/net/bond0/bonding/ns_ip6_target": {Data: []byte("fe80::1 fe80::2\n")}},
	} {
		tree["sys/class/net/bond0/ifindex"] = &fstest.MapFile{Data: []byte("2\n")}
		tree["sys/class/net/bond0/uevent"] = &fstest.MapFile{Data: []byte("DEVTYPE=bond\n")}
		h, err := Captured(tree)
		if err != nil {
			t.Fatal(err)
		}
		b := bondOf(t, h)
		if b.Options["arp_ip_target"] != "10.0.0.1,10.0.0.2" || b.Options["ns_ip6_target"] != "fe80::1,fe80::2" || b.Mode != netstate.ActiveBackup {
			t.Errorf("%s: mode %s, options %v", name, b.Mode, b.Options)
		}
	}
}

// TestCapturedModeUnread is the finding: a bond whose mode could not be read was
// said to be balance-rr, layer2.
func TestCapturedModeUnread(t *testing.T) {
	h, err := Observe(context.Background(), Config{Root: filepath.Join("testdata", "bond-mode-unread.tar.gz")})
	if err != nil {
		t.Fatal(err)
	}
	b := bondOf(t, h)
	if b.Mode != netstate.ModeUnread || b.HashPolicy != netstate.PolicyUnread || b.LACPRate != netstate.RateUnread || !b.Unread("miimon") || !b.Unread("slaves") {
		t.Errorf("%+v", b)
	}
	if missing := strings.Join(h.Missing, "\n"); !strings.Contains(missing, "bond0: mode, miimon, updelay, downdelay, transmit hash policy, ports: ") {
		t.Errorf("not read: %s", missing)
	}
	// It stays unread over the wire and in a record.
	text, err := json.Marshal(b)
	if err != nil || strings.Contains(string(text), "balance-rr") || strings.Contains(string(text), `"mode":`) || strings.Contains(string(text), "layer2") {
		t.Errorf("%s, %v", text, err)
	}
	var again netstate.Bond
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again, b) {
		t.Errorf("%+v became %+v, %v", b, again, err)
	}
}

// TestCapturedPartsUnread: words that are none and files that are missing, one by
// one; nothing that is not there becomes a number.
func TestCapturedPartsUnread(t *testing.T) {
	full := map[string]string{"mode": "802.3ad 4", "xmit_hash_policy": "layer3+4 1", "lacp_rate": "fast 1", "miimon": "100", "updelay": "0", "downdelay": "0", "min_links": "1", "slaves": "eth0 eth1"}
	said := map[string]string{"mode": "mode", "xmit_hash_policy": "transmit hash policy", "lacp_rate": "LACP rate", "miimon": "miimon", "min_links": "min_links", "slaves": "ports"}
	for option, words := range said {
		for _, value := range []string{"", "weird 9"} {
			if option == "slaves" && value != "" {
				continue
			}
			tree := fstest.MapFS{"sys/class/net/bond0/ifindex": {Data: []byte("2\n")}, "sys/class/net/bond0/mtu": {Data: []byte("1500\n")}}
			for name, v := range full {
				if name == option {
					v = value
				}
				if v != "" {
					tree["sys/class/net/bond0/bonding/"+name] = &fstest.MapFile{Data: []byte(v + "\n")}
				}
			}
			h, err := Captured(tree)
			if err != nil {
				t.Fatal(err)
			}
			b := bondOf(t, h)
			if missing := strings.Join(h.Missing, "\n"); !b.Unread(option) || !strings.Contains(missing, "bond0: "+words+": neither in proc/net/bonding") {
				t.Errorf("%s %q: not read %v, said: %s", option, value, b.NotRead, missing)
			}
			if option == "mode" {
				if bundle, err := steer.BundleOf(h, "bond0"); err == nil {
					bundle.Ports = []string{"eth0", "eth1"}
					if r := bundle.Reach(); r.Striped || !strings.Contains(r.Why, "not read") {
						t.Errorf("reach %+v", r)
					}
				}
			}
		}
	}
}

// TestCapturedLinkUnread: a link without its files is not down and has no MTU of 0
// without a word.
func TestCapturedLinkUnread(t *testing.T) {
	tree := fstest.MapFS{
		"sys/class/net/eth0/ifindex": {Data: []byte("2\n")},
		"sys/class/net/eth1/ifindex": {Data: []byte("3\n")}, "sys/class/net/eth1/operstate": {Data: []byte("up\n")}, "sys/class/net/eth1/mtu": {Data: []byte("1500\n")},
	}
	h, err := Captured(tree)
	if err != nil {
		t.Fatal(err)
	}
	if missing := strings.Join(h.Missing, "\n"); !strings.Contains(missing, "eth0: flags, mtu: not in sys/class/net/eth0") || strings.Contains(missing, "eth1:") {
		t.Errorf("said: %s", missing)
	}
	if l, _ := h.Link("eth1"); !l.Up || !l.Carrier {
		t.Errorf("operstate up, and %+v", l)
	}
}

// TestBondInProcAlone: a capture without sysfs' traces of a bond, but with its file
// below /proc, has a bond.
func TestBondInProcAlone(t *testing.T) {
	tree := fstest.MapFS{
		"sys/class/net/bond0/ifindex": file("4\n"), "sys/class/net/eth1/ifindex": file("2\n"), "sys/class/net/eth2/ifindex": file("3\n"),
		"proc/net/bonding/bond0": file(`Ethernet Channel Bonding Driver: v3.7.1 (April 27, 2011)

Bonding Mode: IEEE 802.3ad Dynamic link aggregation
Transmit Hash Policy: layer3+4 (1)
MII Status: up
MII Polling Interval (ms): 100

Slave Interface: eth1
MII Status: up
Speed: 1000 Mbps
Duplex: full
Link Failure Count: 2
Permanent HW addr: 00:00:5e:00:53:f3
Slave queue ID: 0
Aggregator ID: 2

Slave Interface: eth2
MII Status: down
Speed: Unknown
Duplex: Unknown
Link Failure Count: 2
Permanent HW addr: 00:00:5e:00:53:f2
Slave queue ID: 0
Aggregator ID: 1
`),
	}
	h, err := Captured(tree)
	if err != nil {
		t.Fatal(err)
	}
	bond, _ := h.Link("bond0")
	port, _ := h.Link("eth2")
	if bond.Kind != "bond" || bond.Bond == nil || bond.Bond.Mode != netstate.LACP || bond.Bond.HashPolicy != netstate.Layer34 || port.Master != "bond0" {
		t.Errorf("bond0 is %q %+v, eth2 in %q", bond.Kind, bond.Bond, port.Master)
	}
}
