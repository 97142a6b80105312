package pasted

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// TestHostFindings: a text that no rule for text knows is judged by those for
// observed hosts: here a bond of which one port takes smaller frames.
func TestHostFindings(t *testing.T) {
	a := Judge(paste.Parse([]piece.Text{{Name: "t", Bytes: []byte(`root@web:~# ip -d link
2: eth0: <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 9000 qdisc mq master bond0 state UP mode DEFAULT group default qlen 1000
    link/ether 52:54:00:11:22:01 brd ff:ff:ff:ff:ff:ff
3: eth1: <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 1500 qdisc mq master bond0 state UP mode DEFAULT group default qlen 1000
    link/ether 52:54:00:11:22:01 brd ff:ff:ff:ff:ff:ff
4: bond0: <BROADCAST,MULTICAST,MASTER,UP,LOWER_UP> mtu 9000 qdisc noqueue state UP mode DEFAULT group default qlen 1000
    link/ether 52:54:00:11:22:01 brd ff:ff:ff:ff:ff:ff
    bond mode balance-xor xmit_hash_policy layer3+4 miimon 100
`)}}))
	if f := a.Findings[0]; f.Cause != record.MTU || f.Confidence >= scene.Decided {
		t.Errorf("%s %.2f: %s", f.Cause, f.Confidence, f.Summary)
	}
	if a := Judge(paste.Parse([]piece.Text{{Name: "t", Bytes: []byte("$ ip link show eth0\n2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP\n")}})); a.Findings[0].Cause != record.Unknown {
		t.Errorf("a link alone is blamed: %s", a.Findings[0].Summary)
	}
}

// TestHostFindingsOnce: what both kinds of rules find is told once, at a place; what
// only the rules for hosts know is told too.
func TestHostFindingsOnce(t *testing.T) {
	failing := strings.ReplaceAll(strings.ReplaceAll(whole, "MII Status: up\nSpeed", "MII Status: up\nLink Failure Count: 5200\nSpeed"), "layer3+4 (1)", "layer2 (0)")
	if f := judge(failing).Findings[0]; f.Cause != record.LACPDown || !strings.Contains(f.Where, "bond0") || !strings.Contains(f.Summary, "as often as each other") {
		t.Errorf("ports that fail alike: %s at %s: %s", f.Cause, f.Where, f.Summary)
	}
	unwatched := strings.Replace(silent, "MII Status: up\n", "MII Status: up\nMII Polling Interval (ms): 0\n", 1)
	var where []string
	for _, f := range judge(unwatched).Findings {
		if f.Cause == record.LACPDown {
			where = append(where, f.Where)
		}
	}
	if len(where) != 2 || strings.Contains(strings.Join(where, " "), "bond-") {
		t.Errorf("no partner and miimon 0 are told at %q", where)
	}
}
