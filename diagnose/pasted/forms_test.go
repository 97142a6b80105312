package pasted

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/record"
)

// TestFormsTold: what forms hope for, lines that are no copies, and rates of which nobody
// says whose they are.
func TestFormsTold(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"hoped for", "iperf3 shows 4 gbps here, copying files by smb runs at 1.05 gigabytes/sec.\n\n* Expected Behavior\niperf3 is as fast as the files, 1 gigabyte/sec\n", record.SenderCPU, 0.45, 0.55, "iperf3", ""},
		{"measured below", "* Expected Behavior\nas fast as the files\n* Actual Behavior\niperf3 shows 8.3 gbps here, copying files by smb runs at 1.05 gigabytes/sec.\n", record.Unknown, 0, 0, "", "a copy carries"},
		{"in bytes", "60MBs from my box, why?\nWith iperf I get 940Mbs without issues.\n", record.Application, 0.4, 0.45, "carries 940 Mbit/s", ""},
		{"as fast", "105MBs from my box, why?\nWith iperf I get 940Mbs without issues.\n", record.Unknown, 0, 0, "", "carries 940 Mbit/s"},
		{"a line's upload", "The box has a slow 3.5 Mbps upload speed since the upgrade.\n$ iperf -c 192.0.2.5\n[  3]  0.0-10.0 sec   103 MBytes  86.0 Mbits/sec\n", record.Unknown, 0, 0, "", "the copy"},
		{"begins and falls", "The copy starts at 110 MB/s and drops to 30 MB/s after a minute.\n", record.Application, 0.45, 0.5, "an SSD's cache", ""},
		{"starts what falls back", "When I start downloads over both lines I only get around 20 Mbps, then I unplug the other one and it jumps up to 40 Mbps, and with both it drops back to 20 Mbps.\n", record.Unknown, 0, 0, "", "an SSD's cache"},
		{"a slower way beside", "The modem's 2.5g port gives only 400 Mbit to the router.\nBy its gigabit port a test comes to 940 Mbit.\n", record.Unknown, 0, 0, "", "a gigabit on the way"},
		{"set, not carried", "PATH_B is [bw=30Mbit/s, rtt=200ms], and one connection over it is slow.\n", record.Unknown, 0, 0, "", "30.0 Mbit/s over 200 ms"},
		{"in Japanese", "iperf3 では約 2.37 Gbits/sec、実際のファイル転送は 140 MB/s 程度です。\n", record.Application, 0.4, 0.5, "carries 2.37 Gbit/s", ""},
		{"DRBD's own pace", "Our two 1 Gbps ports are a bond of balance-alb. The DRBD sync is stuck at 40 MB/s.\nFile transfers between both run at 160 MB/s.\n", record.Application, 0.5, 0.6, "drbd", ""},
	})
}

// TestBlamedElsewhere: what somebody found to be it, and full cores, in other languages.
func TestBlamedElsewhere(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"a card's model", "Die Datenrate der VM im Netzwerk war nur ~ 50 KB/s. Verursacher war das Gerätemodell (NIC device model) der Netzwerkkarte, rtl8139.\n", record.CardSlot, 0.55, 0.65, "virtio", ""},
		{"no model's", "Die Datenrate der VM im Netzwerk war nur ~ 50 KB/s. Das Gerätemodell der Netzwerkkarte ist virtio.\n", record.Unknown, 0, 0, "", "the model of the card is it"},
		{"a core in German", "Der Durchsatz durch den Tunnel ist langsam, nur 200 Mbit/s. Ein Kern steht dabei auf 100 %.\n", record.SenderCPU, 0.5, 0.7, "", ""},
		{"no core in German", "Der Durchsatz durch den Tunnel ist langsam, nur 200 Mbit/s. Kein Kern ist ausgelastet.\n", record.Unknown, 0, 0, "", "that is the limit"},
		{"a core in Chinese", "通过隧道的网络速度只有200Mbps，很慢。测试时路由器的CPU达到极限（单核）。\n", record.SenderCPU, 0.5, 0.7, "", ""},
		{"one of four", "It is slow through our router with software flow offloading, just one of 4 cores carries the routing load, thus being under 100% load.\n", record.ReceiverCPU, 0.5, 0.65, "one core", ""},
		{"an offload restores", "Uploads of the VM are slow. Turning off TSO on the guest seems to restore upload speed.\n", record.CardSlot, 0.6, 0.7, "Leave that one offload off", ""},
		{"an MTU that is forced", "Small requests pass, larger ones hang. Forcing the veth interface (on the host) to MTU 1402 fixes this problem.\n", record.MTU, 0.7, 0.8, "", ""},
		{"by a smaller MRU", "I was successful in getting good bandwidth through the tunnel by reducing the MRU to 1380.\n", record.MTU, 0.6, 0.8, "", ""},
		{"miles", "The distance between the two servers (3,000 miles) matters. With a single stream we get 350Mbps. With three streams we get 790Mbps.\n", record.ReceiveWindow, 0.5, 0.6, "", ""},
		{"the other network", "Ceph has two networks. But ceph does not use the 100gb but the 30gb network, it is slow.\n", record.AsymmetricRoute, 0.5, 0.6, "", ""},
		{"fast the other way", "Through WireGuard we get only 23 Mbps, 2.3 Gbps directly.\nTraffic in the reverse direction reaches 890 Mbps.\n", record.Unknown, 0, 0, "", "encryption does not cost that much"},
	})
}

// TestFullMachines: cores by vmstat, ports of a bundle that are all full, and a bucket that
// runs empty.
func TestFullMachines(t *testing.T) {
	vmstat := func(rows ...string) string {
		return "The copy from NFS is slow in this guest.\n$ vmstat 1\nprocs -----------memory---------- ---swap-- -----io---- -system-- ----cpu----\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa\n" + strings.Join(rows, "\n") + "\n"
	}
	intervals := func(rates ...string) string {
		out := "$ iperf3 -c 192.0.2.9\n[ ID] Interval           Transfer     Bitrate\n"
		for i, rate := range rates {
			out += "[  5]   " + string(rune('0'+i)) + ".00-" + string(rune('1'+i)) + ".00   sec   99 KBytes  " + rate + "\n"
		}
		return out
	}
	const slow, even = "1.95 Mbits/sec", "9.32 Gbits/sec"
	judgeHardware(t, []hardwareCase{
		{"full", vmstat(" 1  0      0 409072  42076 517372    0    0     0     0   90   14  9  9 80  2", " 4  0      0 408660  42076 517372    0    0     0     0   67    8  0 100  0  0", " 4  0      0 375984  42076 548092    0    0     0     0  111    7  0 97  1  2"), record.SenderCPU, 0.65, 0.8, "All cores", ""},
		{"waits for a disk", vmstat(" 1  0      0 409072  42076 517372    0    0     0     0   90   14  9  9 80  2", " 4  0      0 408660  42076 517372    0    0     0     0   67    8  0 10  0 90"), record.Unknown, 0, 0, "", "All cores"},
		{"small requests", "Writes are slow here.\n$ mount\nfiler:/vol on /mnt type nfs4 (rw,relatime,vers=4.0,rsize=1024,wsize=1024,hard,proto=tcp,timeo=600)\n", record.Application, 0.6, 0.7, "wsize=1024", ""},
		{"usual requests", "Writes are slow here.\n$ mount\nfiler:/vol on /mnt type nfs4 (rw,relatime,vers=4.0,rsize=1048576,wsize=1048576,hard,proto=tcp,timeo=600)\n", record.Unknown, 0, 0, "", "wsize=1048576:"},
		{"both ports", "Bonded 2x 2.5G NIC (802.3ad, layer3+4), results:\n" + bothPorts("2.35 Gbits/sec", "4.70 Gbits/sec"), record.LineRate, 0.65, 0.75, "Nothing is wrong", ""},
		{"a bucket", intervals(even, even, "5.76 Gbits/sec", slow, slow, slow, slow, slow), record.Shaper, 0.55, 0.65, "a limit with a bucket", ""},
		{"a collapse", intervals(even, even, "5.76 Gbits/sec", slow, "900 Kbits/sec", "7.20 Mbits/sec", "300 Kbits/sec", slow), record.Unknown, 0, 0, "", "a limit with a bucket"},
	})
}

func bothPorts(one, sum string) string {
	return "$ iperf3 -c 192.0.2.100 -P 2\n[ ID] Interval           Transfer     Bitrate\n[  5]   0.00-15.00  sec  4.10 GBytes  " + one + "                  receiver\n[  7]   0.00-15.00  sec  4.10 GBytes  " + one + "                  receiver\n[SUM]   0.00-15.00  sec  8.20 GBytes  " + sum + "                  receiver\n"
}
