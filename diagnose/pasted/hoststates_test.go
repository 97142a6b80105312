package pasted

import (
	"testing"

	"github.com/linerate/linerate/internal/evidence/paste"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// TestHostFindings: a text that no rule for text knows is judged by those for
// observed hosts: here a cable that lets through less than both its ends can.
func TestHostFindings(t *testing.T) {
	a := Judge(paste.Parse([]piece.Text{{Name: "t", Bytes: []byte(`root@web:~# ethtool eth0
Settings for eth0:
	Supported link modes:   10baseT/Full
	                        100baseT/Full
	                        1000baseT/Full
	Advertised link modes:  10baseT/Full
	                        100baseT/Full
	                        1000baseT/Full
	Link partner advertised link modes:  100baseT/Full
	                                     1000baseT/Full
	Speed: 100Mb/s
	Duplex: Full
	Auto-negotiation: on
	Link detected: yes
`)}}))
	if f := a.Findings[0]; f.Cause != record.LineRate || f.Confidence >= decided {
		t.Errorf("%s %.2f: %s", f.Cause, f.Confidence, f.Summary)
	}
	if a := Judge(paste.Parse([]piece.Text{{Name: "t", Bytes: []byte("$ ip link show eth0\n2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP\n")}})); a.Findings[0].Cause != record.Unknown {
		t.Errorf("a link alone is blamed: %s", a.Findings[0].Summary)
	}
}
