package predict

import (
	"fmt"
	"math"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// flightSize is how many bytes a socket lets be in flight, and what it may be at
// least and at most where an input is uncertain. Zero bytes: nobody can say.
type flightSize struct {
	bytes, low, high unit.Bytes
	// open says in plain words what makes it uncertain, why where it comes from.
	open, why string
}

// scaled is a part of the bytes.
func (s flightSize) scaled(share float64) flightSize {
	part := func(b unit.Bytes) unit.Bytes { return unit.Bytes(share * float64(b)) }
	s.bytes, s.low, s.high = part(s.bytes), part(s.low), part(s.high)
	return s
}

// most bounds the size from above.
func (s flightSize) most(top unit.Bytes) flightSize {
	s.bytes, s.low, s.high = min(s.bytes, top), min(s.low, top), min(s.high, top)
	return s
}

// Window returns how many bytes the host lets one peer have in flight towards
// one of its TCP sockets, and why in plain words. SocketBuffer is what the
// socket asks for with SO_RCVBUF; zero is autotuning. Zero bytes means
// unknown: a system that is not modelled, or neither sysctl nor kernel release
// known.
//
// Half of the buffer is usable: tcp_win_from_space takes off buffer /
// 2^tcp_adv_win_scale (1 by default) up to 6.5, and from 6.6 multiplies by
// scaling_ratio, which is near one half for full segments from a network card.
func Window(h netstate.Host, socketBuffer unit.Bytes) (unit.Bytes, string) {
	s := receiveWindow(h, socketBuffer, true)
	return s.bytes, s.why
}

// receiveWindow is Window with its range; carded says that a network card, and
// not a link that the kernel emulates, brings the packets.
func receiveWindow(h netstate.Host, asked unit.Bytes, carded bool) flightSize {
	switch {
	case isFreeBSD(h):
		return freebsdBuffer(h, asked, "recv")
	case notLinux(h):
		return flightSize{why: fmt.Sprintf("the receive window of %s is not modelled", h.Kernel.OS)}
	}
	buffer := receiveBuffer(h, asked)
	if buffer.bytes == 0 {
		return buffer
	}
	s := usableOf(h, buffer, asked > 0, carded)
	s.why = fmt.Sprintf("%s, of which %s is usable window (%s)", buffer.why, s.bytes, s.why)
	if top := scaledMaximum(h, buffer.bytes, asked > 0); s.bytes > top {
		s.why += fmt.Sprintf(", but the window field holds no more than %s", top)
		return s.most(top)
	} else if s.high > top {
		return s.most(top)
	}
	return s
}

// sendShare is the part of a full send buffer that is in flight: sk_buff
// overhead and the wait until the writer refills take the rest (measured
// on 6.1, RTT 9 ms, wmem 512 KiB to 2 MiB: 0.95 to 0.98).
const sendShare = 0.96

// SendWindow returns how many bytes one TCP socket of the host keeps in
// flight at most because of its send buffer, and why. SocketBuffer is what
// the socket asks for with SO_SNDBUF; zero is autotuning up to tcp_wmem's
// maximum (tcp_sndbuf_expand; where it starts, tcp_wmem's middle number, does
// not matter in steady state). Zero bytes means unknown. It holds for senders
// that write 64 KiB or more at once; small writes fill the buffer with
// overhead.
func SendWindow(h netstate.Host, socketBuffer unit.Bytes) (unit.Bytes, string) {
	s := sendWindowOf(h, socketBuffer)
	return s.bytes, s.why
}

func sendWindowOf(h netstate.Host, asked unit.Bytes) flightSize {
	switch {
	case isFreeBSD(h):
		return freebsdBuffer(h, asked, "send")
	case notLinux(h):
		return flightSize{why: fmt.Sprintf("the send buffer of %s is not modelled", h.Kernel.OS)}
	}
	buffer := sendBuffer(h, asked)
	if buffer.bytes == 0 {
		return buffer
	}
	s := buffer.scaled(sendShare)
	s.why = fmt.Sprintf("%s, of which about %s is in flight (%.2f)", buffer.why, s.bytes, sendShare)
	if buffer.bytes >= pieceMatters {
		return s
	}
	s.low, s.high = unit.Bytes(pieceLeast*float64(buffer.bytes)), pieces(buffer.bytes)*9/8
	s.bytes = inPieces(buffer.bytes)
	s.open = joined(s.open, "a small send buffer is filled in pieces of 64 KiB")
	s.why = fmt.Sprintf("%s, which is filled in pieces of 64 KiB: about %s in flight", buffer.why, s.bytes)
	return s
}

// What a send buffer takes in beyond its size: one more piece of up to 64 KB is
// admitted while less than the buffer is queued (sk_stream_memory_free,
// tcp_sendmsg_locked). Linux 6.1 over netem, one stream at MTU 1500: buffers of
// 68, 136 and 200 KiB at 32 to 34 ms kept 143, 157 and 220 KiB in flight (the
// middle here is 10, 2 and 4 % less), those from 512 KiB on their 0.96; at MTU
// 9000 one of 132 KiB kept 104 on a path that loses 1 in 4,300.
const (
	sendPiece    = 64 * unit.KiB
	pieceMatters = 8 * sendPiece
	pieceMean    = 28 * unit.KiB // fitted to the three
	pieceLeast   = 0.75          // of the buffer: the writer is woken at two thirds (sk_stream_is_writeable)
)

// inPieces is what a small send buffer keeps in flight on average: never less
// than the two pieces, or the one, that it takes in whatever its size.
func inPieces(buffer unit.Bytes) unit.Bytes {
	more := float64(pieceMean) * (1 - float64(buffer)/float64(pieceMatters))
	mean := min(unit.Bytes(sendShare*float64(buffer)+more), pieces(buffer))
	return max(mean, min(pieces(buffer), 2*sendPiece))
}

// pieces is the most that a send buffer takes in.
func pieces(buffer unit.Bytes) unit.Bytes { return (buffer/sendPiece + 1) * sendPiece }

func notLinux(h netstate.Host) bool { return h.Kernel.OS != "" && h.Kernel.OS != "linux" }

// windowLimits are what the receive window and the send buffer let one TCP
// stream carry in a round trip.
func (w *way) windowLimits() []streamLimit {
	t := w.traffic
	if !protocols[t.protocol()].tcp {
		return nil
	}
	window := receiveWindow(w.receiver, t.SocketBuffer, w.in.carded())
	if noScaling(w.sender) && window.bytes > maxUnscaled {
		window = window.most(maxUnscaled)
		window.why += fmt.Sprintf(", but %s has tcp_window_scaling 0: the window field holds no more than %s", w.sender.Name, maxUnscaled)
	}
	return []streamLimit{
		w.windowLimit(record.ReceiveWindow, w.receiver.Name, "receive window", window),
		w.windowLimit(record.SendBuffer, w.sender.Name, "send buffer", sendWindowOf(w.sender, t.SocketBuffer)),
	}
}

func (w *way) windowLimit(cause record.Cause, where, word string, s flightSize) streamLimit {
	trip := w.trip()
	switch {
	case s.bytes == 0:
		return streamLimit{cause: cause, where: where, why: word + ": " + s.why}
	case trip.rtt == 0:
		return streamLimit{cause: cause, where: w.between(),
			why: fmt.Sprintf("%s: %s; the round trip is unknown, so the rate it allows is too (measure latency)", word, s.why)}
	}
	text := fmt.Sprintf("%.3f ms", unit.Milliseconds(trip.rtt))
	if w.traffic.LoadedRTT == 0 {
		text += fmt.Sprintf(" (the path's %.3f and the hosts' own delay)", unit.Milliseconds(w.path.RTT))
	}
	each := windowEstimate(s, trip)
	if lost := rampOf(s.bytes, w.segment(w.legs[0]).payload(), trip.rtt); w.traffic.Window > 0 && lost > 0 {
		each = each.ramped(lost, w.traffic.Window)
	}
	return streamLimit{cause: cause, where: where, each: each,
		why: fmt.Sprintf("%s; %s / %s = %s", s.why, s.bytes, text, each.rate)}
}

// windowEstimate is a window over a round trip with the range of both.
func windowEstimate(s flightSize, t trip) estimate {
	e := estimate{rate: windowRate(s.bytes, t.rtt), open: s.open}
	few, many, long, short := s.bytes, s.bytes, t.rtt, t.rtt
	if s.low > 0 {
		few = min(few, s.low)
	}
	many = max(many, s.high)
	if t.longest > 0 {
		long, short = max(long, t.longest), min(short, t.shortest)
		if e.open != "" {
			e.open += "; "
		}
		e.open += "how long the cards delay interrupts under load is unknown"
	}
	if e.open != "" {
		e.low, e.high = windowRate(few, long), windowRate(many, short)
	}
	return e
}

// initialWindow is how many segments a sender starts with (RFC 6928,
// TCP_INIT_CWND of include/net/tcp.h).
const initialWindow = 10

// rampOf is how much of a test that counts its first byte is lost until a
// window is full: it doubles every round trip from ten segments, and carries
// one window's worth of bytes in the time.
func rampOf(window unit.Bytes, mss int, rtt time.Duration) time.Duration {
	if mss <= 0 || window <= 0 {
		return 0
	}
	doublings := math.Log2(float64(window) / float64(initialWindow*mss))
	return time.Duration(max(0, doublings-1) * float64(rtt))
}

// ramped is a rate of which a test of that length may lose the time at its
// beginning: whether it does hangs on the tool (iperf3 counts from the start
// unless told to omit seconds).
func (e estimate) ramped(lost, window time.Duration) estimate {
	kept := window.Seconds() / (window + lost).Seconds()
	if kept > 1-differs {
		return e
	}
	if e.low == 0 {
		e.low = e.rate
	}
	e.low *= unit.BitRate(kept)
	if e.open != "" {
		e.open += "; "
	}
	e.open += fmt.Sprintf("a test of %s that counts its first round trips reads less", window)
	return e
}

// windowRate is a window's rate over a round trip; zero when either is unknown.
func windowRate(window unit.Bytes, rtt time.Duration) unit.BitRate {
	if window <= 0 || rtt <= 0 {
		return 0
	}
	return unit.FromBytes(float64(window), rtt.Seconds())
}
