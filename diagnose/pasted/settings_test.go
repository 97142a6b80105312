package pasted

import (
	"fmt"
	"strings"
	"testing"

	"github.com/linerate/linerate/record"
)

// TestSettingsTold: duplex, tunnels whose packets are cut, buffers that a program fixes and
// limits that somebody set, as sentences tell of them, and sentences that name them alone.
func TestSettingsTold(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"a mismatch", "Downloads at this desk crawl.\nThe technician found the port at half duplex, since somebody had hard coded the PC to 100/full.\n", record.Congestion, 0.6, 0.65, "late collisions", ""},
		{"half duplex alone", "The copies from this old printer server are slow.\nIts port came up at half-duplex after the move.\n", record.Congestion, 0.5, 0.55, "half duplex", ""},
		{"full duplex", "The copies from this old printer server are slow.\nIts port is not at half-duplex, I looked.\n", record.Unknown, 0, 0, "", "half duplex"},
		{"two halves of a sentence", "Copies from the lab are slow; the port there runs at half duplex.\n", record.Congestion, 0.5, 0.55, "half duplex", ""},
		{"a tunnel's fragments", "Our IPsec tunnel between the two sites gives 3 MB/s, which is slow.\nIn the capture all packets are fragmented, a full one and a tiny one by turns.\n", record.MTU, 0.5, 0.6, "tcp-mss", ""},
		{"fragments without a tunnel", "Our link between the two sites gives 3 MB/s, which is slow.\nIn the capture no packets are fragmented at all.\n", record.Unknown, 0, 0, "", "tcp-mss"},
		{"a black hole", "The client's configuration omits MSS clamping, which makes a PMTUD (Path MTU Discovery) black hole on Linux.\n", record.MTU, 0.6, 0.65, "larger ones do not", ""},
		{"large ones dropped", "Since the move both ports of the bond are dropping packets with sizes > the standard MTU of 1500.\nThe cause was a change in the bnx2 driver.\n", record.MTU, 0.6, 0.65, "larger ones do not", ""},
		{"less MTU against fragments", "WireGuard gives 5 Mbps here.\nFix: set MTU = 1280 on both ends to eliminate fragmentation.\n", record.MTU, 0.6, 0.8, "Smaller packets help", ""},
		{"a send buffer of its own", "The daemon sets SO_SNDBUF, which disables kernel buffer autotuning and makes a slow transfer where the way is long.\n", record.SendBuffer, 0.58, 0.65, "send buffer", ""},
		{"a receive buffer of its own", "The client sets SO_RCVBUF, which disables autotuning and makes a slow download where the way is long.\n", record.ReceiveWindow, 0.58, 0.65, "receive buffer", ""},
		{"loss of zero", "The way to the other site is slow, 11 Mbps at 190 ms.\n| Setting | Idle Latency (ms) | Download (Mbps) | Packet Loss (%) |\n| A | 190.91 | 11.22 | 0.0 |\n", record.ReceiveWindow, 0.4, 0.5, "", "slowed by few losses"},
		{"a limit and a rate", "This guest is slow.\nIts vif is rate limited to 100 MB/s, and iperf shows 757 Mbit/s.\n", record.Shaper, 0.6, 0.65, "limited to 800 Mbit/s", ""},
		{"a limit told behind its figure", "This guest is slow.\nIt has a 100 MBps rate limit, and iperf shows 757 Mbit/s.\n", record.Shaper, 0.6, 0.65, "limited to 800 Mbit/s", ""},
		{"a limit far above", "This guest is slow.\nIt has a 100 MBps rate limit, and iperf shows 120 Mbit/s.\n", record.Unknown, 0, 0, "", "limited to 800"},
		{"unlike limits", "The second NIC of our guest gets another bandwidth (vmware traffic shaping) than the bandwidth of the default NIC, which is different from the offer.\n", record.Shaper, 0.5, 0.6, "each card of a guest apart", "another interface than they should"},
		{"the wrong way back", "Second address, second uplink, and it does not answer.\nThe return path of the packets is different because they'll be routed via the first one.\n", record.AsymmetricRoute, 0.5, 0.7, "table and a rule", ""},
		{"ARP from everywhere", "Our docked laptop is slow, for any of its cards answers ARP for every address: inbound traffic arrives over wifi while outbound leaves over the cable.\n", record.AsymmetricRoute, 0.5, 0.7, "arp_ignore", ""},
		{"all on a core", "Our router is slower since the update.\nWhen a test runs, all the load goes onto a single CPU there.\n", record.ReceiverCPU, 0.45, 0.6, "one core", ""},
		{"a stack of its own", "Uploads within gVisor are slow: in the container 1.6 Mbit/s, on the host 2450 Mbit/s.\n", record.Application, 0.45, 0.55, "a program of its own", ""},
		{"a black hole, and the message that is missing", "MSS clamping is missing, which causes a PMTUD black hole on Linux.\n\nICMP \"Fragmentation Needed\" messages are not returned through the tunnel.\n", record.MTU, 0.55, 0.65, "larger ones do not", ""},
		{"pings above a size", "Between the guests of both hosts we saw packets being dropped.\nIt is dropping ping frames when using option -s2003 or above.\n", record.MTU, 0.55, 0.65, "larger ones do not", ""},
		{"a smaller MTU that ends stalls", "File transfers over zerotier stall.\nIf I drop the MTU to 1400 the problem remains, but dropping to 1300 causes the stalls to stop.\n", record.MTU, 0.6, 0.8, "Smaller packets help", ""},
		{"a smaller MTU, and the problem goes", "Our transfers over the VPN hang.\nIf I set the MTU to 1300 the problem goes away.\n", record.MTU, 0.6, 0.8, "Smaller packets help", ""},
		{"a smaller MTU, and all works", "Our transfers over the VPN hang.\nWith an MTU of 1300 everything works.\n", record.MTU, 0.6, 0.8, "Smaller packets help", ""},
		{"a smaller MTU, and full speed", "Our transfers over the VPN are slow.\nWhen I drop the MTU of wg0 to 1320 the transfers use the full bandwidth.\n", record.MTU, 0.6, 0.8, "Smaller packets help", ""},
		{"a smaller MTU, and nothing", "Our transfers over the VPN hang.\nIf I set the MTU to 1300 the problem does not go away.\n", record.Unknown, 0, 0, "", "Smaller packets help"},
		{"a faster server beside", "Uploads by SFTP are slow.\nThe transfer speed is much lower than OpenSSH on the same host.\n", record.Application, 0.45, 0.55, "another program is faster", ""},
		{"all by one interface", "We made an LACP bond of four NICs, and all performance seems to go through one interface instead of using four interfaces.\n", record.SingleLink, 0.4, 0.6, "", ""},
		{"four connections by one interface", "We made an LACP bond of four NICs, and all performance seems to go through one interface.\n" + "[  4] local 10.2.1.2 port 5001 connected with 10.2.4.2 port 37724\n[ ID] Interval Transfer Bandwidth\n[  6] 0.0-10.0 sec 382 MBytes 319 Mbits/sec\n[  5] 0.0-10.1 sec 368 MBytes 307 Mbits/sec\n[  4] 0.0-10.1 sec 295 MBytes 246 Mbits/sec\n[  7] 0.0-10.1 sec 137 MBytes 114 Mbits/sec\n[SUM] 0.0-10.1 sec 1.16 GBytes 987 Mbits/sec\n", record.SingleLink, 0.55, 0.65, "4 connections at once", ""},
		{"statistics that grow elsewhere", "The bond of our OVS is slow.\nstatistics : {collisions=0, rx_bytes=1189946, rx_crc_err=0, rx_dropped=0, rx_errors=0, rx_over_err=0, rx_packets=12963, tx_bytes=818}\n", record.Unknown, 0, 0, "", "drops what it receives"},
		{"power saving", "Our r8169 card receives slowly, 40 Mbit/s.\nAfter disabling ASPM on the kernel's command line it is fast again.\n", record.CardSlot, 0.55, 0.7, "--set-eee", ""},
		{"power saving in vain", "Our r8169 card receives slowly, 40 Mbit/s.\nDisabling ASPM on the kernel's command line made no difference.\n", record.Unknown, 0, 0, "", "--set-eee"},
		{"a rate behind iperf3's name", "The cable was changed, and it is slow still.\niperf3: 95 Mbit/s both directions\n", record.Unknown, 0, 0, "", "did not run"},
		{"hashes of MAC addresses, in Japanese", "balance-xor と 802.3ad の default では 送信元、宛先 mac アドレスの xor の計算で決まる 。\nclient は router 越しなので traffic が 分散されない 。\n", record.SingleLink, 0.55, 0.65, "the router's", ""},
		{"the same test, before and after", "Transfer speed was ~2.4 Gbits/sec, then with the new firmware it fell down to 1.4 Gbits/sec.\niperf3 before\n[ ID] Interval           Transfer     Bandwidth\n[  4]   0.00-10.00  sec  2.84 GBytes  2.44 Gbits/sec                  receiver\n", record.Unknown, 0, 0, "", "The network carries 2.44"},
	})
}

// TestChannelsAsTheyAre: a channel that is down, or a member that the switch does not use,
// is never told as well.
func TestChannelsAsTheyAre(t *testing.T) {
	const head = "admin@tor1:~$ show interfaces portchannel\nFlags: A - active, I - inactive, Up - up, Dw - Down, N/A - not available,\n       S - selected, D - deselected, * - not synced\n  No.  Team Dev       Protocol     Ports\n-----  -------------  -----------  ---------------------------\n"
	const well = "    1  PortChannel1   LACP(A)(Up)  Ethernet0(S) Ethernet4(S)\n"
	status := func(first, admin, second string) string {
		return "The LAG to our storage gives 94 of 188 Gbit/s.\nadmin@tor1:~$ show interfaces status\n    Interface            Lanes    Speed    MTU    FEC    Alias           Vlan    Oper    Admin             Type    Asym PFC\n-------------  ---------------  -------  -----  -----  -------  -------------  ------  -------  ---------------  ----------\n    Ethernet0          0,1,2,3     100G   9100    N/A   Eth1/1  PortChannel10    " + first + "       " + admin + "  QSFP28 or later         N/A\n    Ethernet4          4,5,6,7     100G   9100    N/A   Eth2/1  PortChannel10    " + second + "       up  QSFP28 or later         N/A\nPortChannel10              N/A     200G   9100    N/A      N/A          trunk      up       up              N/A         N/A\n"
	}
	const ios = "tor#show etherchannel summary\nFlags:  D - down        P - bundled in port-channel\nGroup  Port-channel  Protocol    Ports\n------+-------------+-----------+-----------------------------------------------\n1      Po1(SU)         LACP      Gi1/0/1(P)  Gi1/0/2(P)\n"
	judgeHardware(t, []hardwareCase{
		{"a member without a link", status("down", "up", "up"), record.LACPDown, 0.8, 0.9, "Ethernet0", ""},
		{"a member that somebody shut", status("down", "down", "up"), record.Unknown, 0, 0, "", "not in the bundle"},
		{"all members up", status("up", "up", "up"), record.Unknown, 0, 0, "", "not in the bundle"},
		{"all are well", head + well, Healthy, 0.7, 0.7, "both ends agree", ""},
		{"one is down and empty", head + well + "    2  PortChannel2   LACP(A)(Dw)\n", record.Unknown, 0, 0, "", "both ends agree"},
		{"a member is not synced", head + "    1  PortChannel1   LACP(A)(Up)  Ethernet0(S) Ethernet4(S*)\n", record.LACPDown, 0.6, 0.75, "Ethernet4", "both ends agree"},
		{"none is synced", head + well + "    2  PortChannel2   LACP(A)(Dw)  Ethernet8(S*) Ethernet12(S*)\n", record.LACPDown, 0.6, 0.75, "not synced", "both ends agree"},
		{"down with all members", head + well + "    2  PortChannel2   LACP(A)(Dw)  Ethernet8(S) Ethernet12(S)\n", record.LACPDown, 0.6, 0.65, "min-links", "both ends agree"},
		{"all are well, IOS", ios, Healthy, 0.7, 0.7, "both ends agree", ""},
		{"one is down and empty, IOS", ios + "2      Po2(SD)         LACP      \n", record.Unknown, 0, 0, "", "both ends agree"},
	})
}

// TestLooksAtCores: of several looks at the cores the busiest counts, and the mean where
// one is printed.
func TestLooksAtCores(t *testing.T) {
	const head = "     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest   %idle\n"
	look := func(at string, full bool) string {
		second := "0.00    0.00    1.00    0.00    0.00    1.00    0.00    0.00   98.00"
		if full {
			second = "0.00    0.00    1.00    0.00    0.00   99.00    0.00    0.00    0.00"
		}
		return at + head + at + "       0    1.00    0.00    1.00    0.00    0.00    0.00    0.00    0.00   98.00\n" + at + "       1    " + second + "\n\n"
	}
	const slow = "The router is slow.\n\n"
	mean := "Average:  " + head + "Average:       0    1.00    0.00    1.00    0.00    0.00    0.00    0.00    0.00   98.00\nAverage:       1    0.00    0.00    1.00    0.00    0.00   17.00    0.00    0.00   82.00\n"
	judgeHardware(t, []hardwareCase{
		{"full, then idle", slow + look("02:26:21", true) + look("02:26:22", false) + look("02:26:23", false), record.ReceiverCPU, 0.7, 0.85, "core 1", ""},
		{"idle, then full", slow + look("02:26:21", false) + look("02:26:22", true), record.ReceiverCPU, 0.7, 0.85, "core 1", ""},
		{"busybox, with decimals", slow + "CPU0:  0.0% usr  0.0% sys  0.0% nic  1.8% idle  0.0% io  0.0% irq 98.1% sirq\nCPU1:  0.0% usr  1.0% sys  0.0% nic 98.0% idle  0.0% io  0.0% irq  1.0% sirq\n", record.ReceiverCPU, 0.7, 0.85, "core 0", ""},
		{"one of eight", slow + look("02:26:21", true) + strings.Repeat(look("02:26:22", false), 7), record.Unknown, 0, 0, "", "core 1"},
		{"the mean", slow + look("02:26:21", true) + look("02:26:22", false) + mean, record.Unknown, 0, 0, "", "core 1"},
	})
}

// TestBareAllowances: AWS's counters as grep leaves them.
func TestBareAllowances(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"many", "Our instance is slow.\n\n    ethtool -S ens5\n    bw_in_allowance_exceeded: 314\n    bw_out_allowance_exceeded: 281794\n", record.Shaper, 0.85, 0.95, "bw_out_allowance_exceeded", ""},
		{"none", "Our instance is slow.\n\n    ethtool -S ens5\n    bw_in_allowance_exceeded: 0\n    bw_out_allowance_exceeded: 0\n", record.Unknown, 0, 0, "", "allowance_exceeded)"},
	})
}

// TestLimitsInOutputs: limits that outputs and commands show, as pages have them: without
// indents, in small letters, and by makers' names of adapters.
func TestLimitsInOutputs(t *testing.T) {
	const forced = "Copies are slow.\n\nSettings for eth15:\n        Supported ports: [ TP ]\n        Supported link modes:   10baseT/Half 10baseT/Full\n                                1000baseT/Full\n        Speed: 100Mb/s\n        Duplex: Full\n        Auto-negotiation: %s\n        Link detected: yes\n"
	const lshwCard = "Copies are slow.\n\n   description: Ethernet interface\n    product: DGE-530T Gigabit Ethernet Adapter (rev 11)\n    vendor: D-Link System Inc\n    bus info: pci@BUS\n    logical name: eth1\n    size: 1Gbit/s\n    capacity: 1Gbit/s\n    width: 32 bits\n    clock: 66MHz\n    capabilities: pm vpd bus_master cap_list ethernet physical tp 1000bt-fd autonegotiation\n"
	const police = "Users of the branch see a slow network.\n\nService-policy output: QOS\nclass-map: BULK (match-all)\n1000 packets, 100000 bytes\ndrop rate 2000 bps\nmatch: ip dscp ef\npolice:\ncir 4000000 bps, bc 125000 bytes\nconformed 500 packets, 50000 bytes; actions:\ntransmit\n"
	judgeHardware(t, []hardwareCase{
		{"a policer that drops", police + "exceeded 500 packets, 50000 bytes; actions:\ndrop\n", record.Shaper, 0.6, 0.9, "4.00 Mbit/s", ""},
		{"a policer that does not", police + "exceeded 0 packets, 0 bytes; actions:\ndrop\n", record.Unknown, 0, 0, "", "polices to 4.00"},
		{"dladm", "Copies are slow.\n\n$ dladm set-linkprop -p maxbw=2m e1000g0\n", record.Shaper, 0.55, 0.65, "limits a link or a flow of this host to 2.00 Mbit/s", ""},
		{"an adapter at USB 2", "Gigabit only.\n\n|__1-3 1c04:0015:0101 00 2.10 480MBit/s 500mA 1IF (QNAP QNAP QNA-UC5G1T USB to 5GbE Adapter 2BI03114)\n", record.CardSlot, 0.75, 0.85, "USB 2.0", ""},
		{"a speed set by hand", fmt.Sprintf(forced, "off"), record.LineRate, 0.7, 0.8, "set by hand", "four pairs"},
		{"a speed that was negotiated", fmt.Sprintf(forced, "on"), record.LineRate, 0.6, 0.7, "four pairs", "set by hand"},
		{"a card for PCI", strings.ReplaceAll(lshwCard, "BUS", "0000:03:00.0"), record.CardSlot, 0.55, 0.65, "not for PCI Express", ""},
		{"a card for PCI Express", strings.ReplaceAll(strings.ReplaceAll(lshwCard, "BUS", "0000:03:00.0"), "vpd", "pciexpress"), record.Unknown, 0, 0, "", "not for PCI Express"},
		{"a card on the board", strings.ReplaceAll(lshwCard, "BUS", "0000:00:19.0"), record.Unknown, 0, 0, "", "not for PCI Express"},
		{"an adapter at USB 3", "Gigabit only.\n\n|__2-3 1c04:0015:0101 00 3.20 5000MBit/s 500mA 1IF (QNAP QNAP QNA-UC5G1T USB to 5GbE Adapter 2BI03114)\n", record.Unknown, 0, 0, "", "USB 2.0"},
	})
}

// TestNamesOfNoSystem: names and words that two systems, or two programs, have in common.
func TestNamesOfNoSystem(t *testing.T) {
	const em = "The second card of this server does not answer.\n\n# ip route list\ndefault via 10.31.96.1 dev em3 proto static\n10.31.96.0/22 dev em3 proto kernel scope link src 10.31.97.100\n10.31.96.0/22 dev em4 proto kernel scope link src 10.31.96.61\n"
	const bond = "# cat /etc/network/interfaces\nauto bond0\niface bond0 inet static\naddress 10.0.1.1\nnetmask 255.255.255.0\nslaves eth0 eth5\nbond_mode 4\n"
	judgeHardware(t, []hardwareCase{
		{"em3 of Linux", em, record.AsymmetricRoute, 0.5, 0.95, "ARP flux", "FreeBSD"},
		{"an option without bond-", bond + "xmit_hash_policy layer2+3\n", record.SingleLink, 0.5, 0.6, "without bond- in front", "not set"},
		{"no policy", bond, record.SingleLink, 0.4, 0.5, "not set", "without bond-"},
		{"a policy", bond + "bond_xmit_hash_policy layer3+4\n", record.Unknown, 0, 0, "", "not set"},
	})
}

// TestUnreadSockets: what waits in a connection's receive queue is a program's matter, and
// neither what waits to be sent nor a listener's backlog is.
func TestUnreadSockets(t *testing.T) {
	const head = "The NFS server hangs under load, clients are slow.\n\n$ ss -nt\nState Recv-Q Send-Q Local Address:Port Peer Address:Port\n"
	judgeHardware(t, []hardwareCase{
		{"much", head + "ESTAB 3767744 0 192.0.2.21:2049 192.0.2.137:689\nESTAB 0 0 192.0.2.21:2049 192.0.2.137:739\n", record.Application, 0.6, 0.65, "port 2049", ""},
		{"in several", head + "ESTAB 3767744 0 192.0.2.21:2049 192.0.2.137:689\nESTAB 940000 0 192.0.2.21:2049 192.0.2.137:739\n", record.Application, 0.66, 0.7, "port 2049", ""},
		{"little", head + "ESTAB 37677 0 192.0.2.21:2049 192.0.2.137:689\n", record.Unknown, 0, 0, "", "receive queue"},
		{"to be sent", head + "ESTAB 0 3767744 192.0.2.21:2049 192.0.2.137:689\n", record.Unknown, 0, 0, "", "receive queue"},
		{"a listener's", head + "LISTEN 3767744 128 192.0.2.21:2049 *:*\n", record.Unknown, 0, 0, "", "receive queue"},
	})
}

// TestSizesOfPings: a packet of more than 1500 bytes is lost where nobody sends jumbo
// frames, and Linux's -D forbids nothing.
func TestSizesOfPings(t *testing.T) {
	ping := func(command string, size, got int) string {
		return fmt.Sprintf("$ %s\nPING 192.0.2.8 (192.0.2.8) %d(%d) bytes of data.\n\n--- 192.0.2.8 ping statistics ---\n1 packets transmitted, %d received, %d%% packet loss, time 0ms\n\n", command, size, size+28, got, 100-100*got)
	}
	const slow = "Downloads are slow.\n\n"
	judgeHardware(t, []hardwareCase{
		{"1501 bytes", slow + ping("ping -s 1472 -D 192.0.2.8 -c 1", 1472, 1) + ping("ping -s 1473 -D 192.0.2.8 -c 1", 1473, 0), record.Unknown, 0, 0, "", "do not get through"},
		{"1500 bytes", slow + ping("ping -s 1372 -M do 192.0.2.8 -c 1", 1372, 1) + ping("ping -s 1472 -M do 192.0.2.8 -c 1", 1472, 0), record.MTU, 0.65, 0.9, "don't fragment", ""},
		{"with -D alone", slow + ping("ping -s 1372 -D 192.0.2.8 -c 1", 1372, 1) + ping("ping -s 1472 -D 192.0.2.8 -c 1", 1472, 0), record.MTU, 0.6, 0.8, "1472 bytes: 0 of 1", "don't fragment"},
		{"jumbo frames", slow + ping("ping -s 1472 -M do 192.0.2.8 -c 1", 1472, 1) + ping("ping -s 8972 -M do 192.0.2.8 -c 1", 8972, 0), record.MTU, 0.65, 0.9, "8972 bytes", ""},
	})
}

// TestRulesThatAreThere: nobody is told to add a rule that he has added.
func TestRulesThatAreThere(t *testing.T) {
	const routes = "The second NIC of our VM on Azure cannot reach anything outside.\n\nroot@a:~# ip route\ndefault via 10.0.1.1 dev eth0\n10.0.1.0/24 dev eth0 proto kernel scope link src 10.0.1.4\n10.0.2.0/24 dev eth1 proto kernel scope link src 10.0.2.4\n"
	const advice = "ip rule add from 10.0.2.4 table 102"
	judgeHardware(t, []hardwareCase{
		{"no rule", routes, record.AsymmetricRoute, 0.75, 0.85, advice, ""},
		{"a rule, at a prompt", routes + "root@a:~# sudo ip rule add from 10.0.2.4/32 table sfn\n", record.Unknown, 0, 0, "", advice},
		{"a rule, in a script", routes + "\nWe added these lines:\n\nip route add default via 10.0.2.1 dev eth1 table sfn\nip rule add from 10.0.2.0/24 table sfn\n", record.Unknown, 0, 0, "", advice},
		{"a rule, in ifupdown", routes + "root@a:~# cat /etc/network/interfaces\nauto eth1\niface eth1 inet static\n    address 10.0.2.4/24\n    post-up ip rule add from 10.0.2.4 table sfn\n", record.Unknown, 0, 0, "", advice},
		{"another's rule", routes + "root@a:~# ip rule add from 10.0.9.4/32 table sfn\n", record.AsymmetricRoute, 0.75, 0.85, advice, ""},
	})
}
