package paths

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/pcie"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// mostDenied is how sure a cause is whose remedy somebody tried in vain: less than is worth
// naming.
const mostDenied = 0.3

// contested is how sure a cause is that a sentence tells by the fact key, where another
// sentence says that the remedy changed nothing.
func contested(v *scene.View, key string, sure float64) float64 {
	switch {
	case !v.Said(key + "_not"):
		return sure
	case key == "cpu_full": // of another core, or another moment
		return min(sure, mostContested)
	}
	return min(sure, mostDenied)
}

// remedies that people found, and states that they tell, with what each shows.
var remedies = []struct {
	key          string
	cause        record.Cause
	sure         float64
	where        string
	what, remedy string
	ask          []scene.Missing
}{
	{"ring_helps", record.ReceiverCPU, 0.62, "the card's receive ring",
		"Larger rings help, by what is said: the card's receive ring was full before its core emptied it, so that frames were dropped, or the card sent pause frames and the other end waited. The ring bridges bursts; a core that stays too slow fills any ring.",
		"Keep the larger ring (`ethtool -G LINK rx N` in the link's configuration). If `rx_missed_errors` or `rx_no_buffer` still grow: more receive queues with a core each, and less work for each packet (GRO, larger frames).",
		[]scene.Missing{{Command: "ethtool -g LINK; ethtool -S LINK | grep -E 'miss|no_buf|drop|pause'", Host: "both hosts", Why: "before and after a run: the ring and what it lost"}, {Command: "mpstat -P ALL 1 5", Host: "the receiver", Why: "while it runs: whether one core is full in %soft"}}},
	{"window_helps", record.ReceiveWindow, 0.66, "the window",
		"A larger window or buffer helps, by what is said: each connection carried no more than its window in each round trip. It is the receiver's window or the sender's buffer, whichever is smaller.",
		"Set it for good on the ends: the third values of tcp_rmem and tcp_wmem, and net.core.rmem_max and wmem_max for programs that set buffers themselves (Windows: `netsh interface tcp set global autotuninglevel=normal`, and programs without a buffer of their own); twice the rate wanted times the round trip.", longAsks},
	{"pause_helps", record.Congestion, 0.6, "flow control (pause frames)",
		"Flow control (802.3x) makes the difference, by what is said: with it one slow receiver behind a switch stops all who send through it; without it what a slow port cannot take is dropped. Where off helps, a slower port stops all others; where on helps, a port with a small buffer loses bursts.",
		"Find the port that sends the pause frames, or the one that drops (`ethtool -S LINK | grep -i pause`, the switch's counters): it is the slow one. Then set flow control the way that helped on both ends of just that link (`ethtool -A LINK rx off tx off`), and give the slow device a faster port or a rate of its own.",
		[]scene.Missing{{Command: "ethtool -a LINK; ethtool -S LINK | grep -iE 'pause|drop|miss'", Host: "both hosts", Why: "whether pause was agreed, and who sends it"}, {Command: "show interfaces counters; show interfaces flowcontrol", Host: "the switch", Why: "which port sends or honours pause frames, and which drops"}}},
	{"socket_full", record.ReceiverCPU, 0.56, "the program's UDP socket",
		"A socket's receive buffer is full, by what is said: datagrams reach the host, and the program does not take them as fast as they come. The network did not lose them.",
		"Raise the program's own buffer and net.core.rmem_max (net.core.rmem_default where it sets none), which bridges bursts; for more than bursts several receivers (SO_REUSEPORT, more workers).",
		[]scene.Missing{{Command: "nstat -az | grep Udp; ss -uampn", Host: "the receiver", Why: "before and after: UdpRcvbufErrors, UdpMemErrors, and which socket drops"}, {Command: "top -H -b -n 1 | head -20", Host: "the receiver", Why: "whether the program's thread is full"}}},
	{"relayed", record.Shaper, 0.55, "the relay",
		"By what is said, the two ends are connected by a relay and not directly: the relay's own rate, its distance and TCP inside TCP are the limit, whatever the ends have.",
		"Make a direct connection possible: open or forward the tunnel's UDP port on one side (41641 for Tailscale, 9993 for ZeroTier), NAT-PMP or UPnP at the router, no symmetric NAT on both sides; or a relay of your own nearby.",
		[]scene.Missing{{Command: "tailscale status; tailscale netcheck; tailscale ping PEER (ZeroTier: zerotier-cli peers)", Host: "both ends", Why: "whether the connection is direct or by a relay (DERP), and what kind of NAT there is"}}},
	{"cable_helps", record.Congestion, 0.6, "the cable or module",
		"Another cable or module helps, by what is said: the old one damaged frames (CRC errors), or let the link come up slower than both ends can.",
		"Throw the old one away, and see that the new link runs at the full speed without errors (`ethtool LINK`; `ethtool -S LINK | grep -iE 'crc|fcs|err'`).",
		[]scene.Missing{{Command: "ethtool LINK; ethtool -S LINK | grep -iE 'crc|fcs|symbol|err'", Host: "both hosts", Why: "the speed, and whether damaged frames are still counted"}}},
	{"saving_helps", record.CardSlot, 0.62, "power saving of the card's link (ASPM, EEE)",
		"Without power saving it is fast, by what is said: a slot (ASPM) or a cable (Energy Efficient Ethernet) that sleeps between packets takes long to wake, and the card's small buffer overflows meanwhile, or the link drops.",
		"Leave it off for good: ASPM in the firmware or with pcie_aspm=off on the kernel's command line (FreeBSD: hw.pci.enable_aspm=0), EEE with `ethtool --set-eee LINK eee off` in the link's configuration and at the switch (green ethernet).",
		[]scene.Missing{{Command: "lspci -vv | grep -E 'Ethernet|ASPM'; ethtool --show-eee LINK", Host: "both hosts", Why: "as root: which link sleeps"}, {Command: "ethtool -S LINK | grep -iE 'miss|drop|err'", Host: "both hosts", Why: "before and after: what the card missed"}}},
	{"version_helps", record.CardSlot, 0.48, "the newer version (driver, kernel or hypervisor)",
		"With an older version it is faster, by what is said: the links and the other end can do it, and the newer driver, kernel or hypervisor gets less out of its card, often by an offload that it sets otherwise.",
		"Keep the older one for now, and compare what the two set: `ethtool -k LINK`, `ethtool -i LINK`, `ethtool -c LINK`, queues and the core that receives; tell its makers which version was the last good one.",
		[]scene.Missing{{Command: "ethtool -k LINK; ethtool -i LINK; ethtool -l LINK", Host: "the host, with each version", Why: "which offloads, driver and queues differ"}, {Command: "mpstat -P ALL 1 5", Host: "the host, with each version", Why: "whether one core is full with the newer one"}}},
	{"filter_helps", record.ReceiverCPU, 0.58, "the filter that reads each packet",
		"Without it (or with less of it) it is fast, by what is said: a firewall, an intrusion detection or a virus scanner reads each packet on a core, mostly one for each flow, and that core is full long before the link is.",
		"Leave out what need not be looked at (bypass for local networks and large flows), give it more queues and cores (Suricata: AF_PACKET or netmap workers, RSS by flow), hardware or flow offload for what is established (nftables flowtable), or a faster core.",
		[]scene.Missing{{Command: "mpstat -P ALL 1 5; top -H -b -n 1 | head -20", Host: "the host with the filter", Why: "while it runs, with it and without: which core or thread is full"}}},
	{"awake_helps", record.ReceiverCPU, 0.58, "a core that saves power",
		"With the processor kept awake or clocked up it is fast, by what is said: a core that sleeps between packets takes microseconds to wake, and one that is clocked low handles fewer packets a second.",
		"Keep it: governor performance (`cpupower frequency-set -g performance`), tuned's profile network-throughput or network-latency, no deep C-states (firmware, or `intel_idle.max_cstate=1` on the kernel's command line).",
		[]scene.Missing{{Command: "cpupower frequency-info; cpupower idle-info; tuned-adm active", Host: "both hosts", Why: "governor, clock and sleep states while it runs"}, {Command: "mpstat -P ALL 1 5", Host: "both hosts", Why: "which core is full"}}},
	{"placed_helps", record.ReceiverCPU, 0.58, "the cores that the card's queues go to",
		"With queues, interrupts or programs placed on other cores it is fast, by what is said: one core had the work of several, or one far from the card (another NUMA node, a hyper-thread of a full core).",
		"Keep it over a reboot: as many queues as cores of the card's node (`ethtool -L LINK combined N`), each with a core of its own (`linerate tune` does both, or set_irq_affinity with irqbalance stopped), the program on cores of the same node beside them.",
		[]scene.Missing{{Command: "cat /proc/interrupts; ethtool -l LINK; cat /sys/class/net/LINK/device/numa_node", Host: "both hosts", Why: "which core each queue interrupts"}, {Command: "mpstat -P ALL 1 5", Host: "both hosts", Why: "while it runs: which core is full in %soft"}}},
	{"cipher_helps", record.SenderCPU, 0.55, "signing or encryption",
		"Without signing or encryption, or with another cipher, it is fast, by what is said: one core of each end computes for each byte of a connection.",
		"Where the network is trusted leave it off; else a cipher that the processor has instructions for (AES-GCM; SMB 3.1.1: AES-128-GMAC for signing), several connections (SMB multichannel), or faster cores.",
		[]scene.Missing{{Command: "top -H -b -n 1 | head -20; mpstat -P ALL 1 5", Host: "both ends", Why: "while it copies: which thread fills a core"}}},
	{"model_helps", record.ReceiverCPU, 0.58, "the guest's card",
		"Another model of the guest's card is fast, by what is said: an emulated card (e1000, rtl8139) costs an exit of the guest for each access, and the host's link is not the limit.",
		guestRemedy, guestAsks("its card")},
	{"sync_helps", record.Application, 0.56, "what the protocol waits for",
		"With other options of the protocol it is fast, by what is said: writes that wait for the disk (sync), few or small requests, or one connection limit it, not the links.",
		"Keep what helped where it is safe: async loses what was acknowledged when the server dies (a log device or a cache with a battery gives the same rate without); nconnect and larger rsize and wsize cost nothing.",
		[]scene.Missing{{Command: "nfsstat -m; iostat -x 2", Host: "both ends", Why: "the options in force, and whether a disk is busy all the time"}}},
	{"policy_helps", record.SingleLink, 0.6, "the hash that chooses the link",
		"With another hash it is fast, by what is said: the one before put flows onto one link, by MAC addresses or pairs of addresses.",
		"Keep it on this end and set the like at the other (`port-channel load-balance src-dst-ip-port`, xmit_hash_policy=layer3+4): what arrives is spread by the end that sends it.", lacpAsks},
	{"slot_helps", record.CardSlot, 0.6, "the slot (PCIe)",
		"In another slot it is fast, by what is said: the old one has fewer lanes, an older generation, or shares them.",
		"Leave it there; `lspci -vv` as root shows LnkSta against LnkCap of the card and of the bridge above it.",
		[]scene.Missing{{Command: "lspci -vv", Host: "the host", Why: "as root: LnkCap and LnkSta of the card and of the bridge above it"}}},
	{"driver_helps", record.CardSlot, 0.58, "the card's driver or firmware",
		"Another driver or firmware helps, by what is said: the card itself and the network can do it.",
		"Keep the version that works, also across updates (a package pin, the vendor's module by dkms).",
		[]scene.Missing{{Command: "ethtool -i LINK; dmesg | grep -i LINK", Host: "the host", Why: "driver, firmware, and what the driver says"}}},
}

// triedRemedies: what people say helped, and what they saw.
func triedRemedies(v *scene.View) {
	for _, r := range remedies {
		h, x, ok := v.SaidBy(r.key)
		if !ok || v.HasFinding(r.cause) || !strings.HasSuffix(r.key, "_helps") && !v.Complains() {
			continue
		}
		v.Add(r.cause, contested(v, r.key, r.sure), h, r.where, r.what, r.remedy, scene.Saw("said", x.Text, x.Source)).Ask = r.ask
	}
}

// Parts of what a slot carries from which, and up to which, a rate is the slot's.
const (
	slotFull = 0.62
	slotOver = 1.02
)

// slowAtSlot: a card's slot as a sentence tells it, and a rate that is what it carries.
func slowAtSlot(v *scene.View) {
	h, x, ok := v.SaidBy("slot")
	if !ok || v.HasFinding(record.CardSlot) {
		return
	}
	var generation, lanes int
	if n, err := fmt.Sscanf(x.Text, "%d x%d", &generation, &lanes); n != 2 || err != nil {
		return
	}
	could, ok := pcie.At(netstate.Card{Generation: generation, Lanes: lanes}, pcie.Middle)
	if !ok {
		return
	}
	slot := could.Raw
	best := v.Best()
	for _, key := range []string{"rate_many", "net_bps", "rate_direct", "carried_bps", "rate_most", "rate_one"} {
		if _, rate, told := v.SaidBy(key); told && piece.Float(rate.Text) > float64(best) {
			best = unit.BitRate(piece.Float(rate.Text))
		}
	}
	if !scene.Close(best, slot, slotFull, slotOver) {
		return
	}
	v.Add(record.CardSlot, 0.62, h, fmt.Sprintf("the slot (PCIe %d, x%d)", generation, lanes),
		fmt.Sprintf("By what is said, the card is in a slot of PCIe generation %d with %d lanes, which carries %v before its own headers take a fifth or so; %v is what is left of that.", generation, lanes, slot, best),
		"Use a slot with more lanes or of a newer generation (`lspci -vv`: LnkCap is what the card can, LnkSta what it has); all ports of a card share its slot.", scene.Saw("said", "PCIe "+x.Text, x.Source)).Ask = []scene.Missing{
		{Command: "lspci -vv", Host: scene.NameOf(h), Why: "as root, while it is up: LnkCap and LnkSta of the card and of the bridge above it"},
	}
}

// oneQueuePair: NCCL gets a part of what several queue pairs carry over a bond.
func oneQueuePair(v *scene.View) {
	h, nccl, ok := v.SaidBy("rate_nccl")
	_, verbs, ok2 := v.SaidBy("rate_verbs")
	_, bonded := v.Case.Topics["bonded"]
	if !ok || !ok2 || !bonded && len(v.Bonds) == 0 || piece.Float(nccl.Text) > 0.8*piece.Float(verbs.Text) || v.HasFinding(record.SingleLink) {
		return
	}
	v.Add(record.SingleLink, 0.55, h, "NCCL's queue pairs over the bond",
		fmt.Sprintf("By what is said, ib_write_bw carries %v over the bond and NCCL %v: a queue pair (QP) takes one port of a RoCE bond, NCCL opens one for each connection unless it is told otherwise, and two of them may take the same port.", unit.BitRate(piece.Float(verbs.Text)), unit.BitRate(piece.Float(nccl.Text))),
		"`NCCL_IB_QPS_PER_CONNECTION=4` (2 is the least) with `NCCL_IB_SPLIT_DATA_ON_QPS=0`, a UDP source port for each QP (`NCCL_IB_ROCE_VERSION_NUM=2`, the driver's queue affinity or LAG hash mode), or the two ports as rails of their own instead of a bond.",
		scene.Saw("said of NCCL", unit.BitRate(piece.Float(nccl.Text)).String(), nccl.Source), scene.Saw("said of ib_write_bw", unit.BitRate(piece.Float(verbs.Text)).String(), verbs.Source)).Ask = []scene.Missing{
		{Command: "ib_write_bw -q 1, then -q 4; ethtool -S LINK | grep phy", Host: "both hosts", Why: "what one queue pair and several carry, and by which port of the bond"},
		{Command: "NCCL_DEBUG=INFO ... | grep -E 'NET/|GDRDMA|QPS'", Host: "both hosts", Why: "which devices it uses, with GPU Direct RDMA or not, and how many queue pairs"},
		{Command: "lspci -vvv | grep -E '^[0-9a-f]|ACSCtl|LnkSta:'", Host: "both hosts", Why: "as root: whether ACS or a narrow slot holds it"},
	}
}

// eachOfThem: several connections that carry more than one, by words without rates.
func eachOfThem(v *scene.View) {
	h, x, ok := v.SaidBy("flows_add")
	if _, _, rates := flowRates(v); !ok || rates || len(v.Bonds)+len(v.Case.Runs) > 0 || v.HasFinding(record.ReceiveWindow) || !v.Complains() {
		return
	}
	v.Add(record.ReceiveWindow, 0.45, h, "each connection",
		"By what is said, several connections carry more than one: the way has room, and each connection has a limit of its own. Over a distance that is its window for each round trip, or a few losses; a server or a provider may as well limit each connection by rule.",
		"Use several connections (parts in parallel). See the round trip and what TCP waits for: window over round trip is the rate; raise the third values of tcp_rmem and tcp_wmem, take BBR where packets are lost. If each connection stops at one round number wherever you test from, it is the server's rule.", scene.Saw("said", x.Text, x.Source)).Ask = eachAsks
}
