package paths

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// credits: an instance of a cloud that is fast for some minutes and slow from then on.
func credits(v *scene.View) {
	h, x, ok := v.SaidBy("burst")
	_, provider, cloud := v.SaidBy("cloud")
	if !ok || !cloud || !v.Complains() {
		return
	}
	sure, evidence := 0.56, []record.Evidence{scene.Saw("said", x.Text, x.Source), scene.Saw("said", "an instance of "+provider.Text, provider.Source)}
	if _, name, told := v.SaidBy("instance"); told {
		sure = 0.64
		evidence[1] = scene.Saw("said", name.Text, name.Source)
	}
	if _, _, disk := v.SaidBy("volume"); disk {
		sure = min(sure, mostContested) // a volume has credits and limits of its own
	}
	v.Add(record.Shaper, sure, h, "the instance's credits ("+provider.Text+")",
		"By what is said, it is fast for some time and slow from then on, or never faster than a base rate: smaller instances have a base rate and credits above it (\"up to\"), which a long transfer uses up and a rest fills again. No setting of the host changes that.",
		"Take a type whose sustained rate is what you need (AWS: the baseline of `aws ec2 describe-instance-types`, not the peak), or spread the transfer over time or instances. A disk's credits look the same: test the network alone (`iperf3 -t 1800`).", evidence...).Ask = append([]scene.Missing{
		{Command: "iperf3 -c PEER -P 8 -t 1800 -i 60", Host: "", Why: "at which rate it settles once the credits are used up, without disks"}}, cloudAsks(provider.Text)[1:]...)
}

// sharedUSB: a network adapter that shares a USB hub or controller with disks.
func sharedUSB(v *scene.View) {
	h, x, ok := v.SaidBy("usb_shared")
	if !ok || !v.Complains() || !strings.Contains(strings.ToLower(x.Text), "usb") && !v.Said("usb") || v.HasFinding(record.CardSlot) {
		return
	}
	v.Add(record.CardSlot, 0.58, h, "the USB hub that they share",
		"By what is said, the network adapter and something else hang on one USB hub or controller: all behind it share its one link to the host (USB 2: about 280 Mbit/s in all, USB 3: about 3.2 Gbit/s), each byte of a copy goes over it twice, and a device of USB 2 or a bad cable may slow the rest.",
		"Put the adapter and the disk on ports of different controllers (`lsusb -t` shows the tree), the adapter at a port of the host itself and not behind a hub; use the board's own network port where there is one.",
		scene.Saw("said", strings.TrimSpace(x.Text), x.Source)).Ask = []scene.Missing{
		{Command: "lsusb -t", Host: scene.NameOf(h), Why: "which hub each device hangs on, and at which speed (480M, 5000M)"},
		{Command: "iperf3 -c PEER -t 30, alone and while the disk is read", Host: scene.NameOf(h), Why: "whether each is slower while the other works"},
	}
}

// Rates between which USB 2 is what a network adapter there is limited by: what its 480
// Mbit/s leave of payload, and what any such adapter does.
const (
	leastUSB2 = 60 * unit.Mbps
	mostUSB2  = 400 * unit.Mbps
)

// slowUSB: a network adapter at USB 2, and rates that are what that carries.
func slowUSB(v *scene.View) {
	h, x, ok := v.SaidBy("usb2")
	if !ok && v.Said("ethernet_word") {
		h, x, ok = v.SaidBy("usb2_word")
	}
	_, most, told := v.SaidBy("rate_most")
	rate := max(unit.BitRate(piece.Float(most.Text)), v.Best())
	if !ok || !told && rate == 0 || rate < leastUSB2 || rate > mostUSB2 || !v.Complains() || v.HasFinding(record.CardSlot) {
		return
	}
	v.Add(record.CardSlot, 0.56, h, "USB 2 (480 Mbit/s for both ways together)",
		fmt.Sprintf("By what is said, the network adapter is at USB 2, which carries some 280 to 340 Mbit/s of payload, shared by both ways and all that hangs on the same hub: %v is what is left of that, whatever the cable beyond it can.", rate),
		"Use a port of USB 3 (blue, SS) with a cable and a hub for it (`lsusb -t` shows 5000M then), a card in a slot, or the host's own port.", scene.Saw("said", strings.TrimSpace(x.Text), x.Source)).Ask = []scene.Missing{
		{Command: "lsusb -t", Host: scene.NameOf(h), Why: "at which speed the adapter is (480M or 5000M), and what shares its hub"},
		{Command: "iperf3 -c PEER, then with -R", Host: scene.NameOf(h), Why: "what it carries each way"},
	}
}

// twoHomes: storage with several addresses of which one carries all.
func twoHomes(v *scene.View) {
	h, x, ok := v.SaidBy("two_homed")
	_, used, one := v.SaidBy("one_used")
	if _, bundle := v.Case.Topics["bundle"]; !ok || !one || bundle || len(v.Bonds)+len(v.Case.Runs) > 0 || v.Said("one_link", "one_here") {
		return
	}
	evidence := []record.Evidence{scene.Saw("said", x.Text, x.Source), scene.Saw("said", used.Text, used.Source)}
	asks := []scene.Missing{
		{Command: "ip -br addr; ip rule; ip route get PEER from ADDRESS (ESXi: esxcli iscsi networkportal list; esxcli storage nmp device list)", Host: "both hosts", Why: "which addresses are in one subnet, and by which link each leaves"},
		{Command: "multipath -ll; iscsiadm -m session (NFS: nfsstat -m; SMB: Get-SmbMultichannelConnection)", Host: "the client", Why: "how many sessions there are, and to which addresses"},
	}
	if _, subnet, told := v.SaidBy("same_subnet"); told {
		v.Add(record.AsymmetricRoute, 0.54, h, "two addresses in one subnet",
			"By what is said, several ports have addresses in one subnet: a host has one route for a subnet, so that all it sends leaves by one port, whichever address the other end uses (iSCSI and NFS alike).",
			"Give each pair of ports a subnet (and VLAN) of its own, one session or mount to each, and let MPIO, nconnect with trunking, or SMB multichannel use both. To stay in one subnet: bind each session to its port (`iscsiadm -m iface`, ESXi's port binding), or source rules with arp_ignore=1 and arp_announce=2; or one bond with one address.",
			append(evidence, scene.Saw("said", subnet.Text, subnet.Source))...).Ask = asks
		return
	}
	if !v.Said("iscsi", "storage", "copy_bps", "one_portal", "no_multichannel") {
		return // ports that are tried one by one
	}
	v.Add(record.SingleLink, 0.5, h, "one address of several",
		"By what is said, one end has several addresses and the other uses one: a mount or a session goes to the address that it was given, and by the link of that address, whatever others there are.",
		"Let the client use each: iSCSI with a session to every portal and round robin in multipath (`path_selector round-robin 0`, ESXi: VMW_PSP_RR with iops=1); NFS 4.1 with `nconnect` and `trunkdiscovery` or `max_connect`, or several mounts; SMB 3 multichannel on both ends.", evidence...).Ask = asks
}

// otherSpeeds: a card of 2.5 or 5 Gbit/s at a port that knows 1 and 10 alone.
func otherSpeeds(v *scene.View) {
	h, x, ok := v.SaidBy("multi_gig")
	if !ok || v.HasFinding(record.LineRate) {
		return
	}
	for _, host := range v.Hosts {
		for _, name := range host.Subjects("link") {
			if scene.SpeedOf(host, name) > unit.Gbps {
				return
			}
		}
	}
	v.Add(record.LineRate, 0.62, h, "the speed that both ports know",
		"By what is said, a card of 2.5 or 5 Gbit/s at a port of 10 comes up with a gigabit: many ports and modules of 10GBASE-T know 10, 1 and 0.1 Gbit/s alone (NBASE-T, IEEE 802.3bz, is younger), SFP+ cages 10 and 1, and both ends take the fastest that both know.",
		"See what each end offers (`ethtool LINK`: supported, advertised, link partner's modes). Use a port of 2.5 or 5 Gbit/s, a module that says 2.5G and 5G in its data sheet, or a card of 10.", scene.Saw("said", x.Text, x.Source)).Ask = []scene.Missing{
		{Command: "ethtool LINK", Host: scene.NameOf(h), Why: "Speed, and whether the link partner advertises 2500baseT/Full"},
		{Command: "the port's or module's data sheet", Host: "the switch", Why: "whether it knows 2.5 and 5 Gbit/s (NBASE-T, 802.3bz)"},
	}
}

// heavyProgram: a program that a sentence calls heavy on the processor.
func heavyProgram(v *scene.View) {
	h, x, ok := v.SaidBy("cpu_heavy")
	if _, _, full := v.SaidBy("cpu_full"); !ok || full || v.HasFinding(record.SenderCPU) || v.HasFinding(record.ReceiverCPU) {
		return
	}
	if strings.HasPrefix(x.Text, "ksoftirq") {
		v.Add(record.ReceiverCPU, contested(v, "cpu_full", 0.56), h, "the kernel's work for each packet (ksoftirqd)",
			"By what is said, ksoftirqd is heavy on the processor while it runs: the kernel's work for arriving or forwarded packets fills a core, whatever the links carry.",
			"Fewer and larger packets first: offloads on at every interface of the way (TSO, GRO, scatter-gather, checksums), MTU 9000; then more queues (`ethtool -L`, virtio or netfront queues) or RPS, and several flows.",
			scene.Saw("said", x.Text+" is heavy on the processor", x.Source)).Ask = coreAsks
		return
	}
	cause := record.SenderCPU
	if v.Said("forwards") {
		cause = record.ReceiverCPU
	}
	v.Add(cause, contested(v, "cpu_full", 0.55), h, x.Text+" (heavy on the processor)",
		fmt.Sprintf("By what is said, %s is heavy on the processor while it runs: it serves a connection with one core, which is full long before all of them are, and that core is the limit, at one end or the other.", x.Text),
		ofProgram(x), scene.Saw("said", x.Text+" is heavy on the processor", x.Source)).Ask = []scene.Missing{
		{Command: "top -H -b -n 1 | head -20; mpstat -P ALL 1 5", Host: "both ends", Why: "while it runs: whether one thread is near 100 %, and whose"},
		{Command: "iperf3 -c PEER, then with -R", Host: "", Why: "what the network carries without that program, each way"},
	}
}

// ofProgram is what helps with a program that fills a core.
func ofProgram(x piece.Value) string {
	if scene.Contains(x.Text, "ssh", "scp", "sftp", "rsync") {
		return "A cipher that the processor has instructions for (`-c aes128-gcm@openssh.com`; on old or small processors chacha20-poly1305), no compression (`-o Compression=no`), several transfers at once, or a way without ssh (rsync's daemon, NFS, netcat in a network that you trust)."
	}
	if scene.Contains(x.Text, "smbd", "samba", "ksmbd") {
		return "Signing and encryption off where that may be, `server multi channel support = yes` with RSS, sendfile and aio, no `socket options`; several clients or copies use several cores."
	}
	return "Several connections, which use several cores; larger packets; a faster core."
}
