package pasted

import (
	"testing"

	"github.com/linerate/linerate/record"
)

// TestStoriesDenied: each cause that sentences tell by facts together, in other words than
// TestStories has, and the same words where they deny it or name another cause.
func TestStoriesDenied(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"both passive, a switch each", "Our aggregate stays down and throughput is poor.\nEach switch has its ports in LACP passive.\n", record.LACPDown, 0.5, 0.65, "active", ""},
		{"not both passive", "Our aggregate is up and throughput is poor.\nIt is not the case that both sides are passive, one of them is active.\n", record.Unknown, 0, 0, "", "neither speaks first"},

		{"no LACP frames", "Only half of the bandwidth is there.\nThe second port of the server never sees any LACP PDUs from the switch.\n", record.LACPDown, 0.5, 0.65, "tcpdump", ""},
		{"LACP frames that are there", "Only half of the bandwidth is there, slow.\nLACP PDUs are sent and received on both ports, I checked with tcpdump.\n", record.Unknown, 0, 0, "", "hears no LACP frames"},

		{"the host's round robin", "We only get half the throughput that we expected.\nThe Nexus has a port-channel with LACP while the Linux servers use balance-rr.\n", record.LACPDown, 0.5, 0.6, "Make both the same", ""},
		{"modes that were equal", "We only get half the throughput that we expected.\nThe Nexus has LACP and so do the Linux servers, nothing is static.\n", record.Unknown, 0, 0, "", "Make both the same"},

		{"management instead of storage", "The backup takes the whole night.\nAll of it is sent over the management network instead of the 25G interface.\n", record.AsymmetricRoute, 0.5, 0.6, "subnet of their own", ""},
		{"not the management", "The backup takes the whole night, the network is slow.\nIt does not use the management network but the 25G interface, I watched the counters.\n", record.Unknown, 0, 0, "", "takes another link than"},

		{"storage that hangs on jumbo", "As soon as I enable jumbo frames on the storage VLAN the NFS mounts hang, without jumbo frames it works.\n", record.MTU, 0.55, 0.65, "8972", ""},
		{"jumbo that is not it", "NFS mounts hang now and then and it is slow.\nEnabling jumbo frames did not break anything, they hang at 1500 too.\n", record.Unknown, 0, 0, "", "large frames stop"},

		{"ICMP that is filtered", "Large downloads stall, small pages are fine.\nThe firewall drops the ICMP fragmentation needed messages.\n", record.MTU, 0.5, 0.6, "type 3", ""},
		{"ICMP that passes", "Large downloads stall, small pages are fine.\nThe firewall does not drop ICMP fragmentation needed, I see them arrive.\n", record.Unknown, 0, 0, "", "does not reach the sender"},

		{"GRE with IPsec", "Ping works between the sites but file copies hang.\nThe sites are connected by GRE over IPsec.\n", record.MTU, 0.4, 0.6, "1400", ""},
		{"no GRE", "Ping works between the sites but file copies are slow.\nThere is neither GRE nor IPsec between the sites.\n", record.Unknown, 0, 0, "", "GRE within IPsec"},

		{"sprayed packets", "A single TCP stream is far below one link.\nThe routers do per-packet load balancing over both lines and we see lots of out-of-order segments.\n", record.Reordering, 0.5, 0.6, "per-destination", ""},
		{"no packet out of order", "A single TCP stream is slow.\nThe routers do per-packet load balancing over both lines, but no packets arrive out of order.\n", record.Unknown, 0, 0, "", "overtake each other for"},

		{"one portal", "ESXi gets 110 MB/s from the iSCSI array though both NICs are bound.\nThe array has just one portal.\n", record.SingleLink, 0.5, 0.6, "portal", ""},
		{"two portals", "ESXi gets slow reads from the iSCSI array though both NICs are bound.\nThe array does not have just one portal, each port has its own.\n", record.Unknown, 0, 0, "", "one portal or session"},

		{"the processor is the bottleneck", "Copies to the NAS are slow.\nThe bottleneck is the CPU of the little box.\n", record.SenderCPU, 0.5, 0.6, "top -H", ""},
		{"a processor that only might be", "Copies to the NAS are slow.\nI wonder whether the bottleneck is the CPU of the little box.\n", record.Unknown, 0, 0, "", "processor is the limit"},

		{"writes that wait", "The iSCSI volume writes 40 MB/s over 10GbE, the network is slow.\nThe database does synchronous writes to the volume.\n", record.Application, 0.45, 0.6, "iodepth", ""},
		{"no synchronous writes", "The iSCSI volume writes 40 MB/s over 10GbE, the network is slow.\nThere are no synchronous writes to the volume, sync is disabled.\n", record.Unknown, 0, 0, "", "One request at a time"},

		{"a guest with a part", "Network in our guest is slow.\nOn the Proxmox node itself iperf3 shows 23 Gbps, inside the virtual machine 6 Gbps.\n", record.ReceiverCPU, 0.45, 0.55, "vhost", ""},
		{"a guest whose uplink is a gigabit", "Network in our guest is slow.\nOn the Proxmox node itself iperf3 shows 940 Mbps, inside the virtual machine 930 Mbps.\n", record.Unknown, 0, 0, "", "guest's card"},

		{"one uplink of all", "Eight cameras' recorders together never get above 940 Mbit/s, too slow.\nBoth racks share a single uplink.\n", record.LineRate, 0.5, 0.6, "UPLINK", ""},
		{"no shared uplink", "Eight cameras' recorders together never get above 940 Mbit/s, too slow.\nThe racks do not share an uplink, each has four.\n", record.Unknown, 0, 0, "", "one uplink is behind"},

		{"a full gigabit", "Why does my copy stop at 113 MB/s?\nBoth machines hang at a gigabit switch.\n", record.LineRate, 0.5, 0.6, "ethtool LINK", ""},
		{"half a gigabit", "Why does my copy stop at 60 MB/s?\nBoth machines hang at a gigabit switch.\n", record.Unknown, 0, 0, "", "nothing is slow"},

		{"one lane", "The 10GbE card only does 3.2 Gbit/s in iperf3.\nThe only free slot is a PCIe 2.0 x1 slot.\n", record.CardSlot, 0.5, 0.65, "lspci -vv", ""},
		{"eight lanes", "The 10GbE card only does 3.2 Gbit/s in iperf3.\nIt is in a PCIe 3.0 x8 slot and not in the x1 slot below.\n", record.Unknown, 0, 0, "", "one lane of PCIe"},

		{"scp over 25G", "scp between the two servers gets 350 MB/s, slow.\nThey are connected with 25GbE.\n", record.SenderCPU, 0.45, 0.6, "cipher", ""},
		{"scp with an idle core", "scp between the two servers gets 350 MB/s, slow.\nThey are connected with 25GbE.\nThe CPU is not the limit, every core is idle.\n", record.Unknown, 0, 0, "", "encrypts a connection with one core"},

		{"a window over an ocean", "A download from our transatlantic office gets 3 MB/s.\nThe ping is 180 ms and both have a gigabit.\n", record.ReceiveWindow, 0.4, 0.6, "tcp_rmem", ""},
		{"buffers raised already", "A download from our transatlantic office gets 3 MB/s.\nThe ping is 180 ms and both have a gigabit.\nWe raised tcp_rmem and tcp_wmem to 64 MB already, no change.\n", record.Unknown, 0, 0, "", "twice the rate wanted times the round trip, with"},
		{"near", "A download from our office gets 3 MB/s.\nThe ping is 1 ms and both have a gigabit.\n", record.Unknown, 0, 0, "", "each connection over"},

		{"one flow in AWS", "Between two c5n.9xlarge EC2 instances a single iperf3 stream gets 4.95 Gbps only.\n", record.Shaper, 0.6, 0.7, "flow", ""},
		{"one flow in AWS that is less", "Between two c5n.9xlarge EC2 instances a single iperf3 stream gets 1.2 Gbps only.\n", record.Unknown, 0, 0, "", "limit of a flow"},
		{"a provider's cap", "Downloads on our Azure VM are slow.\nThe VM size is throttled to the network bandwidth of its type, support says: capped by Azure.\n", record.Shaper, 0.5, 0.6, "size", ""},
		{"no provider's cap", "Downloads on our Azure VM are slow.\nSupport says that it is not capped by Azure and there is no bandwidth limit.\n", record.Unknown, 0, 0, "", "the provider limits the instance"},
	})
}
