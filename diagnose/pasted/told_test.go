package pasted

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/evidence/paste"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// TestToldCauses: causes that sentences or small outputs tell, each beside one that differs
// in what decides.
func TestToldCauses(t *testing.T) {
	const netstat = "root@srv:~# netstat -ni\nKernel Interface table\nIface      MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg\nbond0     1500 98212345      0      0 0      88123456      0      0      0 BMmRU\neth0      1500 98200000      0      0 0         10000      0      0      0 BMsRU\nwhy is the bond slow?\n"
	const mac = "The bond of my Mac gives 940 Mbit/s only\n$ ifconfig -b bond0\nbond0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> mtu 1500\n\tether 00:3e:e1:c0:00:01\n\tmedia: autoselect\n\tstatus: active\n\tbond interfaces: en0 en1\n\tbond mode: LACP\n\t    bond key: 0x1, priority: 0x8000, system: 0x8000, 00:3e:e1:c0:00:01\n\t    en0: selected collecting distributing\n\t    en1: "
	const rsc = "Receive on the 10G card is only 3 Gbit/s, sending 9.\nPS C:\\> Get-NetAdapterRsc\n\nName                           IPv4Enabled  IPv6Enabled  IPv4Operational IPv6Operational IPv4FailureReason\n----                           -----------  -----------  --------------- --------------- -----------------\nEthernet 2                     %s        %s        %s           %s           None\n"
	const busybox = "Only 400 Mbit/s go through the router.\nMem: 201420K used, 45000K free, 1020K shrd, 3000K buff, 9000K cached\nCPU:   0% usr   1% sys   0% nic %\nLoad average: 1.02 0.90 0.50 2/80 3021\n"
	judgeHardware(t, []hardwareCase{
		{"busybox: a quarter in soft interrupts", strings.Replace(busybox, "nic %", "nic 74% idle   0% io   0% irq  25% sirq", 1), record.ReceiverCPU, 0.5, 0.6, "rps_cpus", ""},
		{"busybox: little of it", strings.Replace(busybox, "nic %", "nic 88% idle   0% io   0% irq  11% sirq", 1), record.Unknown, 0, 0, "", "one core of"},
		{"RSC that is off", strings.ReplaceAll(rsc, "%s", "False"), record.ReceiverCPU, 0.4, 0.5, "Enable-NetAdapterRsc", ""},
		{"RSC that is on", strings.ReplaceAll(rsc, "%s", "True "), record.Unknown, 0, 0, "", "RSC"},
		{"macOS: a port that LACP left out", mac + "unselected\n", record.LACPDown, 0.7, 0.95, "en1", ""},
		{"macOS: both ports taken", mac + "selected collecting distributing\n", record.SingleLink, 0.3, 0.7, "", "no LACP group"},
		{"credits that are used up", "Our t3.large EC2 instance is fast at first (5 Gbps) but after 10 minutes it is slow, about 500 Mbps.\n", record.Shaper, 0.6, 0.7, "credits", ""},
		{"an instance that is slow all the time", "Our t3.large EC2 instance is slow, about 500 Mbps since we have it.\n", record.Shaper, 0.6, 0.7, "allowance", "credits"},
		{"a sustained rate below the peak", "An \"Up to 10 Gbps\" AWS instance, why is it throttled?\nc5.large *sustained* rate is 745 Mbit/sec\n", record.Shaper, 0.6, 0.7, "baseline", ""},
		{"one core for all interrupts", "10GbE gives 1.7 Gbps only: all RX processing on single interrupt CPU.\n", record.ReceiverCPU, 0.55, 0.65, "RPS", ""},
		{"RPS that did not help", "10GbE gives 1.7 Gbps only, enabling RPS on all cores does not help.\n", record.Unknown, 0, 0, "", "one core receives"},
		{"a full program beside flows that add up", "One stream gets 100 Mbit/s, with -P 8 we get 800 Mbit/s in all.\nopenvpn is at 100% CPU.\n", record.SenderCPU, 0.4, 0.5, "", ""},
		{"two remedies that both helped", "I found that lowering the MTU to 1400 fixes the upload.\nAfter disabling LRO on the card it is back to normal speed too.\n", record.MTU, 0.4, 0.5, "", ""},
		{"a line that is slower one way", "Download is 900 Mbit/s, upload 20 Mbit/s, the ISP line is 1000/20.\n", record.Unknown, 0, 0, "", "another transfer"},
		{"no cloud", "Our desktop is fast at first (900 Mbps) but after 10 minutes it is slow, about 500 Mbps.\n", record.Unknown, 0, 0, "", "credits"},
		{"an adapter that shares a hub", "Only 40 MB/s: the Pi has a USB 3 gigabit adapter and a USB 3 SSD on the same USB hub.\n", record.CardSlot, 0.5, 0.6, "lsusb -t", ""},
		{"an adapter on a port of its own", "Only 40 MB/s: the Pi has a USB 3 gigabit adapter on a port of the board itself.\n", record.Unknown, 0, 0, "", "share"},
		{"two portals in one subnet", "The NAS has two 1G ports in the same subnet, both as iSCSI portals.\nThe host has two ports too, but only one NIC is used.\n", record.AsymmetricRoute, 0.5, 0.6, "port binding", ""},
		{"two portals in two subnets", "The NFS server has two interfaces in two subnets and the client mounts the first.\nBut only 1 Gbps is used.\n", record.SingleLink, 0.45, 0.55, "nconnect", "one route for a subnet"},
		{"two portals that are both used", "The NAS has two 1G ports in the same subnet, both as iSCSI portals.\nBoth carry the same, and it is slow nevertheless.\n", record.Unknown, 0, 0, "", "one route for a subnet"},
		{"2.5 at 10", "I connected a 2.5G card (RTL8125) to the 10G port of my switch and it only links at 1 Gbps.\n", record.LineRate, 0.6, 0.7, "NBASE-T", ""},
		{"2.5 at 2.5", "I connected a 2.5G card (RTL8125) to the 2.5G port of my switch and it is slow.\n", record.Unknown, 0, 0, "", "NBASE-T"},
		{"ssh that is heavy", "I only get 35 MB/s over gigabit with scp, and top shows heavy CPU load of ssh on the NAS.\n", record.SenderCPU, 0.5, 0.6, "aes128-gcm", ""},
		{"ssh that is not", "I only get 35 MB/s over gigabit with scp, and top shows no heavy CPU load of ssh on the NAS.\n", record.Unknown, 0, 0, "", "heavy on the processor"},
		{"Comware hashes MACs", "All traffic between router and firewall takes one link, why?\n[H3C]display link-aggregation load-sharing mode\nLink-aggregation load-sharing mode:\n  destination-mac address, source-mac address\n", record.SingleLink, 0.45, 0.6, "MAC addresses", ""},
		{"Comware hashes ports", "All traffic between router and firewall takes one link, why?\n[H3C]display link-aggregation load-sharing mode\nLink-aggregation load-sharing mode:\n  destination-ip address, source-ip address, destination-port, source-port\n", record.Unknown, 0, 0, "", "spreads its channels by"},
		{"netstat -ni of a host", netstat, record.Unknown, 0, 0, "/proc/net/bonding", "clagctl"},
		{"a setting that nobody complains of", "port-channel load-balance src-dst-ip\n", record.SingleLink, 0.35, 0.4, "", ""},
		{"a gateway in an offer", "Wanted: an engineer with VXLAN, 100 Gbps fabrics and AWS Direct Connect.\n", record.Unknown, 0, 0, "", "provider's gateway"},
		{"an unmanaged switch in a how-to", "Which mode would you recommend for a bond of two ports at an unmanaged switch?\n", record.Unknown, 0, 0, "", "no channel on these ports"},
	})
}

// TestAskedThroughput: plain prose is answerable where it is about a network's throughput,
// and is not where it is about anything else.
func TestAskedThroughput(t *testing.T) {
	for text, asks := range map[string]bool{
		"My home network is much slower than it should be. Everything is gigabit. What can I do?":           true,
		"Throughput in one direction is 9 Gbit/s, in the other direction 3 Gbit/s. Same cards, same cable.": true,
		"jumbo frames made everything slower":                                                                        true,
		"My VM has bad network speed since the upgrade.":                                                             true,
		"SSH login takes 20 seconds until the password prompt appears. After login everything is fast.":              false,
		"Whisk 4 yolks with 100 g pecorino, drop the pasta into the pan and stir fast at first, then slower.":        false,
		"Build of our project takes 45 minutes in CI with 2 cores, 8 minutes with 16. How do I add a cache?":         false,
		"The road goes ever on and on, down from the door where it began.":                                           false,
		"Sale: 2.5 Gbps adapter, plug and play with every system, now 20 % off with this coupon.":                    false,
		"Which load balancing algorithm should I choose for 10 backends: roundrobin or leastconn?":                   false,
		"Postgres query takes 40 s although the server has 32 cores and is idle, the plan shows a sequential scan.":  false,
		"I cannot log in to the switch any more, the password is not accepted after the reset of the configuration.": false,
	} {
		if got := paste.Answerable(paste.Parse([]piece.Text{{Name: "-", Bytes: []byte(text)}})); got != asks {
			t.Errorf("answerable %v, want %v: %s", got, asks, text)
		}
	}
}
