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
		for _, p := range h.Pings {
			switch {
			case p.Received > 0 && p.Size < 1000:
				small = true
			case p.Size >= 1000 && p.Sent > 0 && p.Received == 0, p.TooLong:
				if large.Size == 0 || p.Size < large.Size {
					large = p
				}
			}
		}
		if large.Size == 0 {
			continue
		}
		sure := 0.7
		if small {
			sure = 0.85
		}
		what := fmt.Sprintf("Packets of %d bytes do not get through to %s: the path's MTU is smaller than the hosts', and nobody says so (a black hole: ICMP \"fragmentation needed\" is dropped somewhere).", large.Size, large.Target)
		remedy := "Let ICMP type 3 code 4 pass, or clamp the MSS where the tunnel begins (`iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu`), or lower the MTU of both hosts to the path's (1500 where they send jumbo frames)."
		seen := fmt.Sprintf("%d bytes, don't fragment: %d of %d arrived", large.Size, max(large.Received, 0), large.Sent)
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

// smallBridge: a bridge or a guest's tap with small frames between ends with large
// ones.
func smallBridge(v *scene.View) {
	jumbo, at := "", piece.Source{}
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			if n, from, ok := scene.Number(h, "link "+name, "mtu"); ok && n > 1600 && name != "lo" {
				jumbo, at = name+" of "+scene.NameOf(h), from
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
				fmt.Sprintf("%s has an MTU of %.0f while %s has 9000: what the ends send in jumbo frames does not fit through the bridge, and is dropped without a word.", name, n, jumbo),
				fmt.Sprintf("Set the MTU to 9000 on %s and on all its ports (Proxmox: `mtu 9000` in its stanza, and the guest's card), or 1500 on both ends.", name),
				scene.Saw("MTU of "+name, fmt.Sprintf("%.0f", n), from), scene.Saw("MTU of "+jumbo, "above 1500", at))
			return
		}
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
