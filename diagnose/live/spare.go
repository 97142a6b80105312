package live

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/internal/evidence/livetraffic"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/predict/routing"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/unit"
)

// standby: the full link is the one that an active-backup bond uses.
func (v *view) standby(f livetraffic.Flow, at direction) (record.Finding, bool) {
	bond, ok := v.watched.Host.Link(at.bond)
	if !ok || bond.Bond == nil || bond.Bond.Mode != netstate.ActiveBackup {
		return record.Finding{}, false
	}
	var idle []string
	for _, name := range bond.Bond.Ports {
		if l, ok := v.watched.Host.Link(name); ok && name != at.link && l.Up && l.Carrier && l.Port != nil && l.Port.MIIUp {
			idle = append(idle, name)
		}
	}
	if len(idle) == 0 {
		return record.Finding{}, false
	}
	found := record.Finding{
		Cause: record.SingleLink, Confidence: 0.95,
		Summary:  fmt.Sprintf("%s is full, and %s only waits for it to fail: %s is active-backup, which uses one link.", at.link, strings.Join(idle, ", "), at.bond),
		Evidence: append(v.fullEvidence(at.link), diagnose.Fact("mode of "+at.bond, string(bond.Bond.Mode), "IFLA_BOND_MODE"), diagnose.Fact("links that wait", strings.Join(idle, ", "), "IFLA_BOND_SLAVE_STATE")),
		Remedy:   "a bond mode that uses all links, 802.3ad with a channel group on the switch; `linerate plan` says how to get there",
	}
	if users := v.users[at.link]; users > 1 {
		found.Expected = f.Sent + v.spare(idle)/unit.BitRate(users)
	}
	return found, true
}

// otherHops: the route has further next hops, whose links have room.
func (v *view) otherHops(f livetraffic.Flow, at direction) (record.Finding, bool) {
	h := v.watched.Host
	_, prefix, ok := routing.Egress(h, f.Src, f.Dst)
	if !ok || at.bond != "" {
		return record.Finding{}, false
	}
	r, ok := routing.RouteOver(h, f.Src, f.Dst, prefix)
	if !ok {
		return record.Finding{}, false
	}
	m, err := steer.MultipathOf(h, r)
	if err != nil {
		return record.Finding{}, false
	}
	var weights, roomy []string
	for _, hop := range r.Hops {
		l, ok := routing.HopLink(h, hop)
		if hop.Dead || !ok || !l.Up {
			continue
		}
		weights = append(weights, fmt.Sprintf("%s %d", l.Name, hop.Weight))
		if load := v.links[l.Name]; l.Name != at.link && load.outCeiling > 0 && load.outShare <= roomShare {
			roomy = append(roomy, l.Name)
		}
	}
	if len(roomy) == 0 {
		return record.Finding{}, false
	}
	reach, users := m.Reach(), v.users[at.link]
	found := record.Finding{
		Cause: record.HashImbalance, Confidence: 0.9,
		Evidence: append(v.fullEvidence(at.link), diagnose.Fact("the route's other links", v.loads(roomy), liveCounters),
			diagnose.Fact("next hops and their weights", strings.Join(weights, ", "), "RTM_GETROUTE"), diagnose.Fact("what the route's hash takes", reach.Why, "net.ipv4.fib_multipath_hash_policy")),
		Expected: f.Sent + v.spare(roomy)/unit.BitRate(max(users, 1)),
	}
	idle := fmt.Sprintf("%s is full while %s of the same route carries %s", at.link, roomy[0], diagnose.Percent(v.links[roomy[0]].outShare))
	switch {
	case !reach.Ports:
		found.Cause = record.SingleLink
		found.Summary = fmt.Sprintf("%s: %s.", idle, reach.Why)
		found.Remedy = "hash ports too: sysctl -w net.ipv4.fib_multipath_hash_policy=1 (net.ipv6... for IPv6)"
	case users == 1:
		found.Cause = record.SingleLink
		found.Summary = fmt.Sprintf("%s. One connection takes one next hop: a second one could take the other.", idle)
		found.Remedy = moreConnections(f)
	default:
		found.Summary = fmt.Sprintf("%s: the route's hash and its weights send %d of the heaviest connections by the same link.", idle, users)
		found.Remedy = "equal weights for links of equal speed, more connections, or other source ports: `linerate steer show --ecmp auto` names the link of each"
	}
	return found, true
}

// answersElsewhere: another link that is in no bond with the full one takes packets in that
// carry nothing but acknowledgements, and sends none: the peer spreads its answers over
// both, this host's route knows one.
func (v *view) answersElsewhere(_ livetraffic.Flow, at direction) (record.Finding, bool) {
	for _, l := range v.watched.Host.Links {
		seen, ok := v.watched.Link(l.Name)
		if !ok || l.Name == at.link || !ownWay(l) || !l.Up || !l.Carrier || l.Port != nil ||
			seen.RxPackets < answersLeast || float64(seen.Rx) > 8*answerSize*seen.RxPackets || seen.TxPackets > seen.RxPackets/10 {
			continue
		}
		return record.Finding{
			Cause: record.SingleLink, Confidence: 0.75,
			Summary: fmt.Sprintf("%s is full, and all that is sent leaves by it; %s takes in answers and sends nothing: the route of this host has one next hop, the peer answers over both.", at.link, l.Name),
			Evidence: append(v.fullEvidence(at.link),
				diagnose.Fact("packets that came in by "+l.Name, fmt.Sprintf("%.0f a second, of %.0f bytes", seen.RxPackets, float64(seen.Rx)/8/seen.RxPackets), liveCounters),
				diagnose.Fact("packets sent by "+l.Name, fmt.Sprintf("%.0f a second", seen.TxPackets), liveCounters)),
			Remedy:   fmt.Sprintf("a route with both next hops: ip route replace ... nexthop via GATEWAY1 dev %s nexthop via GATEWAY2 dev %s, and net.ipv4.fib_multipath_hash_policy=1 (`linerate steer show --ecmp` names flows' links)", at.link, l.Name),
			Expected: v.links[at.link].out + v.spare([]string{l.Name}),
		}, true
	}
	return record.Finding{}, false
}

const (
	// answersLeast is how many packets a second are no chatter of neighbours.
	answersLeast = 100
	// answerSize is more than an acknowledgement with its headers and options, in bytes.
	answerSize = 120
)

// oneLinkBehind are the links that packets which wait behind this host left by, where
// several carry a part and together they carry what one of them could.
func (v *view) oneLinkBehind(at direction) (links []string, ok bool) {
	links = v.watched.Host.UsablePorts(at.bond)
	if at.bond == "" {
		for _, f := range v.watched.Flows {
			if name := v.place(f).link; name != "" && f.Outgoing() && queued(f) && !slices.Contains(links, name) {
				links = append(links, name)
			}
		}
	}
	var sum, most unit.BitRate
	used := 0
	for _, name := range links {
		load := v.links[name]
		if load.outCeiling == 0 || most > 0 && load.outCeiling != most {
			return nil, false
		}
		most = load.outCeiling
		sum += load.out
		if load.outShare >= partShare {
			used++
		}
	}
	return links, used >= 2 && sum >= unit.BitRate(fullShare*float64(most)) && sum <= unit.BitRate(1.08*float64(most))
}

// partShare is the part of a link that is used, not a chance packet.
const partShare = 0.1

// sentByOne is what a queue behind several links means whose sum one of them could carry.
func (v *view) sentByOne(f livetraffic.Flow, links []string, queue record.Finding) record.Finding {
	found, names := queue, strings.Join(links, ", ")
	found.Cause, found.Confidence = record.SingleLink, 0.6
	found.Summary = fmt.Sprintf("%s carry together what one of them could, and packets wait in a queue behind: the switch sends all of it by one link, for its hash, for one MAC address, or for a port that is outside its channel, or %s has one link only.", names, f.Dst)
	found.Evidence = append(slices.Clone(queue.Evidence), diagnose.Fact("the links used", v.loads(links), liveCounters))
	found.Remedy = fmt.Sprintf("where %s has several links, look at the channel and the hash of the switch before it: all ports in, addresses and ports (layer3+4), not MAC addresses; `linerate explain --live` there says how full its links are", f.Dst)
	found.Also = []record.Alternative{{Cause: record.Shaper, Confidence: 0.25, Summary: queue.Summary}, {Cause: record.LineRate, Confidence: 0.15, Summary: f.Dst.String() + " has one link, and it is full"}}
	return found
}

// smallSegments: the link is full of packets that are much smaller than it takes.
func (v *view) smallSegments(f livetraffic.Flow, at direction) (record.Finding, bool) {
	l, ok := v.watched.Host.Link(at.link)
	load := v.links[at.link]
	if !ok || l.MTU == 0 || f.Out.MSS <= 0 || load.outCeiling == 0 {
		return record.Finding{}, false
	}
	headers := framing.HeaderBytes("tcp", f.Dst.Is6())
	segment := min(int(f.Out.MSS), l.MTU)
	ceiling := framing.LinkPayload(l, segment+headers, 0, f.Dst.Is6())
	if float64(segment) > mostSmall*float64(l.MTU-headers) || float64(ceiling) > (1-leastLost)*float64(load.outCeiling) || float64(load.out) < fullShare*float64(ceiling) {
		return record.Finding{}, false
	}
	return record.Finding{
		Cause: record.MTU, Confidence: 0.8,
		Summary: fmt.Sprintf("%s is full of small packets: the connection sends segments of %d bytes where %s takes %d, and %s of it goes to headers.", at.link, segment, at.link, l.MTU-headers,
			diagnose.Percent(1-float64(ceiling/load.outCeiling))),
		Evidence: append(v.fullEvidence(at.link), diagnose.Fact("segments of", fmt.Sprintf("%d bytes", segment), fromSockDiag+" snd_mss"), diagnose.Fact("MTU of "+at.link, fmt.Sprint(l.MTU), "RTM_GETLINK IFLA_MTU")),
		Remedy:   fmt.Sprintf("find what keeps them small: `ip route get %s` (mtu, advmss), the MTU of %[1]s, a firewall that clamps (TCPMSS, maxseg), an ICMP \"too big\" that is remembered for ten minutes (ip route flush cache)", f.Dst),
		Expected: f.Sent * load.outCeiling / ceiling,
	}, true
}

const (
	// mostSmall is the part of full segments from which on segments are small, leastLost
	// what of a link their headers take beyond those of full ones, at least.
	mostSmall = 0.8
	leastLost = 0.05
)
