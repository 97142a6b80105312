package pasted

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// idlePart is the most that a port of two carries where the other has it all.
const idlePart = 0.05

// layer2Hash: a policy that looks at addresses of fewer peers than there are links.
func layer2Hash(v *view) {
	for _, b := range v.bonds {
		if b.mode != "802.3ad" && b.mode != "balance-xor" || b.policy != "layer2" && b.policy != "layer2+3" && b.policy != "vlan+srcmac" {
			continue
		}
		if up := len(b.ports) - b.count(func(p port) bool { return p.down }); len(b.ports) > 0 && up < 2 {
			continue
		}
		sure, evidence := 0.45, []record.Evidence{}
		if x, ok := fact(b.host, b.name, "xmit_hash_policy"); ok {
			evidence = append(evidence, saw("transmit hash policy of "+b.name, x.Text, x.Source))
		} else if x, ok := fact(b.host, b.name, "mode"); ok {
			evidence = append(evidence, saw("transmit hash policy of "+b.name, "not set with mode "+b.mode+": the kernel's default, layer2", x.Source))
		}
		what, peers := "MAC addresses", "all that goes to one MAC address, such as everything behind a router or gateway,"
		if b.policy == "layer2+3" {
			what, peers = "MAC and IP addresses", "all between two addresses"
			sure = 0.4
		}
		if b.policy == "layer2" {
			if gw, ok := v.gateway(b); ok {
				evidence = append(evidence, gw)
				sure = max(sure, 0.75)
			}
		}
		if name, part, at, ok := b.oneSided("tx"); ok {
			evidence = append(evidence, saw("sent", fmt.Sprintf("%.0f %% by %s, the others next to nothing", 100*part, name), at))
			sure = 0.9
		} else if _, _, ok := b.carried("tx"); ok {
			continue // counters show that it spreads
		}
		if e, ok := v.nearOneLink(b); ok {
			evidence = append(evidence, e)
			sure = min(sure+0.2, 0.92)
		}
		if v.oneWayIn(b) {
			sure = 0.4 // what comes in is the switch's choice
		}
		f := v.add(record.SingleLink, sure, b.host, fmt.Sprintf("%s of %s (%s)", b.name, nameOf(b.host), b.policy),
			fmt.Sprintf("%s chooses a port by %s (%s), so %s takes one MAC's one link: with one peer or router, a single link carries everything %s sends.", b.name, what, b.policy, peers, nameOf(b.host)),
			setBond(b.host, b.name, "xmit_hash_policy", "layer3+4")+" Several flows then use several links (layer2+3 tells addresses apart, layer3+4 ports too); what arrives is spread by the switch's own hash.", evidence...)
		if sum, _ := b.speeds(); sum > 0 {
			f.Expected = sum * 94 / 100
		}
	}
}

func (b bond) count(is func(port) bool) (n int) {
	for _, p := range b.ports {
		if is(p) {
			n++
		}
	}
	return n
}

// oneSided is the port that has nearly all of a way's traffic.
func (b bond) oneSided(way string) (name string, part float64, at piece.Source, ok bool) {
	parts, at, ok := b.carried(way)
	if !ok {
		return "", 0, at, false
	}
	name, part = busiest(parts)
	return name, part, at, part >= 1-idlePart*float64(len(parts)-1)
}

// gateway is a default route over the bond, or over what stands on it.
func (v *view) gateway(b bond) (record.Evidence, bool) {
	for _, r := range b.host.Routes {
		if !r.Gateway.IsValid() || r.Dst.Bits() > 0 {
			continue
		}
		on := r.Link == b.name || word(b.host, r.Link, "below") == strings.ToLower(b.name) || word(b.host, b.name, "master") == strings.ToLower(r.Link)
		if on {
			return saw("next hop", r.Gateway.String()+" over "+r.Link+": one MAC address for all behind it", r.Source), true
		}
	}
	if x, ok := b.host.Get("config "+b.name, "gateway"); ok {
		return saw("gateway", x.Text+": one MAC address for all behind it", x.Source), true
	}
	return record.Evidence{}, false
}

// nearOneLink is a run of several streams that came to one link's rate.
func (v *view) nearOneLink(b bond) (record.Evidence, bool) {
	_, one := b.speeds()
	for _, r := range v.c.Runs {
		if one > 0 && max(len(r.Streams), r.Parallel) > 1 && r.Rate > one*80/100 && r.Rate <= one {
			return saw(r.Tool, fmt.Sprintf("%d streams come to %v, one link", max(len(r.Streams), r.Parallel), r.Rate), r.Source), true
		}
	}
	return record.Evidence{}, false
}

// oneWayIn reports runs in which this host receives only.
func (v *view) oneWayIn(b bond) bool {
	seen := false
	for _, r := range v.c.Runs {
		in := r.Server == b.host.Name && !r.Reverse || r.Client == b.host.Name && r.Reverse
		if r.Both || !in {
			return false
		}
		seen = true
	}
	return seen && b.host.Name != ""
}

// idlePorts are a bond's ports that carry next to nothing while others carry, and
// the busy ones; ok is false where one was not read.
func (b bond) idlePorts(way string) (busy, idle []string, at piece.Source, ok bool) {
	parts, at, ok := b.carried(way)
	if !ok {
		return nil, nil, at, false
	}
	for _, p := range b.ports {
		if parts[p.name] < 0.02 {
			idle = append(idle, p.name)
		} else {
			busy = append(busy, p.name)
		}
	}
	return busy, idle, at, len(busy) > 0
}

// fewFlows: several flows of a run, or of a mount, that left some ports idle, where
// the hash cannot be computed: policy, kernel or ports were not read.
func fewFlows(v *view) {
	for _, b := range v.bonds {
		if b.mode == "active-backup" || b.mode == "balance-rr" || b.policy == "layer2" || b.policy == "layer2+3" || len(b.ports) < 2 {
			continue
		}
		busy, idle, at, ok := b.idlePorts("tx")
		if !ok || len(idle) == 0 {
			continue
		}
		e := saw("sent", strings.Join(busy, ", ")+" only; "+strings.Join(idle, ", ")+" idle", at)
		for _, r := range v.c.Runs {
			n := max(len(r.Streams), r.Parallel)
			if from, _ := sides(r); n <= len(busy) || from != "" && b.host.Name != "" && from != b.host.Name {
				continue
			}
			_, fastest := b.speeds()
			if fastest > 0 && r.Rate > fastest*unit.BitRate(len(busy))*102/100 {
				continue
			}
			v.unlucky(b, n, busy, 0.72, e, saw(r.Tool, fmt.Sprintf("%d flows, %v", n, r.Rate), r.Source))
		}
		for _, r := range connections(b.host) {
			if n := len(r.Streams); n > len(busy) && n <= 4*len(b.ports) {
				v.unlucky(b, n, busy, 0.78, e, saw("ss", fmt.Sprintf("%d connections to %v", n, r.Streams[0].Remote), r.Source))
			}
		}
		for _, m := range b.host.Mounts {
			n, err := strconv.Atoi(m.Options["nconnect"])
			if err == nil && n > len(busy) {
				v.unlucky(b, n, busy, 0.75, e, saw("mount "+m.Path, fmt.Sprintf("nconnect=%d: %d connections", n, n), m.Source))
			}
		}
	}
}

// unlucky is a hash that gave flows fewer ports than there are.
func (v *view) unlucky(b bond, n int, busy []string, sure float64, evidence ...record.Evidence) {
	links := "one link (" + busy[0] + ")"
	if len(busy) > 1 {
		links = fmt.Sprintf("%d links (%s)", len(busy), strings.Join(busy, ", "))
	}
	if b.policy == "" {
		sure -= 0.05
	} else if b.policy == "layer3+4" {
		sure += 0.08
	}
	v.add(record.HashImbalance, sure, b.host, b.name+" of "+nameOf(b.host),
		fmt.Sprintf("All %d flows share %s: the hash gave these few connections no other port of %s, and the others stayed idle. With few flows that is chance.", n, links, b.name),
		"Use more flows (connections, streams), or other source ports (`linerate steer pick` names ports that use every link); with xmit_hash_policy layer3+4, for layer2+3 sees no ports.", evidence...)
}

// oneNextHop: balance-tlb and alb give each peer's MAC one port.
func oneNextHop(v *view) {
	for _, b := range v.bonds {
		if b.mode != "balance-tlb" && b.mode != "balance-alb" {
			continue
		}
		x, _ := fact(b.host, b.name, "mode")
		evidence := []record.Evidence{saw("mode of "+b.name, x.Text, x.Source)}
		sure := 0.5
		if gw, ok := v.gateway(b); ok {
			evidence = append(evidence, gw)
			sure = 0.85
		}
		if _, one := b.speeds(); one > 0 {
			sent := 0.0
			var at piece.Source
			for _, p := range b.ports {
				n, source, ok := number(b.host, "link "+p.name, "seen_tx_bps")
				if ok {
					sent, at = sent+n, source
				}
			}
			if sent > 0 && sent <= float64(one)*1.02 {
				evidence = append(evidence, saw("sent by all ports", unit.BitRate(sent).String()+", no more than one link", at))
				sure = max(sure, 0.8)
			}
		}
		v.add(record.SingleLink, sure, b.host, b.name+" ("+b.mode+")",
			fmt.Sprintf("%s (%s, transmit load balancing) gives each destination MAC one port: all clients behind a router have the next hop's one MAC, so their traffic takes one port at a time, moved from port to port, and in sum no more than one link.", b.name, b.mode),
			"Make it a LAG with the switch: mode 802.3ad (LACP) with xmit_hash_policy layer3+4 on the host and an LACP group on the switch; on kernels from 4.15 balance-tlb with tlb_dynamic_lb 0 and xmit_hash_policy layer3+4 hashes flows instead.", evidence...)
	}
}

// roundRobin: packets of one flow over several links arrive out of order.
func roundRobin(v *view) {
	for _, b := range v.bonds {
		if b.mode != "balance-rr" {
			continue
		}
		x, ok := fact(b.host, b.name, "mode")
		if !ok {
			x, _ = fact(b.host, b.name, "runner")
		}
		evidence := []record.Evidence{saw("mode of "+b.name, x.Text, x.Source)}
		sure := 0.55
		for _, r := range v.c.Runs {
			again := 0
			for _, s := range r.Streams {
				again += max(s.Retransmits, 0)
			}
			if again > 200 && len(r.Streams) <= 2 {
				evidence = append(evidence, saw(r.Tool, fmt.Sprintf("%v with %d retransmits", r.Rate, again), r.Source))
				sure = max(sure, 0.85)
			}
		}
		for _, name := range []string{"TcpExtTCPSACKReorder", "TcpExtTCPDSACKRecv", "TcpExtTCPTSReorder", "TcpExtTCPOFOQueue"} {
			if c, ok := b.host.Counters[name]; ok && len(c.Text) > 3 {
				evidence = append(evidence, saw(name, c.Text, c.Source))
				sure = max(sure, 0.85)
			}
		}
		for _, s := range b.host.Sockets {
			if n := s.Info["reordering"]; len(n) > 1 {
				evidence = append(evidence, saw("ss", "reordering "+n, s.Source))
				sure = max(sure, 0.85)
			}
		}
		dead := ""
		for _, p := range b.ports {
			if p.down {
				dead += p.name + ", "
			}
		}
		after := ""
		if dead != "" {
			after = " Remove what has no link (" + strings.TrimSuffix(dead, ", ") + ": down) or give it a link watch."
		}
		remedy := "Set xmit_hash_policy layer3+4 with mode balance-xor (or 802.3ad on a LAG of the switch)"
		if word(b.host, b.name, "kind") == "team" {
			remedy = "Change the runner to loadbalance or lacp, with addresses and ports in its tx_hash,"
		}
		v.add(record.Reordering, sure, b.host, fmt.Sprintf("%s (balance-rr, %d links)", b.name, len(b.ports)),
			fmt.Sprintf("%s is balance-rr (round robin): it stripes the packets of one TCP flow over its %d links, they arrive out of order, and TCP takes that for loss. A single flow gains little beyond two links, however many cables there are.", b.name, len(b.ports)),
			remedy+" and use several flows: each flow stays on one link, and several flows add up. For one fast flow take one faster card."+after, evidence...)
	}
}

// multipathHash: routes with several next hops that choose by addresses alone.
func multipathHash(v *view) {
	for _, h := range v.hosts {
		var route *piece.Route
		for i := range h.Routes {
			if len(h.Routes[i].Hops) > 1 {
				route = &h.Routes[i]
			}
		}
		if route == nil {
			continue
		}
		x, told := h.Get("sysctl", "net.ipv4.fib_multipath_hash_policy")
		if told && x.Text != "0" {
			v.evenHops(h, route, x)
			continue
		}
		evidence := []record.Evidence{saw("route", fmt.Sprintf("%d next hops", len(route.Hops)), route.Source)}
		sure := 0.5
		if told {
			evidence = append(evidence, saw("net.ipv4.fib_multipath_hash_policy", x.Text, x.Source))
			sure = 0.88
		}
		v.add(record.SingleLink, sure, h, nameOf(h)+"'s ECMP (fib_multipath_hash_policy 0)",
			fmt.Sprintf("%s chooses among the route's next hops by addresses alone (layer 3: fib_multipath_hash_policy 0, the default): all flows between two addresses take one link.", nameOf(h)),
			"`sysctl -w net.ipv4.fib_multipath_hash_policy=1` hashes ports too (layer 4), on each router that has several next hops; keep it in /etc/sysctl.d.", evidence...)
	}
}

// evenHops: a route's next hops that hash ports and carry alike.
func (v *view) evenHops(h *piece.Host, route *piece.Route, policy piece.Value) {
	b := bond{host: h, name: "route"}
	for _, hop := range route.Hops {
		b.ports = append(b.ports, port{name: hop.Link})
	}
	parts, at, ok := b.carried("tx")
	if !ok {
		return
	}
	if name, part := busiest(parts); part < 1.3/float64(len(parts)) {
		v.add(Healthy, 0.85, h, "none", fmt.Sprintf("Nothing is wrong: both ECMP legs carry alike (%s, the busiest, %.0f %%), and the hash looks at ports too (policy %s).", name, 100*part, policy.Text), "",
			saw("sent", "even over the next hops", at), saw("net.ipv4.fib_multipath_hash_policy", policy.Text, policy.Source))
	}
}

// switchHash: a switch that spreads by MAC or by addresses alone.
func switchHash(v *view) {
	for _, s := range v.switches {
		x, ok := s.Get("host", "load_balance")
		if !ok {
			continue
		}
		words := strings.ToLower(x.Text)
		kind := ""
		switch {
		case contains(words, "port", "l4", "layer4", "layer-4"):
			continue
		case contains(words, "ip", "layer3", "l3"):
			kind = "IP addresses"
		case contains(words, "mac", "layer2", "l2"):
			kind = "MAC addresses"
		default:
			continue
		}
		sure := 0.5
		evidence := []record.Evidence{saw("load balance of "+nameOf(s), x.Text, x.Source)}
		if name, part, at, ok := channelSided(s); ok {
			evidence = append(evidence, saw("traffic of its members", fmt.Sprintf("%.0f %% by %s", 100*part, name), at))
			sure = 0.88
		}
		for _, b := range v.bonds {
			if name, part, at, ok := b.oneSided("rx"); ok {
				evidence = append(evidence, saw("received by "+nameOf(b.host), fmt.Sprintf("%.0f %% by %s", 100*part, name), at))
				sure = 0.9
			}
			if b.policy == "layer3+4" || b.policy == "encap3+4" {
				sure += 0.05
			}
		}
		v.add(record.SingleLink, min(sure, 0.93), s, fmt.Sprintf("%s: load-balance %s", nameOf(s), x.Text),
			fmt.Sprintf("The switch %s spreads its channels by %s: all that goes from one host to one other takes one member (with MAC addresses: all that comes from one router, gateway or firewall, which has one MAC), whatever the hosts' own policies are.", nameOf(s), kind),
			"On the switch hash addresses and ports: "+switchHashCommand(s)+".", evidence...)
	}
}

// switchHashCommand is how that vendor's switch hashes ports too.
func switchHashCommand(s *piece.Host) string {
	vendor, _ := s.Get("host", "vendor")
	switch vendor.Text {
	case "nxos":
		return "`port-channel load-balance src-dst ip-l4port` (older: `port-channel load-balance ethernet source-dest-port`)"
	case "eos":
		return "`port-channel load-balance ... fields ip source-ip destination-ip source-port destination-port` or the load-balance profile of the platform"
	case "junos":
		return "`set forwarding-options enhanced-hash-key inet` with layer-4 fields (older: `hash-key family inet layer-3 layer-4`)"
	case "procurve":
		return "`trunk-load-balance L4-based` where the model has it"
	}
	return "`port-channel load-balance src-dst-mixed-ip-port` or `src-dst-port` where the model has it, else `src-dst-ip`"
}

// channelSided is the member of a switch's channel that sends nearly all.
func channelSided(s *piece.Host) (name string, part float64, at piece.Source, ok bool) {
	for _, ch := range s.Subjects("channel") {
		parts, sum := map[string]float64{}, 0.0
		for _, p := range s.Subjects("port") {
			of, in := s.Get("port "+p, "channel")
			n, source, read := number(s, "port "+p, "seen_tx_bps")
			if in && of.Text == ch && read {
				parts[p], sum, at = n, sum+n, source
			}
		}
		if len(parts) < 2 || sum <= 0 {
			continue
		}
		for p := range parts {
			parts[p] /= sum
		}
		if name, part = busiest(parts); part > 0.9 {
			return name, part, at, true
		}
	}
	return "", 0, at, false
}

// sides are the ways a run's bytes go.
func sides(r piece.Run) (sender, receiver string) {
	if r.Reverse {
		return r.Server, r.Client
	}
	return r.Client, r.Server
}
