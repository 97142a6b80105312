package pasted

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/record"
)

// TestSeenWays: by which link it goes, what a program's buffer lets be under way, and what
// is rated, as sentences tell it, each beside a text that tells another thing.
func TestSeenWays(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"one link by MAC addresses", "LACP (mode 4) with the default layer2 hash policy.\nIn iperf3 with parallel streams the traffic stays concentrated on one physical link.\n", record.SingleLink, 0.55, 0.65, "chosen by MAC addresses", ""},
		{"all links", "LACP (mode 4) with the default layer2 hash policy.\nWith many clients the traffic runs evenly on both physical links, yet a copy is slow, 300 Mbit/s.\n", record.Unknown, 0, 0, "", "all goes by one"},
		{"round robin arrives by one", "Our bond is balance-rr, and the switch has a trunk.\nA connection is slow: traffic from one node is always received on the same single port of the other.\n", record.SingleLink, 0.55, 0.65, "the switch chooses", ""},
		{"ARP", "Our server has 4 interfaces in the same subnet and gets only 1 Gbit/s.\nAll of it arrives on the interface with the first address.\n", record.AsymmetricRoute, 0.5, 0.65, "arp_ignore", ""},
		{"the first of two routes", "Two interfaces are on the same subnet, 90 Mbit/s in all.\nAll outgoing packets always run via the first one.\n", record.AsymmetricRoute, 0.55, 0.65, "looked up by the destination", ""},
		{"vmkernel ports", "I made 4 vmkernel ports for NFS in one subnet, and get 1 Gbit/s.\nThe remaining 3 vmkernels are never used.\n", record.SingleLink, 0.6, 0.65, "nconnect", ""},
		{"the same key", "Two LACP bundles of our server lead to four switches, which have the same actor system ID.\nThe second bundle stays down.\n", record.LACPDown, 0.5, 0.6, "taken for the first's", ""},
		{"credits", "An EC2 c5.xlarge starts fast and then drops to 1.14 Gbps after just 13 minutes.\n", record.Shaper, 0.5, 0.7, "", ""},
		{"as documented", "Azure documents the throughput of our VM size at 10000 Mbps.\nBy our data for TCP throughput we are at that number.\n", record.Shaper, 0.55, 0.65, "type or contract", ""},
		{"its own send buffer", "The query takes 25 s over a line of 100M with latency 20 ms.\nsocket.setSendBufferSize(16*1024)\n", record.SendBuffer, 0.6, 0.7, "small send buffer", ""},
		{"its own large buffer", "The query takes 25 s over a line of 100M with latency 20 ms.\nsocket.setSendBufferSize(64*1024*1024)\n", record.Unknown, 0, 0, "", "small send buffer"},
		{"ssh over a WAN", "scp, sftp and rsync work fine between local hosts, but they perform poorly on the WAN.\n", record.Application, 0.5, 0.55, "window of its own", ""},
		{"OpenVPN's buffers", "OpenVPN by TCP carries only 6 Mbit/s over a link with 100 ms RTT, however many streams; CPU is low.\n", record.ReceiveWindow, 0.5, 0.6, "sndbuf 0", ""},
		{"OpenVPN nearby", "OpenVPN by TCP carries only 6 Mbit/s over a link with 2 ms RTT, however many streams; CPU is low.\n", record.Unknown, 0, 0.6, "", "sndbuf 0"},
		{"smaller segments", "B to A is slow over two tunnels, at 0.4 Mbit/s.\niperf3 -c 192.0.2.2 -t 10 -M 1350 # at once back to 49 Mbps\n", record.MTU, 0.5, 0.8, "", ""},
		{"no messages", "scp over WireGuard and IPsec is slow, 30 KB/s.\nICMP is banned on the whole site.\n", record.MTU, 0.45, 0.6, "tcp_mtu_probing", ""},
		{"PPPoE", "Over PPPoE our WireGuard tunnels have all the same problems.\nThe wg0 interfaces have the default MTU of 1420.\n", record.MTU, 0.45, 0.6, "1412", ""},
		{"a card of 2.5G", "The other PC has a 2.5Gb PCI-E card, mine 10G.\nIn iperf3 I get only 2.37 Gbit/s.\n", record.LineRate, 0.6, 0.7, "2.50 Gbit/s", ""},
		{"below a card of 2.5G", "The other PC has a 2.5Gb PCI-E card, mine 10G.\nIn iperf3 I get only 1.37 Gbit/s.\n", record.Unknown, 0, 0.5, "", "nothing is slow"},
		{"zero windows", "The transfer gets 80 Mbit/s at most.\nThere were 30 zero window segments in a matter of seconds.\n", record.Application, 0.5, 0.6, "closes its window", ""},
	})
}

// TestNotSeenWays: words of the same kind that deny it, ask, or tell of something else.
func TestNotSeenWays(t *testing.T) {
	for _, c := range [][2]string{
		{"LACP with layer3+4. Is it true that traffic always stays on one link with a layer2 policy? I get 1 Gbit/s.\n", "all goes by one"},
		{"LACP with a layer2 hash. The traffic doesn't stay on one link, and a copy is slow.\n", "all goes by one"},
		{"balance-rr is slow, 600 Mbit/s, but traffic is not received on one port, both get half.\n", "the switch chooses"},
		{"Two NICs in the same subnet, slow. Outgoing packets never leave via the first NIC.\n", "looked up by the destination"},
		{"NFS on ESXi is slow, 80 MB/s, with two vmkernel ports, and both are used. The third vmnic was not used before.\n", "ESXi takes the first"},
		{"LACP: slow, 1 Gbit/s. The two switches are a stack, and our bond is up with the same actor key on both ports.\n", "taken for the first's"},
		{"The EC2 instance never drops to 1 Gbps after 10 minutes; it is slow at once, 300 Mbit/s.\n", "credits pay for"},
		{"The type lists a throughput of 10000 Mbps. We never reach that limit: 3 Gbit/s.\n", "type or contract"},
		{"scp is slow, 30 MB/s, on the LAN. Others say that ssh performs poorly on the WAN?\n", "window of its own"},
		{"WireGuard is slow, 30 Mbit/s. ICMP is not blocked anywhere.\n", "tcp_mtu_probing"},
		{"iperf3 -c 192.0.2.2 -M 1400 # collapses to 0.4 Mbit/s\nIt is slow.\n", "smaller packets"},
		{"We have a 2.5Gb switch and 10G cards, and SMB gets 240 MB/s of disks.\n", "nothing is slow"},
		{"No zero window segments are seen, 0 zero window packets in all, but it gets 80 Mbit/s at most.\n", "closes its window"},
	} {
		for _, f := range judge(c[0]).Findings {
			if strings.Contains(f.Text, c[1]) {
				t.Errorf("%s: named %s: %s", c[0], f.Cause, f.Text)
			}
		}
	}
}
