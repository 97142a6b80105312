package live

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/diagnose/host"
	"github.com/linerate/linerate/internal/advise/workload"
	"github.com/linerate/linerate/internal/evidence/livetraffic"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/unit"
)

// fullWay: the link that a connection leaves by, or one above it, is full.
func (v *view) fullWay(f livetraffic.Flow, at direction) (record.Finding, bool) {
	for _, name := range at.above {
		if load := v.links[name]; load.shaper > 0 && load.outShare >= fullShare {
			return v.shaped(f, name), true
		}
	}
	if at.link == "" {
		return v.fullSomewhere(f, at)
	}
	if !v.full(at.link, f) {
		return record.Finding{}, false
	}
	for _, rule := range []func(livetraffic.Flow, direction) (record.Finding, bool){v.wrongLink, v.portsOutside, v.unevenly, v.standby, v.otherHops, v.answersElsewhere} {
		if found, ok := rule(f, at); ok {
			return found, true
		}
	}
	if load := v.links[at.link]; load.shaper > 0 && (load.shaper < v.speed(at.link) || v.speed(at.link) == 0) {
		return v.shaped(f, at.link), true
	}
	return v.atLineRate(at.link, at.bond), true
}

// full: a link carries what it can, or nearly so and its own shaper has packets waiting that
// get through: after an outage they wait as well.
func (v *view) full(name string, f livetraffic.Flow) bool {
	share := v.links[name].outShare
	seen, _ := v.watched.Link(name)
	return share >= fullShare || share >= waitingShare && seen.Overlimits > 0 && seen.Backlog >= waitingLeast &&
		f.Out.Loss < lossShare && f.Out.Recovering < limitedShare
}

// From what on a link is full whose shaper has packets waiting: the mean of a queue that
// is empty now and then is a packet or two.
const (
	waitingShare = 0.8
	waitingLeast = 16 * framing.DefaultMTU
)

// speed is what the port itself could do; zero unknown.
func (v *view) speed(name string) unit.BitRate {
	l, _ := v.watched.Host.Link(name)
	return l.Speed
}

// fullEvidence is how full a link is, and what was dropped before it.
func (v *view) fullEvidence(name string) []record.Evidence {
	load := v.links[name]
	seen, _ := v.watched.Link(name)
	all := []record.Evidence{diagnose.Fact("sent by "+name, fmt.Sprintf("%v, %s of what it carries", load.out, diagnose.Percent(load.outShare)), liveCounters)}
	if seen.TxDrops > 0 {
		all = append(all, diagnose.Fact("dropped before "+name, fmt.Sprint(seen.TxDrops), "its queue's and its own counters"))
	}
	return all
}

// atLineRate: nothing is left to gain.
func (v *view) atLineRate(name, bond string) record.Finding {
	found := record.Finding{
		Cause: record.LineRate, Confidence: 0.95,
		Summary:  fmt.Sprintf("%s is full (%s): this is all it carries.", name, diagnose.Percent(v.links[name].outShare)),
		Evidence: append(v.fullEvidence(name), v.rest(name)...),
		Remedy:   "a faster link, or another one beside it",
	}
	if v.links[name].outShare < fullShare {
		found.Confidence = 0.7
		found.Summary = fmt.Sprintf("%s carries %s of what it can, and packets wait for it: little is left to gain.", name, diagnose.Percent(v.links[name].outShare))
	} else if others := v.others(bond, name); len(others) > 0 {
		found.Summary = fmt.Sprintf("%s is full (%s), and so are the other links of %s: this is all they carry.", name, diagnose.Percent(v.links[name].outShare), bond)
		found.Evidence = append(found.Evidence, diagnose.Fact("the other links of "+bond, v.loads(others), liveCounters))
	}
	return found
}

// rest is what a full link carries beside the connections that were looked at.
func (v *view) rest(name string) []record.Evidence {
	var ours unit.BitRate
	for _, f := range v.watched.Flows {
		if v.place(f).link == name {
			ours += f.Sent
		}
	}
	rest := v.links[name].out - ours
	if rest < v.links[name].out/10 {
		return nil
	}
	return []record.Evidence{diagnose.Fact("other traffic by "+name+" than these connections'", rest.String(), liveCounters+" less sock_diag bytes_acked")}
}

// shaped: the host itself lets no more through than that.
func (v *view) shaped(f livetraffic.Flow, name string) record.Finding {
	load := v.links[name]
	if l, _ := v.watched.Host.Link(name); ownWay(l) && l.Speed == 0 {
		return record.Finding{
			Cause: record.Shaper, Confidence: 0.7,
			Summary:  fmt.Sprintf("The queue of %s lets %v through and no more, and it is used up (%s); what the link could do is not known.", name, load.shaper, diagnose.Percent(load.outShare)),
			Evidence: append(v.fullEvidence(name), diagnose.Fact("rate of the root queue of "+name, load.shaper.String(), "RTM_GETQDISC")),
			Remedy:   fmt.Sprintf("raise or remove the shaper where the line behind carries more: tc qdisc show dev %s", name),
			Also:     []record.Alternative{{Cause: record.LineRate, Confidence: 0.3, Summary: "the line behind carries no more than the queue was set to"}},
		}
	}
	return record.Finding{
		Cause: record.Shaper, Confidence: 0.95,
		Summary:  fmt.Sprintf("The queue of %s lets %v through and no more, below what the link could do; it is used up (%s).", name, load.shaper, diagnose.Percent(load.outShare)),
		Evidence: append(v.fullEvidence(name), diagnose.Fact("rate of the root queue of "+name, load.shaper.String(), "RTM_GETQDISC")),
		Remedy:   fmt.Sprintf("raise or remove the shaper: tc qdisc show dev %s", name),
	}
}

// wrongLink: the address that a connection leaves with is another link's,
// which has room.
func (v *view) wrongLink(f livetraffic.Flow, at direction) (record.Finding, bool) {
	holder, ok := v.watched.Host.LinkWith(f.Src)
	if !ok || holder.Name == f.Way.Link || !ownWay(holder) || v.links[holder.Name].outShare > roomShare {
		return record.Finding{}, false
	}
	return record.Finding{
		Cause: record.AsymmetricRoute, Confidence: 0.85,
		Summary: fmt.Sprintf("The connection has an address of %s, but its packets leave by %s, which is full; %s has room.", holder.Name, f.Way.Link, holder.Name),
		Evidence: append(v.fullEvidence(at.link), diagnose.Fact("route of the connection", "dev "+f.Way.Link, "RTM_GETROUTE"),
			diagnose.Fact("holder of "+f.Src.String(), holder.Name+", "+diagnose.Percent(v.links[holder.Name].outShare)+" full", "RTM_GETADDR")),
		Remedy:   fmt.Sprintf("a rule for packets from %s: ip rule add from %s lookup TABLE, and a route to %s by %s in that table", f.Src, f.Src, f.Dst, holder.Name),
		Expected: v.links[holder.Name].outCeiling,
	}, true
}

// ownWay reports a link that is a way out of its own: a card's port, or a container's.
func ownWay(l netstate.Link) bool { return host.Physical(l) || l.Kind == "veth" }

// portsOutside: the bond has ports that are up and that it does not use,
// because LACP did not take them in.
func (v *view) portsOutside(f livetraffic.Flow, at direction) (record.Finding, bool) {
	out := v.outside(at.bond)
	if len(out) == 0 {
		return record.Finding{}, false
	}
	found := record.Finding{
		Cause: record.LACPDown, Confidence: 0.9,
		Summary:  fmt.Sprintf("%s is full, and %s, which is up, is outside the active aggregator of %s: LACP did not take it in.", at.link, strings.Join(out, ", "), at.bond),
		Evidence: append(v.fullEvidence(at.link), diagnose.Fact("ports outside the active aggregator", strings.Join(out, ", "), "IFLA_BOND_SLAVE_AD_AGGREGATOR_ID")),
		Remedy:   "see that the switch's ports are in one channel group with LACP on: `linerate inspect` says what the partner answers",
	}
	// One connection alone does not get faster by a second link.
	if users := v.users[at.link]; users > 1 {
		found.Expected = f.Sent + v.spare(out)/unit.BitRate(users)
	} else {
		found.Confidence = 0.6
		found.Also = []record.Alternative{{Cause: record.SingleLink, Confidence: 0.4,
			Summary: "one connection uses one link: with the port back in it takes a second connection to use it"}}
	}
	return found, true
}

// outside are the ports of a bond that are up and that LACP did not take in.
func (v *view) outside(name string) (out []string) {
	bond, ok := v.watched.Host.Link(name)
	if !ok || bond.Bond == nil || bond.Bond.Mode != netstate.LACP {
		return nil
	}
	usable := v.watched.Host.UsablePorts(name)
	for _, port := range bond.Bond.Ports {
		if l, ok := v.watched.Host.Link(port); ok && l.Up && l.Carrier && !slices.Contains(usable, port) {
			out = append(out, port)
		}
	}
	return out
}

// unevenly: another link of the bond has room.
func (v *view) unevenly(f livetraffic.Flow, at direction) (record.Finding, bool) {
	others := v.others(at.bond, at.link)
	if len(others) == 0 || v.links[others[0]].outShare > roomShare || v.links[others[0]].outCeiling == 0 {
		return record.Finding{}, false
	}
	b, err := steer.BundleOf(v.watched.Host, at.bond)
	if err != nil {
		return record.Finding{}, false
	}
	reach, users := b.Reach(), v.users[at.link]
	found := record.Finding{
		Cause: record.HashImbalance, Confidence: 0.95,
		Evidence: append(v.fullEvidence(at.link), diagnose.Fact("the other links of "+at.bond, v.loads(others), liveCounters),
			diagnose.Fact("heaviest connections that leave by "+at.link, fmt.Sprint(users), "the bond's own hash")),
		// Each gets its share of what all the bond's links carry.
		Expected: f.Sent + v.spare(others)/unit.BitRate(max(users, 1)),
	}
	idle := fmt.Sprintf("%s is full while %s carries %s", at.link, others[0], diagnose.Percent(v.links[others[0]].outShare))
	switch {
	case !reach.Ports && !reach.Addresses || !reach.Ports && v.onePair(at.link):
		found.Cause = record.SingleLink
		found.Summary = fmt.Sprintf("%s: %s.", idle, reach.Why)
		found.Remedy = byHash(b, at.bond, f)
	case users == 1:
		found.Cause = record.SingleLink
		found.Summary = fmt.Sprintf("%s. One connection uses one link, and this one has it to itself: a second connection could use the other.", idle)
		found.Remedy = moreConnections(f)
	default:
		found.Summary = fmt.Sprintf("%s: the hash of %s sends %d of the heaviest connections by the same link.", idle, at.bond, users)
		found.Remedy = otherLinks(f)
		if !reach.Ports {
			found.Remedy = byHash(b, at.bond, f)
		}
	}
	return found, true
}

// onePair reports that all connections on a link are of one pair of addresses.
func (v *view) onePair(link string) bool {
	var first *livetraffic.Flow
	for i, f := range v.watched.Flows {
		if v.place(f).link != link {
			continue
		}
		if first == nil {
			first = &v.watched.Flows[i]
		} else if first.Src != f.Src || first.Dst != f.Dst {
			return false
		}
	}
	return true
}

// programOf is the program of a connection in the table of workloads.
func programOf(f livetraffic.Flow) (workload.Program, bool) {
	if f.Program.Kernel == "" {
		return workload.OfProcess(f.Program.Name, f.Dport, f.Sport)
	}
	if p, ok := workload.OfKernel(f.Dport); ok {
		return p, true
	}
	return workload.OfKernel(f.Sport)
}

// moreConnections is how the program of a connection gets more of them.
func moreConnections(f livetraffic.Flow) string {
	p, known := programOf(f)
	switch {
	case !known:
		return "let the program use several connections; `linerate steer pick` names source ports that spread them"
	case p.More == "":
		return p.Name + " has no option for several connections; `linerate steer mptcp` carries one over several links"
	}
	return fmt.Sprintf("%s; `linerate steer pick --for %s` says what can be chosen for it", p.More, p.Name)
}

// otherLinks is how connections that share a link get on others, where ports
// decide.
func otherLinks(f livetraffic.Flow) string {
	p, known := programOf(f)
	switch {
	case !known:
		return "other source ports, which `linerate steer pick` names, or more connections"
	case p.ChosenBy != "" && p.More != "":
		return fmt.Sprintf("other source ports (`linerate steer pick --for %s` sets %s), or more connections: %s", p.Name, p.ChosenBy, p.More)
	case p.More != "":
		return "more connections, for its source ports cannot be chosen: " + moreConnections(f)
	}
	return moreConnections(f)
}

// byHash is how a program's connections get on other links where the hash sees
// no ports: another hash, or the program's several addresses where those decide.
func byHash(b steer.Bundle, bond string, f livetraffic.Flow) string {
	remedy := spread(b, bond)
	if p, known := programOf(f); known && p.Spread != "" && b.Reach().Addresses {
		remedy += "; or several addresses: " + p.Spread + " (`linerate steer addresses` names some)"
	}
	return remedy
}

// spread is how to make a bond use more links for what it has.
func spread(b steer.Bundle, bond string) string {
	if b.Mode.Hashes() {
		return fmt.Sprintf("hash ports too: ip link set dev %s type bond xmit_hash_policy layer3+4 (where the network behind allows it)", bond)
	}
	return "a bond mode that hashes (802.3ad with layer3+4) uses all links; `linerate plan` says how to get there"
}

// spare is the room on links.
func (v *view) spare(links []string) (sum unit.BitRate) {
	for _, name := range links {
		sum += max(0, v.links[name].outCeiling-v.links[name].out)
	}
	return sum
}

// fullSomewhere: nobody can say which port the connection takes, but one is
// full, or all are.
func (v *view) fullSomewhere(f livetraffic.Flow, at direction) (record.Finding, bool) {
	ports := v.watched.Host.UsablePorts(at.bond)
	var full []string
	for _, name := range ports {
		if v.links[name].outShare >= fullShare {
			full = append(full, name)
		}
	}
	switch {
	case len(full) == 0:
		return record.Finding{}, false
	case len(full) == len(ports):
		return v.atLineRate(full[0], at.bond), true
	}
	return record.Finding{
		Cause: record.HashImbalance, Confidence: 0.5,
		Summary: fmt.Sprintf("Of the links of %s %s is full and others are not; whether this connection uses it nobody can say (%s).",
			at.bond, strings.Join(full, ", "), at.why),
		Evidence: []record.Evidence{diagnose.Fact("links of "+at.bond, v.loads(ports), liveCounters)},
		Remedy:   "`linerate steer show` says what decides the link",
	}, true
}

// overtaken: packets overtake each other, and TCP takes it for loss.
func (v *view) overtaken(f livetraffic.Flow, _ direction) (record.Finding, bool) {
	o := f.Out
	told := 2*o.Spurious >= o.Retransmits
	// A peer that says nothing of what came twice (tcp_dsack 0): what was lost is
	// never seen to be overtaken (tcp_check_sack_reordering of net/ipv4/tcp_input.c).
	untold := o.Spurious == 0 && o.Reordered >= overtakenLeast && overtakenPart*o.Reordered >= o.Retransmits
	if o.Retransmits == 0 || o.Reordered == 0 || !told && !untold {
		return record.Finding{}, false
	}
	found := record.Finding{
		Cause: record.Reordering, Confidence: 0.8,
		Summary: "Packets overtake each other on the way: TCP takes it for loss, sends again what has arrived, and slows down.",
		Evidence: []record.Evidence{
			diagnose.Fact("reorderings seen", fmt.Sprint(o.Reordered), fromSockDiag+" reord_seen"),
			diagnose.Fact("sent again", fmt.Sprint(o.Retransmits), fromSockDiag+" total_retrans"),
			diagnose.Fact("of these the peer had already", fmt.Sprint(o.Spurious), fromSockDiag+" dsack_dups"),
		},
		Remedy: "see what spreads packets of one connection: a bond in balance-rr, or a router that balances packets",
	}
	if !told {
		found.Confidence = 0.6
		found.Evidence[2] = diagnose.Fact("of these the peer had already", "it does not say (no DSACK)", fromSockDiag+" dsack_dups")
		found.Also = []record.Alternative{{Cause: record.Congestion, Confidence: 0.3, Summary: "packets are lost as well; net.ipv4.tcp_dsack=1 on " + f.Dst.String() + " would tell"}}
	}
	return found, true
}

// A stream whose losses are real is seen to be overtaken now and then only.
const (
	overtakenLeast = 5
	overtakenPart  = 4 // of its repetitions at least one in four
)

// notInSync: a port of the bond is up and LACP does not keep it in the group. Packets that
// it had on their way are lost each time it leaves, and what it carried goes by the others.
func (v *view) notInSync(f livetraffic.Flow, at direction) (record.Finding, bool) {
	bond, ok := v.watched.Host.Link(at.bond)
	if !ok || bond.Bond == nil || bond.Bond.Mode != netstate.LACP {
		return record.Finding{}, false
	}
	var out []string
	var evidence []record.Evidence
	for _, name := range bond.Bond.Ports {
		l, ok := v.watched.Host.Link(name)
		if !ok || !l.Up || !l.Carrier || l.Port == nil || l.Port.ActorState == 0 || l.Port.PartnerState == 0 {
			continue
		}
		if l.Port.BothPassive() || l.Port.ActorState&netstate.LACPExpired != 0 {
			out = append(out, name)
			evidence = append(evidence, diagnose.Fact("LACP on "+name, fmt.Sprintf("states %d and %d", l.Port.ActorState, l.Port.PartnerState), "IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE, ..._PARTNER_..."))
		}
	}
	if len(out) == 0 {
		return record.Finding{}, false
	}
	found := record.Finding{
		Cause: record.LACPDown, Confidence: 0.6, Evidence: evidence,
		Summary: fmt.Sprintf("%s of %s, which is up, does not stay in its LACP group: what it carried goes by the others, and what is on its way then is lost.", strings.Join(out, ", "), at.bond),
		Remedy:  fmt.Sprintf("see why LACP does not stay: `linerate inspect` says what each end sends; one end at least has to be active (lacp_active on for %s)", at.bond),
	}
	if lost, ok := v.lossy(f, at); ok {
		found.Evidence = append(found.Evidence, lost.Evidence...)
		found.Also = []record.Alternative{{Cause: lost.Cause, Confidence: 0.3, Summary: lost.Summary}}
	}
	return found, true
}

// lossy: packets are lost on the way.
func (v *view) lossy(f livetraffic.Flow, at direction) (record.Finding, bool) {
	o := f.Out
	if o.Loss < lossShare && !(o.Loss < 0 && o.Retransmits > 0 && o.Recovering > limitedShare) {
		return record.Finding{}, false
	}
	found := record.Finding{
		Cause: record.Congestion, Confidence: 0.8,
		Summary:  fmt.Sprintf("Packets are lost on the way to %s: %s of the bytes are sent again, and %s slows down for it.", f.Dst, diagnose.Percent(max(o.Loss, 0)), orTCP(f.Congestion)),
		Evidence: []record.Evidence{diagnose.Fact("bytes sent again", diagnose.Percent(max(o.Loss, 0)), fromSockDiag+" bytes_retrans"), diagnose.Fact("segments sent again", fmt.Sprint(o.Retransmits), fromSockDiag+" total_retrans"), diagnose.Fact("round trip", fmt.Sprintf("%s, at least %s", brief(o.RTT), brief(o.MinRTT)), fromSockDiag+" rtt, min_rtt")},
		Remedy:   "find where they are lost: `linerate inspect` on both ends, the switches' error counters; on long paths BBR tolerates loss better",
	}
	for _, name := range at.devices() {
		if seen, ok := v.watched.Link(name); ok && seen.TxDrops > 0 {
			found.Summary = fmt.Sprintf("The queue before %s drops packets (%d while watched), and %s slows down for it.", name, seen.TxDrops, orTCP(f.Congestion))
			found.Evidence = append(found.Evidence, diagnose.Fact("dropped before "+name, fmt.Sprint(seen.TxDrops), "its queue's and its own counters"))
			found.Remedy = fmt.Sprintf("a longer or fairer queue: tc qdisc replace dev %s root fq", name)
		}
	}
	return found, true
}

func orTCP(congestion string) string {
	if congestion == "" {
		return "TCP"
	}
	return congestion
}

// marked: a queue on the way marks packets (ECN, RFC 3168) instead of dropping them.
func (v *view) marked(f livetraffic.Flow, _ direction) (record.Finding, bool) {
	if f.Out.Marked < lossShare {
		return record.Finding{}, false
	}
	return record.Finding{
		Cause: record.Congestion, Confidence: 0.7,
		Summary:  fmt.Sprintf("A queue on the way to %s marks packets (ECN): %s came with a mark, and %s slows down for each.", f.Dst, diagnose.Percent(f.Out.Marked), orTCP(f.Congestion)),
		Evidence: []record.Evidence{diagnose.Fact("segments that arrived marked", diagnose.Percent(f.Out.Marked), fromSockDiag+" delivered_ce"), diagnose.Fact("bytes sent again", diagnose.Percent(max(f.Out.Loss, 0)), fromSockDiag+" bytes_retrans")},
		Remedy:   "find the queue that marks: a switch's ECN (WRED) threshold, or an AQM (codel, fq_codel) on the way; raise its threshold, or see what else fills it",
	}, true
}

// ownQueue: a queue of this host drops what TCP sends before it is on its way, which TCP
// notes at once and does not send again.
func (v *view) ownQueue(f livetraffic.Flow, at direction) (record.Finding, bool) {
	for _, name := range at.devices() {
		seen, ok := v.watched.Link(name)
		if !ok || float64(seen.TxDrops) < ownDrops*seen.TxPackets*f.Span.Seconds() {
			continue
		}
		return record.Finding{
			Cause: record.Congestion, Confidence: 0.65,
			Summary:  fmt.Sprintf("This host's own queue before %s drops packets (%d while watched) although %s has room, and %s slows down for it.", name, seen.TxDrops, name, orTCP(f.Congestion)),
			Evidence: v.fullEvidence(name),
			Remedy:   fmt.Sprintf("see what the queue is (tc -s qdisc show dev %s, tc -s class show dev %[1]s): a longer limit, or a class with a higher rate", name),
		}, true
	}
	return record.Finding{}, false
}

// ownDrops is the part of the packets sent from which drops of the own queue are felt.
const ownDrops = 0.001

// queued: a connection's packets wait in a queue, and more of them would.
func queued(f livetraffic.Flow) bool {
	return f.Out.MinRTT > 0 && float64(f.Out.RTT) >= queueRatio*float64(f.Out.MinRTT) && f.Out.NotSent >= f.Out.MSS
}

// queuedElsewhere: packets wait in a queue that is not this host's.
func (v *view) queuedElsewhere(f livetraffic.Flow, at direction) (record.Finding, bool) {
	o := f.Out
	if !queued(f) {
		return record.Finding{}, false
	}
	found := record.Finding{
		Cause: record.Shaper, Confidence: 0.5,
		Summary: fmt.Sprintf("Packets wait in a queue behind this host: the round trip is %s and could be %s. A slower link, a shaper, or other traffic that fills a link is on the way to %s.",
			brief(o.RTT), brief(o.MinRTT), f.Dst),
		Evidence: []record.Evidence{diagnose.Fact("round trip", fmt.Sprintf("%s, at least %s", brief(o.RTT), brief(o.MinRTT)), fromSockDiag+" rtt, min_rtt"), diagnose.Fact("waiting to be sent", o.NotSent.String(), fromSockDiag+" notsent_bytes")},
		Remedy:   fmt.Sprintf("`linerate explain --live` on %s says how full its links are", f.Dst),
		Missing:  []string{"how full the links behind this host are"},
	}
	if links, ok := v.oneLinkBehind(at); ok {
		return v.sentByOne(f, links, found), true
	}
	if o.Spurious >= copiesLeast && o.Spurious > 2*o.Retransmits {
		found.Summary = fmt.Sprintf("Something on the way to %s makes copies of packets, and they fill it: it had %d already, of which %d were sent again.", f.Dst, o.Spurious, o.Retransmits)
		found.Evidence = append(found.Evidence, diagnose.Fact("packets that the peer had already", fmt.Sprint(o.Spurious), fromSockDiag+" dsack_dups"), diagnose.Fact("sent again", fmt.Sprint(o.Retransmits), fromSockDiag+" total_retrans"))
		found.Remedy = "find what copies them: a loop of bridges, a mirror port, a bond in broadcast mode"
	}
	return found, true
}

// copiesLeast is how many packets a peer had already that are no chance.
const copiesLeast = 20

// unknown says what would decide.
func (v *view) unknown(f livetraffic.Flow) record.Finding {
	found := record.Finding{
		Cause: record.Unknown, Confidence: 0.3,
		Summary: "What was seen does not decide: TCP has something to send, waits for no window and no buffer, loses nothing, and no link here is full.",
		Evidence: []record.Evidence{
			diagnose.Fact("time with something to send", diagnose.Percent(f.Out.Busy), fromSockDiag+" busy_time"),
			diagnose.Fact("congestion window", fmt.Sprintf("%v, %v in flight", f.Out.Cwnd, f.Out.InFlight), fromSockDiag+" snd_cwnd, unacked"),
			diagnose.Fact("round trip", fmt.Sprintf("%s, at least %s", brief(f.Out.RTT), brief(f.Out.MinRTT)), fromSockDiag+" rtt, min_rtt"),
		},
		Remedy: fmt.Sprintf("watch longer (--duration 30s), or `linerate explain --live` on %s", f.Dst),
	}
	if !f.Out.Clock {
		found.Summary = "This kernel does not say what a connection waits for, and nothing else decides."
		found.Missing = []string{"what TCP waited for (Linux 4.10)"}
	}
	return found
}
