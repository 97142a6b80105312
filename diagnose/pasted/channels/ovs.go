package channels

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// switched is a bond of Open vSwitch in a paste.
type switched struct {
	view    *scene.View
	host    *piece.Host
	name    string
	members []string
	mode    piece.Value
	runs    bool // what runs was read, and not a file alone
}

// ovsBond says what a bond of Open vSwitch does with its links.
func ovsBond(v *scene.View, h *piece.Host, name string) {
	mode, ok := scene.Fact(h, name, "bond_mode")
	if !ok || scene.Word(h, name, "kind") != netstate.KindOVSBond && scene.Word(h, name, "kind") != "" {
		return
	}
	b := switched{view: v, host: h, name: name, mode: mode, members: slices.Clone(h.Ports[name])}
	_, b.runs = h.Get("link "+name, "bond_mode")
	for _, link := range h.Subjects("link") {
		if scene.Word(h, link, "master") == strings.ToLower(name) && !slices.Contains(b.members, link) {
			b.members = append(b.members, link)
		}
	}
	if b.withoutPartner() || b.disabled() {
		return
	}
	switch netstate.OVSMode(mode.Text) {
	case netstate.OVSBalanceSLB:
		b.bySource()
	case netstate.OVSBalanceTCP:
		b.byFlows()
	case netstate.OVSActiveBackup:
		sure := 0.6
		evidence := []record.Evidence{scene.Saw("bond_mode of "+name, mode.Text, mode.Source)}
		if e, ok := memberSided(h, name); ok {
			sure, evidence = 0.9, append(evidence, e)
		}
		v.Add(record.SingleLink, b.doubted(sure), h, b.where(), name+" is an Open vSwitch bond in active-backup: one link carries, the other waits.",
			fmt.Sprintf("For more than one link: LACP at the switch and `ovs-vsctl set port %s bond_mode=balance-tcp lacp=active`.", name), evidence...)
	}
}

func (b switched) where() string { return b.name + " of " + scene.NameOf(b.host) }

// doubted is a confidence, less where a file alone was read.
func (b switched) doubted(sure float64) float64 {
	if b.runs {
		return sure
	}
	return sure - 0.1
}

// withoutPartner: LACP is off where the mode wants it, or asked for and not agreed.
// What its members say each is another rule's.
func (b switched) withoutPartner() bool {
	tcp := b.mode.Text == string(netstate.OVSBalanceTCP)
	status, shown := scene.Fact(b.host, b.name, "lacp_status")
	if !shown {
		status, shown = scene.Fact(b.host, b.name, "lacp")
	}
	mode := scene.Saw("bond_mode of "+b.name, b.mode.Text, b.mode.Source)
	switch {
	case !shown:
	case tcp && status.Text == netstate.OVSLACPOff:
		b.view.Add(record.LACPDown, b.doubted(0.92), b.host, b.where(), b.name+" is an Open vSwitch bond in balance-tcp, which sends nothing without LACP, and LACP is off.",
			fmt.Sprintf("Put the switch's ports into one LACP channel, then `ovs-vsctl set port %s lacp=active`. Without LACP at the switch: bond_mode=balance-slb.", b.name),
			mode, scene.Saw("LACP of "+b.name, status.Text, status.Source))
		return true
	case status.Text == "configured" && !b.defaulted():
		does := "it sends nothing (lacp_fallback_ab is not on)"
		if scene.Word(b.host, b.name, "lacp_fallback_ab") == "true" {
			does = "it falls back to active-backup (lacp_fallback_ab), one link at a time"
		}
		b.view.Add(record.LACPDown, 0.88, b.host, b.where(), fmt.Sprintf("%s is an Open vSwitch bond that asks for LACP, and no switch agrees (lacp_status: configured): %s.", b.name, does),
			"Put the switch's ports into one LACP channel (`channel-group N mode active`); `ovs-appctl lacp/show` then says negotiated.", mode, scene.Saw("lacp_status of "+b.name, status.Text, status.Source))
		return true
	}
	return b.defaulted()
}

// defaulted reports a member that hears no partner.
func (b switched) defaulted() bool {
	return slices.ContainsFunc(b.members, func(m string) bool { return strings.Contains(scene.Word(b.host, m, "lacp_state"), "defaulted") })
}

// disabled: Open vSwitch sends on some members only.
func (b switched) disabled() bool {
	var out []string
	var at piece.Source
	for _, m := range b.members {
		if x, ok := b.host.Get("link "+m, "enabled"); ok && x.Text == "no" {
			out, at = append(out, m), x.Source
		}
	}
	if len(out) == 0 {
		return false
	}
	if len(out) == len(b.members) {
		b.view.Add(record.LACPDown, b.doubted(0.85), b.host, b.where(),
			fmt.Sprintf("All %d members of %s (Open vSwitch, %s) are disabled: it carries nothing.", len(out), b.name, b.mode.Text),
			fmt.Sprintf("Look at the links and the switch's ports (`ethtool %s`, `ovs-appctl lacp/show %s`): no link, a port that is shut down, or no LACP partner. Members disabled by hand come back with `ovs-appctl bond/enable-member %s %s`.", out[0], b.name, b.name, out[0]),
			scene.Saw("members of "+b.name, strings.Join(out, ", ")+": disabled", at))
		return true
	}
	cause, why := record.SingleLink, "its link is down, or somebody disabled it"
	if status, ok := scene.Fact(b.host, b.name, "lacp_status"); ok && status.Text != netstate.OVSLACPOff {
		cause, why = record.LACPDown, "its link is down, or its LACP is not in sync with the others'"
	}
	first := out[0]
	b.view.Add(cause, 0.84, b.host, first+" in "+b.where(),
		fmt.Sprintf("%d of %d members of %s (Open vSwitch, %s) carries nothing: %s is disabled.", len(out), len(b.members), b.name, b.mode.Text, strings.Join(out, ", ")),
		fmt.Sprintf("Look at the link and the switch's port (`ethtool %s`, `ovs-appctl lacp/show %s`): %s. One disabled by hand comes back with `ovs-appctl bond/enable-member %s %s`.", first, b.name, why, b.name, first),
		scene.Saw("member "+first, "disabled", at))
	return true
}

// bySource: balance-slb gives one MAC address in one VLAN one link. Buckets with load
// show how many have traffic, and whether the members share it.
func (b switched) bySource() {
	sums, load := b.loads()
	all, most, bucket, at := load.all, load.most, load.bucket, load.at
	if _, part := scene.Busiest(sums); len(sums) > 1 && len(sums) == len(b.members) && part/all < 1.4/float64(len(sums)) {
		return // several MAC addresses, on all members alike
	}
	sure := 0.8
	evidence := []record.Evidence{scene.Saw("bond_mode of "+b.name, b.mode.Text, b.mode.Source)}
	if all > 0 && most/all > 0.8 {
		sure = 0.92
		evidence = append(evidence, scene.Saw("bucket "+bucket, fmt.Sprintf("%.0f %% of the load of %s", 100*most/all, b.name), at))
	}
	if e, ok := memberSided(b.host, b.name); ok {
		sure, evidence = max(sure, 0.9), append(evidence, e)
	}
	b.view.Add(record.SingleLink, b.doubted(sure), b.host, b.where(),
		b.name+" is an Open vSwitch bond in balance-slb: it chooses by source MAC and VLAN, so one VM (one MAC) has one link, moved now and then.",
		fmt.Sprintf("Use LACP with the switch and `ovs-vsctl set port %s bond_mode=balance-tcp lacp=active`, which hashes flows; or several VMs or MACs.", b.name), evidence...)
}

// buckets is the load that `bond/show` lists: of all, the largest, and how many have some.
type buckets struct {
	all, most float64 // kB
	bucket    string  // the largest one's number
	at        piece.Source
	count     int
}

// loads are the members' loads, and all of them together.
func (b switched) loads() (map[string]float64, buckets) {
	sums, load := map[string]float64{}, buckets{}
	for _, m := range b.members {
		for _, key := range b.host.Keys("link " + m) {
			number, is := strings.CutPrefix(key, "hash ")
			n, source, ok := scene.Number(b.host, "link "+m, key)
			if _, err := strconv.ParseUint(number, 10, 8); !is || !ok || err != nil {
				continue
			}
			sums[m] += n
			load.all += n
			if load.count++; n > load.most {
				load.most, load.bucket, load.at = n, number, source
			}
		}
	}
	return sums, load
}

// byFlows: balance-tcp with an LACP partner, where one member carries nearly all, by the
// buckets' load or by what is said.
func (b switched) byFlows() {
	status, ok := scene.Fact(b.host, b.name, "lacp_status")
	if !ok || status.Text != "negotiated" || len(b.members) < 2 {
		return
	}
	evidence := []record.Evidence{scene.Saw("bond_mode of "+b.name, b.mode.Text, b.mode.Source), scene.Saw("lacp_status of "+b.name, status.Text, status.Source)}
	sums, load := b.loads()
	member, part := scene.Busiest(sums)
	sure, what := 0.0, ""
	if load.all > 0 && part/load.all > 0.85 {
		sure, what = 0.72, fmt.Sprintf("%.0f %% of its load is in buckets of %s, and %d buckets have any", 100*part/load.all, member, load.count)
		evidence = append(evidence, scene.Saw("load of "+member, fmt.Sprintf("%.0f of %.0f kB", part, load.all), load.at))
	} else if h := slices.IndexFunc(b.view.Case.Hosts, func(h *piece.Host) bool { _, told := h.Get("said", "one_link"); return told }); load.all == 0 && h >= 0 {
		x, _ := b.view.Case.Hosts[h].Get("said", "one_link")
		sure, what = 0.5, "one member carries nearly all, by what is said, and no bucket with load is listed"
		evidence = append(evidence, scene.Saw("said", x.Text, x.Source))
	}
	if sure == 0 {
		return
	}
	b.view.Add(record.HashImbalance, sure, b.host, b.where(),
		fmt.Sprintf("%s is an Open vSwitch bond in balance-tcp whose LACP is agreed and whose members are enabled, so flows may take either link: %s. Few flows fall on one member by their hash; a flow through a tunnel or of one pair of ports has one hash; and buckets move only when it rebalances (every 10 s, never with bond-rebalance-interval 0, and not at all where a rule sends to the member instead of the bond).", b.name, what),
		fmt.Sprintf("Test with many flows (`iperf3 -P 16`). If all stay on one: `ovs-vsctl set port %s other_config:bond-rebalance-interval=10000`, another `other_config:bond-hash-basis`, and a newer Open vSwitch (2.17 had faults there).", b.name), evidence...).Ask = []scene.Missing{
		{Command: fmt.Sprintf("ovs-appctl bond/show %s, twice while many flows run", b.name), Host: scene.NameOf(b.host), Why: "which buckets have load, on which member, and whether they move"},
		{Command: fmt.Sprintf("ovs-vsctl get port %s other_config; ovs-ofctl dump-flows BRIDGE", b.name), Host: scene.NameOf(b.host), Why: "the interval of rebalancing, the hash's basis, and whether a rule names a member"},
	}
}
