package channels

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/advise/workload"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/evidence/switchstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/render/switchlines"
	"github.com/linerate/linerate/unit"
)

// layer2Hash: a policy that reads addresses of fewer peers than there are links.
func layer2Hash(v *scene.View) {
	for _, b := range v.Bonds {
		if b.Mode != "802.3ad" && b.Mode != "balance-xor" || b.Policy != "layer2" && b.Policy != "layer2+3" && b.Policy != "vlan+srcmac" {
			continue
		}
		if up := len(b.Ports) - b.Count(func(p scene.Port) bool { return p.Down }); len(b.Ports) > 0 && up < 2 {
			continue
		}
		if slices.ContainsFunc(v.Case.Runs, func(r piece.Run) bool { return v.Inside(b, r) }) {
			continue // it sees a tunnel's outer packets, of which another rule knows more
		}
		sure, evidence := 0.45, []record.Evidence{}
		if x, ok := scene.Fact(b.Host, b.Name, "xmit_hash_policy"); ok {
			evidence = append(evidence, scene.Saw("transmit hash policy of "+b.Name, x.Text, x.Source))
		} else if x, ok := scene.Fact(b.Host, b.Name, "bare_xmit_hash_policy"); ok {
			evidence = append(evidence, scene.Saw("transmit hash policy of "+b.Name, x.Text+" without bond- in front, which ifupdown ignores: the kernel's default, layer2", x.Source))
			sure = 0.55
		} else if x, ok := scene.Fact(b.Host, b.Name, "mode"); ok {
			evidence = append(evidence, scene.Saw("transmit hash policy of "+b.Name, "not set with mode "+b.Mode+": the kernel's default, layer2", x.Source))
		}
		what, peers := "MAC addresses", "all that goes to one MAC address, such as everything behind a router or gateway, takes one link: with one peer or router"
		if b.Policy == "layer2+3" {
			what, peers = "MAC and IP addresses", "all between two addresses takes one link: with one peer"
			sure = 0.4
		}
		if b.Policy == "layer2" {
			if gw, ok := gateway(v, b); ok {
				evidence = append(evidence, gw)
				sure = max(sure, 0.75)
			}
		}
		if name, part, at, ok := b.OneSided("tx"); ok {
			evidence = append(evidence, scene.Saw("sent", fmt.Sprintf("%.0f %% by %s, the others next to nothing", 100*part, name), at))
			sure = 0.9
		} else if _, _, ok := b.Carried("tx"); ok {
			continue // counters show that it spreads
		}
		if e, ok := nearOneLink(v, b); ok {
			evidence = append(evidence, e)
			sure = min(sure+0.2, 0.92)
		}
		if v.OnlyReceives(b.Host) {
			sure = 0.4 // what comes in is the switch's choice
		}
		if b.Policy == "layer2+3" && len(evidence) < 2 && asksElse(v) {
			continue // it is the usual one, and nobody misses a rate
		}
		if _, _, ok := comesUp(b.Host); ok && len(v.Case.Runs) == 0 {
			sure = min(sure, 0.4) // nobody asks for rates
		}
		f := v.Add(record.SingleLink, sure, b.Host, fmt.Sprintf("%s of %s (%s)", b.Name, scene.NameOf(b.Host), b.Policy),
			fmt.Sprintf("%s chooses a port by %s (%s), so %s, a single link carries everything %s sends.", b.Name, what, b.Policy, peers, scene.NameOf(b.Host)),
			scene.SetBond(b.Host, b.Name, "xmit_hash_policy", "layer3+4")+" Several flows then use several links (layer2+3 tells addresses apart, layer3+4 ports too); what arrives is spread by the switch's own hash.", evidence...)
		if sum, _ := b.Speeds(); sum > 0 {
			f.Expected = sum * 94 / 100
		}
	}
}

// asksElse reports a text with questions or complaints, of which none is about a rate.
func asksElse(v *scene.View) bool {
	_, misses := v.Case.Topics[piece.Complaint]
	_, asks := v.Case.Topics[piece.Question]
	_, rates := v.Case.Topics[piece.Throughput]
	return (misses || asks) && !rates && len(v.Case.Runs) == 0
}

// gateway is a default route over the bond, or over what stands on it.
func gateway(v *scene.View, b scene.Bond) (record.Evidence, bool) {
	for _, r := range b.Host.Routes {
		if !r.Gateway.IsValid() || r.Dst.Bits() > 0 {
			continue
		}
		on := r.Link == b.Name || scene.Word(b.Host, r.Link, "below") == strings.ToLower(b.Name) || scene.Word(b.Host, b.Name, "master") == strings.ToLower(r.Link)
		if on {
			return scene.Saw("next hop", r.Gateway.String()+" over "+r.Link+": one MAC address for all behind it", r.Source), true
		}
	}
	if x, ok := b.Host.Get("config "+b.Name, "gateway"); ok {
		return scene.Saw("gateway", x.Text+": one MAC address for all behind it", x.Source), true
	}
	return record.Evidence{}, false
}

// nearOneLink is a run of several streams that came to one link's rate, or a sentence
// that says so.
func nearOneLink(v *scene.View, b scene.Bond) (record.Evidence, bool) {
	_, one := b.Speeds()
	for _, r := range v.Case.Runs {
		if one > 0 && max(len(r.Streams), r.Parallel) > 1 && r.Rate > one*80/100 && r.Rate <= one {
			return scene.Saw(r.Tool, fmt.Sprintf("%d streams come to %v, one link", max(len(r.Streams), r.Parallel), r.Rate), r.Source), true
		}
	}
	_, x, said := v.SaidBy("one_link")
	if !said {
		x, said = v.Case.Topics["one link"] // a sentence that names no bundle: the output does
	}
	return scene.Saw("said", x.Text, x.Source), said
}

// idlePorts are a bond's ports that carry next to nothing while others carry, and
// the busy ones; ok is false where one was not read.
func idlePorts(b scene.Bond, way string) (busy, idle []string, at piece.Source, ok bool) {
	parts, at, ok := b.Carried(way)
	if !ok {
		return nil, nil, at, false
	}
	for _, p := range b.Ports {
		if parts[p.Name] < 0.02 {
			idle = append(idle, p.Name)
		} else {
			busy = append(busy, p.Name)
		}
	}
	return busy, idle, at, len(busy) > 0
}

// fewFlows: several flows of a run, or of a mount, that left some ports idle, where
// the hash cannot be computed: policy, kernel or ports were not read.
func fewFlows(v *scene.View) {
	for _, b := range v.Bonds {
		if b.Mode == "active-backup" || b.Mode == "balance-rr" || b.Policy == "layer2" || b.Policy == "layer2+3" || len(b.Ports) < 2 {
			continue
		}
		busy, idle, at, ok := idlePorts(b, "tx")
		if !ok || len(idle) == 0 {
			continue
		}
		e := scene.Saw("sent", strings.Join(busy, ", ")+" only; "+strings.Join(idle, ", ")+" idle", at)
		for _, r := range v.Case.Runs {
			n := max(len(r.Streams), r.Parallel)
			if from, _ := scene.Sides(r); n <= len(busy) || from != "" && b.Host.Name != "" && from != b.Host.Name {
				continue
			}
			_, fastest := b.Speeds()
			if fastest > 0 && r.Rate > fastest*unit.BitRate(len(busy))*102/100 {
				continue
			}
			unlucky(v, b, n, busy, 0.72, moreFlows, e, scene.Saw(r.Tool, fmt.Sprintf("%d flows, %v", n, r.Rate), r.Source))
		}
		for _, r := range connections(b.Host) {
			if n := len(r.Streams); n > len(busy) && n <= 4*len(b.Ports) {
				more := moreFlows
				if w, ok := workload.OfKernel(r.Streams[0].Remote.Port()); ok {
					more = otherLinks(w)
				}
				unlucky(v, b, n, busy, 0.78, more, e, scene.Saw("ss", fmt.Sprintf("%d connections to %v", n, r.Streams[0].Remote), r.Source))
			}
		}
		for _, m := range b.Host.Mounts {
			n, err := strconv.Atoi(m.Options["nconnect"])
			if err == nil && n > len(busy) {
				nfs, _ := workload.Named("nfs")
				unlucky(v, b, n, busy, 0.75, otherLinks(nfs), e, scene.Saw("mount "+m.Path, fmt.Sprintf("nconnect=%d: %d connections", n, n), m.Source))
			}
		}
	}
}

// moreFlows is how flows of a program that nobody knows use more links.
const moreFlows = "Use more flows (connections, streams), or other source ports (`linerate steer pick` names ports that use every link)."

// unlucky is a hash that gave flows fewer ports than there are.
func unlucky(v *scene.View, b scene.Bond, n int, busy []string, sure float64, more string, evidence ...record.Evidence) {
	links := "one link (" + busy[0] + ")"
	if len(busy) > 1 {
		links = fmt.Sprintf("%d links (%s)", len(busy), strings.Join(busy, ", "))
	}
	if b.Policy == "" {
		sure -= 0.05
	} else if b.Policy == "layer3+4" {
		sure += 0.08
	}
	v.Add(record.HashImbalance, sure, b.Host, b.Name+" of "+scene.NameOf(b.Host),
		fmt.Sprintf("All %d flows share %s: the hash gave these few connections no other port of %s, and the others stayed idle. With few flows that is chance.", n, links, b.Name),
		more+" It takes xmit_hash_policy layer3+4, for layer2+3 sees no ports.", evidence...)
}

// oneNextHop: balance-tlb and alb give each peer's MAC one port.
func oneNextHop(v *scene.View) {
	for _, b := range v.Bonds {
		if b.Mode != "balance-tlb" && b.Mode != "balance-alb" {
			continue
		}
		x, _ := scene.Fact(b.Host, b.Name, "mode")
		evidence := []record.Evidence{scene.Saw("mode of "+b.Name, x.Text, x.Source)}
		if bridge, ok := scene.Fact(b.Host, b.Name, "master"); ok && b.Mode == "balance-alb" {
			bridgedGuests(v, b, bridge, evidence)
			continue
		}
		sure := 0.5
		if gw, ok := gateway(v, b); ok {
			evidence = append(evidence, gw)
			sure = 0.85
		}
		if _, one := b.Speeds(); one > 0 {
			sent := 0.0
			var at piece.Source
			for _, p := range b.Ports {
				n, source, ok := scene.Number(b.Host, "link "+p.Name, "seen_tx_bps")
				if ok {
					sent, at = sent+n, source
				}
			}
			if sent > 0 && sent <= float64(one)*1.02 {
				evidence = append(evidence, scene.Saw("sent by all ports", unit.BitRate(sent).String()+", no more than one link", at))
				sure = max(sure, 0.8)
			}
		}
		v.Add(record.SingleLink, sure, b.Host, b.Name+" ("+b.Mode+")",
			fmt.Sprintf("%s (%s, transmit load balancing) gives each destination MAC one port: all clients behind a router have the next hop's one MAC, so their traffic takes one port at a time, moved from port to port, and in sum no more than one link.", b.Name, b.Mode),
			"Make it a LAG with the switch: mode 802.3ad (LACP) with xmit_hash_policy layer3+4 on the host and an LACP group on the switch; on kernels from 4.15 balance-tlb with tlb_dynamic_lb 0 and xmit_hash_policy layer3+4 hashes flows instead.", evidence...)
	}
}

// bridgedGuests: balance-alb below a bridge. It spreads what comes in by the MAC that it
// answers ARP with, and leaves ARP alone that comes through a bridge (rlb_arp_xmit of
// drivers/net/bonding/bond_alb.c).
func bridgedGuests(v *scene.View, b scene.Bond, bridge piece.Value, evidence []record.Evidence) {
	v.Add(record.SingleLink, 0.65, b.Host, b.Name+" below "+bridge.Text+" ("+b.Mode+")",
		fmt.Sprintf("%s (balance-alb) stands below the bridge %s. It spreads what comes in by answering ARP for the host's own address with different MACs; guests (VMs) have MACs of their own, for which it cannot: what comes in for them takes the one port where the switch learnt them, and what goes out to one MAC takes one port.", b.Name, bridge.Text),
		"Make it a LAG with the switch: mode 802.3ad (LACP) with xmit_hash_policy layer3+4 on the host and an LACP group on the switch; then guests are spread both ways. One flow keeps one link's rate.",
		append(evidence, scene.Saw("master of "+b.Name, bridge.Text, bridge.Source))...)
}

// roundRobin: packets of one flow over several links arrive out of order.
func roundRobin(v *scene.View) {
	for _, b := range v.Bonds {
		if b.Mode != "balance-rr" {
			continue
		}
		x, ok := scene.Fact(b.Host, b.Name, "mode")
		if !ok {
			x, _ = scene.Fact(b.Host, b.Name, "runner")
		}
		evidence := []record.Evidence{scene.Saw("mode of "+b.Name, x.Text, x.Source)}
		sure := 0.55
		for _, r := range v.Case.Runs {
			again := 0
			for _, s := range r.Streams {
				again += max(s.Retransmits, 0)
			}
			if again > manyAgain && len(r.Streams) <= 2 {
				evidence = append(evidence, scene.Saw(r.Tool, fmt.Sprintf("%v with %d retransmits", r.Rate, again), r.Source))
				sure = max(sure, 0.85)
			}
		}
		for _, name := range []string{"TcpExtTCPSACKReorder", "TcpExtTCPDSACKRecv", "TcpExtTCPTSReorder", "TcpExtTCPOFOQueue"} {
			if c, ok := b.Host.Counters[name]; ok && len(c.Text) > 3 {
				evidence = append(evidence, scene.Saw(name, c.Text, c.Source))
				sure = max(sure, 0.85)
			}
		}
		for _, s := range b.Host.Sockets {
			if n := s.Info["reordering"]; len(n) > 1 {
				evidence = append(evidence, scene.Saw("ss", "reordering "+n, s.Source))
				sure = max(sure, 0.85)
			}
		}
		live, links := len(b.Ports), ""
		var dead []string
		for _, p := range b.Ports {
			if p.Down {
				dead = append(dead, p.Name)
			}
		}
		after := ""
		if len(dead) > 0 {
			live -= len(dead)
			links = fmt.Sprintf(" that have a link (%s: down)", strings.Join(dead, ", "))
			after = " Remove what has no link (" + strings.Join(dead, ", ") + ": down) or give it a link watch."
		}
		if live == 1 || live > 1 && addsUp(v, b, live) {
			continue // one link keeps its order (deadPorts), and what adds up suffers from none
		}
		count := ""
		if live > 0 {
			count = fmt.Sprintf("%d ", live)
		}
		what := scene.Word(b.Host, b.Name, "kind")
		mode := "balance-rr (round robin)"
		remedy := "Set xmit_hash_policy layer3+4 with mode 802.3ad and an LACP group on the switch (or balance-xor and a static channel there; two hosts cabled to each other: the same mode on both)"
		switch {
		case what == "team":
			remedy = "Change the runner to loadbalance or lacp, with addresses and ports in its tx_hash,"
		case what == "lagg" || systemIs(b.Host, "freebsd"):
			mode = "round robin (laggproto roundrobin)"
			remedy = fmt.Sprintf("Make it LACP: `ifconfig %s laggproto lacp lagghash l2,l3,l4` (pfSense, OPNsense: Interfaces, LAGG) with an LACP group on the switch,", b.Name)
		}
		v.Add(record.Reordering, sure, b.Host, fmt.Sprintf("%s (balance-rr, %slinks)", b.Name, count),
			fmt.Sprintf("%s is %s: it stripes the packets of one TCP flow over its %slinks%s, they arrive out of order, and TCP takes that for loss. A single flow gains little beyond two links, however many cables there are.", b.Name, mode, count, links),
			remedy+" and use several flows: each flow stays on one link, and several flows add up. For one fast flow take one faster card."+after, evidence...)
	}
}

// addsUp reports a run that carried what so many of a bond's links do together, and sent
// next to nothing again.
func addsUp(v *scene.View, b scene.Bond, links int) bool {
	_, fastest := b.Speeds()
	return slices.ContainsFunc(v.Case.Runs, func(r piece.Run) bool {
		each := r.Rate / unit.BitRate(links)
		return !r.UDP && r.Retransmits <= manyAgain && r.Back == 0 && (fastest == 0 && scene.NearLineRate(each) || fastest > 0 && scene.Close(each, fastest, 0.86, 1))
	})
}

// systemIs reports a host of that system.
func systemIs(h *piece.Host, system string) bool {
	x, ok := h.Get("host", "os")
	return ok && x.Text == system
}

// multipathHash: routes with several next hops that choose by addresses alone.
func multipathHash(v *scene.View) {
	for _, h := range v.Hosts {
		for _, family := range []string{"ipv4", "ipv6"} {
			nextHops(v, h, family)
		}
	}
}

// nextHops judges the last route of a family that has several. IPv6's policy 0 has the
// flow label too (ip-sysctl of the kernel, fib_multipath_hash_policy): routers see one
// for each flow of a Linux sender, while a host's own flows have none yet when their
// route is looked up.
func nextHops(v *scene.View, h *piece.Host, family string) {
	var route *piece.Route
	for i := range h.Routes {
		if r := &h.Routes[i]; len(r.Hops) > 1 && r.Dst.Addr().Is6() == (family == "ipv6") {
			route = r
		}
	}
	if route == nil {
		return
	}
	knob := "net." + family + ".fib_multipath_hash_policy"
	x, told := h.Get("sysctl", knob)
	if told && x.Text != "0" {
		evenHops(v, h, route, x)
		return
	}
	evidence := []record.Evidence{scene.Saw("route", fmt.Sprintf("%d next hops", len(route.Hops)), route.Source)}
	sure, known, most := 0.5, "addresses alone", 0.88
	if family == "ipv6" {
		known, most = "addresses and the flow label, which what this host itself sends has not got yet", 0.75
	}
	if told {
		evidence = append(evidence, scene.Saw(knob, x.Text, x.Source))
		sure = most
	}
	v.Add(record.SingleLink, sure, h, scene.NameOf(h)+"'s ECMP (fib_multipath_hash_policy 0)",
		fmt.Sprintf("Among the next hops of the route %s chooses by %s (layer 3: %s 0, the default): all flows between two addresses take one link.", scene.NameOf(h), known, knob),
		fmt.Sprintf("`sysctl -w %s=1` hashes ports too (layer 4), on each router that has several next hops; keep it in /etc/sysctl.d.", knob), evidence...)
}

// evenHops: a route's next hops that hash ports and carry alike.
func evenHops(v *scene.View, h *piece.Host, route *piece.Route, policy piece.Value) {
	b := scene.Bond{Host: h, Name: "route"}
	for _, hop := range route.Hops {
		b.Ports = append(b.Ports, scene.Port{Name: hop.Link})
	}
	parts, at, ok := b.Carried("tx")
	if !ok {
		return
	}
	if name, part := scene.Busiest(parts); part < 1.3/float64(len(parts)) {
		v.Add(scene.Healthy, 0.85, h, "none", fmt.Sprintf("Nothing is wrong: both ECMP legs carry alike (%s, the busiest, %.0f %%), and the hash looks at ports too (policy %s).", name, 100*part, policy.Text), "",
			scene.Saw("sent", "even over the next hops", at), scene.Saw("fib_multipath_hash_policy", policy.Text, policy.Source))
	}
}

// switchHash: a switch that spreads by MAC or by addresses alone.
func switchHash(v *scene.View) {
	for _, s := range v.Switches {
		x, ok := s.Get("host", "load_balance")
		if !ok {
			continue
		}
		kind := map[switchstate.Layer]string{switchstate.Layer3: "IP addresses", switchstate.Layer2: "MAC addresses"}[switchstate.HighestLayer(x.Text)]
		if kind == "" {
			continue
		}
		sure := 0.5
		evidence := []record.Evidence{scene.Saw("load balance of "+scene.NameOf(s), x.Text, x.Source)}
		if name, part, at, ok := channelSided(s); ok {
			evidence = append(evidence, scene.Saw("traffic of its members", fmt.Sprintf("%.0f %% by %s", 100*part, name), at))
			sure = 0.88
		}
		for _, b := range v.Bonds {
			if name, part, at, ok := b.OneSided("rx"); ok {
				evidence = append(evidence, scene.Saw("received by "+scene.NameOf(b.Host), fmt.Sprintf("%.0f %% by %s", 100*part, name), at))
				sure = 0.9
			}
			if b.Policy == "layer3+4" || b.Policy == "encap3+4" {
				sure += 0.05
			}
		}
		if !v.Complains() && len(v.Case.Read) == 1 && len(evidence) == 1 {
			sure = min(sure, 0.4) // a configuration alone, of which nobody misses anything
		}
		v.Add(record.SingleLink, min(sure, 0.93), s, fmt.Sprintf("%s: load-balance %s", scene.NameOf(s), x.Text),
			fmt.Sprintf("The switch%s spreads its channels by %s: all that goes from one host to one other takes one member (with MAC addresses: all that comes from one router, gateway or firewall, which has one MAC), whatever the hosts' own policies are.", strings.TrimRight(" "+s.Name, " "), kind),
			"On the switch hash addresses and ports: "+switchHashCommand(s)+"."+hashScope(s), evidence...)
	}
}

// hashScope says what else a change of the switch's hash changes.
func hashScope(s *piece.Host) string {
	if scope, _ := s.Get("host", "load_balance_scope"); scope.Text == string(switchstate.OneModule) {
		return " The setting is a module's: it changes every channel with members there."
	}
	return " The setting is the whole switch's: it changes every channel of it."
}

// switchHashCommand is how that vendor's switch hashes ports too; IOS's words where
// nobody knows whose it is.
func switchHashCommand(s *piece.Host) string {
	vendor, _ := s.Get("host", "vendor")
	system, known := switchlines.SystemOf(vendor.Text)
	if !known {
		system, _ = switchlines.SystemOf(usualVendor)
	}
	return system.Hash.Words()
}

// usualVendor is whose words many others' are like.
const usualVendor = "ios"

// channelSided is the member of a switch's channel that sends nearly all.
func channelSided(s *piece.Host) (name string, part float64, at piece.Source, ok bool) {
	for _, ch := range s.Subjects("channel") {
		parts, from, read := scene.Shared(s, scene.ChannelPorts(s, ch))
		if name, part = scene.Busiest(parts); read && part > 0.9 {
			return name, part, from, true
		}
	}
	return "", 0, at, false
}
