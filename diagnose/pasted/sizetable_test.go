package pasted

import (
	"testing"

	"github.com/linerate/linerate/record"
)

// TestSizesTold: packets' sizes as tables and sentences tell them, and answers of which only
// the small ones arrive.
func TestSizesTold(t *testing.T) {
	const fetch = "A 5 MB fetch over the line carries nothing at all, why?\n"
	judgeHardware(t, []hardwareCase{
		{"a table", fetch + "payload 1400B (MTU 1428) -> 0% loss\npayload 1440B (MTU 1468) -> 0% loss\npayload 1464B (MTU 1492) -> 100% loss\n", record.MTU, 0.6, 0.65, "packets of 1440 pass, of 1464 all are lost", ""},
		{"a table of pings", fetch + "ping -s 1380: 0% packet loss\nping -s 1390: 100% packet loss\n", record.MTU, 0.6, 0.65, "of 1390 all are lost", ""},
		{"a table that ends at whole frames", fetch + "payload 1440B (MTU 1468) -> 0% loss\npayload 1472B (MTU 1500) -> 0% loss\npayload 1473B (MTU 1501) -> 100% loss\n", record.Unknown, 0, 0, "", "larger ones do not"},
		{"all are lost", fetch + "payload 1400B (MTU 1428) -> 100% loss\npayload 1440B (MTU 1468) -> 100% loss\n", record.Unknown, 0, 0, "", "larger ones do not"},
		{"pings that count", fetch + "1400 packets transmitted, 1400 received, 0% packet loss, time 4005ms\n1500 packets transmitted, 0 received, 100% packet loss, time 4005ms\n", record.Unknown, 0, 0, "", "larger ones do not"},
		{"a size in words", "The tunnel is slow.\nHosts behind the tunnel cannot transfer more than 1368 bytes of data at once.\n", record.MTU, 0.6, 0.65, "larger ones do not", ""},
		{"a form's own size", "The site is slow.\nUsers cannot upload comments longer than 2048 bytes.\n", record.Unknown, 0, 0, "", "larger ones do not"},
		{"a size as small as any", "The tunnel is slow.\nHosts behind the tunnel cannot transfer more than 120 bytes of data at once.\n", record.Unknown, 0, 0, "", "larger ones do not"},
		{"large answers stall", "Between the nodes of our cluster it fails.\nIf the page that I ask for is small, it arrives. If the page is large, curl stalls until it gives up.\n", record.MTU, 0.45, 0.55, "small answers arrive", ""},
		{"large answers are slower", "Between the nodes of our cluster it is slow.\nIf the page that I ask for is small, it arrives. If the page is large, curl takes a second or two.\n", record.Unknown, 0, 0, "", "small answers arrive"},
	})
}

// TestOthersAdvice: what others advise is nothing that helped, and what a sentence denies is
// nothing that it found.
func TestOthersAdvice(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"advice", "I know of ways to increase the throughput of a guest, such as disabling TSO, but it stays low.\n", record.Unknown, 0, 0, "", "Without that offload it is fast"},
		{"a remedy", "The throughput of a guest increases by disabling TSO, else it stays low.\n", record.CardSlot, 0.6, 0.7, "Without that offload it is fast", ""},
		{"what people say", "Our VPN is slow. People say that a larger receive window helps.\n", record.Unknown, 0, 0, "", "A larger window or buffer helps"},
		{"no relay", "Our nodes reach each other over Tailscale by a direct connection (not relayed), and it is slow.\n", record.Unknown, 0, 0, "", "connected by a relay"},
		{"a relay", "Our nodes reach each other over Tailscale, but relayed, and it is slow.\n", record.Shaper, 0.5, 0.6, "connected by a relay", ""},
		{"a socket that is not full", "Our UDP service is slow, and its socket buffer is not full.\n", record.Unknown, 0, 0, "", "receive buffer is full"},
		{"a socket that is full", "Our UDP service is slow, and its socket buffer is always full.\n", record.ReceiverCPU, 0.5, 0.6, "receive buffer is full", ""},
		{"buffers of a tunnel", "OpenVPN is slow here without sndbuf 0 and rcvbuf 0 at both ends.\n", record.ReceiveWindow, 0.6, 0.7, "A larger window or buffer helps", ""},
		{"buffers in vain", "OpenVPN is slow here. Larger sndbuf and rcvbuf values made no difference.\n", record.Unknown, 0, 0, "", "A larger window or buffer helps"},
		{"flow control by its letters", "Copies to the small box are slow.\nEnabled FC on the switch port and all is good again.\n", record.Congestion, 0.55, 0.65, "Flow control", ""},
		{"fibre channel", "Copies to the array are slow.\nWe added FC on the second fabric and all is good again.\n", record.Unknown, 0, 0, "", "Flow control"},
		{"one core at its end", "iperf3 gets no more than 700 Mbit/s here, and htop shows it maxing out just a single core.\n", record.SenderCPU, 0.5, 0.65, "one core is full", ""},
		{"paced", "From 10G to a 1G host we get 300 Mbit/s.\nWe could get around 900Mbps using fq-rate 900M at the sender.\n", record.Congestion, 0.55, 0.6, "a sender that is paced gets more", ""},
		{"paced in vain", "From 10G to a 1G host we get 300 Mbit/s.\nWe did not get 900Mbps using fq-rate 900M at the sender.\n", record.Unknown, 0, 0, "", "a sender that is paced gets more"},
	})
}

// TestNotCarried: speeds of disks' buses and what a maker promises are no transfers, and where
// tests themselves differ a copy shows nothing.
func TestNotCarried(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"a bus of disks", "Samba writes get around 20Mbit/s, which is slow.\nSATA Version is: SATA 3.1, 6.0 Gb/s (current: 6.0 Gb/s)\n", record.Unknown, 0, 0, "", "6.00 Gbit/s"},
		{"what a maker promises", "Copying files between both offices over the IPsec VPN gets 20Mbps only.\nThe throughput capacity can reach 200Mbps, says the maker.\n", record.Unknown, 0, 0, "", "by another transfer"},
		{"a machine's own disks", "Tests using dd show local (Solaris) writes of 1.6GB/s and remote NFS writes 50MB/s, that is slow.\n", record.Unknown, 0, 0, "", "12.8 Gbit/s by another transfer"},
		{"a limit that is told", "Our box is rate-limited to 40 Mbps, why does a copy not get more?\n$ iperf3 -c 198.51.100.1\n[ ID] Interval           Transfer     Bitrate         Retr\n[  5]   0.00-10.00  sec  45.3 MBytes  38.0 Mbits/sec   12             sender\n", record.Shaper, 0.6, 0.65, "limited to 40.0 Mbit/s by rule", ""},
		{"a limit that is not reached", "Our box is rate-limited to 400 Mbps, why does a copy not get more?\n$ iperf3 -c 198.51.100.1\n[ ID] Interval           Transfer     Bitrate         Retr\n[  5]   0.00-10.00  sec  45.3 MBytes  38.0 Mbits/sec   12             sender\n", record.Unknown, 0, 0, "", "by rule"},
		{"a limit that only seems", "It seems as if our box is rate-limited to 40 Mbps, why?\n$ iperf3 -c 198.51.100.1\n[ ID] Interval           Transfer     Bitrate         Retr\n[  5]   0.00-10.00  sec  45.3 MBytes  38.0 Mbits/sec   12             sender\n", record.Unknown, 0, 0, "", "by rule"},
		{"tests that differ", "By the second path everything is slow, scp copies at 100kb/s.\n$ iperf3 -c 198.51.100.1\n[ ID] Interval           Transfer     Bitrate         Retr\n[  5]   0.00-10.00  sec   372 MBytes   312 Mbits/sec    0             sender\n$ iperf3 -c 10.11.88.1\n[ ID] Interval           Transfer     Bitrate         Retr\n[  5]   0.00-10.00  sec  1.35 MBytes  1.13 Mbits/sec    0             sender\n", record.Unknown, 0, 0, "", "gets 100 kbit/s where"},
	})
}
