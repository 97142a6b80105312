package pasted

import (
	"testing"

	"github.com/linerate/linerate/record"
)

// TestMTUTold: what people tell of packets' sizes, each beside the same where it says
// nothing of the kind.
func TestMTUTold(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"it worked, in the next sentence", "Over the VPN everything crawls.\nI changed the MTU of the tunnel to 1320.\nThat did the trick, thanks.\n", record.MTU, 0.6, 0.8, "ping -M do", ""},
		{"it did not work", "Over the VPN everything crawls.\nI changed the MTU of the tunnel to 1320.\nThat did not help at all.\n", record.Unknown, 0, 0, "", "Smaller packets help"},
		{"something else worked", "Over the VPN everything crawls.\nI changed the MTU of the tunnel to 1320, no change.\nRestarting the peer helped.\n", record.Unknown, 0, 0, "", "Smaller packets help"},
		{"it was the MTU", "Uploads by openvpn are five times slower than without.\nIn the end it was the MTU.\n", record.MTU, 0.6, 0.8, "", ""},
		{"whether it was the MTU", "Uploads by openvpn are five times slower than without.\nI wonder if it was the MTU.\n", record.Unknown, 0, 0, "", "Smaller packets help"},
		{"slow without", "Our wireguard peers are very slow without an MTU line in the config.\n", record.MTU, 0.5, 0.8, "", ""},
		{"an adjustment", "Pages hang behind the tunnel.\nAfter adjusting the MTU from 1500 to 1412 all of them load without a hitch.\n", record.MTU, 0.6, 0.8, "", ""},
		{"a size up to which it passes", "A copy over the storage network hangs.\nPings up to 4050 bytes pass, larger ones do not.\n", record.MTU, 0.55, 0.7, "ping -M do", ""},
		{"the size at which it hangs", "ssh sessions freeze.\nI can raise the mtu to 1390, at 1391 it hangs.\n", record.MTU, 0.55, 0.7, "", ""},
		{"any size", "A copy over the storage network is slow.\nPings up to 8972 bytes pass, larger ones are not possible with MTU 9000.\n", record.Unknown, 0, 0, "", "The largest packet that passes"},
		{"small MTU outside", "The overlay is broken where the outer network's MTU is smaller than 1450.\n", record.MTU, 0.5, 0.7, "", ""},
	})
}

// TestRatesTold: links that came up slow, guests below their link, what a tunnel costs.
func TestRatesTold(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"100baseT", "I subscribe to a gigabit but my box is only getting 100baseT, whatever port I take.\n", record.LineRate, 0.55, 0.65, "four pairs", ""},
		{"1000baseT", "I subscribe to a gigabit and my box is getting 1000baseT on each port, still slow.\n", record.Unknown, 0, 0, "", "four pairs"},
		{"ten megabits", "My gigabit card always negotiates a 10 Mbit/s link, with each switch that I have.\n", record.LineRate, 0.55, 0.65, "four pairs", ""},
		{"a guest on a fast link", "Two servers back to back with 100G cards. A KVM guest with virtio gets at most 12 Gb/s, how can I get more?\n", record.ReceiverCPU, 0.4, 0.5, "vhost", ""},
		{"a guest that fills its link", "Two servers back to back with 10G cards. A KVM guest with virtio gets at most 9.4 Gb/s, how can I get more?\n", record.Unknown, 0, 0, "", "each of its packets is copied"},
		{"what an overlay costs", "Traffic of pods between nodes with flannel's vxlan backend is slowed down by about 25%, why?\n", record.ReceiverCPU, 0.4, 0.5, "mpstat", ""},
		{"an overlay that costs little", "Traffic of pods between nodes with flannel's vxlan backend is slowed down by about 2%, why?\n", record.Unknown, 0, 0, "", "mpstat -P ALL 1` on both ends: one core"},
		{"a core, told behind", "I test with iperf3 and several streams and it is too slow.\nThe CPU load is at 100% all the time, but on one core.\n", record.SenderCPU, 0.5, 0.7, "", ""},
		{"heavy on the processor", "A backup by ssh gets 30 MB/s over gigabit, and the ssh server causes heavy CPU load.\n", record.SenderCPU, 0.5, 0.6, "cipher", ""},
		{"traced to the processor", "Our VPN router gives 20 of 50 Mbit/s, slow.\nI traced it down to the CPU of the little box.\n", record.SenderCPU, 0.5, 0.6, "top -H", ""},
		{"traced to something else", "Our VPN router gives 20 of 50 Mbit/s, slow.\nI traced it down to the line and not to the CPU of the box.\n", record.Unknown, 0, 0, "", "processor is the limit"},
		{"one core that is maxed out", "The speed of my VPN is low. In htop just one core was used and it was maxed out.\n", record.SenderCPU, 0.5, 0.65, "", ""},
		{"one core that is idle", "The speed of my VPN is low. In htop just one core was used and it was mostly idle.\n", record.Unknown, 0, 0, "", "one core is full"},
		{"uses it heavily", "With openvpn the speed drops from 300 to 20 Mbit/s and openvpn uses the CPU heavily.\n", record.SenderCPU, 0.4, 0.6, "", ""},
		{"the slower card", "Speed tests of the container get 900 Mbit/s only.\nIt was working on the 1 gigabit NIC instead of the 10 gigabit NIC.\n", record.AsymmetricRoute, 0.5, 0.6, "", ""},
		{"the faster card", "Speed tests of the container get 900 Mbit/s only.\nIt is working on the 10 gigabit NIC, I checked its counters.\n", record.Unknown, 0, 0, "", "takes another link than"},
		{"a program that works", "Our server got all its speed back, rsync is at work and all is fast now. Before it was slow.\n", record.Unknown, 0, 0, "", "heavy on the processor"},
	})
}

// TestWaysTold: subflows, offloads and ways, as people tell of them.
func TestWaysTold(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"one subflow", "MPTCP runs on both machines with two links each, but iperf shows that just one subflow is there.\n", record.SingleLink, 0.5, 0.6, "ip mptcp endpoint", ""},
		{"a subflow that is not used", "With MPTCP the second subflow never gets established over wlan0, all goes over eth0.\n", record.SingleLink, 0.5, 0.6, "ip mptcp endpoint", ""},
		{"two subflows", "With MPTCP both subflows are established and used, but it is slow.\n", record.Unknown, 0, 0, "", "MPTCP has one subflow"},
		{"an offload that breaks", "After turning off tx checksum offload the NFS stress test ran for a day without problems, before it stalled in minutes.\n", record.CardSlot, 0.6, 0.7, "ethtool -k", ""},
		{"unless an offload is off", "The network stops responding after some hours unless TSO is disabled.\n", record.CardSlot, 0.6, 0.7, "", ""},
		{"an offload in vain", "After turning off tx checksum offload the NFS stress test still stalls, no difference.\n", record.Unknown, 0, 0, "", "Without that offload"},
		{"misspelt", "Traffic is routing asymetric: the request comes by WAN1, the download starts from WAN2.\n", record.AsymmetricRoute, 0.55, 0.65, "", ""},
		{"not asymmetric", "Downloads stall on our two lines.\nThere is no asymmetric routing, I checked both ways.\n", record.Unknown, 0, 0, "", "another interface than they should"},
		{"another maker's card", "iSCSI is slow since the target has a second card: Windows talks to it by the Realtek adapter instead of the Intel one.\n", record.AsymmetricRoute, 0.5, 0.6, "", ""},
		{"everything out of one", "The target has four ports, all in the same network, and sends everything out of one interface, so reads are slow.\n", record.AsymmetricRoute, 0.5, 0.6, "arp_ignore", ""},
		{"a test of ports", "iperf3 sends packets through only one port of a server with two ports, the second port shows 0 bytes.\n", record.Unknown, 0, 0, "", "a session goes to the address"},
	})
}
