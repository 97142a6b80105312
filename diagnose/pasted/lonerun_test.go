package pasted

import (
	"testing"

	"github.com/linerate/linerate/record"
)

// Rows of runs that fill one link.
const (
	gigabitRun = "[ ID] Interval           Transfer     Bitrate         Retr\n[  5]   0.00-10.00  sec  1.09 GBytes   936 Mbits/sec    3             sender\n[  5]   0.00-10.00  sec  1.08 GBytes   931 Mbits/sec                  receiver\n"
	tenRun     = "Client connecting to 192.0.2.7, TCP port 5001\n[  3] local 192.0.2.6 port 40000 connected with 192.0.2.7 port 5001\n[ ID] Interval       Transfer     Bandwidth\n[  3]  0.0-10.0 sec  10.8 GBytes  9.29 Gbits/sec\n"
)

// TestLoneRun: a run that fills one link, with no more than a title that names a bundle.
func TestLoneRun(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"a title", "LACP to the NAS\n\n" + gigabitRun, record.SingleLink, 0.5, 0.65, "iperf3 -c PEER -P 8", ""},
		{"counts", "4x10G bond, no jumbo\n" + tenRun, record.SingleLink, 0.5, 0.65, "", ""},
		{"a team", "NIC team result\n" + gigabitRun, record.SingleLink, 0.5, 0.65, "", ""},
		{"German", "Zwei Ports gebündelt, Ergebnis:\n" + gigabitRun, record.SingleLink, 0.5, 0.65, "", ""},
		{"no bundle", "Single port to the NAS\n\n" + gigabitRun, record.Unknown, 0, 0, "", "one link of the bundle"},
		{"not bundled", "Test without bonding\n\n" + gigabitRun, record.Unknown, 0, 0, "", "one link of the bundle"},
		{"no full link", "LACP to the NAS\n\n[ ID] Interval           Transfer     Bitrate         Retr\n[  5]   0.00-10.00  sec  1.5 GBytes   1.29 Gbits/sec    3             sender\n", record.Unknown, 0, 0, "", "one link of the bundle"},
	})
}

// TestFlatWindow: a window that does not grow over a long way, though nothing is lost.
func TestFlatWindow(t *testing.T) {
	rows := func(cwnd ...string) string {
		text := "[  5] local 192.0.2.9 port 40404 connected to 198.51.100.4 port 5201\n[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"
		for i, w := range cwnd {
			text += "[  5]   " + string(rune('0'+i)) + ".00-" + string(rune('1'+i)) + ".00   sec  12.5 MBytes   105 Mbits/sec    0   " + w + "\n"
		}
		return text + "[  5]   0.00-4.00   sec  50.0 MBytes   105 Mbits/sec    0             sender\n[  5]   0.00-4.00   sec  49.5 MBytes   104 Mbits/sec                  receiver\n"
	}
	flat := rows("1.05 MBytes", "1.05 MBytes", "1.06 MBytes", "1.06 MBytes")
	ping := "64 bytes from 198.51.100.4: icmp_seq=1 ttl=50 time=80.2 ms\n64 bytes from 198.51.100.4: icmp_seq=2 ttl=50 time=80.4 ms\nrtt min/avg/max/mdev = 80.2/80.3/80.4/0.1 ms\n"
	judgeHardware(t, []hardwareCase{
		{"ping", flat + "\nPING 198.51.100.4 (198.51.100.4) 56(84) bytes of data.\n" + ping, record.ReceiveWindow, 0.55, 0.7, "in flight", ""},
		{"said", "The round trip is 80 ms.\n" + flat, record.ReceiveWindow, 0.55, 0.7, "net.ipv4.tcp_rmem", ""},
		{"said otherwise", flat + "Our sites have a ping of 80 ms and a gigabit each.\n", record.ReceiveWindow, 0.55, 0.7, "does not grow", ""},
		{"a window that grows", "The round trip is 80 ms.\n" + rows("0.50 MBytes", "0.80 MBytes", "1.40 MBytes", "2.20 MBytes"), record.Unknown, 0, 0, "", "does not grow"},
		{"near", "The round trip is 0.3 ms.\n" + flat, record.Unknown, 0, 0, "", "does not grow"},
	})
}

// TestAggregatorsUnprivileged: without root nobody knows which of two aggregators carries.
func TestAggregatorsUnprivileged(t *testing.T) {
	port := func(name, id string) string {
		return "\nSlave Interface: " + name + "\nMII Status: up\nSpeed: 10000 Mbps\nDuplex: full\nLink Failure Count: 0\nAggregator ID: " + id + "\n"
	}
	head := "Ethernet Channel Bonding Driver: v6.1\n\nBonding Mode: IEEE 802.3ad Dynamic link aggregation\nTransmit Hash Policy: layer3+4 (1)\nMII Status: up\n\n802.3ad info\nLACP rate: fast\n"
	judgeHardware(t, []hardwareCase{
		{"one each", head + port("p1", "1") + port("p2", "2"), record.LACPDown, 0.6, 0.7, "needs root", "outside the LACP group"},
		{"two each", head + port("p1", "1") + port("p2", "2") + port("p3", "1") + port("p4", "2"), record.LACPDown, 0.6, 0.7, "needs root", "outside the LACP group"},
		{"three and one", head + port("p1", "1") + port("p2", "1") + port("p3", "1") + port("p4", "2"), record.LACPDown, 0.6, 0.75, "p4", "needs root"},
		{"all in one", head + port("p1", "1") + port("p2", "1"), record.Unknown, 0, 0, "", "needs root"},
	})
}
