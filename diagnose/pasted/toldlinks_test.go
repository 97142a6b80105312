package pasted

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/record"
)

// TestNoCarrier: a bond without carrier above ports that have theirs, and what differs in
// what decides.
func TestNoCarrier(t *testing.T) {
	const brief = "No network since I configured the bond.\n# ip -br link\nlo               UNKNOWN        00:00:00:00:00:00 <LOOPBACK,UP,LOWER_UP>\nenp1s0           UP             00:00:5e:00:53:01 <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP>\nenp2s0           UP             00:00:5e:00:53:01 <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP>\nbond0            DOWN           00:00:5e:00:53:01 <NO-CARRIER,BROADCAST,MULTICAST,MASTER,UP>\n"
	const whole = "No network.\n# ip -d link\n2: eno1: <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 1500 qdisc mq master bond0 state UP mode DEFAULT group default qlen 1000\n    link/ether 00:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff\n3: eno2: <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 1500 qdisc mq master bond0 state UP mode DEFAULT group default qlen 1000\n    link/ether 00:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff\n4: bond0: <NO-CARRIER,BROADCAST,MULTICAST,MASTER,UP> mtu 1500 qdisc noqueue state DOWN mode DEFAULT group default qlen 1000\n    link/ether 00:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff\n    bond mode 802.3ad miimon 100 min_links 2 xmit_hash_policy layer3+4\n"
	judgeHardware(t, []hardwareCase{
		{"without a mode", brief, record.LACPDown, 0.55, 0.65, "has no carrier though its ports enp1s0 and enp2s0", ""},
		{"802.3ad", whole, record.LACPDown, 0.7, 0.8, "It wants min_links 2", ""},
		{"balance-xor", strings.Replace(whole, "802.3ad", "balance-xor", 1), record.Unknown, 0, 0, "", "though its ports"},
		{"it has carrier", strings.Replace(brief, "DOWN           00:00:5e:00:53:01 <NO-CARRIER,BROADCAST,MULTICAST,MASTER,UP>", "UP             00:00:5e:00:53:01 <BROADCAST,MULTICAST,MASTER,UP,LOWER_UP>", 1), record.Unknown, 0, 0, "", "though its ports"},
		{"a port without carrier", strings.Replace(brief, "UP             00:00:5e:00:53:01 <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP>", "DOWN           00:00:5e:00:53:01 <NO-CARRIER,BROADCAST,MULTICAST,SLAVE,UP>", 1), record.Unknown, 0, 0, "", "though its ports"},
	})
}

// TestFio: few requests at a time, and many, or a rate that a link has when it is full.
func TestFio(t *testing.T) {
	const text = "Why is my iSCSI volume so slow over 10GbE?\n# fio --name=t --rw=write --bs=4k --size=1G --direct=1 --filename=/mnt/iscsi/test\nt: (g=0): rw=write, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1\nfio-3.28\nStarting 1 process\nJobs: 1 (f=1): [W(1)][100.0%][w=9.8MiB/s][w=2509 IOPS][eta 00m:00s]\nt: (groupid=0, jobs=1): err= 0: pid=4122: Thu Mar  2 10:11:12 2023\n  write: IOPS=2501, BW=9.77MiB/s (10.2MB/s)(1024MiB/104812msec); 0 zone resets\n    clat (usec): min=241, max=9712, avg=397.20, stdev=61.10\n     lat (usec): min=241, max=9712, avg=397.41, stdev=61.12\n    clat percentiles (usec):\n     |  1.00th=[  302],  5.00th=[  326], 10.00th=[  338], 20.00th=[  355],\n   bw (  KiB/s): min= 8712, max=10840, per=100.00%, avg=10008.11, stdev=301.00, samples=209\n  cpu          : usr=0.98%, sys=5.10%, ctx=262150, majf=0, minf=12\n"
	const old = "Random writes to the NFS share are slow.\nfio command output:\nw: (g=0): rw=randwrite, bs=8K-8K/8K-8K/8K-8K, ioengine=sync, iodepth=1\nfio-2.2.10\nw: (groupid=0, jobs=1): err= 0: pid=1: Thu Mar  2 10:11:12 2017\n  write: io=102400KB, bw=1600.2KB/s, iops=200, runt= 64001msec\n    clat (msec): min=3, max=97, avg= 4.99, stdev= 1.10\n"
	judgeHardware(t, []hardwareCase{
		{"one write at a time", text, record.Application, 0.7, 0.75, "under way (1 of 4096 B)", ""},
		{"an old fio", old, record.Application, 0.7, 0.75, "takes 4.99 ms", ""},
		{"many at a time", strings.Replace(text, "iodepth=1\n", "iodepth=64\n", 1), record.Unknown, 0, 0, "", "under way ("},
		{"a wait that is not the rate", strings.Replace(text, "avg=397.20", "avg=97.20", 1), record.Unknown, 0, 0, "", "under way ("},
		{"a full gigabit", strings.NewReplacer("4096B-4096B", "1024KiB-1024KiB", "IOPS=2501, BW=9.77MiB/s (10.2MB/s)", "IOPS=107, BW=108MiB/s (113MB/s)", "avg=397.20", "avg=9280.20").Replace(text), record.Unknown, 0, 0, "", "under way ("},
	})
}

// TestOneChannel: SMB without multichannel where there are several links, and where it is
// on or one link is there.
func TestOneChannel(t *testing.T) {
	const off = "The file server's 2x10G carry 1.1 GB/s only.\nPS C:\\> Get-SmbClientConfiguration\n\nConnectionCountPerRssNetworkInterface  : 4\nEnableMultiChannel                     : %\n"
	judgeHardware(t, []hardwareCase{
		{"Windows' client has it off", strings.Replace(off, "%", "False", 1), record.SingleLink, 0.6, 0.65, "EnableMultiChannel $true", ""},
		{"Windows' client has it on", strings.Replace(off, "%", "True", 1), record.Unknown, 0, 0, "", "multichannel is off"},
		{"Samba has it off", "Unraid with two 10G NICs, the client too. Transfers stay at 1.1 GB/s.\nsmb.conf:\nserver multi channel support = no\n", record.SingleLink, 0.6, 0.65, "server multi channel support = yes", ""},
		{"told", "Both machines have two 10G NICs, but a copy stays at 1.1 GB/s.\nI read that SMB multichannel is disabled on the NAS.\n", record.SingleLink, 0.5, 0.6, "Get-SmbMultichannelConnection", ""},
		{"told of one connection", "Four 1G ports in the NAS and a copy never gets past 112 MB/s.\nSMB uses only one TCP connection here.\n", record.SingleLink, 0.4, 0.6, "", ""},
		{"it is on", "Both machines have two 10G NICs, but a copy stays at 500 MB/s.\nSMB multichannel is enabled on the NAS and it has two connections.\n", record.Unknown, 0, 0, "", "multichannel is off"},
		{"one link", "A copy stays at 500 MB/s over 10G.\nSMB multichannel is disabled on the NAS.\n", record.Unknown, 0, 0, "", "multichannel is off"},
	})
}

// TestUSBTold: an adapter at USB 2 that several sentences tell of, and one at USB 3.
func TestUSBTold(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"a board's port", "Why is the little server so slow?\nIperf3 shows 230 Mbit/s on its gigabit port.\nThe chip hangs at USB 2.0 on the board.\n", record.CardSlot, 0.5, 0.6, "lsusb -t", ""},
		{"by lsusb's word", "The laptop has a USB-C 2.5GbE adapter.\nThroughput is only 300 Mbit/s in iperf3.\nIn lsusb -t it shows up at 480M.\n", record.CardSlot, 0.5, 0.6, "lsusb -t", ""},
		{"at 5000M", "The laptop has a USB-C 2.5GbE adapter.\nThroughput is only 300 Mbit/s in iperf3.\nIn lsusb -t it shows up at 5000M.\n", record.Unknown, 0, 0, "", "480 Mbit/s for both"},
		{"not USB 2", "The laptop has a USB-C 2.5GbE adapter.\nThroughput is only 300 Mbit/s in iperf3.\nIt is not connected at USB 2.0, I checked.\n", record.Unknown, 0, 0, "", "480 Mbit/s for both"},
		{"too fast for it", "The laptop has a USB-C 2.5GbE adapter.\nThroughput is only 900 Mbit/s in iperf3.\nThe mouse is at USB 2.0.\n", record.Unknown, 0, 0, "", "480 Mbit/s for both"},
	})
}
