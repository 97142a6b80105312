package trial

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/diagnose/host"
	"github.com/linerate/linerate/diagnose/remedy"
	"github.com/linerate/linerate/diagnose/trial/probed"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/predict/routing"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

const (
	usualFrame = 1500 // Ethernet's own MTU: what every link takes
	// smallSegment is the share of a full packet's payload below which the
	// segments are smaller than the links ask for.
	smallSegment = 0.8
	// worthMTU is the share that full packets must gain to be a cause.
	worthMTU = 0.05
	// costlyMTU is the share from which links full of small packets are
	// limited by their size. Between 1500 and 9000 lie 5 %: there the links'
	// rate is what binds, and larger frames are advice.
	costlyMTU = 0.10
	// standstill is the share of the links' rate below which a trial as good as
	// stood still.
	standstill = 0.10
	// mostLost is the loss that streams survive whose segments pass at all.
	mostLost = 0.25
	// wholeSegments is the part of so many full segments that a stream sends whose
	// segments have always been of one size.
	wholeSegments = 0.9
	// wellEnough is the share that streams carry which are not hurt.
	wellEnough = 0.6
	fullWire   = 0.90
)

// sizesLost: echoes of the MTU's size do not come through where small ones do.
func (v *wayView) sizesLost() (hypothesis, bool) {
	if lost := v.lostSizes(); v.room() && len(lost) > 0 {
		h := v.sizeHole(lost)
		v.weighSizes(&h, lost[0])
		return h, true
	}
	return hypothesis{}, false
}

// sizeHole is the hypothesis that what was lost there limits the streams.
func (v *wayView) sizeHole(lost []record.SizeProbe) hypothesis {
	p := lost[0]
	return hypothesis{
		cause: record.MTU, seen: true, sure: 0.95, mended: "With an MTU that passes",
		summary: probed.Lost(p),
		evidence: slices.Concat([]record.Evidence{
			{What: fmt.Sprintf("echoes of %d bytes from %s to %s", p.MTU, p.From, p.To), Value: fmt.Sprintf("%d of %d came back", p.Passed, p.Sent), Source: diagnose.FromProbe},
		}, v.segmentEvidence(), v.tcpEvidence(), v.loads()),
		remedy: v.lowered(lost),
	}
}

// standStill reports streams between two addresses that all stand still.
func (v *wayView) standStill(src, dst netip.Addr) bool {
	between := slices.DeleteFunc(slices.Clone(v.lanes), func(l record.Lane) bool { return l.Src != src || l.Dst != dst })
	return len(between) > 0 && !slices.ContainsFunc(between, func(l record.Lane) bool { return !v.standsStill(l) })
}

// weighSizes lowers the confidence in a hole by how the streams fare: those
// that send full packets and get on show that full packets pass, and echoes
// get lost for other reasons too.
func (v *wayView) weighSizes(h *hypothesis, p record.SizeProbe) {
	switch {
	case probed.SomeLost(p):
		h.sure = 0.3 // by chance
	case p.Passed == 0 && v.standStill(p.Src, p.Dst):
		return // the others go another way
	case v.fullPass() && p.Passed > 0:
		h.sure = 0.15
	case v.fullPass():
		h.sure = 0.3
	case v.share()*v.wireFactor() > wellEnough || v.adapted():
		h.sure = 0.6 // the streams do well with what they found to pass
	case v.waits.loss() >= lossShare && v.sentWhatPasses(p):
		h.sure = 0.5 // and lose that too
	default:
		return
	}
	h.against = append(h.against, v.segmentEvidence()...)
}

// fullPass reports that every stream sends full segments and gets on.
func (v *wayView) fullPass() bool {
	full := v.fullSegment()
	for _, l := range v.lanes {
		if float64(l.TCP.SndMSS) < smallSegment*float64(full) || l.Goodput < v.goodput*unit.BitRate(standstill/float64(len(v.lanes))) {
			return false
		}
	}
	return full > 0 && len(v.lanes) > 0 && v.goodput > 0 && diagnose.Fraction(v.goodput, v.ceiling()) >= standstill && v.waits.loss() < mostLost
}

// sentWhatPasses reports streams that a hole is in the way of and whose segments, by what
// they sent in how many, passed it all the time.
func (v *wayView) sentWhatPasses(p record.SizeProbe) bool {
	met := false
	for _, l := range v.lanes {
		if p.Src.IsValid() && (l.Src != p.Src || l.Dst != p.Dst) {
			continue
		}
		whole := float64(l.TCP.BytesSent) >= wholeSegments*float64(l.TCP.SegmentsOut)*float64(l.TCP.SndMSS)
		if l.TCP.SegmentsOut == 0 || !whole || l.TCP.SndMSS+framing.HeaderBytes(v.trial.Protocol, l.Dst.Is6()) > max(p.Passes, p.Named) {
			return false
		}
		met = true
	}
	return met
}

// adapted reports streams that go on with segments that pass: hardly one is
// lost, and congestion control asks for nothing.
func (v *wayView) adapted() bool {
	w := v.waits
	return w.mss > 0 && w.mss < v.fullSegment() && w.loss() < lossShare && w.timeouts == 0 && w.heldAtHome()
}

// widest is the MTU that a path may be expected to take: the smaller of both
// ends', and no less than Ethernet's own; zero unknown.
func (v *wayView) widest() int {
	if len(v.lanes) == 0 {
		return 0
	}
	lane := v.lanes[0]
	near, far := routing.FacingOne(v.fabric.Hosts[v.from], lane.Src, lane.Dst), routing.FacingOne(v.fabric.Hosts[v.to], lane.Dst, lane.Src)
	if near.MTU <= 0 || far.MTU <= 0 {
		return 0
	}
	return max(min(near.MTU, far.MTU), usualFrame)
}

// fullSegment is the payload of a segment that the MTU of both ends allows,
// and where that is below Ethernet's own, of one that Ethernet's allows; zero
// unknown.
func (v *wayView) fullSegment() int {
	if mtu := v.widest(); mtu > 0 {
		return mtu - framing.HeaderBytes(v.trial.Protocol, v.lanes[0].Dst.Is6())
	}
	return 0
}

func (v *wayView) segmentEvidence() []record.Evidence {
	var out []record.Evidence
	if v.waits.mss > 0 {
		out = append(out, record.Evidence{What: "payload of a segment from " + v.from, Value: fmt.Sprintf("%d bytes", v.waits.mss), Source: "tcpi_snd_mss"})
	}
	if full := v.fullSegment(); full > 0 {
		out = append(out, record.Evidence{What: "payload of one that the links' MTU allows", Value: fmt.Sprintf("%d bytes", full), Source: "IFLA_MTU of both ends, at least 1500"})
	}
	if len(v.lanes) > 0 && v.lanes[0].TCP.PathMTU > 0 {
		out = append(out, record.Evidence{What: "path MTU that TCP believes in", Value: fmt.Sprintf("%d bytes", v.lanes[0].TCP.PathMTU), Source: "tcpi_pmtu"})
	}
	return out
}

// smallerThanFull are the payloads of the segments that are sent and of full ones, where
// they are far apart.
func (v *wayView) smallerThanFull() (mss, full int, ok bool) {
	mss, full = v.waits.mss, v.fullSegment()
	return mss, full, mss > 0 && full > 0 && float64(mss) < smallSegment*float64(full) && v.trial.UDP == nil
}

// smallSegments: segments are far smaller than the links take, so that headers
// take the links, or the processors have as many more packets to handle.
func (v *wayView) smallSegments() (hypothesis, bool) {
	mss, full, ok := v.smallerThanFull()
	if !ok {
		return hypothesis{}, false
	}
	own, best := v.efficiencyOf(mss), v.efficiencyOf(full)
	h := hypothesis{
		cause: record.MTU, mended: "With full packets",
		summary: fmt.Sprintf("The streams from %s send segments of %d bytes where the links take %d: %s of what is sent are headers, and every byte costs %.1f times the packets.",
			v.from, mss, full, diagnose.Percent(1-own), float64(full)/float64(mss)),
		evidence: append(v.segmentEvidence(), append(v.tcpEvidence(), v.loads()...)...),
		remedy:   remedy.Else(remedy.FullPackets(v.fabric.Hosts[v.from], v.fabric.Hosts[v.to], v.lanes), fmt.Sprintf("find what makes them small: the MTU of either end's links, advmss of a route (`ip route get`), a tunnel, a path that lost larger ones (`ss -ti` shows pmtu on %s)", v.from)),
	}
	if v.packet() > 0 {
		h.remedy = v.traffic().Without("--mss", "leave what sets the segment size out (-M): full packets carry more")
	}
	wire := v.share() * v.wireFactor()
	switch {
	case wire >= fullWire && best/own-1 >= worthMTU, max(wire, least(v.egress)*v.wireFactorOf(v.egress)) >= slackLink && best/own-1 >= costlyMTU:
		h.seen, h.sure = true, 0.93
		v.weighOwnLimits(&h, v.weaker(), v.weaker())
	case !v.room() || best/own-1 < worthMTU/2 && v.waits.timeouts == 0:
		return hypothesis{}, false
	case v.oneCoreFull() || v.anyBusy():
		h.sure = 0.75
	case v.waits.loss() >= lossShare && v.bursty() < 0.5 && v.waits.queued() <= 1 && min(v.share()*float64(full)/float64(mss), 1) > leastBrought*own/best:
		// Losses leave a rate in proportion to the segments (lossLeaves): larger ones bring
		// more than the end of the losses, which leaves the headers.
		h.seen, h.sure = true, 0.8
	case v.waits.timeouts > 0, v.goodput <= 0 && v.waits.again > 0:
		h.sure = 0.7
	default:
		h.sure = 0.5
	}
	return h, true
}

// laneOf is the probe's addresses; of one that does not say them the first stream's.
func (v *wayView) laneOf(p record.SizeProbe) flow.Lane {
	if p.Src.IsValid() || len(v.lanes) == 0 {
		return flow.Lane{Src: p.Src, Dst: p.Dst}
	}
	return v.lanes[0].Lane
}

// lostSizes are the probes of this way whose full packets did not all come back, without
// those that lost some by chance where others are holes.
func (v *wayView) lostSizes() []record.SizeProbe {
	all := slices.DeleteFunc(slices.Clone(v.trial.Sizes), func(p record.SizeProbe) bool {
		return p.From != v.from || p.To != v.to || !p.Answers || p.Sent == 0 || p.Passed == p.Sent
	})
	if slices.ContainsFunc(all, func(p record.SizeProbe) bool { return !probed.SomeLost(p) }) {
		all = slices.DeleteFunc(all, probed.SomeLost)
	}
	return all
}

// fullInSpite is h of links that are full, with full packets that get lost all the same.
func (v *wayView) fullInSpite(h hypothesis) hypothesis {
	if lost := v.lostSizes(); h.nothingToWin && len(lost) > 0 && !probed.SomeLost(lost[0]) {
		hole := v.sizeHole(lost)
		h.summary += " " + hole.summary + " Each connection waits until its sender finds that out."
		h.evidence, h.remedy = append(hole.evidence, h.evidence...), hole.remedy
	}
	return h
}

// lowersTo is the MTU that passes by every pair of links; zero none, or unknown.
func (v *wayView) lowersTo() int {
	least := 0
	for i, p := range v.lostSizes() {
		if size := max(p.Passes, p.Named); i == 0 || size < least {
			least = size
		}
	}
	return host.UsualMTU(least)
}

// lowered sets every pair of links by which full packets get lost to a size that passes.
func (v *wayView) lowered(lost []record.SizeProbe) (all record.Remedy) {
	for i, p := range lost {
		one := remedy.Lowered(v.fabric.Hosts[p.From], v.fabric.Hosts[p.To], p.Link, v.laneOf(p), v.lowersTo(), host.Raise(p.To, p.MTU)+", which spares the network's other hosts the same change")
		switch {
		case i == 0:
			all = one
		case len(one) == len(all): // both begin with commands, or neither has any
			all[0] = all[0].Joined(one[0])
		default:
			return record.Remedy{one[len(one)-1]}
		}
	}
	return all
}

// efficiencyOf is the payload's share of a frame with so much of it.
func (v *wayView) efficiencyOf(payload int) float64 {
	return float64(payload) / float64(payload+frameHeaders(v.trial.Protocol, v.lanes[0].Dst.Is6()))
}

// headersTakeLinks: the links are full of packets so small that their headers
// cost more than anything else could bring.
func (v *wayView) headersTakeLinks() (hypothesis, bool) {
	h, ok := v.smallSegments()
	return h, ok && h.strong() && v.efficiencyOf(v.fullSegment())/v.efficiencyOf(v.waits.mss)-1 >= costlyMTU
}

// wireFactor is how much fuller than their payload says the weaker side's links
// are.
func (v *wayView) wireFactor() float64 { return v.wireFactorOf(v.weaker()) }

// wireFactorOf is how much fuller than their payload says a side's links are,
// because segments are smaller than those their ceilings were computed with:
// each host's at its own MTU.
func (v *wayView) wireFactorOf(side []linkLoad) float64 {
	mss := float64(v.waits.mss)
	if mss <= 0 || v.trial.UDP != nil || len(side) == 0 {
		return 1
	}
	headers := float64(frameHeaders(v.trial.Protocol, v.lanes[0].Dst.Is6()))
	return max(v.ceilingEfficiency(side[0].host)*(mss+headers)/mss, 1)
}

// ceilingEfficiency is the payload's share of a full packet at the MTU that
// the ceilings of a host's links were computed with.
func (v *wayView) ceilingEfficiency(host string) float64 {
	h, l := v.fabric.Hosts[host], v.lanes[0]
	own, peer := l.Dst, l.Src
	if host == v.from {
		own, peer = peer, own
	}
	device := routing.FacingOne(h, own, peer)
	if device.MTU <= 0 {
		return 1
	}
	full := float64(device.MTU - framing.HeaderBytes(v.trial.Protocol, l.Dst.Is6()))
	return full / (full + float64(frameHeaders(v.trial.Protocol, l.Dst.Is6())))
}

func (v *wayView) anyBusy() bool {
	return slices.ContainsFunc([]string{v.from, v.to}, func(host string) bool {
		use, ok := v.processorOf(host)
		return ok && busiest(use) >= wantsCore
	})
}

// tagRoom is what drivers take above the MTU, for a VLAN's tag.
const tagRoom = 4

// beyondReceiver: packets are larger than the receiver's own link takes, and get lost.
// TCP asks for segments that fit, but never for less than min_adv_mss
// (ipv4_default_advmss), and an MTU may be lowered while streams run.
func (v *wayView) beyondReceiver() (hypothesis, bool) {
	for _, l := range v.lanes {
		device := routing.FacingOne(v.fabric.Hosts[v.to], l.Dst, l.Src)
		packet := l.TCP.SndMSS + framing.HeaderBytes(v.trial.Protocol, l.Dst.Is6())
		if l.TCP.SndMSS <= 0 || device.MTU <= 0 || packet <= device.MTU+tagRoom || !v.standsStill(l) && v.waits.loss() < lossShare {
			continue
		}
		return hypothesis{
			cause: record.MTU, seen: true, sure: 0.9, mended: "With an MTU that takes them", stands: true,
			summary:  fmt.Sprintf("%s sends packets of %d bytes, and %s of %s takes %d: what is larger is dropped there, unless it arrives in one piece with others.", v.from, packet, device.Name, v.to, device.MTU),
			evidence: append(append(v.segmentEvidence(), record.Evidence{What: "MTU of " + device.Name + " on " + v.to, Value: fmt.Sprintf("%d bytes", device.MTU), Source: "IFLA_MTU"}), append(append(v.dropEvidence(), v.tcpEvidence()...), v.loads()...)...),
			remedy:   remedy.Else(remedy.FullPackets(v.fabric.Hosts[v.from], v.fabric.Hosts[v.to], v.lanes), fmt.Sprintf("raise the MTU of %s on %s", device.Name, v.to)),
		}, true
	}
	return hypothesis{}, false
}

// blackHole: the streams as good as stand still on links with large frames,
// and nobody looked which sizes get through. Where nobody knows the links, most of the
// time without a byte, though segments are larger than Ethernet's own, is as good.
func (v *wayView) blackHole() (hypothesis, bool) {
	w, full := v.waits, v.fullSegment()
	still := diagnose.Fraction(v.goodput, v.ceiling()) < standstill && v.ceiling() > 0
	rates := slices.Sorted(slices.Values(v.trial.Blocks))
	blind := v.ceiling() <= 0 && w.mss > usualFrame && w.again > 0 && len(rates) > 2 && rates[len(rates)/2] == 0 && rates[len(rates)-1] < 50*unit.Mbps
	if blind {
		still, full = true, w.mss
	}
	if !still || full <= usualFrame || len(v.trial.Sizes) > 0 || v.trial.UDP != nil {
		return hypothesis{}, false
	}
	h := hypothesis{
		cause: record.MTU, sure: 0.45, mended: "With an MTU that passes",
		summary: fmt.Sprintf("The streams from %s connect and then as good as stand still: full packets of %d bytes may get lost on the way in silence.", v.from, full),
		evidence: append([]record.Evidence{{What: "payload that arrived", Value: v.goodput.String(), Source: "bytes that the receiving sockets read, over the common window"}},
			append(v.segmentEvidence(), append(v.tcpEvidence(), v.loads()...)...)...),
		remedy:  record.ByHand(fmt.Sprintf("try which sizes get through (`linerate explain RECORD --probe`, or `ping -M do -s %d`)", full)),
		missing: []string{"which packet sizes get through"},
		decide: record.Decision{Probe: record.ProbePacketSize, Value: float64(full + framing.HeaderBytes(v.trial.Protocol, v.lanes[0].Dst.Is6())), Between: []record.Cause{record.MTU, record.Congestion},
			Text: "send single packets of the MTU's size with don't-fragment set: if they are lost and small ones not, it is the MTU"},
	}
	if blind || w.timeouts > 0 || w.present && w.mss < full {
		h.sure = 0.7
	}
	return h, true
}
