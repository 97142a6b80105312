package predict

import (
	"fmt"
	"math"
	"time"

	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/predict/tcp"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// windowLimits are what the receive window and the send buffer let one TCP
// stream carry in a round trip.
func (w *way) windowLimits() []streamLimit {
	t := w.traffic
	if !framing.IsTCP(t.protocol()) {
		return nil
	}
	window := tcp.ReceiveFlight(w.receiver, t.SocketBuffer, w.in.carded())
	if tcp.NoScaling(w.sender) && window.Bytes > tcp.MaxUnscaled {
		window = window.Most(tcp.MaxUnscaled)
		window.Why += fmt.Sprintf(", but %s has tcp_window_scaling 0: the window field holds no more than %s", w.sender.Name, tcp.MaxUnscaled)
	}
	return []streamLimit{
		w.windowLimit(record.ReceiveWindow, w.receiver.Name, "receive window", window),
		w.windowLimit(record.SendBuffer, w.sender.Name, "send buffer", tcp.SendFlight(w.sender, t.SocketBuffer, tcp.Piece(w.segment(w.legs[0]).Payload(), w.sender.Links...))),
	}
}

func (w *way) windowLimit(cause record.Cause, where, word string, s tcp.Flight) streamLimit {
	trip := w.trip()
	switch {
	case s.Bytes == 0:
		return streamLimit{cause: cause, where: where, why: word + ": " + s.Why}
	case trip.RTT == 0:
		return streamLimit{cause: cause, where: w.between(),
			why: fmt.Sprintf("%s: %s; the round trip is unknown, so the rate it allows is too (measure latency)", word, s.Why)}
	}
	text := fmt.Sprintf("%.3f ms", unit.Milliseconds(trip.RTT))
	if w.traffic.LoadedRTT == 0 {
		text += fmt.Sprintf(" (the path's %.3f and the hosts' own delay)", unit.Milliseconds(w.path.RTT))
	}
	each := windowEstimate(s, trip)
	if lost := rampOf(s.Bytes, w.segment(w.legs[0]).Payload(), trip.RTT); w.traffic.Window > 0 && lost > 0 {
		each = each.ramped(lost, w.traffic.Window)
	}
	return streamLimit{cause: cause, where: where, each: each,
		why: fmt.Sprintf("%s; %s / %s = %s", s.Why, s.Bytes, text, each.rate)}
}

// windowEstimate is a window over a round trip with the range of both.
func windowEstimate(s tcp.Flight, t tcp.Trip) estimate {
	e := estimate{rate: windowRate(s.Bytes, t.RTT), open: s.Open}
	few, many, long, short := s.Bytes, s.Bytes, t.RTT, t.RTT
	if s.Low > 0 {
		few = min(few, s.Low)
	}
	many = max(many, s.High)
	if t.Longest > 0 {
		long, short = max(long, t.Longest), min(short, t.Shortest)
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
	if kept > 1-Differs {
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
