package pasted

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/record"
)

// bondShow is `ovs-appctl bond/show` of Open vSwitch 3.1 with these lines in it.
func bondShow(mode, status, fallback string, members ...string) string {
	return "root@hv1:~# ovs-appctl bond/show bond0\n---- bond0 ----\nbond_mode: " + mode + "\nbond may use recirculation: no, Recirc-ID : -1\nbond-hash-basis: 0\n" +
		"lb_output action: disabled, bond-id: -1\nupdelay: 0 ms\ndowndelay: 0 ms\nlacp_status: " + status + "\nlacp_fallback_ab: " + fallback +
		"\nactive-backup primary: <none>\nactive member mac: 00:00:5e:00:53:0b(eno1)\n\n" + strings.Join(members, "\n") + "\n"
}

// TestOVSBonds: what Open vSwitch says of its bonds, and what follows from it.
func TestOVSBonds(t *testing.T) {
	const (
		one  = "member eno1: enabled\n  active member\n  may_enable: true\n"
		two  = "member eno2: enabled\n  may_enable: true\n"
		gone = "member eno2: disabled\n  may_enable: false\n"
	)
	load := func(member, hashes string) string { return member + hashes }
	for _, c := range []struct {
		name, text string
		cause      record.Cause
		least      float64
		says       string
	}{
		{"balance-tcp without LACP", bondShow("balance-tcp", "off", "false", one, two), record.LACPDown, 0.9, "sends nothing without LACP"},
		{"nobody agrees", bondShow("balance-tcp", "configured", "false", one, two), record.LACPDown, 0.85, "it sends nothing"},
		{"nobody agrees, and it falls back", bondShow("balance-tcp", "configured", "true", one, two), record.LACPDown, 0.85, "falls back to active-backup"},
		{"a member that is disabled", bondShow("balance-tcp", "negotiated", "false", one, gone), record.LACPDown, 0.8, "eno2 is disabled"},
		{"a member that is disabled, without LACP", bondShow("balance-slb", "off", "false", one, gone), record.SingleLink, 0.8, "eno2 is disabled"},
		{"all members disabled", bondShow("active-backup", "off", "false", strings.Replace(gone, "eno2", "eno1", 1), gone), record.LACPDown, 0.84, "All 2 members"},
		{"words of before 2.15", strings.NewReplacer("member ", "slave ", "active member", "active slave").Replace(bondShow("balance-slb", "off", "false", load(one, "  hash 71: 912203 kB load\n"), two)), record.SingleLink, 0.9, "source MAC and VLAN"},
		{"one MAC address", bondShow("balance-slb", "off", "false", load(one, "  hash 71: 912203 kB load\n"), load(two, "  hash 9: 3 kB load\n")), record.SingleLink, 0.9, "source MAC and VLAN"},
		{"many, alike", bondShow("balance-slb", "off", "false", load(one, "  hash 71: 412203 kB load\n  hash 3: 91220 kB load\n"), load(two, "  hash 9: 498021 kB load\n")), record.Cause(scene.Healthy), 0.6, "all 2 members are selected and in use."},
		{"its row of the database", "root@hv1:~# ovs-vsctl list port bond0\n_uuid               : 40e2b3eb-4bc5-4b9d-be03-96a4623d57cf\nbond_mode           : balance-tcp\nlacp                : []\nname                : bond0\nother_config        : {}\n",
			record.LACPDown, 0.8, "LACP is off"},
		{"netplan", "network:\n  version: 2\n  ethernets: {eno1: {}, eno2: {}}\n  bonds:\n    bond0:\n      interfaces: [eno1, eno2]\n      openvswitch: {lacp: active}\n      parameters:\n        mode: balance-slb\n  bridges:\n    br0:\n      interfaces: [bond0]\n      openvswitch: {}\n",
			record.SingleLink, 0.7, "source MAC and VLAN"},
	} {
		f := judge(c.text).Findings[0]
		if f.Cause != c.cause || f.Confidence < c.least || !strings.Contains(f.Text, c.says) {
			t.Errorf("%s: %s %.2f, want %s at %.2f: %s", c.name, f.Cause, f.Confidence, c.cause, c.least, f.Text)
		}
	}
}

// TestOVSLACPShow: `ovs-appctl lacp/show` alone names the member that hears nobody.
func TestOVSLACPShow(t *testing.T) {
	member := func(name, state, bits string) string {
		return "\nslave: " + name + ": " + state + "\n  port_id: 2\n  may_enable: true\n\n  actor key: 1\n  actor state: " + bits + "\n"
	}
	f := judge("root@pve1:~# ovs-appctl lacp/show\n---- bond0 ----\n  status: active negotiated\n  sys_id: 0c:42:a1:2b:00:10\n  aggregation key: 1\n  lacp_time: slow\n" +
		member("eno1", "current attached", "activity aggregation synchronized collecting distributing") + member("eno2", "defaulted detached", "activity aggregation defaulted")).Findings[0]
	if f.Cause != record.LACPDown || f.Confidence < 0.8 || !strings.HasPrefix(f.Where, "eno2") || !strings.Contains(f.Text, "eno2 carries nothing") {
		t.Errorf("%s at %s, %.2f: %s", f.Cause, f.Where, f.Confidence, f.Text)
	}
}

// TestOVSAsks: what is missing of a bond of Open vSwitch is asked of Open vSwitch.
func TestOVSAsks(t *testing.T) {
	asks := func(text string) (all string) {
		for _, f := range judge(text).Findings {
			for _, m := range f.Ask {
				all += m.Command + "\n"
			}
		}
		for _, m := range judge(text).Missing {
			all += m.Command + "\n"
		}
		return all
	}
	row := "root@hv1:~# ovs-vsctl list port bond0\nbond_mode           : balance-slb\nlacp                : active\nname                : bond0\n"
	tree := "root@hv1:~# ovs-vsctl show\n40e2b3eb-4bc5-4b9d-be03-96a4623d57cf\n    Bridge br0\n        Port bond0\n            Interface eno1\n            Interface eno2\n    ovs_version: \"3.1.0\"\n"
	for name, text := range map[string]string{"its row": row, "the tree": tree} {
		if got := asks(text); !strings.Contains(got, "ovs-appctl bond/show bond0") || strings.Contains(got, "/proc/net/bonding") {
			t.Errorf("%s: asked for\n%s", name, got)
		}
	}
}
