package pasted

import (
	"strings"
	"testing"
)

// TestMissing: what is asked for is of the question's kind and of the host's system, and
// was not read.
func TestMissing(t *testing.T) {
	const run = "[ ID] Interval           Transfer     Bitrate\n[  5]   0.00-10.00  sec  2.20 GBytes  1.89 Gbits/sec                  receiver\n"
	for _, c := range []struct {
		name, text string
		asks, not  []string
	}{
		{"routes alone", "$ ip route\ndefault via 192.0.2.1 dev ens3\n192.0.2.0/24 dev ens3 proto kernel scope link src 192.0.2.8\n", []string{"ip rule", "ip route get PEER", "ip -br addr"}, []string{"/proc/net/bonding", "lspci"}},
		{"rules that are there", "$ ip rule\n0:\tfrom all lookup local\n32766:\tfrom all lookup main\n32767:\tfrom all lookup default\n$ ip route\ndefault via 192.0.2.1 dev ens3\n192.0.2.0/24 dev ens3 proto kernel scope link src 192.0.2.8\n", []string{"ip route get PEER"}, []string{"ip rule;"}},
		{"a flap log", "[ 811.2] igb 0000:04:00.0 eno1: igb: eno1 NIC Link is Down\n[ 813.2] igb 0000:04:00.0 eno1: igb: eno1 NIC Link is Up 1000 Mbps Full Duplex, Flow Control: RX\n", []string{"journalctl", "show logging"}, []string{"lspci", "iperf3"}},
		{"NCCL", "# nThread 1 nGpus 1 minBytes 1073741824 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20\n#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n  8589934592    2147483648     float     sum      -1   692133   12.41   23.27      0   692011   12.41   23.27      0\n# Avg bus bandwidth    : 23.27\n", []string{"ACSCtl", "GDRDMA"}, []string{"mpstat", "/proc/net/bonding"}},
		{"a Linux guest", "# ethtool -i ens18 | head -1\ndriver: virtio_net\n# ethtool -l ens18\nChannel parameters for ens18:\nPre-set maximums:\nRX:\t\tn/a\nTX:\t\tn/a\nOther:\t\tn/a\nCombined:\t4\nCurrent hardware settings:\nRX:\t\tn/a\nTX:\t\tn/a\nOther:\t\tn/a\nCombined:\t4\n" + run, []string{"vhost"}, []string{"ethtool -l"}},
		{"a FreeBSD guest", "vtnet0: flags=8863<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\toptions=80028<VLAN_MTU,JUMBO_MTU,LINKSTATE>\n\tinet 192.0.2.1 netmask 0xffffff00 broadcast 192.0.2.255\n" + run, []string{"top -aSHP", "dev.vtnet", "vhost"}, []string{"/proc/", "mpstat", "ss -tin"}},
		{"FreeBSD's own card", "ix0: flags=8863<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\tinet 192.0.2.1 netmask 0xffffff00 broadcast 192.0.2.255\n" + run, []string{"top -aSHP"}, []string{"/proc/", "mpstat", "ss -tin", "vtnet", "lspci"}},
		{"ONTAP", "cluster2::> network port ifgrp show\n         Port       Distribution                   Active\nNode     IfGrp      Function     MAC Address       Ports   Ports\n-------- ---------- ------------ ----------------- ------- -------------------\ncluster2-01\n         a0a        port         02:a0:98:00:53:01 full    e0c, e0d\n", []string{"sysstat"}, []string{"ifgrp show", "/proc/", "mpstat", "lspci"}},
		{"a route table of FreeBSD's", "ix0: flags=8863<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\tinet 192.0.2.1 netmask 0xffffff00 broadcast 192.0.2.255\n# sysctl net.inet.tcp.sendbuf_max net.inet.tcp.recvbuf_max\nnet.inet.tcp.sendbuf_max: 2097152\nnet.inet.tcp.recvbuf_max: 2097152\n" + run, []string{"top -aSHP"}, []string{"recvbuf_max", "/proc", "ip rule"}},
		{"cores that are there", "# mpstat -P ALL 1 1\nAverage:     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\nAverage:     all    2.00    0.00    8.00    0.00    0.00    2.00    0.00    0.00    0.00   88.00\nAverage:       0    2.00    0.00    9.00    0.00    0.00    2.00    0.00    0.00    0.00   87.00\nAverage:       1    2.00    0.00    7.00    0.00    0.00    2.00    0.00    0.00    0.00   89.00\n" + run, []string{"ss -tin"}, []string{"mpstat"}},
	} {
		a := judge(c.text)
		said := a.Findings[0].Remedy + "\n"
		for _, m := range a.Missing {
			said += m.Command + " " + m.Why + "\n"
		}
		for _, want := range c.asks {
			if !strings.Contains(said, want) {
				t.Errorf("%s: nobody asks for %q: %s", c.name, want, said)
			}
		}
		for _, refused := range c.not {
			if strings.Contains(said, refused) {
				t.Errorf("%s: asks for %q: %s", c.name, refused, said)
			}
		}
	}
}
