package pasted

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/record"
)

// TestNotTaken: what stands beside the cause in pasted outputs, and was taken for it.
func TestNotTaken(t *testing.T) {
	const bsd = "lo0: flags=8049<UP,LOOPBACK,RUNNING,MULTICAST> metric 0 mtu 16384\n\tinet 127.0.0.1 netmask 0xff000000\npflog0: flags=0<> metric 0 mtu 33160\nem0: flags=8943<UP,BROADCAST,RUNNING,PROMISC,SIMPLEX,MULTICAST> metric 0 mtu MTU\n\tether 00:0c:29:aa:bb:01\n\tinet 10.3.0.8 netmask 0xffffff00 broadcast 10.3.0.255\n\tstatus: active\nbridge0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\tether 02:aa:bb:cc:dd:00\n"
	bond := func(first, second string) string {
		port := func(name, mac, failures string) string {
			return "\nSlave Interface: " + name + "\nMII Status: up\nSpeed: 1000 Mbps\nDuplex: full\nLink Failure Count: " + failures + "\nPermanent HW addr: " + mac + "\nAggregator ID: 1\nSlave queue ID: 0\n"
		}
		return "Ethernet Channel Bonding Driver: v3.7.1\n\nBonding Mode: IEEE 802.3ad Dynamic link aggregation\nTransmit Hash Policy: layer3+4 (1)\nMII Status: up\nMII Polling Interval (ms): 100\n\n802.3ad info\nLACP rate: slow\nAggregator selection policy (ad_select): stable\nActive Aggregator Info:\n\tAggregator ID: 1\n\tNumber of ports: 2\n\tPartner Mac Address: 00:11:22:33:44:55\n" + port("eth0", "00:0c:29:aa:bb:01", first) + port("eth1", "00:0c:29:aa:bb:02", second)
	}
	turns := func(rate string) string {
		return "Our striped bond of two gigabit ports is slow.\n$ cat /etc/network/interfaces\nauto bond0\niface bond0 inet static\n  address 10.4.0.2/24\n  bond-slaves eth1 eth2\n  bond-mode balance-rr\n$ iperf3 -c 10.4.0.3\n[ ID] Interval           Transfer     Bitrate         Retr\n[  5]   0.00-10.00  sec  2.30 GBytes  " + rate + " Gbits/sec    0             sender\n[  5]   0.00-10.00  sec  2.30 GBytes  " + rate + " Gbits/sec                  receiver\n"
	}
	judgeHardware(t, []hardwareCase{
		{"loopback's large frames", "Copies to this jail host are slow.\n$ ifconfig\n" + strings.Replace(bsd, "MTU", "1500", 1), record.Unknown, 0, 0, "", "jumbo"},
		{"a card's large frames", "Copies to this jail host are slow.\n$ ifconfig\n" + strings.Replace(bsd, "MTU", "9000", 1), record.MTU, 0.8, 0.9, "has 9000", ""},
		{"failures of some months", "The bond is slow.\n# cat /proc/net/bonding/bond0\n" + bond("1", "4"), record.Unknown, 0, 0, "", "again and again"},
		{"failures of a bad cable", "The bond is slow.\n# cat /proc/net/bonding/bond0\n" + bond("1", "41"), record.LACPDown, 0.5, 0.9, "again and again", ""},
		{"striping that adds up", turns("1.97"), record.Unknown, 0, 0, "", "out of order"},
		{"striping that does not", turns("1.21"), record.Reordering, 0.5, 0.6, "out of order", ""},
		{"another number's name", "Our firewall is slow.\nCPU states: 0% user 7% system 0% nice 0% idle 0% iowait 0% irq 93% softirq\n", record.Unknown, 0, 0, "", "a disk is busy"},
		{"waiting for a disk", "Our NAS is slow.\nIn top it shows iowait 93% while it copies.\n", record.Application, 0.5, 0.6, "a disk is busy", ""},
		{"a speed that is no LACP's matter", "The second port of our bonding shows Speed: Unknown\n$ cat bond0.netdev\n[NetDev]\nName=bond0\nKind=bond\n\n[Bond]\nMode=active-backup\n", record.Unknown, 0, 0, "", "LACP puts"},
	})
}

// TestReadBeside: what outputs of the same posts say that was not read, or not used.
func TestReadBeside(t *testing.T) {
	const run = "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n[  5]   0.00-1.00   sec  5.2 MBytes  43.6 Mbits/sec    0    220 KBytes\n[  5]   1.00-2.00   sec  7.2 MBytes  60.4 Mbits/sec    0    381 KBytes\n[  5]   2.00-3.00   sec  7.2 MBytes  60.4 Mbits/sec    0    381 KBytes\n[  5]   3.00-4.00   sec  7.2 MBytes  60.4 Mbits/sec    0    SECOND KBytes\n[  5]   4.00-5.00   sec  7.2 MBytes  60.4 Mbits/sec    0    381 KBytes\n"
	const ping = "Between our two sites a copy is slow.\n$ ping -c 4 10.2.0.9\n--- 10.2.0.9 ping statistics ---\n4 packets transmitted, 4 received, 0% packet loss, time 3004ms\nrtt min/avg/max/mdev = 49.7/49.8/49.9/0.1 ms\n$ iperf3 -c 10.2.0.9\n"
	const detail = "GigabitEthernet3/0/47 is up, line protocol is down (WHY)\n  Hardware is Gigabit Ethernet, address is 40a6.e851.bb2f (bia 40a6.e851.bb2f)\n  Full-duplex, 1000Mb/s, media type is 10/100/1000BaseTX\n"
	ifconfig := func(dropped string) string {
		return "Our capture host is slow and loses packets.\n# ifconfig eth2\neth2      Link encap:Ethernet  HWaddr 00:1b:21:aa:bb:01\n          UP BROADCAST RUNNING PROMISC MULTICAST  MTU:1500  Metric:1\n          RX packets:18889314 errors:0 dropped:" + dropped + " overruns:0 frame:0\n          TX packets:9 errors:0 dropped:0 overruns:0 carrier:0\n"
	}
	lagg := func(flags string) string {
		return "One port alone for now, and nothing gets through it.\n# ifconfig lagg0\nlagg0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\tether aa:aa:00:01:01:01\n\tstatus: active\n\tlaggproto lacp lagghash l2,l3,l4\n\tlaggport: em0 flags=" + flags + "\n"
	}
	judgeHardware(t, []hardwareCase{
		{"a window that grew once", ping + strings.Replace(run, "SECOND", "381", 1), record.ReceiveWindow, 0.6, 0.65, "does not grow", ""},
		{"a window that grows", ping + strings.Replace(run, "SECOND", "520", 1), record.Unknown, 0, 0, "", "does not grow"},
		{"a port that is suspended", strings.Replace(detail, "WHY", "suspended", 1), record.LACPDown, 0.8, 0.9, "suspended", ""},
		{"a port without a cable", strings.Replace(detail, "WHY", "notconnect", 1), record.Unknown, 0, 0, "", "not in the bundle"},
		{"suspended without LACP", "Ethernet1/5 is down (suspended(no LACP PDUs))\nadmin state is up, Dedicated Interface\n  Belongs to Po5\n  Hardware: 1000/10000 Ethernet, address: 0005.73aa.bb11 (bia 0005.73aa.bb11)\n", record.LACPDown, 0.8, 0.9, "it carries nothing", ""},
		{"a row of what is suspended", "nx# show interface status\nPort          Name               Status    Vlan      Duplex  Speed   Type\nEth1/5        esx1               suspndEth trunk     full    10G     10Gbase-SR\n", record.LACPDown, 0.8, 0.9, "Eth1/5", ""},
		{"a shaper that was typed", "Uploads of this box are slow, 47 Mbit/s of a gigabit.\n[root@box ~]# tc qdisc add dev eth0 root tbf rate 50mbit latency 10ms burst 50kb\n", record.Shaper, 0.5, 0.6, "50.0 Mbit/s", ""},
		{"a class that was typed", "Uploads of this box are slow, 47 Mbit/s of a gigabit.\n[root@box ~]# tc class add dev eth0 parent 1: classid 1:10 htb rate 50mbit ceil 50mbit\n", record.Shaper, 0.5, 0.6, "htb", ""},
		{"a queue without a rate", "Uploads of this box are slow, 47 Mbit/s of a gigabit.\n[root@box ~]# tc qdisc add dev eth0 root fq_codel limit 1000\n", record.Unknown, 0, 0, "", "shapes"},
		{"a host that drops", ifconfig("12880399"), record.ReceiverCPU, 0.45, 0.55, "faster than the host", ""},
		{"strays that are dropped", ifconfig("48000"), record.Unknown, 0, 0, "", "faster than the host"},
		{"a shaper on and off", "I can not reach the full rate of my line. With QoS on I get 400 Mbit/s, with QoS off 500 Mbit/s.\n", record.Shaper, 0.5, 0.6, "traffic shaper", ""},
		{"a shaper that is on", "I can not reach the full rate of my line. With QoS on I get 400 Mbit/s, and the line should have 500 Mbit/s.\n", record.Unknown, 0, 0, "", "traffic shaper"},
		{"losses near by", "The link has 15% packet loss and I get only 1 Mbit/s.\n", record.Congestion, 0.45, 0.55, "15 % of the packets", ""},
		{"losses of none", "The link has 0% packet loss and I get only 1 Mbit/s.\n", record.Unknown, 0, 0, "", "of the packets are lost"},
		{"a lagg of one port that nobody answers", lagg("0<>"), record.LACPDown, 0.8, 0.9, "em0", ""},
		{"a lagg of one port that works", lagg("1c<ACTIVE,COLLECTING,DISTRIBUTING>"), record.Unknown, 0, 0, "", "not active"},
	})
}
