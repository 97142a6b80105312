package pasted

import (
	"testing"

	"github.com/linerate/linerate/record"
)

// TestStories: what people tell in sentences, in words that differ, each beside the same
// words where they show nothing of the kind.
func TestStories(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"jumbo that stops all", "With mtu 9000 on both servers iperf3 drops to 0 bits/sec after a second, with mtu 1500 it works fine and is slow.\n", record.MTU, 0.55, 0.65, "8972", ""},
		{"jumbo that changes nothing", "With mtu 9000 on both servers iperf3 is as slow as before, only 2 Gbit/s.\n", record.Unknown, 0, 0, "", "large frames stop"},
		{"one end static", "The bond does not get faster than one link.\nThe switch ports are a static trunk, and the server runs a bond with mode 802.3ad.\n", record.LACPDown, 0.5, 0.6, "Make both the same", ""},
		{"both ends LACP", "The network is slow with our bond.\nThe switch ports are a LACP trunk, and the server runs a bond with mode 802.3ad.\n", record.Unknown, 0, 0, "", "Make both the same"},
		{"both passive", "The LAG between the two switches never agrees and the network is slow.\nLACP is passive on both sides of it.\n", record.LACPDown, 0.4, 0.65, "", ""},
		{"the slow link", "Copies are slow, never above 110 MB/s.\nSMB traffic uses the 1GbE port instead of the 10GbE card of the NAS.\n", record.AsymmetricRoute, 0.5, 0.6, "subnet of their own", ""},
		{"the fast link", "Copies are slow, never above 110 MB/s.\nSMB traffic uses the 10GbE card of the NAS as it should.\n", record.Unknown, 0, 0, "", "takes another link than"},
		{"a processor", "The upload by sftp to the NAS is slow over the network.\nIt is limited by the CPU of the NAS.\n", record.SenderCPU, 0.5, 0.6, "top -H", ""},
		{"no processor", "The upload by sftp to the NAS is slow over the network.\nIt is not limited by the CPU of the NAS.\n", record.Unknown, 0, 0, "", "processor is the limit"},
		{"a guest and its host", "The network of our VM is slow.\nThe host gets 9.4 Gbit/s with iperf3, but the VM gets 3 Gbit/s only.\n", record.ReceiverCPU, 0.45, 0.55, "vhost", ""},
		{"a guest as fast as its host", "The network of our VM is slow.\nThe host gets 9.4 Gbit/s with iperf3, but the VM gets 9 Gbit/s only.\n", record.Unknown, 0, 0, "", "guest's card"},
	})
}
