package hosts

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// isRouterOS reports a MikroTik.
func isRouterOS(h *piece.Host) bool {
	os, _ := h.Get("host", "os")
	vendor, _ := h.Get("host", "vendor")
	return os.Text == "routeros" || vendor.Text == "routeros"
}

// routerQueues: a queue of RouterOS that is at its limit, or whose limit is what was
// carried.
func routerQueues(v *scene.View) {
	for _, h := range v.Case.Hosts {
		for _, name := range h.Subjects("queue") {
			subject := "queue " + name
			off, _ := h.Get(subject, "disabled")
			if off.Text == "yes" {
				continue
			}
			for _, way := range []string{"up", "down"} {
				limit, at, ok := scene.Number(h, subject, "limit_"+way)
				if !ok || limit <= 0 {
					continue
				}
				sure := 0.5
				evidence := []record.Evidence{scene.Saw("queue "+name, "max-limit "+unit.BitRate(limit).String(), at)}
				if rate, from, ok := scene.Number(h, subject, "rate_"+way); ok && rate > 0.85*limit {
					evidence = append(evidence, scene.Saw("rate of "+name, unit.BitRate(rate).String(), from))
					sure = 0.88
				}
				if dropped, from, ok := scene.Number(h, subject, "dropped_"+way); ok && dropped > 1000 {
					evidence = append(evidence, scene.Saw("dropped by "+name, fmt.Sprintf("%.0f", dropped), from))
					sure += 0.04
				}
				if e, ok := runNear(v, unit.BitRate(limit)); ok {
					evidence = append(evidence, e)
					sure = max(sure+0.04, 0.9)
				} else if v.Best() > unit.BitRate(limit)*120/100 && sure < 0.8 {
					break
				}
				target, _ := h.Get(subject, "target")
				if !anyWithin(v, target.Text) {
					break
				}
				what := ""
				if target.Text != "" {
					what = " (target " + target.Text + ")"
				}
				if x, ok := h.Get("host", "fasttrack"); ok {
					evidence = append(evidence, scene.Saw("fasttrack", x.Text, x.Source))
				}
				v.Add(record.Shaper, sure, h, "queue "+name+" of "+scene.NameOf(h),
					fmt.Sprintf("The queue %s of %s%s shapes traffic to its max-limit %v: everything that it matches goes no faster, between local networks too.", name, scene.NameOf(h), what, unit.BitRate(limit)),
					fmt.Sprintf("Have it match the WAN only (dst= or the interface in target=), exclude LAN to LAN by a queue above it or a mark, raise max-limit, or disable it: `/queue simple disable [find name=%q]` (a tree: /queue tree).", name), evidence...)
				break
			}
		}
	}
}

// runNear is a run that comes to a limit: TCP gets 80 to 103 per cent of it.
func runNear(v *scene.View, limit unit.BitRate) (record.Evidence, bool) {
	for _, r := range v.Case.Runs {
		if r.Rate > limit*80/100 && r.Rate < limit*103/100 {
			return scene.Saw(r.Tool, r.Rate.String(), r.Source), true
		}
	}
	return record.Evidence{}, false
}

// routerWork are the words of RouterOS's profile, and what each means.
var routerWork = map[string]string{"wireguard": "WireGuard encryption", "encrypting": "encryption (IPsec in software)", "ipsec": "IPsec encryption", "queuing": "queues", "queue-mgmt": "queues",
	"firewall": "the firewall", "l2tp": "L2TP", "pppoe": "PPPoE", "ppp": "PPP", "bridging": "bridging in software", "networking": "forwarding in software", "ethernet": "forwarding in software",
	"vxlan": "VXLAN", "eoip": "EoIP", "gre": "GRE"}

// routerCPU: a MikroTik whose cores are full, or one of them.
func routerCPU(v *scene.View) {
	for _, h := range v.Case.Hosts {
		if !isRouterOS(h) {
			continue
		}
		load, at, told := scene.Number(h, "host", "cpu_load")
		full, cores := 0, 0
		for _, c := range h.Cores {
			if c.ID != "all" {
				cores++
				if c.Idle < 8 {
					full++
					at = c.Source
				}
			}
		}
		if !(told && load >= 90) && full == 0 {
			continue
		}
		var all []piece.Process
		for _, p := range h.Processes {
			if routerWork[p.Name] != "" {
				all = append(all, p)
			}
		}
		slices.SortStableFunc(all, func(a, b piece.Process) int { return int(b.CPU - a.CPU) })
		what, evidence := "", []record.Evidence{}
		if told {
			evidence = append(evidence, scene.Saw("CPU of "+scene.NameOf(h), fmt.Sprintf("%.0f %%", load), at))
		} else {
			evidence = append(evidence, scene.Saw("cores of "+scene.NameOf(h), fmt.Sprintf("%d of %d full", full, cores), at))
		}
		remedy := "Use a router with a faster processor; let traffic pass in hardware (bridge offload, L3 hardware offload where the model has it) or by fasttrack, and fewer firewall rules and queues on its way."
		if len(all) > 0 {
			what = ", most of it " + routerWork[all[0].Name]
			evidence = append(evidence, scene.Saw("profile", fmt.Sprintf("%s %.0f %% of a core", all[0].Name, all[0].CPU), all[0].Source))
			if scene.Contains(all[0].Name, "wireguard", "encrypt", "ipsec") {
				remedy = "Use a router with a faster processor, or IPsec with a cipher that this model encrypts in hardware; the line and the MTU are not the limit. A tunnel between hosts behind the routers is another way."
			}
		}
		if x, ok := h.Get("host", "fasttrack"); ok && x.Text == "off" {
			remedy = "Enable the fasttrack rule (`/ip firewall filter enable [find action=fasttrack-connection]`). " + remedy
		}
		summary := fmt.Sprintf("The processor (CPU) of %s is full%s: it forwards no more packets than its cores can handle.", scene.NameOf(h), what)
		if full > 0 && full < cores && load < 90 {
			summary = fmt.Sprintf("One core of %s is full while others are idle%s: one queue or one connection uses one core of its processor (CPU).", scene.NameOf(h), what)
		}
		v.Add(record.SenderCPU, 0.9, h, "the processor of "+scene.NameOf(h), summary, remedy, evidence...)
	}
}

// routerBonds: a bond that the switch chip forwards: some chips hash MAC addresses
// whatever the policy says.
func routerBonds(v *scene.View) {
	for _, h := range v.Case.Hosts {
		if !isRouterOS(h) {
			continue
		}
		for _, name := range h.Subjects("link") {
			x, ok := h.Get("link "+name, "hw_offload")
			if !ok || scene.Word(h, name, "mode") != "802.3ad" && scene.Word(h, name, "mode") != "balance-xor" {
				routerSided(v, h, name)
				continue
			}
			if x.Text != "yes" {
				routerSided(v, h, name)
				continue
			}
			board, told := h.Get("host", "board")
			if !told || !scene.Contains(board.Text, "rb5009", "l009", "rb4011", "rb1100", "hex", "hap") {
				routerSided(v, h, name)
				continue
			}
			evidence := []record.Evidence{scene.Saw("bond "+name, "hardware offloaded (H)", x.Source), scene.Saw("board", board.Text, board.Source)}
			sure, where := 0.7, ""
			if e, busy, idle, ok := portSided(h, name); ok {
				evidence = append(evidence, e)
				sure, where = 0.9, fmt.Sprintf(": %s carries, %s is idle", busy, idle)
			}
			v.Add(record.SingleLink, sure, h, name+" of "+scene.NameOf(h)+" (in hardware)",
				fmt.Sprintf("The bond %s of %s is offloaded to the switch chip, and the chip of this board hashes MAC addresses (layer 2) whatever transmit-hash-policy says: all between two hosts takes one link%s.", name, scene.NameOf(h), where),
				"Several clients spread; for one client take a faster link, or `/interface bridge port set [find interface="+name+"] hw=no`, so that the CPU hashes by transmit-hash-policy (at the cost of its processor).", evidence...)
		}
	}
}

// portSided is a member of a MikroTik's bond that sends nearly all.
func portSided(h *piece.Host, bond string) (e record.Evidence, busy, idle string, ok bool) {
	sum, most := 0.0, 0.0
	var at piece.Source
	for _, name := range h.Ports[bond] {
		n, from, read := scene.Number(h, "port "+name, "seen_tx_bps")
		if !read {
			return e, "", "", false
		}
		if n > most {
			most, busy, at = n, name, from
		}
		sum += n
	}
	if sum < 1e6 || most < 0.95*sum || len(h.Ports[bond]) < 2 {
		return e, "", "", false
	}
	var rest []string
	for _, name := range h.Ports[bond] {
		if name != busy {
			rest = append(rest, name)
		}
	}
	idle = strings.Join(rest, ", ")
	return scene.Saw("sent", fmt.Sprintf("%v by %s, next to nothing by %s", unit.BitRate(most), busy, idle), at), busy, idle, true
}

// routerSided: a bond in software whose one member sends all.
func routerSided(v *scene.View, h *piece.Host, name string) {
	mode := scene.Word(h, name, "mode")
	policy := scene.Word(h, name, "xmit_hash_policy")
	if mode != "802.3ad" && mode != "balance-xor" {
		return
	}
	e, busy, idle, ok := portSided(h, name)
	if !ok {
		return
	}
	sure := 0.75
	if policy == "layer2" || policy == "layer2+3" {
		sure = 0.88
	}
	v.Add(record.SingleLink, sure, h, name+" of "+scene.NameOf(h),
		fmt.Sprintf("%s sends all by %s and nothing by %s: its hash (%s) gives this traffic one link.", name, busy, idle, policy),
		"Set `transmit-hash-policy=layer-3-and-4` and use several connections; where the bond is offloaded to a switch chip, look which hash the chip has.", e)
}

// anyWithin reports that an address of a run lies in one of a queue's targets, or that
// nothing says the contrary.
func anyWithin(v *scene.View, targets string) bool {
	var all []netip.Prefix
	for _, w := range strings.Split(targets, ",") {
		if p, err := netip.ParsePrefix(w); err == nil {
			all = append(all, p)
		}
	}
	seen := false
	for _, r := range v.Case.Runs {
		for _, s := range r.Streams {
			for _, a := range []netip.Addr{s.Local.Addr(), s.Remote.Addr()} {
				seen = seen || a.IsValid()
				if slices.ContainsFunc(all, func(p netip.Prefix) bool { return p.Contains(a) }) {
					return true
				}
			}
		}
	}
	return !seen || len(all) == 0
}

// routerLACP: a MikroTik's own word of a bond whose LACP finds nobody, or not on all
// ports.
func routerLACP(v *scene.View) {
	for _, h := range v.Case.Hosts {
		if !isRouterOS(h) {
			continue
		}
		for _, name := range h.Subjects("link") {
			partner, ok := h.Get("link "+name, "partner_system_id")
			out, told := h.Get("link "+name, "inactive_ports")
			if mode := scene.Word(h, name, "mode"); mode != "" && mode != "802.3ad" {
				continue
			}
			switch {
			case ok && partner.Text == scene.ZeroMAC:
				other := ""
				for _, b := range v.Bonds {
					if b.Host != h && b.Mode != "" && b.Mode != "802.3ad" {
						other = fmt.Sprintf(" %s of %s is in mode %s, not 802.3ad, whatever its file (/etc/network/interfaces) asks for: look for a comment or a wrong word behind the mode.", b.Name, scene.NameOf(b.Host), b.Mode)
					}
				}
				v.Add(record.LACPDown, 0.88, h, name+" of "+scene.NameOf(h),
					fmt.Sprintf("%s of %s runs 802.3ad (LACP), but no partner answers (lacp-partner-system-id is zeroes): the other end speaks no LACP on these ports, so that one port carries at most.%s", name, scene.NameOf(h), other),
					"At the other end make the bond or team LACP (802.3ad, on a switch a LAG of type LACP), or use a static mode on both (balance-xor here).", scene.Saw("LACP partner of "+name, "none", partner.Source))
			case ok && told && strings.TrimSpace(out.Text) != "":
				v.Add(record.LACPDown, 0.82, h, out.Text+" of "+name,
					fmt.Sprintf("%s is not active in %s of %s: LACP has a partner on the others only.", out.Text, name, scene.NameOf(h)),
					"Check that port's link, and at the other end that it is in the same LACP group, with the same speed.", scene.Saw("inactive ports of "+name, out.Text, out.Source))
			}
		}
	}
}

// edgeOffload: an EdgeRouter that forwards by its processor.
func edgeOffload(v *scene.View) {
	for _, h := range v.Case.Hosts {
		x, ok := h.Get("host", "offload.ipv4.forwarding")
		if !ok || x.Text != "disabled" {
			continue
		}
		sure := 0.62
		evidence := []record.Evidence{scene.Saw("IPv4 forwarding offload", x.Text, x.Source)}
		if best := v.Best(); best > 0 && best < 600*unit.Mbps {
			sure = 0.75
		}
		v.Add(record.SenderCPU, sure, h, "the processor of "+scene.NameOf(h),
			fmt.Sprintf("%s forwards in software: offload is disabled, so that its processor (CPU) handles every packet, and these models reach a few hundred Mbit/s that way.", scene.NameOf(h)),
			"Enable it: `set system offload ipv4 forwarding enable` (also vlan and pppoe; on MediaTek models `set system offload hwnat enable`), commit; QoS (smart queue) needs the processor and excludes it.", evidence...)
	}
}
