package predict

import (
	"fmt"
	"math"

	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/predict/tcp"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// What striping costs one TCP stream: its packets arrive out of order. Two
// costs, each a limit.
const (
	// singlyRate is how many packets a second one core takes in that nothing
	// joins, where it is not calibrated: pieces that arrive between each other
	// on several ports leave GRO little to join, and every gap is answered at
	// once. A round figure, not a fit: commonly told of one core of 2015 is 1 to
	// 2 million a second (recalled, no source read). The one published stream
	// over a striped bond with small frames, 11.3 Gb/s of 1448 bytes on Linux
	// 3.10, is 0.975 million, 2.5 % less, and was known when it was chosen.
	// The bounds are three fifths, for slow clocks, and 1.6 for a newer core.
	singlyRate                = 1.0e6
	singlyLow, singlyHigh     = 0.6, 1.6
	stripeUnit                = 64 * 1024 // bytes that a port gets in its turn (GSO_LEGACY_MAX_SIZE)
	stripeCost                = 0.001     // of the rate for each segment of a turn
	stripeLeast               = 0.72      // of all links, the lowest seen without cards
	stripeOlder               = 0.6       // exponent of the number of links
	reorderMajor, reorderPart = 4, 18     // Linux from which RACK finds losses by time
	// Between cards, frames of 1500 bytes (more than stripeMany in a turn): the
	// lowest of one stream, of four, and of one with BBR; see stripedByCards.
	stripeCards, stripeSeveral, stripeBBR = 0.63, 0.90, 0.85
	stripeMany, severalStreams            = 16, 4
	// Links that one stream fills, however many there are, and the fewest of more than
	// bonding.rst tells of.
	stripeMost, stripeFewest, stripeTold = 2.4, 1.98, 4
)

// A turn of balance-rr is what the stack hands down, up to 64 KB: as many
// segments as it holds are overtaken at a time, and the sender takes a gap of
// more than its tolerance (tcp_reordering, grown to tcp_max_reordering; by time
// since RACK, RFC 8985) for a loss. On Linux 6.1, 2 and 4 links of 50 to 400
// Mbit/s, RTT 0 to 40 ms, CUBIC, one stream reached 0.92, 0.92, 0.955, 0.967,
// 0.988 and 0.988 of all links with 45 segments in a turn (MTU 1500), 0.987 with
// 7 (MTU 9000), four streams 0.98; two links of 500 Mbit/s 0.747 to 0.996, by
// the turn's size. One thousandth for each segment of a turn fits these within
// 3.6 % but for that lowest one, and the published 20 and 30 Gb/s (MTU 9000,
// Linux 3.10, two and three ports) within 2 %. Older kernels may do worse: the
// bonding driver's documentation (bonding.rst, 12.1.1) expects no more than 2.3
// of 4 links, which is 4 to the power of 0.6.
func (w *way) stripedLimits() []sharedLimit {
	if !framing.IsTCP(w.traffic.protocol()) {
		return nil
	}
	var all []sharedLimit
	for i, a := range w.out.at {
		n := len(a.ports)
		if w.out.uses[i].spread != byPacket || n < 2 || a.unknown() != "" || len(w.out.legs[i]) == 0 {
			continue
		}
		each := math.Inf(1)
		for p := range a.ports {
			each = min(each, float64(w.portPayload(a, i, p, legOut))*w.arriving())
		}
		links := each * float64(n)
		share, least := w.stripedShare(w.legs[w.out.legs[i][0]], n)
		all = append(all, sharedLimit{
			cause: record.Reordering, group: "striped", where: a.host.Name + ": " + a.name(), payload: true, legs: w.out.legs[i],
			total: estimate{rate: unit.BitRate(links * share), low: unit.BitRate(links * least), high: unit.BitRate(links * (1 + 1e-9)),
				open: fmt.Sprintf("packets striped over %d links arrive out of order, and how much of that the sender takes for loss varies", n)},
			what: fmt.Sprintf("%d links x %s, of which packets that arrive out of order leave %.3f", n, unit.BitRate(each), share),
		})
	}
	return all
}

// stripedShare is the part of all links that out-of-order arrival leaves, and
// the least.
func (w *way) stripedShare(l leg, links int) (share, least float64) {
	payload := max(w.segment(l).Payload(), 1)
	share = 1 - stripeCost*math.Min(stripeUnit/float64(payload), 1/stripeCost/10)
	least = stripeLeast
	if newer, known := w.sender.Kernel.AtLeast(reorderMajor, reorderPart); !newer || !known || tcp.NotLinux(w.sender) {
		least = min(least, math.Pow(float64(links), stripeOlder)/float64(links))
	}
	name, _ := w.congestion()
	bbr := tcp.AnswerOf(name) == tcp.AsBBR
	if bbr {
		// It does not slow down for what it takes for loss, and only sends it
		// again.
		least = 2*share - 1
	}
	if w.in.carded() && stripeUnit/float64(payload) > stripeMany {
		return w.stripedByCards(share, least, links, bbr)
	}
	return share, least
}

// stripedByCards is stripedShare where cards hold back interrupts, each port for
// itself: what arrives in between is handed up port by port, and packets
// overtake each other by far more than a turn. One CUBIC stream of 1448 bytes
// read 1.19 and 1.19 of 1.88 Gb/s (Linux 6.8, two I210, RTT 0.25 and 0.3 ms),
// 1.32 and 1.88 of 1.88, 1.86 of 2.82, 2.23 and 3.12 of 3.77 (2020, kernel not
// told), and 2.25 of 2.82 and of 6.59 alike (4.19, three and seven direct cables):
// 0.34 to 1 of all links, and no reason known that tells them apart. Half way between
// all links and what bonding.rst expects is taken, and never more than 2.4 links, the
// middle of the readings with three and more (1.98 to 3.31); residuals -28 to +39 %.
// Four
// streams, which lose their order apart, read 0.92 to 0.96, and one BBR stream
// 0.86 and 0.95 (the first of the sources). The 11.3 Gb/s that singlyRate speaks
// of are 0.60 of their links: they may be of this kind as well. The readings and
// their addresses are in internal/lab/benchmarks/testdata/further.yaml.
func (w *way) stripedByCards(share, least float64, links int, bbr bool) (middle, lowest float64) {
	expected := math.Pow(float64(links), stripeOlder) / float64(links)
	switch {
	case bbr:
		return share, min(least, stripeBBR)
	case w.traffic.Streams >= severalStreams:
		return share, stripeSeveral
	case w.traffic.Streams > 1:
		return share, min(least, stripeCards, expected)
	}
	lowest = min(least, stripeCards, expected)
	if links > stripeTold {
		lowest = min(lowest, stripeFewest/float64(links))
	}
	return min(share, (1+expected)/2, stripeMost/float64(links)), lowest
}

// singlyLimits are what one core takes in of a striped stream.
func (w *way) singlyLimits() []streamLimit {
	if !framing.IsTCP(w.traffic.protocol()) {
		return nil
	}
	payload := 0
	for i, a := range w.out.at {
		for _, n := range w.out.legs[i] {
			if w.out.uses[i].spread == byPacket && len(a.ports) > 1 {
				payload = max(payload, w.segment(w.legs[n]).Payload())
			}
		}
	}
	if payload == 0 {
		return nil
	}
	s := streamLimit{cause: record.Reordering, where: w.receiver.Name}
	bits := unit.BitRate(8 * payload)
	packets := w.receiver.CPU.PacketRate
	how := "calibrated"
	if !(packets > 0) || math.IsInf(packets, 1) {
		packets, how = singlyRate, "assumed: inspect --calibrate tells"
		s.each.low, s.each.high = bits*singlyRate*singlyLow, bits*singlyRate*singlyHigh
		s.each.open = "how many packets a second a core of " + w.receiver.Name + " takes in singly, out of order"
	}
	s.each.rate = bits * unit.BitRate(packets)
	s.why = fmt.Sprintf("striped packets arrive out of order and are taken in singly: %.3g million a second on one core (%s) x %d bytes = %s",
		packets/1e6, how, payload, s.each.rate)
	return []streamLimit{s}
}

// overtakenLeast is the least share of a window that a striped stream fills: one
// that is cut by half whenever overtaking is taken for loss. Seen on Linux 6.1,
// one to four streams on three and four links, RTT 5 to 42 ms, windows of 100 to
// 300 KiB: 0.86, 0.75, 0.71.
const overtakenLeast = 0.5

// overtaken gives the windows of a striped stream their range: what is taken
// for loss cuts what the sender keeps in flight below the receiver's window
// too.
func (w *way) overtaken(all []streamLimit) []streamLimit {
	if !w.striped() {
		return all
	}
	for i := range all {
		e := &all[i].each
		if c := all[i].cause; c != record.ReceiveWindow && c != record.SendBuffer || e.rate == 0 {
			continue
		}
		low := e.at(lowest) * overtakenLeast
		if e.high == 0 {
			e.high = e.rate
		}
		e.low = low
		e.open = joined(e.open, "striped packets arrive out of order, and how much of that the sender takes for loss varies")
	}
	return all
}

// striped reports flows that the sender stripes over several ports.
func (w *way) striped() bool {
	for i, a := range w.out.at {
		if w.out.uses[i].spread == byPacket && len(a.ports) > 1 && len(w.out.legs[i]) > 0 {
			return true
		}
	}
	return false
}
