package pasted

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/record"
)

// TestBuffersAndOrder: what sentences tell of a program's buffers, of packets in another
// order and of a version that was better, each beside a text that tells the opposite.
func TestBuffersAndOrder(t *testing.T) {
	const usb = "The NAS gets only 260 Mbit/s with its 5G adapter.\n[   19.197967] usb 1-3: new high-speed USB device number 2 using xhci_hcd\n"
	judgeHardware(t, []hardwareCase{
		{"a larger send buffer", "Uploads are slow, 1.4 MB/s.\nWith the socket send buffer at 64k the upload is twice as fast.\n", record.SendBuffer, 0.6, 0.66, "tcp_wmem", ""},
		{"a larger one that is not", "Uploads are slow, 1.4 MB/s.\nWith the socket send buffer at 64k the upload is not twice as fast.\n", record.Unknown, 0, 0, "", "a larger send buffer makes"},
		{"a small send buffer", "The default TCP send buffer size is too low.\nOver the VPN the program gets only 8 Mbit/s.\n", record.SendBuffer, 0.5, 0.6, "tcp_wmem", ""},
		{"a small one of UDP", "The default UDP send buffer size is too low.\nOver the VPN the program gets only 8 Mbit/s.\n", record.Unknown, 0, 0, "", "the send buffer is small"},
		{"a small receive buffer", "Its TCP receive buffer is too small.\nFrom overseas the program gets only 8 Mbit/s.\n", record.ReceiveWindow, 0.5, 0.6, "tcp_rmem", ""},
		{"overtaken", "WireGuard's UDP packets are occasionally reordered between our VMs, limiting throughput.\n", record.Reordering, 0.5, 0.6, "over several queues", ""},
		{"not overtaken", "WireGuard's UDP packets are never reordered between our VMs, but something is limiting throughput.\n", record.Unknown, 0, 0, "", "over several queues"},
		{"many out of order", "When I run iperf3 -u over the tunnel I see a significant amount of out-of-order packets.\n", record.Reordering, 0.5, 0.6, "over several queues", ""},
		{"a single port by LACP", "LACP: the aggregation bit is not set on the first port's PDUs, and the switch forwards nothing of it.\n", record.LACPDown, 0.5, 0.6, "frames are made anew", ""},
		{"the tunnel's MTU", "Cross-zone traffic is slow.\nThe MTU of the tunnel interface needs to be adjusted.\n", record.MTU, 0.4, 0.5, "50 for VXLAN", ""},
		{"the older driver", "iperf3 stays below 100 Mbit/s, with disconnections.\nThe issues were gone after I went back to version 9.013.02-2 of the driver.\n", record.CardSlot, 0.45, 0.55, "last good one", ""},
		{"the same with the older", "iperf3 stays below 100 Mbit/s, with disconnections.\nThe issues were the same after I went back to version 9.013.02-2 of the driver.\n", record.Unknown, 0, 0, "", "last good one"},
		{"another program", "A PUT of 8 MB takes 30 seconds, which is slow.\nThe network is fine: an scp of the same file takes < 0.1 seconds.\n", record.Application, 0.45, 0.55, "another program is faster", ""},
		{"a closed window", "The transfer runs for a while and then goes into TCP zero window state.\nThis is since the socket receive buffer is full, TCP says so to the sender.\n", record.Application, 0.5, 0.6, "closes its window", "UdpRcvbufErrors"},
		{"a port of USB 2", usb + "[   19.339235] usb 1-3: not running at top speed\n", record.Unknown, 0, 0, "", "hangs on a bus"},
		{"and a rate of it", usb + "[   19.339235] usb 1-3: not running at top speed\n" + iperf3Run + "[  5]   0.00-10.00  sec   310 MBytes   260 Mbits/sec                  receiver\n", record.CardSlot, 0.55, 0.65, "USB 3", ""},
		{"devices that are no adapter", "iperf3 is slow on this server, 300 Mbit/s.\n[    1.1] usb 1-3: new high-speed USB device number 2 using xhci_hcd\n[    1.2] usb 1-3: Product: Integrated Camera\n[    1.3] usb 1-4: new full-speed USB device number 3 using xhci_hcd\n[    1.4] usb 1-4: Product: USB Keyboard\n", record.Unknown, 0, 0.5, "", "hangs on a bus"},
		{"a stick at it", usb + "[   19.339235] usb 1-3: not running at top speed\n[   19.4] usb 1-3: Product: Ultra Fit\n" + iperf3Run + "[  5]   0.00-10.00  sec   310 MBytes   260 Mbits/sec                  receiver\n", record.Unknown, 0, 0.5, "", "hangs on a bus"},
	})
}

const iperf3Run = "$ iperf3 -c 192.0.2.2 -t 10\nConnecting to host 192.0.2.2, port 5201\n[  5] local 192.0.2.1 port 51234 connected to 192.0.2.2 port 5201\n[ ID] Interval           Transfer     Bitrate\n[  5]   0.00-10.00  sec   310 MBytes   260 Mbits/sec                  sender\n"

// TestNotBuffers: words of the same kind that deny it, or only wonder.
func TestNotBuffers(t *testing.T) {
	for _, c := range [][2]string{
		{"Copies are slow, 30 MB/s. Is the TCP send buffer too small?\n", "the send buffer is small"},
		{"Copies are slow, 30 MB/s. Maybe the TCP receive buffer is too small.\n", "the receive buffer is small"},
		{"Copies are slow, 30 MB/s. The TCP send buffer isn't too small.\n", "the send buffer is small"},
		{"Copies are slow, 30 MB/s. Setting SO_SNDBUF to 1M made it no faster.\n", "a larger send buffer makes"},
		{"Copies are slow, 30 MB/s. There is no packet reordering that would limit it.\n", "over several queues"},
		{"Copies are slow, 30 MB/s. Packets could be reordered, limiting throughput?\n", "over several queues"},
		{"Copies are slow, 30 MB/s. If packets get reordered by the bond, TCP slows down.\n", "over several queues"},
		{"The LACP bond is slow, 1 Gbit/s. The aggregation bit is set on all ports.\n", "frames are made anew"},
		{"The rate falls. It may be made worse by the degree of batching when sending packets, or by issues that make the system CPU bound.\n", "served by one core"},
		{"UDP is slow, 200 Mbit/s. After the upgrade problems were gone with the newer version 6.1 of the driver.\n", "last good one"},
		{"scp of the same file takes 40 s as well, and rsync too: 30 MB/s.\n", "another program is faster"},
	} {
		for _, f := range judge(c[0]).Findings {
			if strings.Contains(f.Text, c[1]) {
				t.Errorf("%s: named %s: %s", c[0], f.Cause, f.Text)
			}
		}
	}
}
