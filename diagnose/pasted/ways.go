package pasted

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// twoLinks are a host's physical links that were seen to carry, one nearly all of it:
// the busy one and those that idle; ok is false where that was not seen.
func twoLinks(h *piece.Host) (busy string, idle []string, at piece.Source, ok bool) {
	for _, way := range []string{"rx", "tx"} {
		all := bond{host: h}
		for _, link := range h.Subjects("link") {
			_, _, seen := number(h, "link "+link, "seen_"+way+"_bps")
			_, _, counted := number(h, "link "+link, way+"_bytes")
			if (seen || counted) && physical(link) && link != "lo" {
				all.ports = append(all.ports, port{name: link})
			}
		}
		name, part, from, sided := all.mostly(way, 0.95)
		if !sided || part == 0 {
			continue
		}
		for _, p := range all.ports {
			if p.name != name {
				idle = append(idle, p.name)
			}
		}
		return name, idle, from, true
	}
	return "", nil, at, false
}

// nearPath: NVMe over several paths of which the policy uses the nearest only.
func nearPath(v *view) {
	for _, h := range v.hosts {
		x, ok := h.Get("nvme", "iopolicy")
		for _, device := range h.Subjects("nvme") {
			if y, told := h.Get("nvme "+device, "iopolicy"); told {
				x, ok = y, true
			}
		}
		if !ok || x.Text != "numa" {
			continue
		}
		sure := 0.6
		evidence := []record.Evidence{saw("iopolicy", x.Text, x.Source)}
		paths := 0
		for _, p := range h.Paths {
			if p.Kind == "nvme" {
				paths++
			}
		}
		if paths > 1 {
			sure = 0.78
			evidence = append(evidence, saw("NVMe paths", fmt.Sprintf("%d, all live", paths), h.Paths[0].Source))
		}
		if busy, idle, at, ok := twoLinks(h); ok {
			sure = 0.93
			evidence = append(evidence, saw("links of "+nameOf(h), busy+" carries, "+strings.Join(idle, ", ")+" idle", at))
		}
		v.add(record.SingleLink, sure, h, "the iopolicy of NVMe on "+nameOf(h),
			"The NVMe subsystem has several paths, and its iopolicy is numa: all requests take the one path that is nearest to the core, one link.",
			"`echo round-robin > /sys/class/nvme-subsystem/nvme-subsys0/iopolicy` (queue-depth from Linux 6.11), and a udev rule or nvme_core.iopolicy=round-robin that keeps it.", evidence...)
	}
}

// oneInterface: Lustre's network with one interface of several.
func oneInterface(v *view) {
	for _, h := range v.hosts {
		used := map[string]bool{}
		var at piece.Source
		for _, nid := range h.Subjects("nid") {
			if x, ok := h.Get("nid "+nid, "link"); ok {
				used[x.Text], at = true, x.Source
			}
		}
		if x, ok := h.Get("lnet", "networks"); ok && len(used) == 0 && strings.Count(x.Text, ",") == 0 {
			if _, rest, ok := strings.Cut(x.Text, "("); ok {
				used[strings.TrimSuffix(rest, ")")], at = true, x.Source
			}
		}
		if len(used) != 1 {
			continue
		}
		only, other := "", ""
		for link := range used {
			only = link
		}
		for _, a := range addresses(h) {
			if a.link != only && physical(a.link) {
				other = a.link
			}
		}
		if other == "" || word(h, only, "kind") == "bond" || strings.HasPrefix(only, "bond") {
			continue
		}
		sure := 0.8
		evidence := []record.Evidence{saw("LNet's interface (NI)", only+" alone", at)}
		if busy, idle, from, ok := twoLinks(h); ok && busy == only {
			sure = 0.94
			evidence = append(evidence, saw("links of "+nameOf(h), busy+" carries, "+strings.Join(idle, ", ")+" idle", from))
		}
		v.add(record.SingleLink, sure, h, fmt.Sprintf("LNet of %s (%s only)", nameOf(h), only),
			fmt.Sprintf("LNet on %s knows one interface (NI), %s: %s, the second one, carries no Lustre traffic, whatever the servers have.", nameOf(h), only, other),
			fmt.Sprintf("Add it for multi-rail: `lnetctl net add --net tcp --if %s,%s` (kept: `options lnet networks=\"tcp(%s,%s)\"`), with a routing rule for each address where both are in one subnet.", only, other, only, other), evidence...)
	}
}

// subflowLimits: MPTCP that may make or accept no further subflow.
func subflowLimits(v *view) {
	refused, refusedAt := 0.0, piece.Source{}
	for _, h := range v.hosts {
		if x, ok := h.Counters["MPTcpExtMPJoinRejected"]; ok {
			refused, refusedAt = max(refused, piece.Float(x.Text)), x.Source
		}
	}
	for _, h := range v.hosts {
		subflows, at, ok := number(h, "mptcp", "subflows")
		accepted, from, told := number(h, "mptcp", "add_addr_accepted")
		if !ok || subflows > 0 {
			continue
		}
		sure := 0.8
		evidence := []record.Evidence{saw("ip mptcp limits of "+nameOf(h), "subflows 0", at)}
		if told && accepted == 0 {
			evidence = append(evidence, saw("ip mptcp limits of "+nameOf(h), "add_addr_accepted 0", from))
		}
		if refused > 0 {
			sure = 0.93
			evidence = append(evidence, saw("MPJoinRejected", fmt.Sprintf("%.0f", refused), refusedAt))
		}
		v.add(record.SingleLink, sure, h, "ip mptcp limits of "+nameOf(h),
			fmt.Sprintf("The MPTCP limits of %s are subflows 0: it refuses every further subflow (join), so that a connection stays on one link.", nameOf(h)),
			"On both ends (client and server): `ip mptcp limits set subflows 2 add_addr_accepted 2`; they are gone after a restart.", evidence...)
	}
}

// backupSubflows: MPTCP endpoints that are marked as backup: their subflows carry
// nothing while another lives.
func backupSubflows(v *view) {
	for _, h := range v.hosts {
		for _, name := range h.Subjects("mptcp endpoint") {
			x, ok := h.Get("mptcp endpoint "+name, "flags")
			if !ok || !strings.Contains(x.Text, "backup") {
				continue
			}
			v.add(record.SingleLink, 0.82, h, "the MPTCP endpoint "+name+" of "+nameOf(h),
				fmt.Sprintf("The MPTCP endpoint %s is marked as backup: its subflow carries nothing while another one lives, so that one link does all.", name),
				fmt.Sprintf("`ip mptcp endpoint change id N nobackup`, or delete it and add %s again with `subflow` alone.", name), saw("endpoint "+name, x.Text, x.Source))
		}
	}
}

// unscaled: a host that has window scaling off.
func unscaled(v *view) {
	trip := v.roundTrip()
	for _, h := range v.hosts {
		x, ok := h.Get("sysctl", "net.ipv4.tcp_window_scaling")
		if !ok || x.Text != "0" {
			continue
		}
		sure := 0.7
		evidence := []record.Evidence{saw("net.ipv4.tcp_window_scaling", x.Text, x.Source)}
		if e, near := v.near(unit.FromBytes(65535, max(trip, 1)/1000), 0.6); near && trip > 1 {
			evidence, sure = append(evidence, e), 0.93
		}
		v.add(record.ReceiveWindow, sure, h, "tcp_window_scaling of "+nameOf(h),
			fmt.Sprintf("%s has window scaling off: no window is larger than 64 KiB, which bounds each stream by the round trip, whatever tcp_rmem says.", nameOf(h)),
			"`sysctl -w net.ipv4.tcp_window_scaling=1`, in what sets it to 0 too; connections that stand keep what they agreed on.", evidence...)
	}
}

// reversePath: packets that reverse path filtering drops.
func reversePath(v *view) {
	for _, h := range v.hosts {
		x, ok := h.Counters["TcpExtIPReversePathFilter"]
		n := piece.Float(x.Text)
		martians := 0
		var log piece.Event
		for _, e := range h.Events {
			if strings.Contains(e.Text, "martian source") {
				martians++
				log = e
			}
		}
		if n < 100 && martians == 0 || len(addresses(h)) == 0 && len(h.Facts) == 0 {
			continue
		}
		sure := 0.6
		var evidence []record.Evidence
		if n >= 100 {
			sure = 0.7
			evidence = append(evidence, saw("TcpExtIPReversePathFilter of "+nameOf(h), fmt.Sprintf("%.0f packets dropped", n), x.Source))
		}
		if martians > 0 {
			evidence = append(evidence, saw("log", log.Text, log.Source))
		}
		for _, key := range h.Keys("sysctl") {
			if value, _ := h.Get("sysctl", key); strings.HasSuffix(key, ".rp_filter") && value.Text == "1" {
				sure = 0.93
				evidence = append(evidence, saw(key, "1 (strict; the larger of all and the interface's counts)", value.Source))
				break
			}
		}
		if !ok && sure > 0.9 {
			sure = 0.85
		}
		same := ""
		for _, f := range v.findings {
			if f.Cause == record.AsymmetricRoute && strings.Contains(f.Where, "in one subnet") {
				same = " Its cause: " + f.Where + " (the same subnet)."
			}
		}
		v.add(record.AsymmetricRoute, sure, h, "rp_filter on "+nameOf(h),
			fmt.Sprintf("Reverse path filtering (rp_filter) on %s drops packets that come in by another interface than the one that the route to their source uses: the paths are asymmetric.%s", nameOf(h), same),
			"`sysctl -w net.ipv4.conf.all.rp_filter=2` (loose; 0 is off), in /etc/sysctl.d too: a host with several uplinks needs that, or a rule and a table for each address so that answers leave where the question came.", evidence...)
	}
}

// tunnelHeaders are the bytes that a tunnel puts before a packet, by its name's begin.
var tunnelHeaders = []struct {
	name  string
	bytes float64
	where string
}{
	{"tunl", 20, "IPIP"}, {"ipip", 20, "IPIP"}, {"flannel.", 50, "VXLAN"}, {"vxlan", 50, "VXLAN"}, {"cilium_vxlan", 50, "VXLAN"}, {"wireguard", 60, "WireGuard"}, {"wg", 60, "WireGuard"}, {"gre", 24, "GRE"}, {"cilium_geneve", 50, "Geneve"},
}

// tunnelFrames: a tunnel whose MTU with its header does not fit into the link below.
func tunnelFrames(v *view) {
	for _, h := range v.hosts {
		below, under := "", 0.0
		for _, link := range h.Subjects("link") {
			mtu, _, ok := number(h, "link "+link, "mtu")
			if ok && link != "lo" && physical(link) && !contains(link, "tunl", "genev", "gre", "cilium", "lxc", "kube", "nodelocal", "ovn", "antrea", "vmbr") && word(h, link, "kind") == "" && mtu > under {
				below, under = link, mtu
			}
		}
		for _, link := range h.Subjects("link") {
			for _, t := range tunnelHeaders {
				mtu, at, ok := number(h, "link "+link, "mtu")
				if !ok || below == "" || !strings.HasPrefix(link, t.name) || mtu+t.bytes <= under || mtu > 9216 || strings.HasPrefix(link, "vxlan_sys") {
					continue
				}
				sure := 0.72
				evidence := []record.Evidence{saw("MTU of "+link, fmt.Sprintf("%.0f (%s, %.0f bytes of header)", mtu, t.where, t.bytes), at), saw("MTU of "+below, fmt.Sprintf("%.0f", under), at)}
				lost := 0
				for _, host := range v.hosts {
					for _, p := range host.Pings {
						if p.DontFragment && p.Sent > 0 && p.Received == 0 && float64(p.Size+28) > under-t.bytes && float64(p.Size+28) <= mtu {
							lost = p.Size
							evidence = append(evidence, saw("ping", fmt.Sprintf("%d bytes, none of %d arrived", p.Size, p.Sent), p.Source))
						}
					}
				}
				for _, r := range v.c.Runs {
					if r.Intervals >= 4 && r.Stalled >= r.Intervals/2 {
						sure = 0.86
					}
				}
				if lost > 0 {
					sure = 0.93
				}
				v.add(record.MTU, sure, h, fmt.Sprintf("%s over %s of %s (MTU)", link, below, nameOf(h)),
					fmt.Sprintf("%s has MTU %.0f, too large: with %.0f bytes of %s header its packets do not fit into %s (MTU %.0f), so full packets vanish while small ones pass.", link, mtu, t.bytes, t.where, below, under),
					fmt.Sprintf("Set the tunnel's MTU to %.0f at most (Calico: veth_mtu and ipipMTU or vxlanMTU; flannel: Backend MTU; Cilium: mtu), on every node, and start the pods again.", under-t.bytes), evidence...)
				return
			}
		}
	}
}

// stripped: a SYN that arrives without the window scaling it was sent with, or that
// is answered without.
func stripped(v *view) {
	type seen struct {
		h     *piece.Host
		scale piece.Value
	}
	all := map[string][]seen{}
	for _, h := range v.hosts {
		for _, name := range h.Subjects("handshake") {
			if x, ok := h.Get("handshake "+name, "wscale"); ok {
				all[name] = append(all[name], seen{h, x})
			}
		}
	}
	trip := v.roundTrip()
	for _, h := range v.hosts {
		for _, name := range h.Subjects("handshake") {
			own, _ := h.Get("handshake "+name, "wscale")
			for _, o := range all[name] {
				if own.Text == "none" || o.scale.Text != "none" || o.h == h {
					continue
				}
				v.add(record.ReceiveWindow, 0.94, nil, "what stands between "+nameOf(h)+" and "+nameOf(o.h)+" (a firewall, a middlebox)",
					fmt.Sprintf("The handshake %s has window scaling (wscale %s) at %s and none at %s: a firewall or middlebox on the path strips TCP options, so no window is larger than 64 KiB.", name, own.Text, nameOf(h), nameOf(o.h)),
					"On the firewall let TCP options pass (normalisation, tcp-map: window-scale, sack-permitted, timestamps); tcp_rmem and tcp_wmem cannot help. Several streams add up meanwhile.",
					saw(name+" at "+nameOf(h), "wscale "+own.Text, own.Source), saw(name+" at "+nameOf(o.h), "no wscale", o.scale.Source))
				return
			}
			if !strings.HasSuffix(name, " S") || own.Text == "none" {
				continue
			}
			from, to, _ := strings.Cut(strings.TrimSuffix(name, " S"), " > ")
			back, ok := h.Get("handshake "+to+" > "+from+" S.", "wscale")
			if !ok || back.Text != "none" {
				continue
			}
			sure := 0.75
			if _, near := v.near(unit.FromBytes(65535, max(trip, 1)/1000), 0.6); near && trip > 1 {
				sure = 0.9
			}
			v.add(record.ReceiveWindow, sure, h, "the path from "+nameOf(h)+", or its far end",
				fmt.Sprintf("%s offers window scaling (wscale %s), and the answer has none: a firewall or middlebox strips TCP options, or the far end has scaling off, so no window is larger than 64 KiB.", nameOf(h), own.Text),
				"Capture the SYN at the far end too: without wscale there it was stripped on the path (firewall: let window-scale pass); else turn scaling on there (rfc1323, tcp_window_scaling).",
				saw("SYN", "wscale "+own.Text, own.Source), saw("SYN/ACK", "no wscale", back.Source))
		}
	}
}

// standby: a bond in active-backup, of which people expect the sum: one port carries,
// and the others wait, as they should.
func standby(v *view) {
	for _, b := range v.bonds {
		if b.mode != "active-backup" || len(b.ports) < 2 {
			continue
		}
		x, _ := fact(b.host, b.name, "mode")
		if kind := word(b.host, b.name, "kind"); kind == "team" {
			x, _ = fact(b.host, b.name, "runner")
		}
		evidence := []record.Evidence{saw("mode of "+b.name, x.Text, x.Source)}
		sure, carries := 0.5, "one link"
		name, part, at, ok := b.oneSided("tx")
		if !ok {
			name, part, at, ok = b.oneSided("rx")
		}
		switch {
		case ok:
			evidence = append(evidence, saw("traffic", fmt.Sprintf("%.0f %% by %s, the others idle (standby)", 100*part, name), at))
			sure, carries = 0.72, "one link ("+name+")"
			if len(v.c.Runs) == 0 {
				sure = 0.84
			}
		case len(v.bonds) > 1 || b.count(func(p port) bool { return p.down }) > 0:
			continue
		}
		if _, one := b.speeds(); one > 0 {
			if e, near := v.near(one, 0.85); near {
				evidence, sure = append(evidence, e), 0.6 // line rate of the one link: what that mode gives
			}
		}
		v.add(record.SingleLink, sure, b.host, fmt.Sprintf("%s of %s (active-backup)", b.name, nameOf(b.host)),
			fmt.Sprintf("Nothing is broken: %s is active-backup: %s carries all, and the others stand by idle until it fails. A single link's rate is what that mode gives by design, and a hash policy means nothing in it.", b.name, carries),
			"For the sum of the links: "+strings.TrimSuffix(setBond(b.host, b.name, "mode", "802.3ad"), ".")+" with xmit_hash_policy layer3+4, together with an LACP group at the switch, and several flows; else it is as it should be.", evidence...)
	}
}
