package hosts

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/advise/workload"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// twoLinks are a host's physical links that were seen to carry, one nearly all of it:
// the busy one and those that idle; ok is false where that was not seen.
func twoLinks(h *piece.Host) (busy string, idle []string, at piece.Source, ok bool) {
	for _, way := range []string{"rx", "tx"} {
		all := scene.Bond{Host: h}
		for _, link := range h.Subjects("link") {
			_, _, seen := scene.Number(h, "link "+link, "seen_"+way+"_bps")
			_, _, counted := scene.Number(h, "link "+link, way+"_bytes")
			if (seen || counted) && scene.Physical(link) {
				all.Ports = append(all.Ports, scene.Port{Name: link})
			}
		}
		name, part, from, sided := all.Mostly(way, 0.95)
		if !sided || part == 0 {
			continue
		}
		for _, p := range all.Ports {
			if p.Name != name {
				idle = append(idle, p.Name)
			}
		}
		return name, idle, from, true
	}
	return "", nil, at, false
}

// nearPath: NVMe over several paths of which the policy uses the nearest only.
func nearPath(v *scene.View) {
	for _, h := range v.Hosts {
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
		evidence := []record.Evidence{scene.Saw("iopolicy", x.Text, x.Source)}
		paths := 0
		for _, p := range h.Paths {
			if p.Kind == "nvme" {
				paths++
			}
		}
		if paths > 1 {
			sure = 0.78
			evidence = append(evidence, scene.Saw("NVMe paths", fmt.Sprintf("%d, all live", paths), h.Paths[0].Source))
		}
		if busy, idle, at, ok := twoLinks(h); ok {
			sure = 0.93
			evidence = append(evidence, scene.Saw("links of "+scene.NameOf(h), busy+" carries, "+strings.Join(idle, ", ")+" idle", at))
		}
		v.Add(record.SingleLink, sure, h, "the iopolicy of NVMe on "+scene.NameOf(h),
			"The NVMe subsystem has several paths, and its iopolicy is numa: all requests take the one path that is nearest to the core, one link.",
			"Set its iopolicy to "+workload.NVMePolicies+": `echo round-robin > /sys/class/nvme-subsystem/nvme-subsys0/iopolicy`, and a udev rule or nvme_core.iopolicy=round-robin that keeps it.", evidence...)
	}
}

// oneInterface: Lustre's network with one interface of several.
func oneInterface(v *scene.View) {
	for _, h := range v.Hosts {
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
		for _, a := range scene.Addresses(h) {
			if a.Link != only && scene.Physical(a.Link) {
				other = a.Link
			}
		}
		if other == "" || scene.Word(h, only, "kind") == "bond" || strings.HasPrefix(only, "bond") {
			continue
		}
		sure := 0.8
		evidence := []record.Evidence{scene.Saw("LNet's interface (NI)", only+" alone", at)}
		if busy, idle, from, ok := twoLinks(h); ok && busy == only {
			sure = 0.94
			evidence = append(evidence, scene.Saw("links of "+scene.NameOf(h), busy+" carries, "+strings.Join(idle, ", ")+" idle", from))
		}
		v.Add(record.SingleLink, sure, h, fmt.Sprintf("LNet of %s (%s only)", scene.NameOf(h), only),
			fmt.Sprintf("LNet on %s knows one interface (NI), %s: %s, the second one, carries no Lustre traffic, whatever the servers have.", scene.NameOf(h), only, other),
			fmt.Sprintf("Add it for multi-rail: `lnetctl net add --net tcp --if %s,%s` (kept: `options lnet networks=\"tcp(%s,%s)\"`), with a routing rule for each address where both are in one subnet.", only, other, only, other), evidence...)
	}
}

// subflowLimits: MPTCP that may make or accept no further subflow.
func subflowLimits(v *scene.View) {
	refused, refusedAt := 0.0, piece.Source{}
	for _, h := range v.Hosts {
		if x, ok := h.Counters["MPTcpExtMPJoinRejected"]; ok {
			refused, refusedAt = max(refused, piece.Float(x.Text)), x.Source
		}
	}
	for _, h := range v.Hosts {
		subflows, at, ok := scene.Number(h, "mptcp", "subflows")
		accepted, from, told := scene.Number(h, "mptcp", "add_addr_accepted")
		if !ok || subflows > 0 {
			continue
		}
		sure := 0.8
		evidence := []record.Evidence{scene.Saw("ip mptcp limits of "+scene.NameOf(h), "subflows 0", at)}
		if told && accepted == 0 {
			evidence = append(evidence, scene.Saw("ip mptcp limits of "+scene.NameOf(h), "add_addr_accepted 0", from))
		}
		if refused > 0 {
			sure = 0.93
			evidence = append(evidence, scene.Saw("MPJoinRejected", fmt.Sprintf("%.0f", refused), refusedAt))
		}
		v.Add(record.SingleLink, sure, h, "ip mptcp limits of "+scene.NameOf(h),
			fmt.Sprintf("The MPTCP limits of %s are subflows 0: it refuses every further subflow (join), so that a connection stays on one link.", scene.NameOf(h)),
			"On both ends (client and server): `ip mptcp limits set subflows 2 add_addr_accepted 2`; they are gone after a restart.", evidence...)
	}
}

// backupSubflows: MPTCP endpoints that are marked as backup: their subflows carry
// nothing while another lives.
func backupSubflows(v *scene.View) {
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("mptcp endpoint") {
			x, ok := h.Get("mptcp endpoint "+name, "flags")
			if !ok || !strings.Contains(x.Text, "backup") {
				continue
			}
			v.Add(record.SingleLink, 0.82, h, "the MPTCP endpoint "+name+" of "+scene.NameOf(h),
				fmt.Sprintf("The MPTCP endpoint %s is marked as backup: its subflow carries nothing while another one lives, so that one link does all.", name),
				fmt.Sprintf("`ip mptcp endpoint change id N nobackup`, or delete it and add %s again with `subflow` alone.", name), scene.Saw("endpoint "+name, x.Text, x.Source))
		}
	}
}

// meshAlone: endpoints of fullmesh that are no subflow endpoints: from them a host joins
// only addresses that its peer signals beyond the one it is connected to, and opens none by
// itself (net/mptcp/pm_netlink.c, select_local_address and fill_local_addresses_vec).
func meshAlone(v *scene.View) {
	signals := 0
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("mptcp endpoint") {
			if x, _ := h.Get("mptcp endpoint "+name, "flags"); strings.Contains(x.Text, "signal") {
				signals++
			}
		}
	}
	for _, h := range v.Hosts {
		var evidence []record.Evidence
		for _, name := range h.Subjects("mptcp endpoint") {
			x, _ := h.Get("mptcp endpoint "+name, "flags")
			if strings.Contains(x.Text, "subflow") {
				evidence = nil
				break
			}
			if strings.Contains(x.Text, "fullmesh") {
				evidence = append(evidence, scene.Saw("endpoint "+name, x.Text, x.Source))
			}
		}
		if len(evidence) < 2 || signals > 1 || !v.Complains() {
			continue
		}
		v.Add(record.SingleLink, 0.66, h, "the MPTCP endpoints of "+scene.NameOf(h),
			"The MPTCP endpoints have the flag fullmesh and not subflow: by itself the host opens no further subflow from them, and one link carries all.",
			"`ip mptcp endpoint add ADDRESS dev LINK subflow fullmesh` for each address of the client (after `ip mptcp endpoint flush`); signal stays for the server's.", evidence...)
	}
}

// unscaled: a host that has window scaling off.
func unscaled(v *scene.View) {
	trip := roundTrip(v)
	for _, h := range v.Hosts {
		x, ok := h.Get("sysctl", "net.ipv4.tcp_window_scaling")
		if !ok || x.Text != "0" {
			continue
		}
		sure := 0.7
		evidence := []record.Evidence{scene.Saw("net.ipv4.tcp_window_scaling", x.Text, x.Source)}
		if e, near := near(v, unit.FromBytes(65535, max(trip, 1)/1000), 0.6); near && trip > 1 {
			evidence, sure = append(evidence, e), 0.93
		}
		v.Add(record.ReceiveWindow, sure, h, "tcp_window_scaling of "+scene.NameOf(h),
			fmt.Sprintf("%s has window scaling off: no window is larger than 64 KiB, which bounds each stream by the round trip, whatever tcp_rmem says.", scene.NameOf(h)),
			"`sysctl -w net.ipv4.tcp_window_scaling=1`, in what sets it to 0 too; connections that stand keep what they agreed on.", evidence...)
	}
}

// reversePath: packets that reverse path filtering drops.
func reversePath(v *scene.View) {
	for _, h := range v.Hosts {
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
		if n < 100 && martians == 0 || len(scene.Addresses(h)) == 0 && len(h.Facts) == 0 {
			continue
		}
		sure := 0.6
		var evidence []record.Evidence
		if n >= 100 {
			sure = 0.7
			evidence = append(evidence, scene.Saw("TcpExtIPReversePathFilter of "+scene.NameOf(h), fmt.Sprintf("%.0f packets dropped", n), x.Source))
		}
		if martians > 0 {
			evidence = append(evidence, scene.Saw("log", log.Text, log.Source))
		}
		for _, key := range h.Keys("sysctl") {
			if value, _ := h.Get("sysctl", key); strings.HasSuffix(key, ".rp_filter") && value.Text == "1" {
				sure = 0.93
				evidence = append(evidence, scene.Saw(key, "1 (strict; the larger of all and the interface's counts)", value.Source))
				break
			}
		}
		if !ok && sure > 0.9 {
			sure = 0.85
		}
		same := ""
		for _, f := range v.Findings {
			if f.Cause == record.AsymmetricRoute && strings.Contains(f.Where, "in one subnet") {
				same = " Its cause: " + f.Where + " (the same subnet)."
			}
		}
		v.Add(record.AsymmetricRoute, sure, h, "rp_filter on "+scene.NameOf(h),
			fmt.Sprintf("Reverse path filtering (rp_filter) on %s drops packets that come in by another interface than the one that the route to their source uses: the paths are asymmetric.%s", scene.NameOf(h), same),
			"`sysctl -w net.ipv4.conf.all.rp_filter=2` (loose; 0 is off), in /etc/sysctl.d too: a host with several uplinks needs that, or a rule and a table for each address so that answers leave where the question came.", evidence...)
	}
}

// stripped: a SYN that arrives without the window scaling it was sent with, or that
// is answered without.
func stripped(v *scene.View) {
	type seen struct {
		h     *piece.Host
		scale piece.Value
	}
	all := map[string][]seen{}
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("handshake") {
			if x, ok := h.Get("handshake "+name, "wscale"); ok {
				all[name] = append(all[name], seen{h, x})
			}
		}
	}
	trip := roundTrip(v)
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("handshake") {
			own, _ := h.Get("handshake "+name, "wscale")
			for _, o := range all[name] {
				if own.Text == "none" || o.scale.Text != "none" || o.h == h {
					continue
				}
				v.Add(record.ReceiveWindow, 0.94, nil, "what stands between "+scene.NameOf(h)+" and "+scene.NameOf(o.h)+" (a firewall, a middlebox)",
					fmt.Sprintf("The handshake %s has window scaling (wscale %s) at %s and none at %s: a firewall or middlebox on the path strips TCP options, so no window is larger than 64 KiB.", name, own.Text, scene.NameOf(h), scene.NameOf(o.h)),
					"On the firewall let TCP options pass (normalisation, tcp-map: window-scale, sack-permitted, timestamps); tcp_rmem and tcp_wmem cannot help. Several streams add up meanwhile.",
					scene.Saw(name+" at "+scene.NameOf(h), "wscale "+own.Text, own.Source), scene.Saw(name+" at "+scene.NameOf(o.h), "no wscale", o.scale.Source))
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
			if _, near := near(v, unit.FromBytes(65535, max(trip, 1)/1000), 0.6); near && trip > 1 {
				sure = 0.9
			}
			v.Add(record.ReceiveWindow, sure, h, "the path from "+scene.NameOf(h)+", or its far end",
				fmt.Sprintf("%s offers window scaling (wscale %s), and the answer has none: a firewall or middlebox strips TCP options, or the far end has scaling off, so no window is larger than 64 KiB.", scene.NameOf(h), own.Text),
				"Capture the SYN at the far end too: without wscale there it was stripped on the path (firewall: let window-scale pass); else turn scaling on there (rfc1323, tcp_window_scaling).",
				scene.Saw("SYN", "wscale "+own.Text, own.Source), scene.Saw("SYN/ACK", "no wscale", back.Source))
		}
	}
}

// standby: a bond in active-backup, of which people expect the sum: one port carries,
// and the others wait, as they should.
func standby(v *scene.View) {
	for _, b := range v.Bonds {
		if b.Mode != "active-backup" || len(b.Ports) == 1 || len(b.Ports) == 0 && !v.Complains() {
			continue
		}
		x, _ := scene.Fact(b.Host, b.Name, "mode")
		remedy := strings.TrimSuffix(scene.SetBond(b.Host, b.Name, "mode", "802.3ad"), ".") + " with xmit_hash_policy layer3+4"
		if kind := scene.Word(b.Host, b.Name, "kind"); kind == "team" {
			x, _ = scene.Fact(b.Host, b.Name, "runner")
			remedy = fmt.Sprintf(`in the configuration of %s set the runner to {"name": "lacp", "tx_hash": ["l3", "l4"]} and restart teamd (from a console)`, b.Name)
		}
		evidence := []record.Evidence{scene.Saw("mode of "+b.Name, x.Text, x.Source)}
		sure, carries := 0.5, "one link"
		if len(b.Ports) == 0 {
			sure = 0.46 // its ports were not read
		}
		name, part, at, ok := b.OneSided("tx")
		if !ok {
			name, part, at, ok = b.OneSided("rx")
		}
		switch {
		case ok:
			evidence = append(evidence, scene.Saw("traffic", fmt.Sprintf("%.0f %% by %s, the others idle (standby)", 100*part, name), at))
			sure, carries = 0.72, "one link ("+name+")"
			if len(v.Case.Runs) == 0 {
				sure = 0.84
			}
		case len(v.Bonds) > 1 || b.Count(func(p scene.Port) bool { return p.Down }) > 0:
			continue
		}
		if _, one := b.Speeds(); one > 0 {
			if e, near := near(v, one, 0.85); near {
				evidence, sure = append(evidence, e), 0.6 // line rate of the one link: what that mode gives
			}
		}
		v.Add(record.SingleLink, sure, b.Host, fmt.Sprintf("%s of %s (active-backup)", b.Name, scene.NameOf(b.Host)),
			fmt.Sprintf("Nothing is broken: %s is active-backup: %s carries all, and the others stand by idle until it fails. A single link's rate is what that mode gives by design, and a hash policy means nothing in it.", b.Name, carries),
			"For the sum of the links: "+remedy+", together with an LACP group at the switch, and several flows; else it is as it should be.", evidence...)
	}
}
