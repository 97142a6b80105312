package pasted

import (
	"testing"

	"github.com/linerate/linerate/record"
)

// TestNeighbours: the same trouble on other systems, the other way round, or healthy.
func TestNeighbours(t *testing.T) {
	const numaLink = "[root@a ~]# cat /sys/class/net/ens5/device/numa_node\n1\n"
	for _, c := range []struct {
		name, text string
		cause      record.Cause
		least      float64
	}{
		{"policer of NX-OS", "[root@bk1 ~]# iperf3 -c 10.1.1.9 -P 4 | grep SUM\n[SUM]   0.00-10.04  sec  1.97 GBytes  1.69 Gbits/sec                  receiver\n" +
			"n9k-2# show policy-map interface ethernet 1/12\nEthernet1/12\n\n  Service-policy (qos) input:   LIMIT\n    Class-map (qos):   class-default (match-any)\n      police cir 2 gbps bc 200 ms\n        conformed 812033122033 bytes, 1900000000 bps action: transmit\n        violated 91203312203 bytes, 412000000 bps action: drop\n", record.Shaper, 0.9},
		{"shaper of IOS that drops nothing", "R1#show policy-map interface GigabitEthernet0/0/0\n GigabitEthernet0/0/0\n\n  Service-policy output: QOS\n\n    Class-map: class-default (match-any)\n      (queue depth/total drops/no-buffer drops) 0/0/0\n      target shape rate 500000000\n", record.Unknown, 0},
		{"shape rate of EOS", "srv$ iperf3 -c 192.0.2.9 -P 4 | grep SUM.*rec\n[SUM]   0.00-10.04  sec  5.52 GBytes  4.72 Gbits/sec                  receiver\nleaf3#show running-config interfaces ethernet 7\ninterface Ethernet7\n   description srv\n   shape rate 5000000\n", record.Shaper, 0.8},
		{"a flow of AWS", "c5n.9xlarge, slow\n[ec2-user@ip-10-0-0-5 ~]$ iperf3 -c 10.0.1.6 | grep rec\n[  5]   0.00-10.04  sec  5.78 GBytes  4.95 Gbits/sec                  receiver\n[ec2-user@ip-10-0-0-5 ~]$ iperf3 -c 10.0.1.6 -P 10 | grep SUM.*rec\n[SUM]   0.00-10.04  sec  50.4 GBytes  43.1 Gbits/sec                  receiver\n", record.Shaper, 0.9},
		{"no allowance exceeded", "m5n.8xlarge\n[ec2-user@a ~]$ iperf3 -c 10.0.0.8 -P 16 | grep SUM.*rec\n[SUM]   0.00-10.04  sec  28.7 GBytes  24.6 Gbits/sec                  receiver\n[ec2-user@a ~]$ ethtool -S ens5 | grep bw_\n     bw_in_allowance_exceeded: 0\n     bw_out_allowance_exceeded: 0\n", record.LineRate, 0.8},
		{"VXLAN of flannel over a small link", "root@n1:~# ip link | grep mtu\n2: ens3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc fq_codel state UP mode DEFAULT group default qlen 1000\n5: flannel.1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UNKNOWN mode DEFAULT group default\n" +
			"root@n1:~# ping -M do -s 1400 -c 3 10.42.1.3\nPING 10.42.1.3 (10.42.1.3) 1400(1428) bytes of data.\n\n--- 10.42.1.3 ping statistics ---\n3 packets transmitted, 0 received, 100% packet loss, time 2031ms\n", record.MTU, 0.9},
		{"VXLAN that fits", "root@n1:~# ip link | grep mtu\n2: ens3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc fq_codel state UP mode DEFAULT group default qlen 1000\n5: vxlan.calico: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UNKNOWN mode DEFAULT group default\n", record.Unknown, 0},
		{"next hops that carry alike", "spine1#show ip route 10.60.0.0/16\n\n O        10.60.0.0/16 [110/30]\n           via 10.255.1.0, Ethernet29/1\n           via 10.255.1.2, Ethernet30/1\nspine1#show interfaces counters rates\nPort      Name            Intvl   In Mbps      %  In Kpps  Out Mbps      % Out Kpps\n" +
			"Et29/1    ssp1             5:00   21201.4  21.4%     2301   41220.3  42.2%     8812\nEt30/1    ssp2             5:00   20980.0  21.2%     2288   40911.1  41.0%     8701\n", record.Unknown, 0},
		{"LNet with both interfaces", "[root@cl ~]# lnetctl net show --net tcp\nnet:\n    - net type: tcp\n      local NI(s):\n        - nid: 10.50.0.101@tcp\n          interfaces:\n              0: ens1f0\n        - nid: 10.51.0.101@tcp\n          interfaces:\n              0: ens1f1\n[root@cl ~]# ip -br a | grep ens1\nens1f0        UP             10.50.0.101/24\nens1f1        UP             10.51.0.101/24\n", record.Unknown, 0},
		{"one member of Open vSwitch without LACP", "root@net1:~# ovs-appctl lacp/show bond0\n---- bond0 ----\n  status: active negotiated\n  sys_id: 00:00:5e:00:53:c1\n  lacp_time: fast\n\nslave: p1: current attached\n  may_enable: true\n\nslave: p2: defaulted detached\n  may_enable: false\n", record.LACPDown, 0.8},
		{"a vhost thread of a guest that sends", "[root@hv ~]# top -H -b -n1 | sed -n '7,9p'\n    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n  41220 root      20   0       0      0      0 R  99.7   0.0  88:12.01 vhost-41207\n[root@vm1 ~]# iperf3 -c 10.0.0.9 -P 8 | grep SUM\n[SUM]   0.00-30.00  sec  41.2 GBytes  11.8 Gbits/sec                  receiver\n[root@vm1 ~]# ethtool -i eth0 | head -1\ndriver: virtio_net\n", record.SenderCPU, 0.85},
		{"a program bound to the far node", numaLink + "[root@a ~]# numactl -N 0 -m 0 iperf3 -c b | grep rec\n[  5]   0.00-10.00  sec  20.6 GBytes  17.7 Gbits/sec                  receiver\n[root@a ~]# numactl -N 1 -m 1 iperf3 -c b | grep rec\n[  5]   0.00-10.00  sec  38.8 GBytes  33.3 Gbits/sec                  receiver\n", record.SenderCPU, 0.9},
		{"a filter that lets some in", "[root@m ~]# iptables -vnL INPUT\nChain INPUT (policy ACCEPT 912M packets, 61G bytes)\n pkts bytes target     prot opt in     out     source               destination\n 4120  247K ACCEPT     tcp  --  *      *       0.0.0.0/0            0.0.0.0/0            tcp dpt:22 limit: avg 10/sec burst 5\n", record.Unknown, 0},
		{"a port of a VLT pair that is down", "OS10# show vlt 1 vlt-port-detail\nvlt-port-channel ID : 12\nVLT Unit ID   Port-Channel   Status   Configured ports   Active ports\n-----------------------------------------------------------\n* 1           port-channel12 up       1                  1\n  2           port-channel12 down     1                  0\n", record.LACPDown, 0.8},
		{"scaling that both ends have", "web1# tcpdump -nni eth0\n10:02:11.110220 IP 10.1.0.31.44120 > 10.2.0.31.5201: Flags [S], seq 1, win 64240, options [mss 1460,sackOK,nop,wscale 7], length 0\n10:02:11.132330 IP 10.2.0.31.5201 > 10.1.0.31.44120: Flags [S.], seq 2, ack 2, win 65160, options [mss 1380,sackOK,nop,wscale 9], length 0\n", record.Unknown, 0},
		{"BBR that fills a line with some loss", "mtl1:~ # iperf3 -c 203.0.113.88 -t 60 -C bbr | tail -2\n[  5]   0.00-60.00  sec  6.56 GBytes   939 Mbits/sec  21203             sender\n[  5]   0.00-60.10  sec  6.55 GBytes   937 Mbits/sec                  receiver\n" +
			"mtl1:~ # ss -tin dst 203.0.113.88 | tail -1\n\t bbr wscale:12,12 rto:308 rtt:104.6/0.2 mss:1448 pmtu:1500 cwnd:17312 bytes_sent:7033122033 bytes_retrans:30702344 segs_out:4857130 pacing_rate 928738000bps delivery_rate 938120331bps minrtt:104.1\nmtl1:~ # ethtool eth3 | grep Speed\n\tSpeed: 1000Mb/s\n", record.LineRate, 0.8},
		{"a pace that the program set", "root@cdn:~# ss -tin dst 198.51.100.7\nState  Recv-Q  Send-Q  Local Address:Port  Peer Address:Port\nESTAB  0       2109440 203.0.113.5:443     198.51.100.7:51220\n\t bbr wscale:7,7 rto:220 rtt:18.1/0.3 mss:1448 cwnd:320 bytes_acked:91203312 send 204.8Mbps pacing_rate 50.0Mbps/50.0Mbps delivery_rate 49.8Mbps\n", record.Pacing, 0.8},
	} {
		check(t, []shows{{c.name, c.text, c.cause, c.least, nil, nil}})
	}
}
