package pasted

import (
	"testing"

	"github.com/linerate/linerate/internal/evidence/paste"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// TestHostFindings: a text that no rule for text knows is judged by those for
// observed hosts: here an instance's allowance that was used up.
func TestHostFindings(t *testing.T) {
	a := Judge(paste.Parse([]piece.Text{{Name: "t", Bytes: []byte(`root@web:~# ip address show ens5
2: ens5: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9001 qdisc mq state UP group default qlen 1000
    link/ether 02:42:ac:11:00:02 brd ff:ff:ff:ff:ff:ff
    inet 10.0.3.7/24 brd 10.0.3.255 scope global ens5
root@web:~# ethtool -i ens5
driver: ena
bus-info: 0000:00:05.0
root@web:~# ethtool -S ens5
NIC statistics:
     bw_in_allowance_exceeded: 0
     bw_out_allowance_exceeded: 481223
`)}}))
	if f := a.Findings[0]; f.Cause != record.Shaper || f.Confidence >= decided {
		t.Errorf("%s %.2f: %s", f.Cause, f.Confidence, f.Summary)
	}
	if a := Judge(paste.Parse([]piece.Text{{Name: "t", Bytes: []byte("$ ip link show eth0\n2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP\n")}})); a.Findings[0].Cause != record.Unknown {
		t.Errorf("a link alone is blamed: %s", a.Findings[0].Summary)
	}
}
