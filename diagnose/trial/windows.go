package trial

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/diagnose/remedy"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/predict/tcp"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// nearWindow is how near a rate comes to window over round trip where the
// window holds it: below, the window is seldom full. Where loss swings the
// window too, the tighter of the two limits is the window from there on (the
// power mean of predict's response: 2^(-1/3.2)).
const nearWindow = 0.80

// confidence grows from the threshold to certainty.
func confidence(share float64) float64 {
	return min(0.6+0.4*(share-limitedShare)/(1-limitedShare), 0.95)
}

// receiveWindow: TCP itself says that it waited for the receiver's window,
// and the receiver had read what it was sent.
func (v *wayView) receiveWindow() (hypothesis, bool) {
	w := v.waits
	share, told := w.rwnd, w.rwnd >= limitedShare && (w.rwnd >= w.sndbuf || v.windowTighter())
	allowed := w.windowsAllow()
	if !told {
		// A kernel that does not count, or a window just at what is in flight.
		near := float64(w.goodput) / max(float64(allowed), 1)
		if allowed <= 0 || near < 0.9 || near > 1.1 || w.sndbuf >= limitedShare || w.idle() >= limitedShare || w.known && w.rwnd < 0.1 {
			return hypothesis{}, false
		}
		share = 0.4
	}
	h := hypothesis{
		cause: record.ReceiveWindow, sure: confidence(share), mended: "With a window that does not bind",
		summary:  fmt.Sprintf("%s from %s waited for %s's receive window %s of the time%s.", flows(len(w.lanes)), v.from, v.to, diagnose.Percent(w.rwnd), v.windowText()),
		evidence: append(v.tcpEvidence(), v.loads()...),
		remedy:   record.Remedy{remedy.ReceiveBuffers(v.fabric.Hosts[v.from], v.fabric.Hosts[v.to], v.toGain())}.Or(v.traffic().More(2 * len(v.lanes))...),
	}
	if !told {
		h.summary = fmt.Sprintf("%s from %s carried what %s's receive window allows in a round trip%s.", flows(len(w.lanes)), v.from, v.to, v.windowText())
	}
	h.evidence = append(h.evidence, v.windowEvidence()...)
	if l := askedBuffer(w.lanes, func(s record.Socket) unit.Bytes { return s.RcvBuf }); l > 0 {
		h.summary += fmt.Sprintf(" The program asked for that buffer itself (SO_RCVBUF %v), which turns the kernel's tuning off.", l)
		h.remedy = v.traffic().OwnBuffer(v.to, "SO_RCVBUF", "net.core.rmem_max")
	}
	if v.unscaled() {
		h.summary += fmt.Sprintf(" %s has the buffer for more: the windows are not scaled (RFC 7323), so that none can be larger than 64 KiB.", v.to)
		if !remedy.Scaled(v.fabric.Hosts[v.from], v.fabric.Hosts[v.to]) {
			h.remedy = record.Remedy{remedy.ReceiveBuffers(v.fabric.Hosts[v.from], v.fabric.Hosts[v.to], v.toGain())}.Or(v.traffic().More(2 * len(v.lanes))...)
		} else {
			h.remedy = record.ByHand(fmt.Sprintf("find out why, net.ipv4.tcp_window_scaling is on at both hosts: `window` in `ip route show` on %s, a firewall in between that strips the option (`tcpdump -nv 'tcp[13] & 2 != 0'` on both hosts shows wscale in the SYN of one and not of the other); until then use more streams: a larger tcp_rmem changes nothing", v.to))
		}
	}
	if off := remedy.Unclamped(v.fabric.Hosts[v.to], w.lanes); len(off) > 0 {
		h.remedy = record.Remedy{off}.Or(v.traffic().More(2 * len(v.lanes))...)
	}
	v.doubtQueue(&h)
	v.doubtLoss(&h, allowed)
	if w.unheeded >= unreadMost {
		h.sure *= 0.25
		h.against = append(h.against, v.unreadEvidence())
	} else if times, ok := v.shut(); ok {
		h.sure *= 0.4
		h.against = append(h.against, v.shutEvidence(times))
	}
	return h, true
}

// sendBuffer: the program could not hand TCP more before what was in flight
// was acknowledged.
func (v *wayView) sendBuffer() (hypothesis, bool) {
	w := v.waits
	share, told := w.sndbuf, w.sndbuf >= limitedShare && w.sndbuf > w.rwnd
	allowed := w.windowRate(func(l record.Lane) unit.Bytes { _, most := v.sendFilled(l); return min(l.SndBuf, most) })
	if !told {
		// The buffer is all in flight: where it does not bind it is at least
		// twice what is (tcp_sndbuf_expand). The kernel counts no wait where one
		// piece of what is written fills it: all is sent before the writer waits
		// (tcp_cwnd_validate).
		near := float64(w.goodput) / max(float64(allowed), 1)
		most := w.windowRate(func(l record.Lane) unit.Bytes { _, most := v.sendFilled(l); return most })
		least := 0.72
		if w.heldAtHome() {
			least = 0.45 // segments count with their overhead, at most about twice
		}
		if allowed <= 0 || near < least || near > 1.6 && w.goodput > most || w.rwnd >= limitedShare || w.idle() >= limitedShare && w.starved < limitedShare && w.sndbuf < 0.1 {
			return hypothesis{}, false
		}
		share = 0.45
	}
	h := hypothesis{
		cause: record.SendBuffer, sure: confidence(share), mended: "With a buffer that does not bind",
		summary:  fmt.Sprintf("%s from %s waited for their own send buffer %s of the time%s.", flows(len(w.lanes)), v.from, diagnose.Percent(w.sndbuf), v.bufferText()),
		evidence: append(v.tcpEvidence(), v.loads()...),
		remedy:   record.Remedy{remedy.SendBuffers(v.fabric.Hosts[v.from], v.toGain())}.Or(v.traffic().More(2 * len(v.lanes))...),
	}
	if len(w.lanes) == 1 {
		h.summary = fmt.Sprintf("The stream from %s waited for its own send buffer %s of the time%s.", v.from, diagnose.Percent(w.sndbuf), v.bufferText())
	}
	if !told {
		h.summary = fmt.Sprintf("What %s has in flight to %s is its whole send buffer%s.", v.from, v.to, v.bufferText())
	}
	if l := askedBuffer(w.lanes, func(s record.Socket) unit.Bytes { return s.SndBuf }); l > 0 {
		h.summary += fmt.Sprintf(" The program asked for that buffer itself (SO_SNDBUF %v), which turns the kernel's tuning off.", l)
		h.remedy = v.traffic().OwnBuffer(v.from, "SO_SNDBUF", "net.core.wmem_max")
	}
	v.doubtQueue(&h)
	v.doubtLoss(&h, allowed)
	if told && v.windowTighter() {
		h.sure *= 0.6
		h.against = append(h.against, record.Evidence{What: "waiting for the receive window", Value: diagnose.Percent(w.rwnd) + ", and it allows less", Source: fromTCP})
	}
	return h, true
}

// windowTighter reports streams that wait for the receive window as well as for their
// send buffer, of which the window allows less: a larger buffer would wait for it.
func (v *wayView) windowTighter() bool {
	w := v.waits
	window := w.windowsAllow()
	buffer := w.windowRate(func(l record.Lane) unit.Bytes { mean, _ := v.sendFilled(l); return mean })
	return min(w.rwnd, w.sndbuf) >= limitedShare && window > 0 && window < buffer
}

// doubtQueue: a window that is full because a queue holds its bytes binds
// nothing: a larger one would only wait longer.
func (v *wayView) doubtQueue(h *hypothesis) {
	w := v.waits
	disorder := v.disorder() > 0.5
	if disorder && w.windowsAlone() {
		return
	}
	late := disorder && v.waitsForLate()
	if w.backFull || !late && (disorder || w.queued() <= 1) {
		return
	}
	h.sure *= 0.6
	swing, _ := v.swing() // a queue that stands lets the rate swing little
	if late || w.queued() > deepQueue && swing <= veryRough {
		h.sure *= 0.5
	}
	h.against = append(h.against, record.Evidence{
		What:   "round trip on top of the path's own",
		Value:  fmt.Sprintf("%.1f ms: the window is full of what waits in a queue", w.queue()),
		Source: fromTCP,
	})
}

// waitsForLate reports that the windows allow far more over the path's own
// round trip: what makes it longer, packets that come late, takes most.
func (v *wayView) waitsForLate() bool {
	var allowed unit.BitRate
	for _, l := range v.waits.lanes {
		allowed += v.ownLimit(l)
	}
	return allowed > v.waits.goodput*2
}

// doubtLoss: where losses keep the rate well below what the window allows,
// they are the tighter limit.
func (v *wayView) doubtLoss(h *hypothesis, allowed unit.BitRate) {
	w := v.waits
	near := diagnose.Fraction(w.goodput, allowed)
	if near <= 0 || near >= nearWindow || v.tighterThanLoss(allowed) || w.loss() < lossShare/10 || w.repeated < repeatedFew && w.recovering < limitedShare {
		return
	}
	h.sure *= 0.7
	if near < 0.5 { // a stream whose timer waits counts as one that waits for the window
		h.sure *= 0.5
	}
	h.against = append(h.against, record.Evidence{
		What:   "what the window allows",
		Value:  fmt.Sprintf("%v, of which losses left %s", allowed, diagnose.Percent(near)),
		Source: fromTCP,
	})
}

// tighterThanLoss reports windows or buffers that would allow less without the losses than
// those leave without them: raising them brings more.
func (v *wayView) tighterThanLoss(allowed unit.BitRate) bool {
	left, ok := v.lossLeaves()
	return ok && allowed > 0 && left > allowed*leastBrought
}

// windowsAllow is what the receivers' windows let the streams carry; zero where one is not
// known.
func (w waits) windowsAllow() unit.BitRate {
	return w.windowRate(func(l record.Lane) unit.Bytes { return l.TCP.SndWnd })
}

// windowRate is what the streams carry where each has that many bytes in
// flight; zero where one is not known.
func (w waits) windowRate(size func(record.Lane) unit.Bytes) (sum unit.BitRate) {
	for _, l := range w.lanes {
		rtt := sound(l.TCP.MeanRTTMS)
		if rtt == 0 {
			rtt = sound(l.TCP.RTTMS)
		}
		rate := rateOver(size(l), rtt)
		if rate <= 0 {
			return 0
		}
		sum += rate
	}
	return sum
}

func rateOver(bytes unit.Bytes, ms float64) unit.BitRate {
	if bytes <= 0 || ms <= 0 {
		return 0
	}
	return unit.FromBytes(float64(bytes), ms/1000)
}

// sendFilled is what a stream's send buffer keeps in flight when it is full, on average and
// at most.
func (v *wayView) sendFilled(l record.Lane) (mean, most unit.Bytes) {
	link, _ := v.fabric.Hosts[v.from].Link(l.EgressLink)
	return tcp.SendFilled(l.SndBuf, tcp.Piece(l.TCP.SndMSS, link))
}

// windowText is what the window allows the stream that waited most; "" where
// the kernel does not tell the window (before 5.4).
func (v *wayView) windowText() string {
	w := v.waits
	most := w.lanes[0]
	for _, l := range w.lanes {
		if l.TCP.RwndLimited > most.TCP.RwndLimited {
			most = l
		}
	}
	rate := rateOver(most.TCP.SndWnd, sound(most.TCP.RTTMS))
	if rate <= 0 {
		return ""
	}
	return fmt.Sprintf(": a window of %v over %.1f ms allows %v a stream", most.TCP.SndWnd, most.TCP.RTTMS, rate)
}

// unscaled reports windows that stop at 64 KiB although the receiver's buffers are a
// good deal larger: as far as the field of the header goes.
func (v *wayView) unscaled() bool {
	const field, larger = 64 << 10, 4
	for _, l := range v.waits.lanes {
		if l.TCP.SndWnd <= 0 || l.TCP.SndWnd > field || l.RcvBuf < larger*field || l.Asked != nil && l.Asked.RcvBuf > 0 {
			return false
		}
	}
	return len(v.waits.lanes) > 0
}

func (v *wayView) bufferText() string {
	most := v.waits.lanes[0]
	if most.SndBuf <= 0 || sound(most.TCP.RTTMS) == 0 {
		return ""
	}
	mean, _ := v.sendFilled(most)
	if mean > most.SndBuf {
		return fmt.Sprintf(": %v, which takes in pieces of 64 KiB, allow about %v a stream or more over %.1f ms", most.SndBuf, rateOver(mean, most.TCP.RTTMS), most.TCP.RTTMS)
	}
	if mean < most.SndBuf*9/10 {
		return fmt.Sprintf(": %v, which its link takes in single segments, each with overhead, allow about %v a stream over %.1f ms", most.SndBuf, rateOver(mean, most.TCP.RTTMS), most.TCP.RTTMS)
	}
	return fmt.Sprintf(": %v over %.1f ms allow about %v a stream", most.SndBuf, most.TCP.RTTMS, rateOver(most.SndBuf, most.TCP.RTTMS))
}

// windowEvidence is the buffers of the receiver, as far as they were read.
func (v *wayView) windowEvidence() []record.Evidence {
	var out []record.Evidence
	l := v.waits.lanes[0]
	if l.RcvBuf > 0 {
		out = append(out, record.Evidence{What: "receive buffer of " + v.to, Value: l.RcvBuf.String(), Source: "SO_RCVBUF"})
	}
	if s, ok := v.fabric.Hosts[v.to].Sysctls["net.ipv4.tcp_rmem"]; ok {
		out = append(out, record.Evidence{What: "net.ipv4.tcp_rmem of " + v.to, Value: s.Value, Source: "/proc/sys/net/ipv4/tcp_rmem"})
	}
	return out
}

// toGain is how many times more the links carry than the streams did; zero unknown.
func (v *wayView) toGain() float64 { return max(diagnose.Fraction(v.ceiling(), v.goodput), 0) }

// askedBuffer is the buffer that the program asked for; zero none.
func askedBuffer(lanes []record.Lane, size func(record.Socket) unit.Bytes) unit.Bytes {
	for _, l := range lanes {
		if l.Asked != nil && size(*l.Asked) > 0 {
			return size(*l.Asked)
		}
	}
	return 0
}

// backFull reports a trial of both ways at once whose other way fills a link:
// the round trip then holds a queue that this way's packets never see.
func (v *wayView) backFull() bool {
	return v.trial.Direction == flow.Both && slices.ContainsFunc(v.trial.Links, func(u record.LinkUse) bool {
		return u.Host == v.to && diagnose.Fraction(u.TxPayload, u.Ceiling) >= slackLink ||
			u.Host == v.from && diagnose.Fraction(u.RxPayload, u.Ceiling) >= slackLink
	})
}

const (
	// shutBefore is how much more than the streams carry their windows must
	// allow while they are open, for them to have been shut most of the time.
	shutBefore = 3
	// shutOften is how often in a second; a start-up shuts one or two.
	shutOften = 2
	fromExt   = "TcpExt of /proc/net/netstat"
)

// shut reports windows that are large while they are open, and that the
// receiver shut again and again: nobody reads what has arrived. A host that is
// out of memory for TCP shuts them too.
func (v *wayView) shut() (times uint64, ok bool) {
	w := v.waits
	use, read := v.processorOf(v.to)
	if !read || w.rwnd < limitedShare || use.TCPExt["PruneCalled"] > 0 || use.TCPExt["TCPMemoryPressures"] > 0 {
		return 0, false
	}
	allowed := w.windowsAllow()
	times = use.TCPExt["TCPToZeroWindowAdv"]
	return times, float64(times) >= shutOften*max(v.trial.Window, 1) && allowed > w.goodput*shutBefore
}

// windowsShut is the slow reader as his host's counters show him, where nobody
// looked at what waited unread.
func (v *wayView) windowsShut() (hypothesis, bool) {
	times, ok := v.shut()
	if !ok {
		return hypothesis{}, false
	}
	return hypothesis{
		cause: record.Application, sure: 0.75, mended: "With a program that reads at once",
		summary:  fmt.Sprintf("The program on %s reads too slowly: its window shut %d times, and while it is open it allows far more than arrives.", v.to, times),
		evidence: append(append([]record.Evidence{v.shutEvidence(times)}, v.tcpEvidence()...), v.loads()...),
		remedy:   record.ByHand(fmt.Sprintf("look at what the program on %s waits for before it reads again: its disk, a lock, a limit of its own; a larger window would only fill up too", v.to)),
	}, true
}

func (v *wayView) shutEvidence(times uint64) record.Evidence {
	return record.Evidence{What: "windows that " + v.to + " shut", Value: fmt.Sprintf("+%d (TCPToZeroWindowAdv)", times), Source: fromExt}
}
