package paths

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// ofBundle reports a text that is about links which are one.
func ofBundle(v *scene.View) bool {
	_, bundle := v.Case.Topics["bundle"]
	_, bonded := v.Case.Topics["bonded"]
	return bundle || bonded || len(v.Bonds) > 0
}

// saidAll is the evidence of facts of sentences; false where one is missing.
func saidAll(v *scene.View, keys ...string) (by *piece.Host, evidence []record.Evidence, ok bool) {
	for _, key := range keys {
		h, x, ok := v.SaidBy(key)
		if !ok {
			return nil, nil, false
		}
		by, evidence = h, append(evidence, scene.Saw("said", strings.TrimSpace(x.Text), x.Source))
	}
	return by, evidence, true
}

// idleLink: a bundle of which one link is full and another has nothing to do.
func idleLink(v *scene.View) {
	h, evidence, ok := saidAll(v, "one_idle")
	if !ok || !ofBundle(v) || v.HasFinding(record.HashImbalance) || v.HasFinding(record.SingleLink) || v.HasFinding(record.LACPDown) {
		return
	}
	asks := []scene.Missing{
		{Command: "cat /proc/net/bonding/*", Host: "the host that sends", Why: "as root: mode, hash policy, and whether all ports are in one aggregator"},
		{Command: "ip neigh; ip -br link", Host: "the host that sends", Why: "the addresses and MACs of the two ends: which link each pair gets can be computed (`linerate steer show`)"},
		{Command: "ip -s link, before and after", Host: "the host that sends", Why: "which link carried it, each way; what a link receives the switch has chosen"}}
	if _, more, several := saidAll(v, "several_ends"); several {
		v.Add(record.HashImbalance, 0.52, h, "the bundle's hash",
			"By what is said, the other end is several hosts, and yet one link carries all: a hash gives each pair of addresses a link, and with few pairs all of them may fall on one (two of them half of the time, with two links). Nobody looks how full a link is.",
			"Hash addresses and ports at the end that sends (xmit_hash_policy=layer3+4; on the switch `port-channel load-balance src-dst-ip-port`), so that each connection counts and not each host; or give one host another address or MAC. `linerate steer show` says which link each pair takes.",
			append(evidence, more...)...).Ask = asks
		return
	}
	v.Add(record.SingleLink, 0.46, h, "one flow, or one pair of hosts",
		"By what is said, one link of the bundle is full and another has nothing to do: all packets of one connection take one link, and with a hash of MACs or addresses all between two hosts; or the idle port is no active member of the bundle.",
		"Try several connections from several hosts; hash addresses and ports at the end that sends (layer3+4; `port-channel load-balance src-dst-ip-port`); and see that all ports are in one LACP aggregator.", evidence...).Ask = asks
}

// oneLinkHere: the end that asks has one link, whatever the other has.
func oneLinkHere(v *scene.View) {
	h, evidence, ok := saidAll(v, "one_here", "two_homed")
	rate, _, _ := saidRate(v, "rate_most", "net_bps", "copy_most_bps")
	if !ok || !v.Said("iscsi", "storage", "one_link", "one_used") && !ofBundle(v) || max(rate, v.Best()) > 1200*unit.Mbps || v.HasFinding(record.LineRate) || v.Said("several_ends") {
		return
	}
	v.Add(record.LineRate, 0.5, h, "the one link of the end that asks",
		"By what is said, one end has several links and the other has one: whatever is spread at the first comes together at the second, and one client gets what its one link carries. Several links at a server serve several clients.",
		"For more at that client give it as many links (MPIO with a session for each, SMB multichannel), or a faster one at both ends; for several clients nothing is wrong.", evidence...).Ask = []scene.Missing{
		{Command: "iperf3 -c PEER, then with -R", Host: "the client", Why: "whether its one link is full (941 Mbit/s of a gigabit)"},
		{Command: "ethtool LINK", Host: "the client", Why: "the speed at which it came up"}}
}

// unknownSpeed: a bundle's port whose speed is not known.
func unknownSpeed(v *scene.View) {
	h, evidence, ok := saidAll(v, "speed_unknown")
	lacp := func(b scene.Bond) bool { return b.Mode == "802.3ad" || b.Mode == "" }
	if !ok || !ofBundle(v) || v.HasFinding(record.LACPDown) || len(v.Bonds) > 0 && !slices.ContainsFunc(v.Bonds, lacp) {
		return
	}
	v.Add(record.LACPDown, 0.54, h, "the port whose speed is unknown",
		"By what is said, the speed of a port of the bundle is not known (-1): LACP puts its speed into the key, so that a port without one is in no aggregator with the others and carries nothing. Drivers that tell the speed late, after the port joined, do that, as do modules that are not read.",
		"Take that port down and up again (`ip link set PORT down; ip link set PORT up`): if its speed is there then and the port joins, the driver tells it late: newer driver or firmware, a bundle that is made after the links are up, miimon with updelay. See `ethtool PORT` and the module.", evidence...).Ask = []scene.Missing{
		{Command: "ethtool PORT; ethtool -i PORT; ethtool -m PORT", Host: scene.NameOf(h), Why: "the speed now, driver and firmware, and whether the module is read"},
		{Command: "cat /proc/net/bonding/* (or teamdctl TEAM state dump)", Host: scene.NameOf(h), Why: "as root: each port's aggregator and key"},
		{Command: "dmesg | grep -iE 'PORT|bond|team'", Host: scene.NameOf(h), Why: "whether the port joined before its speed was known"}}
}

// offloadOff: an offload that helps when it is on.
func offloadOff(v *scene.View) {
	h, evidence, ok := saidAll(v, "offload_on_helps")
	if !ok || v.Said("offload_helps") || v.HasFinding(record.ReceiverCPU) || v.HasFinding(record.SenderCPU) {
		return
	}
	sure := 0.56
	if _, x, told := v.SaidBy("cpu_heavy"); told {
		sure, evidence = 0.62, append(evidence, scene.Saw("said", x.Text+" is heavy on the processor", x.Source))
	}
	v.Add(record.ReceiverCPU, sure, h, "the work for each packet (an offload that was off)",
		"An offload that is turned on makes it faster, by what is said: without it the kernel cuts, copies or sums each packet, and the core that does it is the limit. What is still missing is the rest of that work.",
		"Keep it on, at every virtual and real interface of the way (`ethtool -k LINK`: scatter-gather, tx-checksumming, tcp-segmentation-offload, generic-receive-offload; one that is off turns off those that need it), in a unit or .link file so that it stays. Then larger frames and several queues.", evidence...).Ask = coreAsks
}

// mostSync is the rate above which synchronous writes are not what a copy waits for.
const mostSync = 500 * unit.Mbps

// syncExport: an NFS server that writes to its disks before it answers, and slow writes.
func syncExport(v *scene.View) {
	rate, _, at := saidRate(v, "copy_bps", "rate_most", "disk_bps")
	if rate == 0 || rate > mostSync || !v.Complains() || v.HasFinding(record.Application) || len(v.Case.Runs) > 0 {
		return
	}
	for _, h := range v.Case.Hosts {
		for _, path := range h.Subjects("export") {
			x, ok := h.Get("export "+path, "sync")
			if !ok {
				continue
			}
			v.Add(record.Application, 0.56, h, path+" (exported sync)",
				fmt.Sprintf("The NFS server exports %s with sync: it writes to its disks before it answers, and a client that writes with few requests under way (a hypervisor's datastore, a database, dd with dsync) waits for the disks each time. %v is a matter of their latency, not of the links.", path, rate),
				"A log device or cache with a battery for the server's disks (ZFS: a SLOG), or `async` where a crash may lose what was written last (`exportfs -ra`, then `exportfs -v` shows it); more requests at once. Reading is not slowed by it.",
				scene.Saw("export "+path, x.Text, x.Source), scene.Saw("said", rate.String(), at)).Ask = []scene.Missing{
				{Command: "iostat -x 2", Host: "the server", Why: "while it writes: w_await of the disks, and how few writes are under way"},
				{Command: "iperf3 -c SERVER, then with -R", Host: "the client", Why: "what the network alone carries"},
				{Command: "exportfs -v; nfsstat -m", Host: "both", Why: "what is exported and mounted how, now"}}
			return
		}
	}
}

// sharedLine: several ends of which each has a rate, and a link that their sum fills.
func sharedLine(v *scene.View) {
	h, x, ok := v.SaidBy("several_ends")
	each, _, at := saidRate(v, "each_bps")
	n := piece.Number(x.Text)
	sum := unit.BitRate(n * float64(each))
	if !ok || n < 2 || len(v.Findings)+len(v.Case.Runs) > 0 || ofBundle(v) {
		return
	}
	for _, line := range []unit.BitRate{unit.Gbps, 2500 * unit.Mbps, 10 * unit.Gbps, 25 * unit.Gbps, 40 * unit.Gbps, 100 * unit.Gbps} {
		if !scene.Close(sum, line, 0.87, 1) || line == unit.Gbps && !v.Said("gigabit_part") {
			continue
		}
		v.Add(record.LineRate, 0.5, h, "a link that they share",
			fmt.Sprintf("%v each, by what is said, is %v for all of them together: a link of %v on the way is full then, and they share it.", each, sum, line),
			"Nothing is slow but that link: find it (the server's own, an uplink, a firewall), and take a faster one or more of them; `ethtool LINK` and `show interfaces status` show the speed of each.",
			scene.Saw("said", strings.TrimSpace(x.Text), x.Source), scene.Saw("said", each.String()+" each", at)).Ask = uplinkAsks
		return
	}
}

// filledGroup: a group of links of which several ends together get what so many links carry.
func filledGroup(v *scene.View) {
	h, x, ok := v.SaidBy("several_ends")
	most, _, at := saidRate(v, "rate_most", "carried_bps")
	if !ok || !ofBundle(v) || v.Complains() || len(v.Findings)+len(v.Case.Runs)+len(v.Bonds) > 0 {
		return
	}
	for n := 2; n <= 4; n++ {
		for _, each := range []unit.BitRate{unit.Gbps, 10 * unit.Gbps, 25 * unit.Gbps} {
			if scene.Close(most, unit.BitRate(n)*each, 0.932, 0.952) {
				v.Add(record.LineRate, 0.5, h, "the links together",
					fmt.Sprintf("%v for several ends together, by what is said, is what %d links of %v carry of payload at an MTU of 1500: the bundle is full, and nothing is wrong.", most, n, each),
					"More takes more or faster links, or larger frames.", scene.Saw("said", strings.TrimSpace(x.Text), x.Source), scene.Saw("said", most.String(), at)).Ask = []scene.Missing{
					{Command: "cat /proc/net/bonding/*; ip -s link, before and after", Host: "the host with the bundle", Why: "how many links there are, of which speed, and what each carried"}}
				return
			}
		}
	}
}

// askedForOne: the question whether a bundle gives one connection, or one guest, more than
// a link has.
func askedForOne(v *scene.View) {
	h, evidence, ok := saidAll(v, "asks_for_one")
	if !ok || !ofBundle(v) && !v.Said("two_homed") || len(v.Bonds)+len(v.Case.Runs)+len(v.Findings) > 0 || v.Said("striped") {
		return
	}
	v.Add(record.SingleLink, 0.6, h, "one connection, or one pair of hosts",
		"No: all packets of one connection take one link, with a bundle (LACP, static, balance-alb, a team) or without, and with a hash of MACs or addresses all between two hosts. Several links serve several clients; one gets what one link carries.",
		"For one client take a faster link at both ends, or a program with several connections and a hash of ports at both ends and the switch (layer3+4): SMB multichannel, NFS with nconnect and trunking, MPIO; a guest gets several virtual cards. balance-rr alone stripes one connection, and reorders it.", evidence...).Ask = []scene.Missing{
		{Command: "iperf3 -c PEER, then with -P 8", Host: "the client", Why: "whether several connections carry more than one"}}
}
