package pasted

import (
	"testing"

	"github.com/linerate/linerate/record"
)

// TestLinkStories: what sentences tell of several links and of storage over them, and what
// differs in what decides.
func TestLinkStories(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"two receivers on one link", "The file server has an LACP bond of two ports.\nTwo clients pull a file each, and yet the second port sits idle.\n", record.HashImbalance, 0.5, 0.55, "gives each pair of addresses a link", ""},
		{"no bundle", "The file server has two ports.\nTwo clients pull a file each, and yet the second port sits idle.\n", record.Unknown, 0, 0, "", "gives each pair"},
		{"a bundle that carries what one port does", "The file server's four 1 gigabit NICs are one LACP bundle.\nBy rsync we see about 112 MB/s whatever we do.\n", record.SingleLink, 0.5, 0.6, "one link is full", ""},
		{"several connections carry no more", "I set up mode 4 bonding with two 25G ports, a single iperf3 stream has 24.5 Gbit/s, eight streams have 24.5 Gbit/s too.\n", record.SingleLink, 0.5, 0.6, "two 25G ports", ""},
		{"a bundle that adds up", "LACP of two 10G ports, one stream carries 9.4 Gbit/s and four carry 18.6 Gbit/s together.\n", record.Unknown, 0, 0, "", "one link is full"},
		{"ports that are no bundle", "We have two 10G ports for storage and no bond, iperf3 shows 9.4 Gbit/s.\n", record.Unknown, 0, 0, "", "one link is full"},
		{"below one port", "There are two 10G ports with LACP, and a copy over NFS has 300 MB/s.\n", record.Unknown, 0, 0, "", "one link is full"},
		{"ports of two kinds", "The server has 4x1G in LACP and the switch 2x10G uplinks, rsync has 112 MB/s.\n", record.Unknown, 0, 0, "", "one link is full"},
		{"no partner", "We have LACP on both ports.\nThe partner MAC is 00:00:00:00:00:00 on the second one.\n", record.LACPDown, 0.6, 0.7, "no LACP frame", ""},
		{"a partner", "We have LACP on both ports.\nThe partner MAC is 00:1c:73:00:00:07 on both of them.\n", record.Unknown, 0, 0, "", "no LACP frame"},
		{"two aggregators", "Our bond is slow, in mode 4.\nThe two ports show different aggregator IDs there.\n", record.LACPDown, 0.55, 0.65, "in different aggregators", ""},
		{"one aggregator", "Our bond is slow, in mode 4.\nThe two ports show the same aggregator ID there.\n", record.Unknown, 0, 0, "", "in different aggregators"},
		{"a port that drops", "Both servers write to the array at once.\nOn the switch the array's port shows thousands of output drops.\n", record.Congestion, 0.5, 0.6, "more arrives for that port", ""},
		{"a port without drops", "Both servers write to the array at once.\nOn the switch the array's port shows no output drops.\n", record.Unknown, 0, 0, "", "more arrives for that port"},
		{"one flow in AWS", "Two c5n.9xlarge instances in EC2. A single stream carries 4.97 Gbit/s between them.\n", record.Shaper, 0.6, 0.7, "single flow", ""},
		{"a faster flow in AWS", "Two c5n.9xlarge instances in EC2. A single stream carries 4.97 Gbit/s, and 9.5 Gbit/s in the placement group.\n", record.Unknown, 0, 0, "", "5 Gbit/s, 10 within"},
		{"a tunnel that takes no large packets", "Through our IPsec tunnel pings work, but large downloads hang.\n", record.MTU, 0.5, 0.6, "small things pass the tunnel", ""},
		{"a flow with the default window", "Our two sites are 10 Gbit/s with 40 ms. One TCP stream carries 600 Mbit/s.\n", record.ReceiveWindow, 0.5, 0.6, "3 MiB", ""},
		{"a flow with no usual window", "Our two sites are 10 Gbit/s with 40 ms. One TCP stream carries 1.9 Gbit/s.\n", record.Unknown, 0, 0, "", "3 MiB"},
		{"more streams are no faster", "It is an old iperf3 version 3.9, and -P 8 is no faster than -P 1.\n", record.SenderCPU, 0.5, 0.6, "single thread", ""},
		{"all by one of two links", "Both NICs are in the same subnet, and all traffic leaves through eth0.\n", record.AsymmetricRoute, 0.5, 0.6, "one route for a subnet", ""},
		{"a ring that is full", "While it runs rx_missed_errors of the card keeps climbing, it is over 40000 now.\n", record.CardSlot, 0.5, 0.6, "ethtool -G", ""},
		{"a ring that is not", "While it runs rx_missed_errors of the card stays at 0 in every test.\n", record.Unknown, 0, 0, "", "ethtool -G"},
		{"damaged frames", "The link is slow by TCP.\nThe switch shows CRC errors on that port, and they are increasing.\n", record.Congestion, 0.6, 0.7, "arrive damaged", ""},
		{"no damaged frames", "The link is slow by TCP.\nThe switch shows no CRC errors on that port, and the others are increasing.\n", record.Unknown, 0, 0, "", "arrive damaged"},
		{"a reader that is slow", "The transfer to the backup server is slow, the capture shows many zero windows from it.\n", record.Application, 0.5, 0.6, "does not read as fast", ""},
		{"a reader that is not", "The transfer to the backup server is slow, the capture shows no zero windows from it.\n", record.Unknown, 0, 0, "", "does not read as fast"},
		{"larger than its own link", "With jumbo frames on both cards ping -M do -s 8972 says message too long.\n", record.MTU, 0.5, 0.6, "host itself refuses", ""},
		{"a hash of MACs behind a router", "Our port channel uses src-mac load-balance and all clients come through the router.\n", record.SingleLink, 0.55, 0.65, "has the router's", ""},
		{"a hash of MACs", "Our port channel uses src-mac load-balance and all clients are at the same switch.\n", record.Unknown, 0, 0, "", "has the router's"},
		{"a core that receives", "The receive side has one core at 100% in softirq, 22 Gbit/s is all we get.\n", record.ReceiverCPU, 0.5, 0.66, "one core", ""},
		{"one uplink for each guest", "Each host has 4x10G uplinks and the policy is route based on originating virtual port. One large guest does not get beyond 9.5 Gbit/s.\n", record.SingleLink, 0.5, 0.65, "originating virtual port", ""},
		{"several share a gigabit", "All four servers are 10G, and the firewall between has a gigabit port.\nFour servers at once back up at 28 MB/s each.\n", record.LineRate, 0.45, 0.55, "share it", ""},
		{"several below a gigabit", "All four servers are 10G, and the firewall between has a gigabit port.\nFour servers at once back up at 9 MB/s each.\n", record.Unknown, 0, 0, "", "share it"},
		{"the question of one client", "If I team four gigabit ports of the file server, can one workstation copy at 4 Gbit/s?\n", record.SingleLink, 0.55, 0.65, "all packets of one connection", ""},
		{"the question of many clients", "If I team four gigabit ports of the file server, will it survive a broken cable?\n", record.Unknown, 0, 0, "", "all packets of one connection"},
		{"softnet", "The receiver is slow, and time_squeeze in softnet_stat is increasing.\n", record.ReceiverCPU, 0.5, 0.65, "softnet", ""},
		{"a churned port", "After the restart of the switch one port of the bond is churned.\n", record.LACPDown, 0.55, 0.65, "not agreed", ""},
		{"a path that asks for less", "Uploads hang.\ntcpdump on the router shows need to frag (mtu 1400) for each of them.\n", record.MTU, 0.45, 0.65, "smaller packets", ""},
		{"a card without RSS", "The SMB copy is slow, only one channel is used, and RSS Capable is false there.\n", record.SingleLink, 0.45, 0.6, "has no RSS", ""},
		{"another slot", "Two equal hosts with 10G cards; the slow one reaches 3.5 Gbit/s only, its card is in a different PCIe slot.\n", record.CardSlot, 0.45, 0.6, "fewer lanes", ""},
		{"a client with one link", "The array has four ports for iSCSI with MPIO.\nThe initiator has only one gigabit port, and I want more.\n", record.LineRate, 0.45, 0.55, "the other has one", ""},
		{"a port without a speed", "Our LACP team is slow on some nodes.\nThe first port shows speed: -1 there.\n", record.LACPDown, 0.5, 0.6, "in no aggregator", ""},
		{"an export that is sync", "Copying to the NFS datastore crawls, only 4 MB/s written.\n# cat /etc/exports\n/tank/vm 192.0.2.0/24(rw,sync,no_subtree_check)\n", record.Application, 0.5, 0.6, "exports /tank/vm with sync", ""},
		{"an export that is async", "Copying to the NFS datastore crawls, only 4 MB/s written.\n# cat /etc/exports\n/tank/vm 192.0.2.0/24(rw,async,no_subtree_check)\n", record.Unknown, 0, 0, "", "with sync"},
	})
}
