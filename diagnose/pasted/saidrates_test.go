package pasted

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/evidence/paste"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// TestSaidRates: rates that people tell, each beside a similar one that shows nothing of
// the kind.
func TestSaidRates(t *testing.T) {
	const settings = "        Supported link modes:   10baseT/Half 10baseT/Full\n                                1000baseT/Full\n                                2500baseT/Full\n        Advertised link modes:  100baseT/Full\n                                %\n" +
		"        Link partner advertised link modes:  1000baseT/Full\n                                             2500baseT/Full\n        Speed: 1000Mb/s\n        Duplex: Full\n        Link detected: yes\n"
	check(t, []shows{
		{"a copy far below iperf3", "iperf3 shows about 2.37 Gbits/sec, but when transferring files the speed is only around 140 MB/s.\nThe disk read/write tests both show about 250 MB/s.\n", record.Application, 0.45, []string{"2.37 Gbit/s", "1.12 Gbit/s", "2.00 Gbit/s"}, nil},
		{"a copy that fills the link", "iperf3 shows 941 Mbits/sec and transferring files over SMB gives 112 MB/s, is that all?\n", record.Unknown, 0, nil, []string{"The network carries"}},
		{"a copy as fast as its disks", "The network throughput by iperf is 9.4 Gbits/sec here.\nThe local disks write at 180 MB/s when I use fio.\nOver NFS I get 170 MB/s and no more.\n", record.Application, 0.5, []string{"nconnect", "9.40 Gbit/s"}, nil},
		{"a rate that was hoped for", "We have two servers with 10 Gbps links, I expected 9.4 Gbits/sec in iperf3.\nOver NFS I should get 900 MB/s at least.\n", record.Unknown, 0, nil, []string{"The network carries"}},
		{"what a test measured beside a told copy", "I get about 22 MB/s with rsync between the two.\n$ iperf -c 192.0.2.9\n[ ID] Interval       Transfer     Bandwidth\n[  3]  0.0-10.0 sec  1.09 GBytes   939 Mbits/sec\n", record.Application, 0.5, []string{"iperf2: 939 Mbit/s", "176 Mbit/s"}, nil},
		{"the same over a long way", "I get about 2 MB/s with rsync between the two sites.\nThe ping latency is 84 ms all the time.\nUsing iperf with 8 streams I see 900 Mbits/sec.\n", record.ReceiveWindow, 0.4, []string{"window"}, nil},
		{"many copies at once", "When running a single rsync command I am getting 1 MB/sec to 2 MB/sec.\nRunning 25-30 rsync simultaneously gets me upwards of 25 MB/sec.\n", record.ReceiveWindow, 0.4, []string{"16.0 Mbit/s", "200 Mbit/s"}, nil},
		{"many copies that share", "When running a single rsync command I am getting 110 MB/sec here.\nRunning 4 rsync simultaneously gets me 112 MB/sec as well.\n", record.Unknown, 0, nil, []string{"One connection gets"}},
		{"one mount beside many streams", "With iperf and multiple TCP connections I reach 8Gbps here.\nThe NFS mount is stuck on a single TCP stream and limited to 2Gbps.\n", record.SenderCPU, 0.4, []string{"nconnect"}, nil},
		{"a copy that slows down", "The copy starts at 1.1 GB/s for some seconds, then it drops to 180 MB/s and stays there.\n", record.Application, 0.45, []string{"cache"}, nil},
		{"a test that slows down", "iperf3 starts at 9.4 Gbits/sec for some seconds, then it drops to 2.1 Gbits/sec and stays there.\n", record.Unknown, 0, nil, []string{"cache"}},
		{"a gigabit port at a tenth", "The NAS has a gigabit port and so has the router.\nThe network only works at 100mb/s, whatever I copy.\n", record.LineRate, 0.45, []string{"four pairs"}, nil},
		{"a tenth by radio", "The NAS has a gigabit port and so has the router.\nThe laptop is on wifi.\nThe network only works at 100mb/s, whatever I copy.\n", record.Unknown, 0, nil, []string{"four pairs"}},
		{"a gigabit port that is full", "The NAS has a gigabit port and so has the router.\nThe network only works at 100MB/s, whatever I copy.\n", record.Unknown, 0, nil, []string{"four pairs"}},
		{"a bond that stripes", "I bond two NICs with round robin on both servers, back to back.\nWith netcat I get a throughput of 70 MB/s where I wanted 200.\n", record.Reordering, 0.4, []string{"out of order"}, nil},
		{"a bond that hashes", "I bond two NICs with LACP on both servers, after round robin did not work.\nWith netcat I get a throughput of 70 MB/s where I wanted 200.\n", record.Unknown, 0, nil, []string{"out of order"}},
		{"all modes tried", "I bond two NICs on both servers and tried each mode:\nbalance-rr (mode=0)\nbalance-xor (mode=2)\nthe combined throughput never exceeds 1 Gbps.\nIn mode 0 (balance-rr) netcat gives a throughput of 70 MB/s on the bond.\n", record.SingleLink, 0.4, nil, []string{"out of order, TCP takes"}},
		{"most traffic on one port", "We use bonding mode 4 (802.3ad LACP) on four ports of each server.\nMost traffic on the bond is passed via one slave and nearly nothing via the others.\n", record.SingleLink, 0.4, []string{"layer3+4"}, nil},
		{"a resync at what its controller wants", " 0: cs:SyncTarget ro:Secondary/Secondary ds:Inconsistent/UpToDate C r-----\n    ns:0 nr:4462592 dw:4462592\n        finish: 49:20:03 speed: 98,824 (92,968) want: 102,400 K/sec\n", record.Application, 0.85, []string{"c-max-rate", "want"}, nil},
		{"a resync that is held back", " 0: cs:SyncSource ro:Primary/Secondary ds:UpToDate/Inconsistent C r-----\n        finish: 0:03:39 speed: 4,728 (6,616) want: 51,200 K/sec\n", record.Application, 0.6, []string{"c-min-rate"}, nil},
		{"a DRBD that is connected", "version: 8.4.11 (api:1/proto:86-101)\n 0: cs:Connected ro:Primary/Secondary ds:UpToDate/UpToDate C r-----\n    ns:0 nr:4462592 dw:4462592 dr:0\n", record.Unknown, 0, nil, []string{"DRBD"}},
		{"lshw: a card below what it can", "# lshw -C network\n  *-network\n       description: Ethernet interface\n       product: RTL8125 2.5GbE Controller\n       vendor: Realtek Semiconductor Co., Ltd.\n       logical name: enp14s0\n       size: 100Mbit/s\n       capacity: 2500Mbit/s\n       configuration: autonegotiation=on driver=r8169 duplex=full link=yes speed=100Mbit/s\n", record.LineRate, 0.6, []string{"enp14s0", "100 Mbit/s"}, nil},
		{"lshw: a card at what it can", "# lshw -C network\n  *-network\n       description: Ethernet interface\n       product: I350 Gigabit Network Connection\n       logical name: eno1\n       size: 1Gbit/s\n       capacity: 1Gbit/s\n       configuration: autonegotiation=on driver=igb duplex=full link=yes speed=1Gbit/s\n", record.Unknown, 0, nil, []string{"line rate"}},
		{"settings without their head: modes left out", "It comes up with a gigabit only.\n" + strings.Replace(settings, "%", "1000baseT/Full", 1), record.LineRate, 0.85, []string{"advertised modes were restricted"}, nil},
		{"settings without their head: all modes", "It comes up with a gigabit only.\n" + strings.Replace(settings, "%", "2500baseT/Full", 1), record.LineRate, 0.85, nil, []string{"restricted"}},
	})
}

// TestSaidAsks: a copy of which nothing is told is asked for its disks and cores first,
// a bond is not.
func TestSaidAsks(t *testing.T) {
	for text, asks := range map[string]bool{"Our bond is slow since the upgrade and nobody knows why at all.": true, "Our NFS is slow since the upgrade and nobody knows why.": true,
		"The weather is fine since the upgrade and nobody knows why.": false, "hello": false} {
		if got := paste.Answerable(paste.Parse([]piece.Text{{Name: "-", Bytes: []byte(text)}})); got != asks {
			t.Errorf("answerable %v, want %v: %s", got, asks, text)
		}
	}
	a := judge("Our NFS is slow since the upgrade and nobody knows why, copying takes for ever.\n")
	if f := a.Findings[0]; f.Cause != record.Unknown || !strings.Contains(f.Text, "iostat -x 2") {
		t.Errorf("%s: %s", f.Cause, f.Text)
	}
	a = judge("Our bond is slow since the upgrade and nobody knows why, we use LACP with two ports.\n")
	if f := a.Findings[0]; f.Cause != record.Unknown || strings.Contains(f.Text, "iostat -x 2") {
		t.Errorf("%s: %s", f.Cause, f.Text)
	}
}

// TestSaidRead: sentences whose rates show a gap are an output that was read; others
// are not.
func TestSaidRead(t *testing.T) {
	for text, read := range map[string]bool{
		"When running a single rsync command I am getting 2 MB/sec here.\nRunning 30 rsync simultaneously gets me 25 MB/sec as well.\n":   true,
		"I bond two NICs with round robin on both servers.\nWith netcat I get a throughput of 70 MB/s on it.\n":                           true,
		"iperf3 gives 9.4 Gbits/sec between the two servers.\nOver SMB I get 200 MB/s from the same servers.\n":                           true,
		"When running a single rsync command I am getting 110 MB/sec here.\nRunning 4 rsync simultaneously gets me 112 MB/sec as well.\n": false,
	} {
		if c := paste.Parse([]piece.Text{{Name: "-", Bytes: []byte(text)}}); (len(c.Read) > 0) != read {
			t.Errorf("read %v, want %v: %s", c.Read, read, text)
		}
	}
}
