package pasted

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// What people paste, in small: texts of our own, by what they show.
const (
	silent = `root@db1:~# cat /proc/net/bonding/bond0
Ethernet Channel Bonding Driver: v5.10.0-28-amd64

Bonding Mode: IEEE 802.3ad Dynamic link aggregation
Transmit Hash Policy: layer2 (0)
MII Status: up

802.3ad info
LACP rate: slow
Active Aggregator Info:
	Aggregator ID: 1
	Number of ports: 1
	Actor Key: 15
	Partner Key: 1
	Partner Mac Address: 00:00:00:00:00:00

Slave Interface: ens1f0
MII Status: up
Speed: 10000 Mbps
Aggregator ID: 1

Slave Interface: ens1f1
MII Status: up
Speed: 10000 Mbps
Aggregator ID: 2
`
	split = `[root@web3 ~]# cat /proc/net/bonding/bond1
Bonding Mode: IEEE 802.3ad Dynamic link aggregation
Transmit Hash Policy: layer3+4 (1)
802.3ad info
Active Aggregator Info:
	Aggregator ID: 3
	Number of ports: 1
	Partner Key: 7
	Partner Mac Address: 00:00:5e:00:53:f0

Slave Interface: eno1
MII Status: up
Speed: 1000 Mbps
Aggregator ID: 3
Slave Interface: eno2
MII Status: up
Speed: 100 Mbps
Aggregator ID: 4
`
	whole = `root@n1:~# cat /proc/net/bonding/bond0
Ethernet Channel Bonding Driver: v6.1.0-18-amd64
Bonding Mode: IEEE 802.3ad Dynamic link aggregation
Transmit Hash Policy: layer3+4 (1)
802.3ad info
Active Aggregator Info:
	Aggregator ID: 1
	Number of ports: 2
	Partner Key: 7
	Partner Mac Address: 00:00:5e:00:53:f0
Slave Interface: eno1
MII Status: up
Speed: 10000 Mbps
Aggregator ID: 1
Slave Interface: eno2
MII Status: up
Speed: 10000 Mbps
Aggregator ID: 1
`
	oneSide = `root@n1:~# ip -s -d link
2: eno1: <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 1500 qdisc mq master bond0 state UP mode DEFAULT group default qlen 1000
    link/ether 00:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff
    RX:  bytes packets errors dropped  missed   mcast
    900000000 900000 0 0 0 0
    TX:  bytes packets errors dropped carrier collsns
    1000 10 0 0 0 0
3: eno2: <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 1500 qdisc mq master bond0 state UP mode DEFAULT group default qlen 1000
    link/ether 00:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff
    RX:  bytes packets errors dropped  missed   mcast
    900000000 900000 0 0 0 0
    TX:  bytes packets errors dropped carrier collsns
    88000000000 60000000 0 0 0 0
`
	nfsLine  = "192.0.2.36:/tank on /data type nfs4 (rw,noatime,vers=4.2,rsize=1048576,proto=tcp,clientaddr=192.0.2.37,addr=192.0.2.36)"
	smbLine  = "//192.0.2.36/tank on /data type cifs (rw,vers=3.1.1,cache=strict,addr=192.0.2.36)"
	nfsMount = "root@n1:~# mount | grep data\n" + nfsLine + "\n"
	// mostlyRead is what a reading client's bond has received.
	mostlyRead = `root@n1:~# ip -s -d link
2: eno1: <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 1500 qdisc mq master bond0 state UP mode DEFAULT group default qlen 1000
    link/ether 00:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff
    RX:  bytes packets errors dropped  missed   mcast
    1000 10 0 0 0 0
    TX:  bytes packets errors dropped carrier collsns
    900000000 900000 0 0 0 0
3: eno2: <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 1500 qdisc mq master bond0 state UP mode DEFAULT group default qlen 1000
    link/ether 00:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff
    RX:  bytes packets errors dropped  missed   mcast
    88000000000 60000000 0 0 0 0
    TX:  bytes packets errors dropped carrier collsns
    900000000 900000 0 0 0 0
`
	full = `root@n1:~# iperf3 -c 192.0.2.2 -P 4
Connecting to host 192.0.2.2, port 5201
[  5] local 192.0.2.1 port 40001 connected to 192.0.2.2 port 5201
[  7] local 192.0.2.1 port 40003 connected to 192.0.2.2 port 5201
[  9] local 192.0.2.1 port 40006 connected to 192.0.2.2 port 5201
[ 11] local 192.0.2.1 port 40008 connected to 192.0.2.2 port 5201
[SUM]   0.00-10.00  sec  21.9 GBytes  18.8 Gbits/sec    0             sender
[SUM]   0.00-10.04  sec  21.9 GBytes  18.7 Gbits/sec                  receiver
`
)

// shows is a text with what its answer must be and say.
type shows struct {
	name, text string
	cause      record.Cause
	least      float64
	says       []string // of the first finding
	not        []string
}

func check(t *testing.T, all []shows) {
	t.Helper()
	for _, c := range all {
		f := judge(c.text).Findings[0]
		if f.Cause != c.cause || f.Confidence < c.least {
			t.Errorf("%s: %s %.2f, want %s at %.2f: %s", c.name, f.Cause, f.Confidence, c.cause, c.least, f.Text)
		}
		for _, want := range c.says {
			if !strings.Contains(f.Text, want) {
				t.Errorf("%s: does not say %q: %s", c.name, want, f.Text)
			}
		}
		for _, refused := range c.not {
			if strings.Contains(f.Text, refused) {
				t.Errorf("%s: says %q: %s", c.name, refused, f.Text)
			}
		}
	}
}

func judge(texts ...string) Answer {
	return Judge(paste.Parse([]piece.Text{{Name: "-", Bytes: []byte(strings.Join(texts, "\n"))}}))
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name, text string
		cause      record.Cause
		least      float64
		says       []string
	}{
		{"nobody answers LACP", silent, record.LACPDown, 0.8, []string{"no partner", "channel-group"}},
		{"a port at another speed", split, record.LACPDown, 0.9, []string{"eno2", "100 Mbit/s"}},
		{"everything on one link, by layer2", strings.Replace(whole, "layer3+4 (1)", "layer2 (0)", 1) + oneSide, record.SingleLink, 0.85, []string{"layer2", "xmit_hash_policy layer3+4", "eno2"}},
		{"full links", whole + full, record.LineRate, 0.8, []string{"line rate"}},
		{"an NFS mount of one connection", nfsMount + whole + mostlyRead, record.SingleLink, 0.7, []string{"/data", "nconnect=N", "linerate steer pick --for nfs", "max_connect"}},
		{"an SMB mount of one connection", strings.Replace(nfsMount, nfsLine, smbLine, 1) + whole + mostlyRead, record.SingleLink, 0.6, []string{"/data", "multichannel,max_channels=N", "Samba 4.15"}},
		{"an SMB mount of two", strings.Replace(nfsMount, nfsLine, strings.Replace(smbLine, "vers=3.1.1", "vers=3.1.1,multichannel,max_channels=2", 1), 1) + whole, record.Unknown, 0, nil},
		{"state alone", whole, record.Unknown, 0, []string{"iperf3"}},
	} {
		check(t, []shows{{c.name, c.text, c.cause, c.least, c.says, nil}})
	}
}

// TestSaidOnce: what words alone make of a bundle is not said beside the same cause read at
// its place.
func TestSaidOnce(t *testing.T) {
	a, _ := answerTo(t, "testdata", "M12-lbfo-switchindependent-receive.txt")
	for _, f := range a.Findings[1:] {
		if f.Cause == a.Findings[0].Cause && strings.HasSuffix(f.Where, scene.NothingHere) {
			t.Errorf("said again: %s", f.Headline())
		}
	}
}

// TestLess: with lines taken out at any place, what is left never gives another
// cause with confidence.
func TestLess(t *testing.T) {
	for _, text := range []string{silent, split, strings.Replace(whole, "layer3+4 (1)", "layer2 (0)", 1) + oneSide, whole + full} {
		first := judge(text).Findings[0]
		lines := strings.SplitAfter(text, "\n")
		for from := range lines {
			for to := from + 1; to <= len(lines); to++ {
				rest := strings.Join(lines[:from], "") + strings.Join(lines[to:], "")
				f := judge(rest).Findings[0]
				if f.Cause != first.Cause && f.Confidence > 0.8 {
					t.Fatalf("without lines %d to %d: %s %.2f where it was %s: %s\n%s", from+1, to, f.Cause, f.Confidence, first.Cause, f.Text, rest)
				}
			}
		}
	}
}
