package trial

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/diagnose/remedy"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// How near a result comes to what its sockets are paced at, and how far past.
const (
	wholePace = 0.95
	pastPace  = 1.05
)

// offered: the run itself let the streams send no more, and that came through.
// Datagrams go out at a pace; a TCP program that writes slowly leaves its
// socket empty, as any slow program does.
func (v *wayView) offered() (hypothesis, bool) {
	limit := v.trial.RateLimit
	if limit <= 0 || v.goodput < limit*wholeOffer || v.ceiling() > 0 && limit >= v.ceiling()*atCeiling {
		return hypothesis{}, false
	}
	flag := "--rate-limit"
	if v.unobserved() && v.trial.Tool != "linerate" {
		flag = "iperf's -b"
	}
	h := hypothesis{
		cause: record.Pacing, seen: true, sure: 0.95, mended: "Without that limit",
		summary:  fmt.Sprintf("The streams from %s were let send %v and %v arrived: the run's own limit, not the path's.", v.from, limit, v.goodput),
		evidence: append([]record.Evidence{{What: "rate offered by " + v.from, Value: limit.String(), Source: flag + ", or the prediction"}}, v.loads()...),
		remedy:   v.traffic().Without(flag, "raise `-b`, or leave it out, to see what the path carries"),
	}
	if v.trial.UDP == nil && v.trial.Protocol != "udp" {
		h.cause = record.Application
		h.summary = fmt.Sprintf("The program on %s writes %v and no more, and %v arrived: its own limit (%s), not the path's.", v.from, limit, v.goodput, flag)
		h.evidence = append(h.evidence, v.tcpEvidence()...)
	}
	return h, true
}

// paced: the sockets themselves were asked to keep to a rate, and did. A
// queueing discipline that paces (fq) counts headers, TCP itself does not
// (tcp_update_skb_after_send): what arrives lies between.
func (v *wayView) paced() (hypothesis, bool) {
	var limit unit.BitRate
	var each unit.BitRate
	asked, near := false, false
	for _, l := range v.lanes {
		own := predict.PaceOf(l)
		if own <= 0 || !v.keepsTo(l, own) && !v.atPace(l, own) {
			return hypothesis{}, false
		}
		near = near || !v.keepsTo(l, own)
		asked = asked || l.Asked != nil && l.Asked.Pacing > 0
		limit += own
		if each == 0 || own < each {
			each = own
		}
	}
	if limit <= 0 || v.ceiling() > 0 && limit >= v.ceiling()*atCeiling || near && v.linkBeforePace() {
		return hypothesis{}, false
	}
	h := hypothesis{
		cause: record.Pacing, seen: true, sure: 0.95, mended: "Unpaced",
		summary: fmt.Sprintf("The sockets of %s were paced at %v each, %v in all, and %v arrived: the run's own limit, not the path's.", v.from, each, limit, v.goodput),
		evidence: append([]record.Evidence{{What: "pace of the streams from " + v.from + " in all", Value: limit.String(), Source: "SO_MAX_PACING_RATE"}},
			append(v.tcpEvidence(), v.loads()...)...),
		remedy: record.Do(record.Option("--pacing", "")),
	}
	if near {
		h.sure = v.doubtfulPace() + 0.1
	}
	if !asked {
		h.summary = fmt.Sprintf("The program on %s paces its sockets at %v each, %v in all, and %v arrived: its own limit, not the path's.", v.from, each, limit, v.goodput)
		h.remedy = record.ByHand(fmt.Sprintf("raise what the program on %s asks for with SO_MAX_PACING_RATE (iperf3's --fq-rate), or leave it out", v.from))
	}
	return h, true
}

// linkBeforePace: a link is full beside idle ones, so that streams which do not
// quite reach their pace share it.
func (v *wayView) linkBeforePace() bool {
	return v.fullBesideIdle(v.egress) || v.fullBesideIdle(v.ingress)
}

// atPace reports a stream that TCP would let go faster than its pace allows,
// whatever a start-up or a late packet took from it.
func (v *wayView) atPace(l record.Lane, pace unit.BitRate) bool {
	least := nearPace
	if v.waits.heldAtHome() {
		least = coarsePace
	} else if l.TCP.SndbufLimited >= limitedShare {
		least = 0.5 // a small buffer is sent at the pace, and then waited for: the pace takes more of the time
	}
	return l.TCP.Pacing >= pace*0.98 && l.Goodput >= pace*unit.BitRate(least) && l.Goodput <= pace*pastPace
}

// keepsTo reports a stream that carries what its pace allows.
func (v *wayView) keepsTo(l record.Lane, pace unit.BitRate) bool {
	return l.Goodput >= pace*unit.BitRate(wholePace*v.payloadShare(l)) && l.Goodput <= pace*pastPace
}

// payloadShare is the payload's share of a full packet as a queue counts it.
func (v *wayView) payloadShare(l record.Lane) float64 {
	mss := float64(l.TCP.SndMSS)
	if mss <= 0 {
		return 1
	}
	return mss / (mss + float64(frameHeaders(v.trial.Protocol, l.Dst.Is6())))
}

// mostPaced of the streams must keep to a rate: luck and a start-up leave out one or the other.
const mostPaced = 0.7

// nearPace is the share of a pace above which it may still bind: late packets take a little.
const nearPace = 0.65

// coarsePace is the same where the host itself holds back what congestion
// control and the window would let go: its timers are coarser than the pace
// asks for, and it sends less.
const coarsePace = 0.40

// doubtfulPace is how sure a pace binds that the streams do not quite reach.
func (v *wayView) doubtfulPace() float64 {
	w, sure := v.waits, 0.74
	if max(w.idle(), w.starved) >= limitedShare || max(w.rwnd, w.sndbuf) >= limitedShare && !v.windowsExceed(w.goodput*beyondPace) {
		sure *= 0.5
	}
	if w.loss() >= lossShare && v.disorder() < 0.3 {
		sure *= 0.7
	}
	if w.queued() > deepQueue && !w.backFull && v.disorder() < 0.3 {
		sure *= 0.6 // what is paced below everything else queues nowhere
	}
	return sure
}

// beyondPace is how much more than they carry windows must allow in the
// path's own round trip, for them to be full of what a pace holds back.
const beyondPace = 1.3

// almostPace is the share of a pace that a stream reaches which is held by
// nothing else for most of the time.
const almostPace = 0.92

// windowsExceed reports that windows and buffers allow more than a rate in the
// path's own round trip, without what waits in queues.
func (v *wayView) windowsExceed(rate unit.BitRate) bool {
	w := v.waits
	var allowed unit.BitRate
	for _, l := range w.lanes {
		size := l.TCP.SndWnd
		if filled, _ := v.sendFilled(l); filled > 0 {
			size = min(size, filled)
		}
		allowed += rateOver(size, w.minRTT)
	}
	return w.minRTT > 0 && allowed > rate
}

// worthUnpacing reports that the links of the streams that keep to a rate have
// more room than the others are short of it: the rate is the first thing to
// mend.
func (v *wayView) worthUnpacing(rate unit.BitRate) bool {
	room, short := unit.BitRate(0), unit.BitRate(0)
	used := make(map[string]bool)
	for _, l := range v.lanes {
		if l.Goodput >= rate*unit.BitRate(almostPace*v.payloadShare(l)) && l.Goodput <= rate*pastPace {
			used[l.EgressLink] = true
		} else {
			short += max(rate-l.Goodput, 0)
		}
	}
	for _, e := range v.egress {
		if used[e.link] {
			room += max(e.ceiling-e.payload, 0)
		}
	}
	return len(used) > 0 && room > short
}

// flowRate: fq on one of the sender's devices limits each flow to a rate.
func (v *wayView) flowRate() (hypothesis, bool) {
	device, rate := v.flowQdisc()
	if rate <= 0 || len(v.waits.lanes) == 0 {
		return hypothesis{}, false
	}
	kept, near := 0, 0
	for _, l := range v.waits.lanes {
		if v.keepsTo(l, rate) {
			kept++
		}
		if l.Goodput >= rate*nearPace && l.Goodput <= rate*pastPace {
			near++
		}
	}
	sure := 0.93
	switch n := mostPaced * float64(len(v.waits.lanes)); {
	case float64(kept) >= n && v.share() < fullLink:
	case v.room() && float64(near) >= n && !v.linkBeforePace():
		sure, kept = v.doubtfulPace(), near
	case v.room() && v.worthUnpacing(rate):
		sure, kept = 0.81, max(kept, near)
	default:
		return hypothesis{}, false
	}
	return hypothesis{
		cause: record.Pacing, seen: true, sure: sure, mended: "Without it",
		summary: fmt.Sprintf("The queueing discipline fq on %s of %s limits each flow to %v (maxrate), and %d of %d streams run at about that.", device, v.from, rate, kept, len(v.waits.lanes)),
		evidence: append([]record.Evidence{{What: "maxrate of fq on " + device + " of " + v.from, Value: rate.String(), Source: diagnose.FromQdisc}},
			append(v.throttledEvidence(), append(v.tcpEvidence(), v.loads()...)...)...),
		remedy: remedy.Else(remedy.Unpaced(v.from, v.senderDevices()...), "find what limits each flow there (`tc -d qdisc show`)").Or(v.traffic().More(2 * len(v.lanes))...),
	}, true
}

// heldByFlow reports that a queue of the sender's own holds the streams to
// about what they carry.
func (v *wayView) heldByFlow() bool {
	h, ok := v.flowRate()
	return ok && h.sure >= 0.5
}

// flowQdisc is the sender's device whose queue holds a single flow to the
// least rate; "" none.
func (v *wayView) flowQdisc() (device string, rate unit.BitRate) {
	look := func(l netstate.Link) {
		for _, q := range l.Qdiscs {
			if q.FlowRate > 0 && (rate == 0 || q.FlowRate < rate) {
				device, rate = l.Name, q.FlowRate
			}
		}
	}
	for _, l := range v.senderDevices() {
		look(l)
	}
	return device, rate
}

// senderDevices are the sender's links and what stands above them.
func (v *wayView) senderDevices() (all []netstate.Link) {
	for _, e := range v.egress {
		if l, ok := v.fabric.Hosts[v.from].Link(e.link); ok {
			all = append(all, l)
		}
	}
	return append(all, v.devicesAbove()...)
}

func (v *wayView) throttledEvidence() []record.Evidence {
	var out []record.Evidence
	for _, l := range v.trial.Links {
		if l.Host == v.from && l.Throttled > 0 {
			out = append(out, record.Evidence{What: "packets that fq delayed on " + l.Link, Value: fmt.Sprintf("+%d", l.Throttled), Source: "TCA_FQ statistics"})
		}
	}
	return out
}

// TCP paces itself at 1.2 times its window over the round trip, 2 in slow
// start (net.ipv4.tcp_pacing_ca_ratio, tcp_pacing_ss_ratio): a rate that comes
// as near as this to the pace is held by it.
const (
	ownPace     = 1.10
	usualRatio  = 120
	fqOwnRatios = "net.ipv4.tcp_pacing_ca_ratio"
)

// selfPaced: what TCP paces itself at is all that it sends, and nothing else
// holds it: the pacing ratio was lowered, or fq holds flows to a rate that was
// not read.
func (v *wayView) selfPaced() (hypothesis, bool) {
	w := v.waits
	if !w.known || !v.room() || w.network() < leastBusyNet || strings.HasPrefix(v.trial.Congest, "bbr") {
		return hypothesis{}, false
	}
	near, all := 0, 0
	for _, l := range w.lanes {
		if l.TCP.Pacing <= 0 {
			continue
		}
		all++
		if l.TCP.Pacing <= l.Goodput*ownPace && l.Goodput <= l.TCP.Pacing*pastPace {
			near++
		}
	}
	ratio := v.fabric.Hosts[v.from].SysctlInts(fqOwnRatios)
	lowered := len(ratio) == 1 && ratio[0] < usualRatio
	held := len(v.throttledEvidence()) > 0
	if all == 0 || float64(near) < mostPaced*float64(all) || !lowered && !held && !w.heldAtHome() {
		return hypothesis{}, false
	}
	h := hypothesis{
		cause: record.Pacing, sure: 0.7, mended: "At TCP's usual pace",
		summary: fmt.Sprintf("TCP on %s paces its streams at no more than they carry, and neither loss nor window nor processor asks for that.", v.from),
		remedy:  record.ByHand(fmt.Sprintf("look at fq's maxrate (`tc qdisc show`) and at %s of %s", fqOwnRatios, v.from)),
	}
	h.evidence = append(v.throttledEvidence(), append(v.tcpEvidence(), v.loads()...)...)
	if lowered {
		h.sure = 0.9
		h.evidence = append([]record.Evidence{{What: fqOwnRatios + " of " + v.from, Value: fmt.Sprint(ratio[0]), Source: "/proc/sys/net/ipv4/tcp_pacing_ca_ratio"}}, h.evidence...)
		h.summary = fmt.Sprintf("TCP on %s is told to pace at %d %% of its window in a round trip (%s; %d is usual), so it never fills the path.", v.from, ratio[0], fqOwnRatios, usualRatio)
		h.remedy = record.Do(record.Sysctl(v.from, fqOwnRatios, fmt.Sprint(usualRatio)))
	}
	if w.loss() >= lossShare {
		h.sure *= 0.6
		h.against = append(h.against, w.lossEvidence())
	}
	return h, true
}

// firstToRepair is how much more the end of what holds each stream must promise
// than streams on other links, to be the first thing to mend.
const firstToRepair = 1.05

// ownLimit is what a stream carries with the path to itself where its window
// or buffer holds it: the same in flight over the path's own round trip. Zero
// where neither does.
func (v *wayView) ownLimit(l record.Lane) unit.BitRate {
	c := l.TCP
	mean, least := sound(c.MeanRTTMS), sound(c.MinRTTMS)
	if mean == 0 {
		mean = sound(c.RTTMS)
	}
	if max(c.RwndLimited, c.SndbufLimited) < limitedShare || mean == 0 || least == 0 {
		return 0
	}
	return l.Goodput * unit.BitRate(max(mean/least, 1))
}

// weighOwnLimits lowers the confidence in a fault that keeps streams off links,
// or fills them with headers, where each stream is limited by itself so far below
// its part that more room would bring less than the end of that does on the
// links in use.
func (v *wayView) weighOwnLimits(h *hypothesis, used, side []linkLoad) {
	var spread unit.BitRate
	for _, l := range v.lanes {
		own := v.ownLimit(l)
		if own == 0 {
			return
		}
		spread += own
	}
	if n := len(v.lanes); n < len(side) && n <= len(used) {
		spread *= unit.BitRate(float64(len(side)) / float64(n)) // more streams are part of the remedy
	}
	mended := total(used)
	if mended == 0 || spread*firstToRepair >= mended {
		return
	}
	h.seen = false
	h.sure *= 0.4
	h.against = append(h.against, record.Evidence{
		What:   "what the streams' own windows and buffers allow, whatever the links",
		Value:  fmt.Sprintf("%v, less than the %v of %s", spread, mended, names(used)),
		Source: fromTCP,
	})
}
