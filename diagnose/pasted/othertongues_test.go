package pasted

import (
	"testing"

	"github.com/linerate/linerate/internal/evidence/paste"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// TestOtherTongues: outputs between sentences in other languages are read, and a question in
// one of them is answered by what to send.
func TestOtherTongues(t *testing.T) {
	for _, question := range []string{
		"Moin, das Kopieren auf unser NAS ist sehr langsam, nur 30 MB/s im Netzwerk.",
		"Salut, la vitesse de mon réseau est mauvaise, seulement 25 Mo/s vers le serveur.",
		"La velocidad de mi red entre dos servidores es muy lenta, solo 200 Mbps.",
		"Подскажите, почему скорость копирования по сети только 40 МБ/с?",
		"请问为什么两台服务器之间的网络速度只有300Mbps？",
	} {
		c := paste.Parse([]piece.Text{{Name: "q", Bytes: []byte(question + "\n")}})
		if !paste.Answerable(c) {
			t.Errorf("no answer: %s", question)
			continue
		}
		if a := Judge(c); a.Findings[0].Cause != record.Unknown || len(a.Missing) == 0 {
			t.Errorf("%s %.2f, %d to send: %s", a.Findings[0].Cause, a.Findings[0].Confidence, len(a.Missing), question)
		}
	}
	for _, around := range []string{"Hier das Ergebnis mit zwei gebündelten Karten, leider nicht schneller:\n", "Voici le résultat avec deux ports en agrégation, pas mieux:\n", "Вот результат, два порта в LACP, быстрее не получается:\n", "两个网口做了链路聚合，测试结果如下：\n"} {
		c := paste.Parse([]piece.Text{{Name: "q", Bytes: []byte(around + gigabitRun)}})
		if len(c.Runs) != 1 || Judge(c).Findings[0].Cause != record.SingleLink {
			t.Errorf("%d runs, %s: %s", len(c.Runs), Judge(c).Findings[0].Text, around)
		}
	}
	c := paste.Parse([]piece.Text{{Name: "q", Bytes: []byte("Guten Abend, wer kann mir sagen, wo ich gute Brötchen bekomme?\n")}})
	if paste.Answerable(c) {
		t.Error("an answer to a question about bread")
	}
}

// TestStrangersTold: what people tell of guests, routers, read-ahead and ports, each beside
// the same where it says nothing of the kind.
func TestStrangersTold(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"one guest", "Five VMs on this ESXi get full speed, just one VM is slow at 300 Mbit/s.\n", record.ReceiverCPU, 0.4, 0.5, "that guest", ""},
		{"the others are fine", "All the other guests are fine, only this guest crawls over the network.\n", record.ReceiverCPU, 0.4, 0.5, "", ""},
		{"a new one", "Three of my virtual machines reach 9 Gbit/s with iperf, but the new VM never gets more than 800 Mbit/s.\n", record.ReceiverCPU, 0.4, 0.5, "", ""},
		{"all guests", "All VMs of this host are slow, none of them gets more than 300 Mbit/s.\n", record.Unknown, 0, 0, "", "other guests of the same host are fast"},
		{"more queues", "With multiqueue the throughput of my guest drops from 9 to 5 Gbit/s, virtio on KVM.\n", record.ReceiverCPU, 0.4, 0.5, "vhost", ""},
		{"set to eight", "I set queues=8 for the VM's virtio card and iperf3 got slower than before.\n", record.ReceiverCPU, 0.4, 0.5, "", ""},
		{"worse by queues", "Performance of the guest is worse with 4 queues than with one, virtio-net.\n", record.ReceiverCPU, 0.4, 0.5, "", ""},
		{"queues help", "With multiqueue the throughput of my guest went up from 5 to 9 Gbit/s, virtio on KVM, but I want 20.\n", record.Unknown, 0, 0, "", "more queues make a guest's card slower"},
		{"read-ahead helps", "Reads over NFS were slow since the upgrade. A larger read-ahead of the mount fixed it.\n", record.Application, 0.55, 0.65, "read_ahead_kb", ""},
		{"helped by it", "Our NFS reads crawl at 150 MB/s on 10G. It is much faster after raising readahead to 16 MB.\n", record.Application, 0.55, 0.65, "", ""},
		{"a small one", "NFS reads are slow here, and read_ahead_kb is only 128 for that mount.\n", record.Application, 0.45, 0.55, "", ""},
		{"reads and writes", "NFS writes are fine, but reads are slow over the same mount.\n", record.Application, 0.4, 0.5, "", ""},
		{"writes slow too", "NFS is slow both ways, reading and writing, on that mount.\n", record.Unknown, 0, 0, "", "read-ahead is how much"},
		{"a router's core", "Our OpenWrt router gives 150 of 500 Mbit/s only. One core is at 100% then.\n", record.ReceiverCPU, 0.5, 0.65, "", ""},
		{"a router's processor", "The line has 500 Mbit/s and I get just 220. The router CPU is at 85% meanwhile.\n", record.ReceiverCPU, 0.5, 0.65, "", ""},
		{"one core max", "NAT through the box gets only 200 Mbit/s, with one core max. load of the CPU.\n", record.ReceiverCPU, 0.5, 0.65, "", ""},
		{"an idle router", "The line has 500 Mbit/s and I get just 220. The router CPU is at 12% meanwhile.\n", record.Unknown, 0, 0, "", "heavy on the processor"},
		{"addresses at the port", "All goes by one port. The switch has the MAC addresses on the port itself and not on the LAG.\n", record.LACPDown, 0.45, 0.55, "", ""},
		{"instead of the trunk", "It is slow: the MACs show up on individual ports instead of the trunk.\n", record.LACPDown, 0.45, 0.55, "", ""},
		{"rather than the channel", "Only one cable is used, and the server's MAC is learned at a physical port rather than the port-channel.\n", record.LACPDown, 0.45, 0.55, "", ""},
		{"addresses at the bundle", "All goes by one port. The switch has the MAC addresses on the LAG and not on the ports.\n", record.Unknown, 0, 0, "", "has no bundle there"},
		{"from a size on", "The sites talk, but I am unable to ping with 1391 bytes or more through it.\n", record.MTU, 0.55, 0.7, "", ""},
		{"no answer from a size on", "There is no reply to pings of 1355 bytes and above through zerotier.\n", record.MTU, 0.55, 0.7, "", ""},
		{"packets of a size", "Packets of 1431 bytes and larger are lost between the pods.\n", record.MTU, 0.55, 0.7, "", ""},
		{"beyond whole frames", "Unable to ping with 1473 bytes or more without fragments, all else works, still slow.\n", record.Unknown, 0, 0, "", "packets up to a size pass"},
		{"the same test again", "I found the culprit: MTU too high. The script lowers the mtu and runs the same speed test again.\n", record.MTU, 0.6, 0.8, "", ""},
		{"the same speed", "I lowered the mtu of wg0 and got the same speed as before, slow.\n", record.Unknown, 0, 0, "", "Smaller packets help"},
		{"speeds of a port", "My network is stuck, the chip is a Realtek GbE LAN chip (1 Gbps/100 Mbps/10 Mbps).\n", record.Unknown, 0, 0, "", "what a gigabit carries"},
	})
}
