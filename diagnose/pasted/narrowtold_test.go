package pasted

import (
	"testing"

	"github.com/linerate/linerate/record"
)

// TestToldAndMeasured: what a measurement says comes before a sentence's words, and a window
// that is told is held against the rate that is seen.
func TestToldAndMeasured(t *testing.T) {
	const slow = "$ iperf -c 10.0.0.2\n------------------------------------------------------------\nClient connecting to 10.0.0.2, TCP port 5001\nTCP window size: 85.0 KByte (default)\n------------------------------------------------------------\n[  3] local 10.0.0.1 port 40000 connected with 10.0.0.2 port 5001\n[ ID] Interval       Transfer     Bandwidth\n[  3]  0.0-10.0 sec   494 MBytes   "
	judgeHardware(t, []hardwareCase{
		{"a gigabit that is not full", "Gigabit Ethernet of the small board is slow, in 1000Mbs mode.\n" + slow + "414 Mbits/sec\n", record.Unknown, 0, 0, "", "a gigabit on the way"},
		{"a window that goes round", "Copies between the sites get 900 KB/s and no more, with 20 ms RTT.\nThe receiver's TCP window is advertised as 18,432 bytes, and never grows.\n", record.ReceiveWindow, 0.7, 0.8, "goes round", ""},
		{"a window in kilobytes", "Copies between the sites get 3 MB/s and no more, with 20 ms RTT.\nThe receiver's TCP window is advertised as 64 KB, and never grows.\n", record.ReceiveWindow, 0.7, 0.8, "goes round", ""},
		{"a window that is larger", "Copies between the sites get 900 KB/s and no more, with 20 ms RTT.\nThe receiver's TCP window is advertised as 184,320 bytes, and never grows.\n", record.ReceiveWindow, 0.4, 0.6, "", "goes round"},
		{"signs of losses", "Copies between the sites are slow, with 40 ms of latency.\nThe captures show possible signs of packet loss there.\n", record.Unknown, 0, 0, "", "losses on the long way"},
		{"losses", "Copies between the sites are slow, with 40 ms of latency.\nThe captures show frequent packet loss there.\n", record.Congestion, 0.5, 0.6, "", ""},
		{"the speed before", "We changed all servers to 1Gbps links (from 100Mbps) in spring.\nSince then the copies are slow, 30 Mbps at most.\n", record.Unknown, 0, 0, "", "came up at 100 Mbit/s"},
		{"the speed now", "All servers have ports of 1Gbps and the copies are slow.\nThis one's link is only up at 100Mbps.\n", record.LineRate, 0.55, 0.65, "came up at 100 Mbit/s", ""},
		{"a core of soft interrupts", "Downloads end at 50 Mbps here, and the line has 100.\nThe CPU is 100% occupied with [ksoftirqd/0] meanwhile.\n", record.ReceiverCPU, 0.5, 0.7, "", ""},
		{"a guest's own load", "Copies are slow, with high system CPU time in KVM guests of this host.\n", record.Unknown, 0, 0, "", "kvm (heavy"},
		{"each as fast", "One transfer between the sites gets 300 KB/s, the window size grows to 131 KB.\nIf I send multiple files simultaneously, they all go at the same speed, up to 4 MB/s in all.\n", record.ReceiveWindow, 0.45, 0.55, "its own window", ""},
		{"each slower", "One transfer between the sites gets 300 KB/s, the window size grows to 131 KB.\nIf I send multiple files simultaneously, they all get slower.\n", record.Unknown, 0, 0, "", "its own window"},
		{"asked in another tongue", "Warum macht unser Bond aus zwei Ports hier kein Gigabit?\n$ iperf3 -c 10.0.0.1\n[ ID] Interval           Transfer     Bitrate         Retr\n[  5]   0.00-20.00  sec  224 MBytes  94.1 Mbits/sec  0             sender\n", record.LineRate, 0.45, 0.5, "four pairs", ""},
		{"a program that fills", "Our file manager copies to the share with 11 MB/s and no more.\nThe same transfer using cp will max out the Gbit ethernet.\n", record.Application, 0.5, 0.6, "same copy", ""},
		{"a program that does not", "Our file manager copies to the share with 11 MB/s and no more.\nThe same transfer using cp will not max out the Gbit ethernet.\n", record.Unknown, 0, 0, "", "same copy"},
	})
}
