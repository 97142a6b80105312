package trial

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/diagnose/trial/carried"
	"github.com/linerate/linerate/diagnose/trial/onswitch"
	"github.com/linerate/linerate/predict/tcp"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// lossOnPath: the path drops segments while no link is full and no queue
// grows: congestion control slows down for nothing.
func (v *wayView) lossOnPath() (hypothesis, bool) {
	w := v.waits
	few := w.loss() < lossShare
	if few && (w.loss() < lossShare/20 || w.recovering < 0.15) && !v.asLossesLeave() || w.sent <= 0 || !v.room() && !v.losesBelowFull() {
		return hypothesis{}, false
	}
	h := hypothesis{
		cause: record.Congestion, sure: 0.8, mended: "Without the losses",
		summary:  fmt.Sprintf("%s of the bytes from %s had to be sent again while no link was full: something on the way drops.", diagnose.FewPercent(w.loss()), v.from),
		evidence: append(append([]record.Evidence{w.lossEvidence()}, v.tcpEvidence()...), v.dropEvidence()...),
		remedy:   record.ByHand("find where it drops: link errors, a bad cable or optic, a switch buffer (`ip -s link` on both hosts, the switch's counters)"),
	}
	h.evidence = append(diagnose.Once(h.evidence), v.loads()...)
	if w.loss() < lossShare {
		h.sure = 0.6
	}
	v.weighLoss(&h)
	if where, onArrival := v.dropper(); where != "" {
		h.sure = min(h.sure+0.1, 0.95)
		if onArrival {
			h.seen, h.sure = true, max(h.sure, 0.85)
		}
		h.summary = fmt.Sprintf("%s of the bytes from %s had to be sent again while no link was full: %s.", diagnose.FewPercent(w.loss()), v.from, where)
	} else { // what a host counts itself no probe need find
		h.decide = v.decideStreams(record.Congestion, record.Shaper)
	}
	if l, ok := v.switchLoss(); ok {
		h.seen, h.sure, h.remedy = true, max(h.sure, 0.9), record.ByHand(l.Remedy())
	}
	return h, true
}

// asLossesLeave reports streams that few losses hold, over a long way: their windows are
// always full, nothing queues, and they carry what the response of congestion control
// to just so many losses leaves.
func (v *wayView) asLossesLeave() bool {
	w := v.waits
	left, ok := v.lossLeaves()
	return ok && w.repeated >= fewestRepeated && w.cwndLimited >= fullWindows && w.queued() <= 0.5 &&
		w.goodput > left*0.6 && w.goodput < left*1.6
}

// fewestRepeated is how many segments were sent again, at the least, where the windows tell
// as well what limits the streams.
const fewestRepeated = 5

// losesBelowFull reports a link that is nearly full and loses, one at a time, more than
// what fills it up would: a full one drops several at once, from a queue that stands.
func (v *wayView) losesBelowFull() bool {
	w := v.waits
	return v.share() < fullLink && w.loss() >= 10*lossShare && v.bursty() < 0 && w.queued() <= deepQueue
}

// fullWindows is the part of the samples in which the congestion window was full, from
// which on it is what held the streams; so does one of which fullFlight is under way in
// the mean.
const fullWindows, fullFlight = 0.8, 0.95

// weighLoss lowers the confidence by what speaks for another reason of the
// losses, or for another limit than them.
func (v *wayView) weighLoss(h *hypothesis) {
	w := v.waits
	doubt := func(factor float64, what, value string) {
		h.sure *= factor
		h.against = append(h.against, record.Evidence{What: what, Value: value, Source: fromTCP})
	}
	swing, steady := v.swing() // a queue that stands lets the rate swing little
	single := w.loss() >= 5*lossShare && v.bursty() < -0.4
	switch {
	case swing > veryRough && (single || w.queued() < 2*deepQueue):
	case single && !v.outrunsLoss(): // as many single losses leave just this rate
	case w.queued() > deepQueue:
		doubt(0.4, "queue on the way", fmt.Sprintf("%.1f ms: losses may be what a full queue drops", w.queue()))
	case w.queued() > 1:
		doubt(0.6, "queue on the way", fmt.Sprintf("%.1f ms: losses may be what a full queue drops", w.queue()))
	}
	switch chance := diagnose.Percent(swing) + ": losses by chance leave it to swing more"; {
	case v.evenly():
		doubt(0.6, "swing of the rate from block to block", chance)
	case steady && swing < flatSwing:
		doubt(0.75, "swing of the rate from block to block", chance)
	}
	if b := v.bursty(); b > 0 {
		doubt(1-0.5*b, "losses", "several at a time, at a rate that as many single ones would not leave")
	}
	if v.burst() {
		doubt(0.8, "rate at the start", "well above the rest, as a token bucket lets it")
	}
	if r := v.disorder(); r > 0.3 {
		doubt(1-0.7*r, "packets out of order", "what was sent again was late, not lost")
	}
	if w.idle() >= limitedShare {
		doubt(0.4, "time without data to send", diagnose.Percent(w.idle()))
	}
	buffer := w.windowRate(func(l record.Lane) unit.Bytes { _, most := v.sendFilled(l); return most })
	allowed := w.windowsAllow()
	waits := w.rwnd >= limitedShare
	switch {
	case diagnose.Fraction(w.goodput, buffer) >= nearWindow:
		doubt(0.4, "what the send buffer allows", fmt.Sprintf("%v, which is nearly reached", buffer))
	case waits && diagnose.Fraction(w.goodput, allowed) >= nearWindow:
		doubt(0.4, "what the receive window allows", fmt.Sprintf("%v, which is nearly reached", allowed))
	case waits && v.tighterThanLoss(allowed):
		doubt(0.6, "what the receive window allows", fmt.Sprintf("%v, less than the losses would leave", allowed))
	case v.tighterThanLoss(buffer):
		doubt(0.6, "what the send buffer allows", fmt.Sprintf("%v, less than the losses would leave", buffer))
	}
	if w.loss() > likelyLoss && !(swing > veryRough && single) { // a limit is flatter
		doubt(max(1-(w.loss()-likelyLoss)/(unlikelyLoss-likelyLoss)*0.4, 0.6), "bytes sent again", fmt.Sprintf("%s: more than lines lose by themselves; a limit that drops what is above it makes as much", diagnose.Percent(w.loss())))
	}
	if left, ok := v.lossLeaves(); ok && float64(w.goodput) < 0.3*float64(left) {
		doubt(0.5, "what so few losses alone would leave", fmt.Sprintf("about %v", left))
	}
}

// wellBeyond is how much more than the streams carry losses alone must leave
// them for something else to hold them.
const wellBeyond = 1.5

// outrunsLoss reports that the losses would leave well more over the path's own
// round trip: what waits in a queue waits for another limit.
func (v *wayView) outrunsLoss() bool {
	left, ok := v.lossLeavesAlone()
	return ok && left > v.waits.goodput*wellBeyond
}

// Losses that strike at random leave congestion control what its response
// function says, one at a time; a limit that drops what is above it takes
// several at once, and leaves more. Measured on Linux 6.1: random ones 0.95 to
// 1.3 times the response and 1.1 to 1.3 repetitions a recovery, a policer's 2
// times and 2.
const (
	asRandom, asPoliced   = 1.3, 1.9
	singly, severalAtOnce = 1.4, 2.0
	fewRecoveries         = 5
	beyondResponse        = 4 // times it: another congestion control than was thought
)

// Losses that a path shows by itself, and from which on a limit that drops
// what is above it, into streams of few large packets, is as likely.
const likelyLoss, unlikelyLoss = 0.06, 0.09

// evenly reports losses of all streams alike that leave the rate steadier than chance would.
func (v *wayView) evenly() bool {
	spared := func(l record.Lane) bool {
		return 2*float64(l.TCP.BytesRetrans) < v.waits.loss()*float64(l.TCP.BytesSent)
	}
	full, _ := split(v.egress)
	return v.trial.Direction == v.way && len(full) == 0 && !slices.ContainsFunc(v.waits.lanes, spared) && carried.Even(v.trial.Blocks, v.waits.repeated)
}

// bursty is how much speaks for losses that come several at a time, 0 to 1;
// negative for single ones; zero where nothing tells.
func (v *wayView) bursty() float64 {
	placedIn := func(x, low, high float64) float64 { return max(-1, min(1, 2*(x-low)/(high-low)-1)) } // -1 to 1
	score, parts := 0.0, 0.0
	if left, ok := v.lossLeaves(); ok && v.waits.goodput < left*beyondResponse {
		parts++
		score += placedIn(float64(v.waits.goodput/left), asRandom, asPoliced)
	}
	if use, ok := v.processorOf(v.from); ok && use.TCPExt["TCPSackRecovery"] >= fewRecoveries {
		parts++
		score += placedIn(float64(use.TCPExt["TCPFastRetrans"])/float64(use.TCPExt["TCPSackRecovery"]), singly, severalAtOnce)
	}
	if parts == 0 {
		return 0
	}
	return score / parts
}

// lossLeaves is what the response of the sender's congestion control to the
// measured losses leaves the streams; false where that is not known, or where
// losses do not hold it.
func (v *wayView) lossLeaves() (unit.BitRate, bool) {
	return v.lossLeavesOver(func(l record.Lane) float64 {
		if rtt := sound(l.TCP.MeanRTTMS); rtt > 0 {
			return rtt
		}
		return sound(l.TCP.RTTMS)
	})
}

// lossLeavesAlone is that over the path's own round trip, with no queue on it.
func (v *wayView) lossLeavesAlone() (unit.BitRate, bool) {
	return v.lossLeavesOver(func(l record.Lane) float64 { return sound(l.TCP.MinRTTMS) })
}

// lossLeavesOver is that over a given round trip of each stream, in milliseconds.
func (v *wayView) lossLeavesOver(rtt func(record.Lane) float64) (sum unit.BitRate, ok bool) {
	w := v.waits
	for _, l := range w.lanes {
		rate := tcp.LossLeaves(v.congestion(l), w.loss(), rtt(l), l.TCP.SndMSS)
		if rate <= 0 {
			return 0, false
		}
		sum += rate
	}
	return sum, sum > 0
}

func (v *wayView) congestion(l record.Lane) string {
	if l.Granted != nil && l.Granted.Congestion != "" {
		return l.Granted.Congestion
	}
	if v.trial.Congest != "" {
		return v.trial.Congest
	}
	return strings.TrimSpace(v.fabric.Hosts[v.from].Sysctls["net.ipv4.tcp_congestion_control"].Value)
}

// dropEvidence is every counter of the hosts that drops.
func (v *wayView) dropEvidence() []record.Evidence {
	var out []record.Evidence
	for _, l := range onswitch.Losses(v.trial, v.from, v.to) {
		out = append(out, l.Evidence())
	}
	add := func(what string, n uint64, source string) {
		if n > 0 {
			out = append(out, record.Evidence{What: what, Value: fmt.Sprintf("+%d", n), Source: source})
		}
	}
	for _, l := range v.trial.Links {
		if l.Host != v.from && l.Host != v.to {
			continue
		}
		at := l.Link + " on " + l.Host
		add("packets dropped by the queue of "+at, l.QdiscDrops, "qdisc statistics")
		add("packets dropped by "+at, l.Drops, "IFLA_STATS64")
		add("packets missed by "+at+" for want of room in its ring", l.RxMissed, "rx_missed_errors")
	}
	return out
}

// dropper says where the losses happen, when the hosts' own counters account
// for half of them; "" where they do not. On arrival is where nothing but the receiver's
// processors or its card's ring can have dropped them.
func (v *wayView) dropper() (where string, onArrival bool) {
	half := uint64(v.waits.repeated / 2)
	if l, ok := v.switchLoss(); ok {
		return l.Words(), false
	}
	if use, ok := v.processorOf(v.to); ok && half > 0 && use.SoftnetDrops >= half {
		return fmt.Sprintf("%s drops %d packets that wait for a processor (net.core.netdev_max_backlog)", v.to, use.SoftnetDrops), true
	}
	for _, l := range v.trial.Links {
		if half == 0 {
			break
		}
		switch {
		case l.Host == v.from && l.QdiscDrops >= half:
			return fmt.Sprintf("the queue of %s on %s drops %d packets itself", l.Link, l.Host, l.QdiscDrops), false
		case l.Host == v.to && l.RxMissed >= half:
			return fmt.Sprintf("%s on %s misses %d packets for want of room in its ring", l.Link, l.Host, l.RxMissed), true
		case l.Host == v.to && l.Drops >= half:
			return fmt.Sprintf("%s on %s drops %d packets", l.Link, l.Host, l.Drops), false
		}
	}
	return "", false
}
