package paths

import (
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
)

// Ask are the outputs that a question of this kind wants: about a tunnel, a cloud, a
// guest's card, a long path; nil where nothing was told of the way.
func Ask(v *scene.View) []scene.Missing {
	p := pathOf(v)
	if _, _, ok := v.SaidBy("mptcp"); ok && len(v.Bonds) == 0 {
		return mptcpAsks
	}
	if _, _, ok := v.SaidBy("unreachable"); ok && p.through == 0 && len(v.Case.Runs) == 0 {
		return reachAsks
	}
	if p.used() {
		return asks(v, p)
	}
	if len(v.Bonds)+len(v.Switches) > 0 {
		return nil
	}
	if farAway(v) {
		return longAsks
	}
	if _, x, ok := v.SaidBy("cloud"); ok {
		return cloudAsks(x.Text)
	}
	if _, x, ok := v.SaidBy("guest_card"); ok {
		return guestAsks(x.Text)
	}
	if _, x, ok := v.SaidBy("bulk_fails"); ok {
		return []scene.Missing{
			{Command: "ping -M do -s 1472 PEER", Host: "both hosts", Why: "pings pass and a transfer does not (" + x.Text + "): whether full packets do"},
			{Command: "nc -vz PEER 5201", Host: "", Why: "whether the test's port is open in the firewalls, and the server listens"},
			{Command: "tcpdump -ni LINK tcp port 5201", Host: "both hosts", Why: "whether the SYN arrives and is answered, and what is sent again"},
		}
	}
	return nil
}

var mptcpAsks = []scene.Missing{
	{Command: "ip mptcp endpoint; ip mptcp limits; sysctl net.mptcp", Host: "both hosts", Why: "whether each address is an endpoint (subflow on the client, signal on the server), how many subflows are allowed, and which scheduler is used"},
	{Command: "ss -Mtin; nstat -az | grep -i mptcp", Host: "both hosts", Why: "while it runs: which subflows there are, how much each carries, and whether one fell back to TCP"},
	{Command: "ip rule; ip route show table all", Host: "the client", Why: "whether each address leaves by its own link"},
}

var reachAsks = []scene.Missing{
	{Command: "ip -br addr; ip rule; ip route show table all; ip route get PEER from ADDRESS", Host: "the host that does not answer", Why: "by which interface the answers of each address leave"},
	{Command: "tcpdump -eni any host PEER", Host: "both hosts", Why: "whether the packet arrives, by which interface, and whether an answer leaves"},
	{Command: "sysctl -a | grep '\\.rp_filter'; sysctl net.ipv4.ip_forward; nft list ruleset", Host: "the host that does not answer", Why: "whether the kernel or a filter drops it"},
}

func asks(v *scene.View, p path) []scene.Missing {
	out := []scene.Missing{
		{Command: "ping -M do -s 1472 NODE; ping -M do -s 1372 PEER", Host: "both ends", Why: "the largest packet that passes beside " + p.name() + ", and inside it"},
		{Command: "ip -d link", Host: "both ends", Why: "the MTU of " + p.name() + " and of the links below it"},
	}
	if p.encrypts() {
		return append(out, scene.Missing{Command: "iperf3 -c NODE, then the same through the tunnel; mpstat -P ALL 1 5", Host: "both ends", Why: "what the path carries without it, each way, and whether a core is full"})
	}
	return append(out,
		scene.Missing{Command: "ethtool -k LINK | grep -E 'udp_tnl|checksum-ip|generic-receive'; nstat -az | grep -i csum", Host: "both ends", Why: "which work the card does for encapsulated packets, and whether checksums arrive wrong"},
		scene.Missing{Command: "iperf3 -c NODE, then from pod to pod; mpstat -P ALL 1 5", Host: "both ends", Why: "what the nodes carry without it, and whether a core is full"})
}

func cloudAsks(provider string) []scene.Missing {
	out := []scene.Missing{{Command: "iperf3 -c PEER, then -P 8, then both with -R", Host: "", Why: "providers limit a flow, an instance and a way apart: what one and several flows carry, each way"}}
	if strings.HasPrefix(provider, "aws") {
		return append(out, scene.Missing{Command: "ethtool -S LINK | grep allowance; ethtool -i LINK", Host: "both instances", Why: "whether an allowance is used up (bw_in, bw_out, pps, conntrack), and the driver"},
			scene.Missing{Command: "curl -s http://169.254.169.254/latest/meta-data/instance-type", Host: "both instances", Why: "the type has the limit; and whether both are in one placement group, zone or region"})
	}
	return append(out, scene.Missing{Command: "the instance's type and its size, zone and network tier", Host: "both instances", Why: "the type has the limit of the instance, and the way (internal address, public address, gateway) often another"},
		scene.Missing{Command: "ethtool -i LINK; ethtool -l LINK; mpstat -P ALL 1 5", Host: "both instances", Why: "the driver (accelerated networking, gVNIC), its queues, and whether one core is full"})
}

func guestAsks(card string) []scene.Missing {
	return []scene.Missing{
		{Command: "iperf3 -c HOST, then -P 4, then both with -R", Host: "the guest", Why: "to its own host and to another machine, each way: which part is slow"},
		{Command: "ethtool -k LINK; ethtool -l LINK", Host: "the guest, and its tap or vnet on the hypervisor", Why: "offloads (TSO, GRO, checksums) and queues of " + card},
		{Command: "mpstat -P ALL 1 5; top -H", Host: "both", Why: "while it runs: whether a core, a vhost or an emulator thread is full"},
	}
}
