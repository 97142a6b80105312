package channels

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/advise/workload"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// blackHole: full packets that do not arrive while small ones do.
func blackHole(v *scene.View) {
	for _, h := range v.Hosts {
		small, large := false, piece.Ping{}
		passed, jumbo := 0, jumboLink(h)
		for _, p := range h.Pings {
			if p.Received > 0 {
				passed = max(passed, p.Size+pingHeaders)
			}
			switch {
			case p.Received > 0 && p.Size < 1000:
				small = true
			case p.Size >= 1000 && p.Sent > 0 && p.Received == 0, p.TooLong:
				if large.Size == 0 || p.Size < large.Size {
					large = p
				}
			}
		}
		if large.Size == 0 || passed >= fullPacket && large.Size+pingHeaders > fullPacket && !jumbo && (large.MTU == 0 || large.MTU >= fullPacket) {
			continue // what a link of 1500 bytes carries, passes
		}
		sure := 0.7
		if small {
			sure = 0.85
		}
		what := fmt.Sprintf("Packets of %d bytes do not get through to %s: the path's MTU is smaller than the hosts', and nobody says so (a black hole: ICMP \"fragmentation needed\" is dropped somewhere).", large.Size, large.Target)
		remedy := "Let ICMP type 3 code 4 pass, or clamp the MSS where the tunnel begins (`iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu`), or lower the MTU of both hosts to the path's (1500 where they send jumbo frames)."
		seen := fmt.Sprintf("%d bytes, don't fragment: %d of %d arrived", large.Size, max(large.Received, 0), large.Sent)
		if !large.DontFragment {
			seen, sure = fmt.Sprintf("%d bytes: %d of %d arrived", large.Size, max(large.Received, 0), large.Sent), min(sure, 0.75)
		}
		switch {
		case large.TooLong: // somebody says so: this host, or a router
			limit := "this host's interface, or the path, takes less"
			if large.MTU > 0 {
				limit = fmt.Sprintf("the interface or the path takes %d", large.MTU)
			}
			what = fmt.Sprintf("Packets of %d bytes to %s are refused as too long: %s. Where larger frames are meant, something has not got them yet.", large.Size, large.Target, limit)
			remedy = "Set the larger MTU on this host's interface, on the peer's, and on every switch port between them (jumbo frames), or leave all at 1500; then ping with that size again."
			seen, sure = fmt.Sprintf("%d bytes, don't fragment: refused as too long", large.Size), 0.6
		case large.MTU > 0:
			what = fmt.Sprintf("Packets of %d bytes do not get through to %s: the path's MTU is %d.", large.Size, large.Target, large.MTU)
		}
		if os, _ := h.Get("host", "os"); os.Text == "windows" && !large.TooLong {
			remedy = "Let ICMP type 3 code 4 pass the firewalls on the way, or lower the MTU of both hosts to the path's (`netsh interface ipv4 set subinterface NAME mtu=1500 store=persistent`)."
		}
		v.Add(record.MTU, sure, h, "the path from "+scene.NameOf(h)+" to "+large.Target, what, remedy, scene.Saw("ping", seen, large.Source))
	}
}

// Bytes of IPv4 and ICMP before what ping sends, and of Ethernet's largest packet.
const (
	pingHeaders = 28
	fullPacket  = 1500
)

// jumboLink reports a host that sends larger frames, or of which nobody says that it does
// not.
func jumboLink(h *piece.Host) bool {
	for _, p := range h.Pings {
		if p.Size+pingHeaders > 2*fullPacket {
			return true // that size was meant
		}
	}
	for _, name := range h.Subjects("link") {
		if n, _, ok := scene.Number(h, "link "+name, "mtu"); ok && n > 1600 && !scene.Pseudo(name) {
			return true
		}
	}
	return false
}

// smallBridge: a bridge or a guest's tap with small frames between ends with large
// ones.
func smallBridge(v *scene.View) {
	jumbo, most, at := "", 0.0, piece.Source{}
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			if n, from, ok := scene.Number(h, "link "+name, "mtu"); ok && n > 1600 && !scene.Pseudo(name) {
				jumbo, most, at = name+" of "+scene.NameOf(h), n, from
			}
		}
	}
	if jumbo == "" {
		return
	}
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			n, from, ok := scene.Number(h, "link "+name, "mtu")
			kind := scene.Word(h, name, "kind")
			bridge := kind == "bridge" || strings.HasPrefix(name, "vmbr") || strings.HasPrefix(name, "br") || strings.HasPrefix(name, "tap") || strings.HasPrefix(name, "vnet")
			if !ok || n > 1600 || !bridge {
				continue
			}
			v.Add(record.MTU, 0.85, h, name+" of "+scene.NameOf(h)+fmt.Sprintf(" (MTU %.0f)", n),
				fmt.Sprintf("%s has an MTU of %.0f while %s has %.0f: what the ends send in jumbo frames does not fit through the bridge, and is dropped without a word.", name, n, jumbo, most),
				fmt.Sprintf("Set the MTU to %.0f on %s and on all its ports (Proxmox: `mtu %[1]g` in its stanza, and the guest's card), or 1500 on both ends.", most, name),
				scene.Saw("MTU of "+name, fmt.Sprintf("%.0f", n), from), scene.Saw("MTU of "+jumbo, fmt.Sprintf("%.0f", most), at))
			return
		}
	}
}

// containerBridges are how bridges for containers and guests are called that take an MTU of
// their own and not their uplink's: they have no card as a port.
var containerBridges = []string{"docker", "br-", "cni", "cbr", "virbr", "lxcbr", "lxdbr", "podman", "nerdctl", "veth", "cali", "lxc"}

// largeBridge: a bridge of containers with larger frames than the host's own card takes, as
// in clouds whose network carries less than 1500 (Docker's bridge has 1500 whatever is below).
func largeBridge(v *scene.View) {
	for _, h := range v.Hosts {
		card, least, at := "", 0.0, piece.Source{}
		for _, name := range h.Subjects("link") {
			n, from, ok := scene.Number(h, "link "+name, "mtu")
			if ok && n >= 576 && scene.Card(name) && scene.Word(h, name, "kind") == "" && scene.Word(h, name, "state") != "down" {
				if n > least {
					card, least, at = name, n, from
				}
			}
		}
		for _, name := range h.Subjects("link") {
			n, from, ok := scene.Number(h, "link "+name, "mtu")
			if !ok || card == "" || least >= 1500 || n <= least || scene.Word(h, name, "state") == "down" ||
				!slices.ContainsFunc(containerBridges, func(p string) bool { return strings.HasPrefix(name, p) }) {
				continue
			}
			sure := 0.66
			if !v.Complains() {
				sure = 0.5
			}
			v.Add(record.MTU, sure, h, fmt.Sprintf("%s of %s (MTU %.0f)", name, scene.NameOf(h), n),
				fmt.Sprintf("%s has an MTU of %.0f and the host's %s %.0f: containers announce segments that fit the larger one, so that full packets do not fit what is below, and small ones pass: handshakes and pings work, and transfers hang.", name, n, card, least),
				fmt.Sprintf("Give the containers' network the MTU of %s: Docker `{\"mtu\": %.0f}` in daemon.json and `--opt com.docker.network.driver.mtu=%.0f` for each network, the CNI's mtu (less its tunnel's header), `<mtu size='%.0f'/>` for libvirt; then start the containers again.", card, least, least, least),
				scene.Saw("MTU of "+name, fmt.Sprintf("%.0f", n), from), scene.Saw("MTU of "+card, fmt.Sprintf("%.0f", least), at))
			return
		}
	}
}

// unlikeFrames: cards of one host of which one has jumbo frames and another has none, where
// large frames are what is asked about.
func unlikeFrames(v *scene.View) {
	_, large := v.Case.Topics["large"]
	if !large && !v.Said("large_lost") || !v.Complains() || v.HasFinding(record.MTU) {
		return
	}
	for _, h := range v.Hosts {
		var small, jumbo string
		var at, from piece.Source
		for _, name := range h.Subjects("link") {
			n, source, ok := scene.Number(h, "link "+name, "mtu")
			switch {
			case !ok || !scene.Card(name) || scene.Word(h, name, "state") == "down" || scene.Word(h, name, "carrier") == "no":
			case n > 1600:
				jumbo, at = name, source
			case n == 1500:
				small, from = name, source
			}
		}
		if small == "" || jumbo == "" {
			continue
		}
		v.Add(record.MTU, 0.46, h, fmt.Sprintf("%s (1500) beside %s (jumbo frames) of %s", small, jumbo, scene.NameOf(h)),
			fmt.Sprintf("%s has jumbo frames and %s an MTU of 1500: what goes by %s is no jumbo frame, and what comes there in jumbo frames is dropped. Which of the two the traffic takes decides.", jumbo, small, small),
			fmt.Sprintf("If both belong to one purpose (two paths of storage, a bond): `ip link set %s mtu 9000`, kept in its configuration, and the same on the switch's port. Else see by which the traffic goes: `ip route get PEER`.", small),
			scene.Saw("MTU of "+small, "1500", from), scene.Saw("MTU of "+jumbo, "above 1500", at)).Ask = []scene.Missing{
			{Command: "ip route get PEER; ping -M do -s 8972 -I " + jumbo + " PEER", Host: scene.NameOf(h), Why: "which link the traffic takes, and whether jumbo frames pass there"},
			{Command: "show interfaces | include MTU", Host: "the switch", Why: "the MTU of both ports"},
		}
		return
	}
}

// failoverPaths: several paths to a disk of which one group carries.
func failoverPaths(v *scene.View) {
	for _, h := range v.Hosts {
		groups := make(map[string]map[int][]piece.Path)
		for _, p := range h.Paths {
			if p.Kind == "multipath" {
				if groups[p.Device] == nil {
					groups[p.Device] = make(map[int][]piece.Path)
				}
				groups[p.Device][p.Group] = append(groups[p.Device][p.Group], p)
			}
		}
		for _, device := range slices.Sorted(maps.Keys(groups)) {
			of := groups[device]
			one := len(of) > 1
			for _, paths := range of {
				one = one && len(paths) == 1
			}
			if !one {
				continue
			}
			first := of[slices.Min(slices.Collect(maps.Keys(of)))][0]
			v.Add(record.SingleLink, 0.85, h, device+" of "+scene.NameOf(h)+" (multipath)",
				fmt.Sprintf("Each path of %s is a priority group of its own (policy failover): one path carries, the others wait for it to fail, so one link is all there is.", device),
				"Set path_grouping_policy multibus (or group_by_prio where the array says so) in multipath.conf, so that the paths are in one group, with path_selector service-time or round-robin; then `multipath -r`.",
				scene.Saw("multipath", fmt.Sprintf("%d groups of one path each", len(of)), first.Source))
		}
		sharedNetdev(v, h)
	}
}

// sharedNetdev: iSCSI sessions that all go by one link.
func sharedNetdev(v *scene.View, h *piece.Host) {
	links := make(map[string]int)
	var first piece.Path
	n := 0
	for _, p := range h.Paths {
		if p.Kind != "iscsi" {
			continue
		}
		if p.Link == "" || p.Link == "default" {
			p.Link = p.Local // the address says by which
		}
		for _, a := range scene.Addresses(h) {
			if a.Prefix.Addr().String() == p.Local {
				p.Link = a.Link
			}
		}
		if p.Link != "" {
			if n++; n == 1 {
				first = p
			}
			links[p.Link]++
		}
	}
	if n < 2 || len(links) > 1 {
		return
	}
	v.Add(record.SingleLink, 0.85, h, "iSCSI of "+scene.NameOf(h),
		fmt.Sprintf("All %d iSCSI sessions go by one interface (%s): they share the same interface and its one link, and the other link is idle.", n, first.Link),
		"Have "+workload.SpreadOf("iscsi")+", in subnets of their own or with source routing; multipath then uses both.",
		scene.Saw("iscsiadm", fmt.Sprintf("%d sessions by %s", n, first.Link), first.Source))
}
