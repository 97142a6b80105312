package paths

import (
	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/record"
)

// guestStories are causes of one guest among others, of the queues of its card, of reads over
// NFS and of a bundle that the switch does not have, as sentences tell them.
var guestStories = []story{
	{[]string{"guests_fast", "guest_slow"}, []string{"not_cpu"}, true, record.ReceiverCPU, 0.44, "that guest (its card, its cores or its own limit)",
		"By what is said, other guests of the same host are fast and one is not: the host's links, its bridge and the switch carry it. What is that guest's own is slow: the model of its card (e1000, rtl8139), one queue, too few or busy vCPUs, a rate limit or a firewall on its port, its system's drivers and offloads.",
		"Compare its definition with a fast one's (`qm config ID`, `virsh dumpxml NAME`): model, queues, rate=, firewall=1, MTU, CPU type and cores. Then its inside: `ethtool -i LINK`, `ethtool -k LINK`, a full core. Move a fast guest's card settings over one by one.", []scene.Missing{
			{Command: "qm config ID (virsh dumpxml NAME), of it and of a fast one", Host: "the hypervisor", Why: "in what the two differ: card, queues, rate limit, firewall, cores"},
			{Command: "mpstat -P ALL 1 5; ethtool -i LINK; ethtool -k LINK; ethtool -l LINK", Host: "that guest", Why: "while it runs: a full core (or stolen time, %steal), the driver, offloads and queues"},
			{Command: "iperf3 -c HOST, then with -R, then -P 4", Host: "that guest", Why: "whether it is slow to its own host, and which way"}}},
	{[]string{"macs_on_port"}, nil, true, record.LACPDown, 0.52, "LACP (the switch has no bundle there)",
		"By what is said, the switch learns addresses at a port and not at its bundle: to it that port is no member, as LACP has not agreed there, or it is in no group. The host then sends and receives by that port alone, or by ports of which the switch knows one.",
		"Put just these ports into one LACP group, active, and look at it (`show lacp neighbor`, `show etherchannel summary`: bundled, not individual or suspended); the same rate (fast or slow) and speed on all. Until LACP agrees at both ends nothing is spread.", lacpAsks},
	{[]string{"queues_slower"}, []string{"not_cpu"}, true, record.ReceiverCPU, 0.44, "the queues of the guest's card",
		"By what is said, more queues make a guest's card slower: each queue has a thread of the host (vhost) and an interrupt in the guest, and where these share cores, or a flow's packets wander between queues, they wait for each other. One connection uses one queue whatever their number.",
		"No more queues than vCPUs, and no more vCPUs and vhost threads together than the host has cores free (of one NUMA node); each queue's interrupt on a vCPU of its own (irqbalance inside, or smp_affinity), `ethtool -L LINK combined N` inside for what the card offers; a current driver (Windows: virtio-win, RSS on). Test with as many connections as queues, and keep the number that is fastest.", []scene.Missing{
			{Command: "top -H; mpstat -P ALL 1 5", Host: "the hypervisor", Why: "while it runs, with few and with many queues: whether vhost threads and vCPUs share cores"},
			{Command: "ethtool -l LINK; grep virtio /proc/interrupts; mpstat -P ALL 1 5", Host: "the guest", Why: "how many queues are in use, and which vCPU takes their interrupts"},
			{Command: "iperf3 -c PEER, then with -P 8", Host: "the guest", Why: "whether one connection or several are slower"}}},
	{[]string{"model_blamed"}, nil, false, record.CardSlot, 0.6, "the model of the guest's card",
		"By what is said, the model of the card is it: a hypervisor that emulates a real card (rtl8139, e1000) stops the guest at each access to its registers and cuts what its offloads would do, so that a core is full long before the links are.",
		"Give the guest a virtio card (vmxnet3 on ESXi, netvsc on Hyper-V), each of its cards: those that are added later often get another model. `ethtool -i LINK` inside shows which driver it has.", []scene.Missing{
			{Command: "qm config ID (virsh domiflist NAME)", Host: "the hypervisor", Why: "the model of each of the guest's cards"},
			{Command: "ethtool -i LINK; mpstat -P ALL 1 5", Host: "the guest", Why: "the driver, and whether a core is full while it runs"}}},
	{[]string{"readahead_helps", "nfs_word"}, nil, false, record.Application, 0.6, "the read-ahead of the NFS mount", readAheadWhat, readAheadRemedy, readAheadAsks},
	{[]string{"nfs_word", "readahead_small"}, []string{"readahead_helps"}, true, record.Application, 0.5, "the read-ahead of the NFS mount", readAheadWhat, readAheadRemedy, readAheadAsks},
	{[]string{"nfs_word", "reads_slow", "writes_fast"}, []string{"readahead_helps", "readahead_small"}, true, record.Application, 0.44, "the read-ahead of the NFS mount", readAheadWhat, readAheadRemedy, readAheadAsks},
}

const (
	readAheadWhat   = "By what is said, NFS reads are slow where the network and writes are not: a reader that asks for one piece at a time waits a round trip and the server's disks for each, and the client's read-ahead is how much it asks for in advance. Since Linux 5.4 that is 128 KiB for an NFS mount, and was fifteen times rsize before."
	readAheadRemedy = "Raise it for the mount: `echo 15360 > /sys/class/bdi/$(mountpoint -d MOUNT)/read_ahead_kb`, for good by a udev rule or nfs-utils' `nfsrahead` (/etc/nfs.conf, [nfsrahead] default=15360); `nconnect=8` and rsize of 1 MiB beside it. If reads stay slow with several files at once too, look at the server's disks."
)

var readAheadAsks = []scene.Missing{
	{Command: "cat /sys/class/bdi/$(mountpoint -d MOUNT)/read_ahead_kb; nfsstat -m", Host: "the client", Why: "the mount's read-ahead and rsize"},
	{Command: "dd if=MOUNT/FILE of=/dev/null bs=1M, one and four at once", Host: "the client", Why: "after `echo 3 > /proc/sys/vm/drop_caches`: whether several readers add up"},
	{Command: "iostat -x 2", Host: "the server", Why: "whether its disks are busy while it reads"}}
