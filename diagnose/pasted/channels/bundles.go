package channels

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// bundleRule is a bundle of another system and what its way to choose a link means.
type bundleRule struct {
	// key and value are the fact that shows it: value is a word within it.
	key, value      string
	summary, remedy string
	sure            float64
}

// bundleRules are what the bundles of other systems choose by.
var bundleRules = []bundleRule{
	{key: "hash_mode", value: "default", sure: 0.8,
		summary: "%s has hash_mode default: the EtherChannel chooses an adapter by the destination IP address (its last byte), so all to one address takes one adapter and the others are idle.",
		remedy:  "`chdev -l %s -a hash_mode=src_dst_port` (with -P and a restart, or while it is detached) hashes ports; then several connections use several adapters. The switch's own hash decides the other direction."},
}

// otherBundles: bundles that are no Linux bond.
func otherBundles(v *scene.View) {
	for _, h := range v.Hosts {
		names := h.Subjects("link")
		for _, name := range h.Subjects("config") {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		for _, name := range names {
			for _, r := range bundleRules {
				x, ok := scene.Fact(h, name, r.key)
				if !ok || !strings.Contains(strings.ToLower(x.Text), r.value) {
					continue
				}
				sure := r.sure
				evidence := []record.Evidence{scene.Saw(r.key+" of "+name, x.Text, x.Source)}
				if e, ok := memberSided(h, name); ok {
					evidence = append(evidence, e)
					sure = 0.9
				}
				v.Add(record.SingleLink, sure, h, name+" of "+scene.NameOf(h), fmt.Sprintf(r.summary, name), named(r.remedy, name), evidence...)
			}
			ovsBond(v, h, name)
			lagg(v, h, name)
			interfaceGroup(v, h, name)
			vSwitch(v, h, name)
			switchIndependent(v, h, name)
		}
		for _, name := range h.Subjects("config") {
			if !slices.Contains(h.Subjects("link"), name) {
				ovsBond(v, h, name)
			}
		}
	}
}

func named(s, name string) string {
	if strings.Contains(s, "%s") {
		return fmt.Sprintf(s, name)
	}
	return s
}

// memberSided is a member that carries nearly all of what a bundle sends; of what it
// receives, which others chose, where only that was read.
func memberSided(h *piece.Host, bundle string) (record.Evidence, bool) {
	b := scene.Bond{Host: h, Name: bundle}
	for _, link := range h.Subjects("link") {
		if scene.Word(h, link, "master") == strings.ToLower(bundle) {
			b.Ports = append(b.Ports, scene.Port{Name: link})
		}
	}
	for _, way := range []string{"tx", "rx"} {
		name, part, at, ok := b.OneSided(way)
		if ok {
			return scene.Saw("traffic of "+bundle, fmt.Sprintf("%.0f %% by %s, the others next to nothing", 100*part, name), at), true
		}
		if _, _, read := b.Carried(way); read {
			break
		}
	}
	return record.Evidence{}, false
}

// lagg: FreeBSD's bundle: which fields its hash has, and the other end's.
func lagg(v *scene.View, h *piece.Host, name string) {
	proto, ok := h.Get("link "+name, "laggproto")
	if !ok {
		return
	}
	hash, told := h.Get("link "+name, "lagghash")
	evidence := []record.Evidence{scene.Saw("laggproto of "+name, proto.Text, proto.Source)}
	sure := 0.5
	if told {
		evidence = append(evidence, scene.Saw("lagghash of "+name, hash.Text, hash.Source))
	}
	if e, ok := memberSided(h, name); ok {
		evidence = append(evidence, e)
		sure = 0.85
	}
	if proto.Text != "lacp" && proto.Text != "loadbalance" || scene.EvenMembers(h, name) || scene.NoLink(h, "link "+name) {
		return
	}
	if told && !scene.Contains(hash.Text, "l3", "l4") {
		v.Add(record.SingleLink, max(sure, 0.75), h, name+" of "+scene.NameOf(h)+" (lagghash "+hash.Text+")",
			fmt.Sprintf("%s hashes MAC addresses alone (lagghash %s): all that goes to one next hop, router or peer takes one link.", name, hash.Text),
			fmt.Sprintf("`ifconfig %s lagghash l2,l3,l4` (and in the configuration), so that addresses and ports count; the switch's hash decides what comes in.", name), evidence...)
		return
	}
	if scene.Contains(hash.Text, "l4") && proto.Text == "lacp" && sure <= 0.5 && !v.Complains() {
		return // a whole bundle that hashes ports, of which nobody misses anything
	}
	own := fmt.Sprintf("`ifconfig %s lagghash l2,l3,l4` on this end, and ", name)
	if told && scene.Contains(hash.Text, "l4") {
		own = ""
	}
	v.Add(record.SingleLink, sure, h, name+" of "+scene.NameOf(h),
		fmt.Sprintf("%s (%s) gives each flow one link by a hash: one session or connection, and all between two addresses where the switch hashes addresses, goes no faster than a single link.", name, proto.Text),
		fmt.Sprintf("Use several connections: iSCSI MPIO with an address on each link instead of the LAG, NFS or SMB with several; %sa hash of addresses and ports (L4) on the switch for what it sends.", own),
		evidence...)
}

// interfaceGroup: ONTAP's bundle and what it distributes by.
func interfaceGroup(v *scene.View, h *piece.Host, name string) {
	x, ok := h.Get("link "+name, "load_balance")
	if !ok || scene.Word(h, name, "kind") != "ifgrp" {
		return
	}
	what, sure := "", 0.0
	switch strings.ToLower(x.Text) {
	case "mac":
		what, sure = "MAC addresses: all that goes to one next hop or router, and all between two MACs", 0.78
	case "ip":
		what, sure = "IP addresses: all between one LIF and one client", 0.4
	case "sequential":
		v.Add(record.Reordering, 0.55, h, name+" of "+scene.NameOf(h)+" (sequential)",
			fmt.Sprintf("%s distributes frames in turn (sequential): those of one flow arrive out of order, which TCP takes for loss.", name),
			"Make the group again with `-distr-func port` (`network port ifgrp create`), its LIFs moved meanwhile, and LACP on the switch.", scene.Saw("distribution function of "+name, x.Text, x.Source))
		return
	default:
		return
	}
	evidence := []record.Evidence{scene.Saw("distribution function of "+name, x.Text, x.Source)}
	if e, ok := memberSided(h, name); ok {
		evidence, sure = append(evidence, e), 0.9
	}
	v.Add(record.SingleLink, sure, h, name+" of "+scene.NameOf(h)+" (distribution "+x.Text+")",
		fmt.Sprintf("%s distributes by %s, takes one port of the group, however many there are.", name, what),
		"The function is fixed when a group is made: move its LIFs to another port (`network interface migrate`), delete the group and make it again with `network port ifgrp create -node NODE -ifgrp "+name+" -distr-func port -mode multimode_lacp`, then add its ports; several LIFs and clients, or nconnect, give it flows to spread. What comes in is the switch's hash.", evidence...)
}

// switchIndependent: a Windows team that no switch knows of: one member receives.
func switchIndependent(v *scene.View, h *piece.Host, name string) {
	x, ok := h.Get("link "+name, "mode")
	if !ok || !strings.EqualFold(x.Text, "switchindependent") {
		return
	}
	sure := 0.5
	evidence := []record.Evidence{scene.Saw("teaming mode of "+name, x.Text, x.Source)}
	b := scene.Bond{Host: h, Name: name}
	for _, p := range h.Ports[name] {
		b.Ports = append(b.Ports, scene.Port{Name: p})
	}
	if member, part, at, ok := b.Mostly("rx", 0.75); ok {
		evidence = append(evidence, scene.Saw("received", fmt.Sprintf("%.0f %% by %s", 100*part, member), at))
		sure = 0.9
	}
	v.Add(record.SingleLink, sure, h, name+" of "+scene.NameOf(h)+" (what comes in)",
		fmt.Sprintf("%s is switch independent: it has one MAC towards the switch, so that everything that comes in arrives at one member (one NIC), however it spreads what it sends.", name),
		"For what comes in make the team LACP (`Set-NetLbfoTeam -TeamingMode Lacp`) with a LAG at the switch that hashes addresses and ports; or use SMB multichannel without a team.", evidence...)
}

// vSwitch: ESXi's switch: a virtual port has one uplink, and with IP hash a pair of
// addresses has.
func vSwitch(v *scene.View, h *piece.Host, name string) {
	ports := h.Ports[name]
	if scene.Word(h, name, "kind") != "vswitch" || len(ports) < 2 {
		return
	}
	one := ""
	if speed := scene.SpeedOf(h, ports[0]); speed > 0 {
		one = fmt.Sprintf(" of %v", speed)
	}
	kind, _ := h.Get("link "+name, "kind")
	x, told := h.Get("link "+name, "load_balance")
	evidence := []record.Evidence{scene.Saw("uplinks of "+name, strings.Join(ports, ", "), kind.Source)}
	if told {
		evidence = append(evidence, scene.Saw("load balancing of "+name, x.Text, x.Source))
	}
	where := name + " of " + scene.NameOf(h)
	switch strings.ToLower(x.Text) {
	case "", "srcport", "portid":
		uplinks := make(map[string]bool)
		for _, vport := range h.Subjects("vport") {
			if up, ok := h.Get("vport "+vport, "uplink"); ok && up.Text != "" {
				uplinks[up.Text] = true
			}
		}
		if len(uplinks) > 1 {
			v.Add(scene.Healthy, 0.72, h, "none", fmt.Sprintf("Nothing is wrong with %s: its virtual ports use %d uplinks, one each, as the policy by virtual port does.", name, len(uplinks)), "", evidence...)
			return
		}
		v.Add(record.SingleLink, 0.72, h, where+": one virtual NIC, one uplink",
			fmt.Sprintf("%s gives each virtual port (virtual NIC) one uplink (route based on originating virtual port id, the default): one VM has a single uplink%s, however many there are.", name, one),
			"Several VMs, or several virtual NICs with addresses of their own, use several uplinks; IP hash (iphash) with a static channel at the switch spreads one VM's peers; a faster uplink helps one flow.", evidence...)
	case "mac":
		v.Add(record.SingleLink, 0.7, h, where, fmt.Sprintf("%s chooses an uplink by source MAC: one VM's one virtual NIC has one uplink%s.", name, one),
			"Use several virtual NICs, or IP hash with a static channel at the switch.", evidence...)
	case "iphash":
		v.Add(record.SingleLink, 0.45, h, where, fmt.Sprintf("%s chooses an uplink by the pair of addresses (IP hash): one session between two addresses has one uplink%s.", name, one),
			"Use more pairs of addresses: a second address on the server, or several clients.", evidence...)
	}
}

// evenAdapters: two links that stand alone and carry alike, with SMB on both.
func evenAdapters(v *scene.View) {
	for _, h := range v.Hosts {
		if len(h.Subjects("smb")) < 2 || len(v.Bonds) > 0 {
			continue
		}
		b := scene.Bond{Host: h, Name: "adapters"}
		for _, name := range h.Subjects("link") {
			if n, _, ok := scene.Number(h, "link "+name, "tx_bytes"); ok && n > 0 && !scene.Pseudo(name) {
				b.Ports = append(b.Ports, scene.Port{Name: name})
			}
		}
		for _, way := range []string{"tx", "rx"} {
			parts, at, ok := b.Carried(way)
			if !ok {
				continue
			}
			if name, part := scene.Busiest(parts); part < 1.3/float64(len(parts)) {
				v.Add(scene.Healthy, 0.82, h, "none", fmt.Sprintf("Nothing is wrong: SMB multichannel uses both adapters, and they carry alike (%s, the busiest, %.0f %%).", name, 100*part), "",
					scene.Saw("traffic of the adapters", "even", at))
				return
			}
		}
	}
}
