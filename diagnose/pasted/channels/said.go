package channels

import (
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// bundleSaid: what sentences say of a bundle that does not come up, or of which some
// links stay idle. Words are no output: where one shows more, that comes first.
func bundleSaid(v *scene.View) {
	for _, h := range v.Case.Hosts {
		if x, ok := h.Get("said", "not_up"); ok {
			notUpSaid(v, h, x)
		}
		if x, ok := h.Get("said", "no_lacp"); ok && v.Complains() {
			noLACPSaid(v, h, x)
		}
		hashSaid(v, h)
		if x, ok := h.Get("said", "few_links"); ok {
			fewLinksSaid(v, h, x)
		} else if x, ok := h.Get("said", "uneven"); ok && !v.Said("one_link") {
			fewLinksSaid(v, h, x)
		}
	}
}

// askBothEnds are the outputs that show why LACP does not come up.
var askBothEnds = []scene.Missing{
	{Command: "cat /proc/net/bonding/* (or teamdctl TEAM state, ifconfig -v lagg0, dladm show-aggr -L)", Why: "whom each port hears: partner MAC and key, and its state"},
	{Command: "show lacp neighbor; show etherchannel summary", Host: "the switch", Why: "whom it hears on each port, and which members are in the channel"},
	{Command: "tcpdump -e -i PORT ether proto 0x8809", Why: "whether LACP frames come, and whether they leave"},
}

func notUpSaid(v *scene.View, h *piece.Host, x piece.Value) {
	sure, where := 0.46, "the bundle (LACP)"
	evidence := []record.Evidence{scene.Saw("said", x.Text, x.Source)}
	for _, b := range v.Bonds {
		if b.Mode == "802.3ad" {
			sure, where = 0.58, b.Name+" of "+scene.NameOf(b.Host)+" (LACP)"
			if said, ok := scene.Fact(b.Host, b.Name, "runner"); ok {
				evidence = append(evidence, scene.Saw("runner of "+b.Name, said.Text, said.Source))
			} else if said, ok := scene.Fact(b.Host, b.Name, "mode"); ok {
				evidence = append(evidence, scene.Saw("mode of "+b.Name, said.Text, said.Source))
			}
		}
	}
	f := v.Add(record.LACPDown, sure, h, where,
		"By what is said, the bundle does not come up though its links do: then LACP has not agreed. Mostly the other end is no LACP group on just these ports: static (mode on), passive like this one, in two groups, on two switches that are not one, or the frames are lost between.",
		"Make both ends LACP, one of them active (`channel-group N mode active`), all ports of one speed in one group; where the other end cannot, make both static. Then look at what each port hears.", evidence...)
	f.Ask = askBothEnds
}

// noLACPSaid: the other end has no LACP, by what is said or by what a system's own page
// says of its ports.
func noLACPSaid(v *scene.View, h *piece.Host, x piece.Value) {
	if strings.Contains(strings.ToLower(x.Text), "seem to have 802.3ad") {
		f := v.Add(record.LACPDown, 0.75, h, "the switch's ports (802.3ad)",
			"macOS says of a port of its bond that the switch's port has no 802.3ad: it hears no LACP there, so that the port stays out of the bond.",
			"On the switch put these ports into one LAG of type LACP (dynamic, active), on one switch, and of one speed and full duplex; macOS takes no static one unless it is told (`ifconfig bond0 bondmode static`).", scene.Saw("said", x.Text, x.Source))
		f.Ask = []scene.Missing{{Command: "ifconfig -b bond0", Host: scene.NameOf(h), Why: "each port's LACP state and partner"}, {Command: "the switch's page of its LAGs", Host: "the switch", Why: "whether the LAG is LACP, and which ports are members"}}
		return
	}
	f := v.Add(record.SingleLink, 0.45, h, "the switch (no channel there)",
		"By what is said, the switch has no channel on these ports: what it sends to the host takes the one port where it learnt the host's address, whatever the host does, and a host that sends one address by several ports (IP hash, balance-rr, a static team) makes that change all the time.",
		"Use a switch with LACP and make both ends one group, or what needs none: SMB multichannel with an address on each card, MPIO, ESXi's route by originating port, balance-alb or active-backup.", scene.Saw("said", x.Text, x.Source))
	f.Ask = []scene.Missing{{Command: "the team's or bond's mode (Get-NetLbfoTeam, cat /proc/net/bonding/*, esxcli network vswitch standard policy failover get)", Host: scene.NameOf(h), Why: "what the host does on its side"},
		{Command: "iperf3 -c PEER -P 8, then with -R", Host: scene.NameOf(h), Why: "whether several connections add up, each way"}}
}

// fewLinksSaid: some links of a bundle carry all.
func fewLinksSaid(v *scene.View, h *piece.Host, x piece.Value) {
	evidence := []record.Evidence{scene.Saw("said", x.Text, x.Source)}
	where, sure := "the bundle's hash", 0.45
	for _, b := range v.Bonds {
		if b.Policy == "layer3+4" || b.Policy == "encap3+4" {
			where, sure = b.Name+" of "+scene.NameOf(b.Host)+" (its hash)", 0.52
		}
	}
	f := v.Add(record.HashImbalance, sure, h, where,
		"By what is said, the bundle's links do not carry alike: a hash gives each flow a link by its addresses and ports, and with few flows, or with addresses that differ in a pattern, it leaves some links out by chance. Which ones changes with the ports.",
		"Use more flows than links (`iperf3 -P 16`), or ports that `linerate steer pick` names; hash addresses and ports (layer3+4; a team's tx_hash with l3 and l4, and its tx_balancer) at the end that sends.", evidence...)
	f.Ask = []scene.Missing{{Command: "cat /proc/net/bonding/* (or teamdctl TEAM config dump)", Host: scene.NameOf(h), Why: "what the hash reads"},
		{Command: "ip -s link, before and after", Host: scene.NameOf(h), Why: "which link sent and received how much"},
		{Command: "ss -tn", Host: scene.NameOf(h), Why: "addresses and ports of the flows: which link each takes can be computed"}}
}

// hashSaid: a switch's hash that reads no ports, or cannot be told to, by its own words or
// its owner's.
func hashSaid(v *scene.View, h *piece.Host) {
	short, ok := h.Get("said", "hash_short")
	refused, ok2 := h.Get("said", "hash_unsupported")
	if !ok && !ok2 || v.HasFinding(record.SingleLink) {
		return
	}
	var evidence []record.Evidence
	sure, what := 0.0, ""
	if ok2 {
		sure, what = 0.52, "The switch says that its hash cannot be set: it stays as the chip or its SAI has it, and what it reads nobody showed. If that is addresses alone, all flows between two hosts share one link."
		evidence = append(evidence, scene.Saw("said", refused.Text, refused.Source))
	}
	if ok {
		sure, what = 0.64, "By what is said, the switch's hash reads no ports: all flows between two addresses take one link, however many there are, and several pairs of hosts share the links by chance."
		evidence = append(evidence, scene.Saw("said", short.Text, short.Source))
	}
	v.Add(record.SingleLink, sure, h, "the switch's hash", what,
		"Let it hash addresses and ports (SONiC: `config switch-hash global lag-hash SRC_IP DST_IP IP_PROTOCOL L4_SRC_PORT L4_DST_PORT`, and ecmp-hash; others: `port-channel load-balance src-dst-ip-port`); where the platform cannot, newer firmware, or several addresses at each end.", evidence...).Ask = []scene.Missing{
		{Command: "show switch-hash global; show switch-hash capabilities", Host: "the switch", Why: "what the hash reads, and what the platform can (SONiC; others: show port-channel load-balance)"},
		{Command: "show interfaces counters, before and after", Host: "the switch", Why: "which member carried how much"},
		{Command: "iperf3 -c PEER -P 16", Host: "", Why: "whether flows that differ in ports alone add up"},
	}
}
