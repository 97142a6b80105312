package trial

import (
	"fmt"
	"math"
	"slices"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/diagnose/trial/carried"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// waits is what TCP says of the streams that are held back: shares and means
// weighted by what each carried, sums of counters.
type waits struct {
	lanes []record.Lane
	// present: the sender's TCP_INFO was read; known: it counts what it waits
	// for (Linux 4.10).
	present, known                                       bool
	busy, rwnd, sndbuf                                   float64
	starved, recovering, disordered, unheeded            float64
	rtt, minRTT, highest                                 float64 // milliseconds; zero unknown
	burst, home, crowd                                   float64 // milliseconds, of burstTime, homeTime and crowdTime
	unlike                                               float64 // milliseconds, of unlikeTrips
	cwnd, flight, cwndLimited                            float64 // means, packets; share of the samples
	samples                                              int
	backFull                                             bool    // acknowledgements share full links with the other way's packets
	links, load                                          float64 // that the streams leave by, and how full they are
	sent, again                                          float64 // bytes
	segments, repeated, vain, reordered, early, timeouts float64
	missing                                              float64 // segments that never arrived, at the least
	reordering, mss                                      int
	goodput                                              unit.BitRate
}

func (v *wayView) waitsOf(lanes []record.Lane) waits {
	w := waits{lanes: lanes}
	var all unit.BitRate
	for _, l := range lanes {
		w.goodput += l.Goodput
		if l.TCP.SndMSS > 0 {
			all += max(l.Goodput, 1)
		}
	}
	for _, l := range lanes {
		if l.TCP.SndMSS <= 0 {
			continue
		}
		w.present = true
		w.known = w.known || l.TCP.BusyRatio > 0 || l.TCP.RwndLimited > 0 || l.TCP.SndbufLimited > 0
		w.add(l, diagnose.Fraction(max(l.Goodput, 1), all), v.trial.Window)
	}
	for _, l := range v.egress {
		if l.share() > 0.02 {
			w.links++
		}
	}
	if len(lanes) < len(v.lanes) {
		w.links = 1
	}
	v.countedByHost(&w)
	w.unlike = w.unlikeTrips()
	w.load, w.crowd = v.share(), v.crowdTime()
	w.backFull = v.backFull()
	w.burst = v.burstTime(w)
	if w.home = v.homeTime(); w.home > 0 {
		w.burst /= 2 // what queued at home is counted; bursts meet in the switch too
	}
	if declared := v.declaredTrip(); w.minRTT == 0 && declared > 0 && w.rtt > 0 {
		w.minRTT = min(declared, w.rtt)
	}
	return w
}

// add counts a stream with its weight.
func (w *waits) add(l record.Lane, share, window float64) {
	c := l.TCP
	w.busy += share * ratio(c.BusyRatio)
	w.rwnd += share * ratio(c.RwndLimited)
	w.sndbuf += share * ratio(c.SndbufLimited)
	w.starved += share * ratio(c.Starved)
	w.recovering += share * ratio(c.Recovering)
	w.disordered += share * ratio(c.Disordered)
	w.unheeded += share * ratio(c.Unheeded)
	w.cwnd += share * sound(c.MeanCwnd)
	w.flight += share * sound(c.MeanInFlight)
	w.cwndLimited += share * ratio(c.CwndLimited)
	w.samples = max(w.samples, c.Samples)
	if c.Samples == 0 && c.AppLimited && c.NotSent < 2*unit.Bytes(c.SndMSS) {
		w.starved += share // the last sample is all there is
	}
	mean := sound(c.MeanRTTMS)
	if mean == 0 {
		mean = sound(c.RTTMS)
	}
	w.rtt += share * mean
	w.highest = max(w.highest, sound(c.HighestRTTMS), sound(c.RTTMS))
	if least := sound(c.MinRTTMS); least > 0 && (w.minRTT == 0 || least < w.minRTT) {
		w.minRTT = least
	}
	// Kernels before 4.19 count segments only.
	again := max(float64(c.BytesRetrans), float64(l.Retransmits)*float64(c.SndMSS))
	sent := sound(float64(l.Goodput)) / 8 * sound(window)
	w.sent += max(sent, float64(c.BytesSent))
	w.again += again
	w.segments += max(sent/float64(c.SndMSS), float64(c.SegmentsOut))
	w.repeated += max(float64(l.Retransmits), again/float64(c.SndMSS))
	w.vain += float64(c.DSACKDups)
	w.reordered += float64(c.ReordSeen)
	w.early += float64(c.RcvOutOfOrder)
	if c.SegmentsIn > 0 { // at either end of the window some are on the way
		w.missing += sound(float64(c.SegmentsOut) - float64(c.SegmentsIn) - 2*c.MeanInFlight)
	}
	w.timeouts += float64(c.Timeouts)
	w.reordering = max(w.reordering, c.Reordering)
	if w.mss == 0 || c.SndMSS < w.mss {
		w.mss = c.SndMSS
	}
}

// sound is a number that is one; zero when it is negative or none.
func sound(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 0) {
		return 0
	}
	return x
}

// ratio is a share that a record holds; zero when it is no number.
func ratio(share float64) float64 { return min(sound(share), 1) }

// declaredTrip is the path's round trip in milliseconds; zero unknown.
func (v *wayView) declaredTrip() float64 {
	for _, p := range v.fabric.Paths {
		if p.Leads(v.from, v.to) {
			return unit.Milliseconds(p.RTT)
		}
	}
	return 0
}

// A round trip counts as longer than the path's own when a queue adds more
// than hosts do: interrupts held back, acknowledgements held back for a
// millisecond (TCP's pacing and GRO), and a tenth for the path's own swing.
const (
	hostsAddMS   = carried.HostsAddMS
	pathSwing    = 0.10
	ownPackets   = 6.0 // a link: fewer wait for each other on any
	deepQueue    = 2.0 // of the allowance: a queue beyond doubt
	inVainShare  = 0.30
	lossShare    = 1e-3
	repeatedFew  = 20 // segments: what a start-up alone may repeat
	leastBusyNet = 0.70
)

// queue is how much longer the mean round trip was than the shortest, less what
// the sender's own links kept waiting and what some of the ways are longer than
// others, in milliseconds; zero unknown.
func (w waits) queue() float64 {
	if w.minRTT == 0 || w.oneByOne() {
		return 0
	}
	return max(w.rtt-w.minRTT-w.home-w.unlike, 0)
}

// oneByOne reports streams with one segment under way at a time, whose acknowledgement the
// receiver delays by 40 ms and more (TCP_DELACK_MIN): that is no queue.
func (w waits) oneByOne() bool {
	return w.samples >= fewSamples && w.flight > 0 && w.flight <= oneSegment
}

// oneSegment is what such streams have under way in the mean, in segments, at the most.
const oneSegment = 1.1

// queued is the queue in units of what needs no bottleneck: above 1 packets
// wait for something, in such numbers that the streams' own are among them.
func (w waits) queued() float64 {
	q := w.queue()
	own := q * float64(w.goodput) / 8000 / float64(max(w.mss, 1)) / w.fewPackets()
	if w.crowd > 0 {
		own = max(own, q/w.crowd)
	}
	return min(q/(hostsAddMS+pathSwing*w.minRTT+w.burst), own)
}

// fewPackets is how many may wait without a bottleneck: where packets are lost,
// each link that is used empties and fills by itself, the more the fuller it is.
func (w waits) fewPackets() float64 {
	if w.loss() < lossShare {
		return ownPackets
	}
	return ownPackets * max(w.links*min(2*w.load, 1), 1)
}

// homeTime is how long what waited in the queues of the sender's own links
// takes over them, in milliseconds: links that are not full still queue bursts.
// Zero where nothing waited, or nobody looked.
func (v *wayView) homeTime() (longest float64) {
	for _, l := range v.trial.Links {
		if l.Host == v.from {
			longest = max(longest, sound(float64(l.MeanBacklog)*8/float64(l.Ceiling)*1000))
		}
	}
	return longest
}

// burstTime is how long a window's worth of bytes takes over the slowest link,
// in milliseconds: streams that wait for window or buffer send in bursts, which
// queue before a link that is not full. Zero where they do not wait.
func (v *wayView) burstTime(w waits) (longest float64) {
	if max(w.rwnd, w.sndbuf) < limitedShare {
		return 0
	}
	size := 0.0
	for _, l := range w.lanes {
		if w.sndbuf > w.rwnd {
			_, most := v.sendFilled(l)
			size = max(size, float64(most))
		} else {
			size = max(size, float64(l.TCP.SndWnd))
		}
	}
	for _, side := range [][]linkLoad{v.egress, v.ingress} {
		for _, l := range side {
			longest = max(longest, sound(size*8/float64(l.ceiling)*1000))
		}
	}
	return longest
}

// crowdTime is how long all that the streams have in flight takes over the
// slowest link, in milliseconds; zero unknown.
func (v *wayView) crowdTime() float64 {
	var flight float64
	for _, l := range v.lanes {
		flight += sound(l.TCP.MeanInFlight) * float64(l.TCP.SndMSS)
	}
	slowest := 0.0
	for _, l := range slices.Concat(v.egress, v.ingress) {
		if rate := sound(float64(l.ceiling)); rate > 0 && (slowest == 0 || rate < slowest) {
			slowest = rate
		}
	}
	return sound(flight * 8 / slowest * 1000)
}

// loss is the share of the bytes sent that had to be sent again.
func (w waits) loss() float64 {
	if w.sent <= 0 {
		return 0
	}
	return min(sound(w.again/w.sent), 1)
}

// twiceOver is how many more segments than were repeated the receiver must have
// had already for the path to have doubled them; what was repeated before the
// window is acknowledged in it.
const twiceOver = 1.3

// inVain is the share of the repetitions that the receiver had already; zero
// where more came twice than was sent twice.
func (w waits) inVain() float64 {
	if w.repeated <= 0 || w.vain > w.repeated*twiceOver+repeatedFew {
		return 0
	}
	return min(sound(w.vain/w.repeated), 1)
}

// network is the share of the time in which neither window nor buffer nor
// program held the streams: congestion control, pacing or the links did.
func (w waits) network() float64 { return max(w.busy-w.rwnd-w.sndbuf, 0) }

// Below this part of its congestion window, most of the time, a stream that
// has data to send and room in the window is held back on its own host.
const (
	farBelowWindow = 0.6
	rarelyFull     = 0.2
	fewSamples     = 5
)

// heldAtHome: congestion control would let more go out, the receiver too, and
// there is more: the own host's pacing or queue holds it.
func (w waits) heldAtHome() bool {
	return w.samples >= fewSamples && w.cwnd > 0 && w.flight < farBelowWindow*w.cwnd && w.cwndLimited < rarelyFull &&
		w.network() >= leastBusyNet && w.starved < limitedShare
}

// windowsAlone: the streams wait for the receiver's window all the time, and congestion
// control would let twice as much go out: nothing on the way has made it smaller.
func (w waits) windowsAlone() bool {
	return w.samples >= fewSamples && w.rwnd >= allTheTime && w.cwnd > 0 && w.flight < w.cwnd/2 && w.cwndLimited < rarelyFull
}

// allTheTime is the share of the time from which a wait left no room for another.
const allTheTime = 0.95

// idle is the share of the time in which there was nothing to send.
func (w waits) idle() float64 {
	if !w.known {
		return 0
	}
	return max(1-w.busy, 0)
}

// tcpEvidence is what TCP says, for every finding about streams.
func (v *wayView) tcpEvidence() []record.Evidence {
	w := v.waits
	if !w.present {
		return nil
	}
	var out []record.Evidence
	if w.known {
		out = append(out, record.Evidence{
			What:   "what TCP on " + v.from + " waited for",
			Value:  fmt.Sprintf("the receive window %s of the time, the send buffer %s, data to send %s", diagnose.Percent(w.rwnd), diagnose.Percent(w.sndbuf), diagnose.Percent(w.idle())),
			Source: fromTCP,
		})
	}
	if e, ok := w.tripEvidence(); ok {
		out = append(out, e)
	}
	if w.repeated > 0 {
		out = append(out, w.lossEvidence())
	}
	if marks := record.ECNMarks(v.lanes); marks > 0 {
		out = append(out, record.Evidence{What: "packets that a queue on the way marked instead of dropping them (ECN)", Value: fmt.Sprintf("+%d", marks), Source: fromTCP})
	}
	return out
}

func (w waits) tripEvidence() (record.Evidence, bool) {
	switch {
	case w.rtt <= 0:
		return record.Evidence{}, false
	case w.minRTT <= 0:
		return record.Evidence{What: "round trip under load", Value: fmt.Sprintf("%.2f ms", w.rtt), Source: fromTCP}, true
	}
	return record.Evidence{What: "round trip under load", Value: fmt.Sprintf("%.2f ms, at the least %.2f", w.rtt, w.minRTT), Source: fromTCP}, true
}

func (w waits) lossEvidence() record.Evidence {
	return record.Evidence{What: "bytes sent again", Value: fmt.Sprintf("%v (%s)", unit.Bytes(w.again), diagnose.FewPercent(w.loss())), Source: fromTCP}
}

// flows counts streams in words: "One stream", "Both streams", "All 8 streams".
func flows(n int) string {
	switch n {
	case 1:
		return "One stream"
	case 2:
		return "Both streams"
	}
	return fmt.Sprintf("All %d streams", n)
}

// theStreams is the same within a sentence.
func theStreams(n int) string {
	if n == 1 {
		return "the stream"
	}
	return fmt.Sprintf("the %d streams", n)
}

// unlikeTrips is how much longer than the shortest the streams' own ways are in
// the mean, in milliseconds. A stream that only began when a queue stood has no
// short round trip either, but shares the long one of the others: its way counts
// as longer by no more than its mean is.
func (w waits) unlikeTrips() float64 {
	shortest, quickest, all := 0.0, 0.0, 0.0
	for _, l := range w.lanes {
		least, mean := sound(l.TCP.MinRTTMS), sound(l.TCP.MeanRTTMS)
		if least == 0 || mean == 0 {
			return 0
		}
		if shortest == 0 || least < shortest {
			shortest = least
		}
		if quickest == 0 || mean < quickest {
			quickest = mean
		}
		all += float64(max(l.Goodput, 1))
	}
	longer := 0.0
	for _, l := range w.lanes {
		own := max(min(l.TCP.MinRTTMS-shortest, l.TCP.MeanRTTMS-quickest), 0)
		longer += own * float64(max(l.Goodput, 1)) / all
	}
	return sound(longer)
}
