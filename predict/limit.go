package predict

import (
	"fmt"
	"math"
	"sort"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// bounds are what limits each transport flow by itself.
type bounds struct {
	// flowCap is the tightest of them, +Inf when none is known.
	flowCap float64
	// rtt is what windows are divided by; zero unknown.
	rtt           time.Duration
	receive, send windowBound
}

type windowBound struct {
	bytes unit.Bytes // zero unknown
	why   string
}

// streamBounds are the limits on one flow: windows, and what one core moves.
// An MPTCP connection's flows share its windows and core.
func (w *way) streamBounds() bounds {
	t := w.traffic
	b := bounds{flowCap: math.Inf(1), rtt: loadedRTT(w.path.RTT, t.LoadedRTT)}
	perStream := float64(w.flows()) / float64(t.Streams)
	lower := func(rate unit.BitRate) {
		if rate > 0 {
			b.flowCap = min(b.flowCap, float64(rate)/perStream)
		}
	}
	lower(w.sender.CPU.StreamRate)
	lower(w.receiver.CPU.StreamRate)
	if !protocols[t.protocol()].tcp {
		return b
	}
	b.receive.bytes, b.receive.why = Window(w.receiver, t.SocketBuffer)
	b.send.bytes, b.send.why = SendWindow(w.sender, t.SocketBuffer)
	lower(windowRate(b.receive.bytes, b.rtt))
	lower(windowRate(b.send.bytes, b.rtt))
	return b
}

// limits lists every limit of the plan, tightest first, those that nobody can
// put a number to last. Low is the rate if what is unknown turns out worst;
// zero when nothing is open.
func (w *way) limits(p plan, b bounds, low unit.BitRate) []Limit {
	all := []Limit{w.linkLimit(p, true, 0), w.linkLimit(p, false, low)}
	if protocols[w.traffic.protocol()].tcp {
		all = append(all,
			w.windowLimit(record.ReceiveWindow, w.receiver.Name, b.receive, b.rtt),
			w.windowLimit(record.SendBuffer, w.sender.Name, b.send, b.rtt))
	}
	all = append(all, w.shaperLimits()...)
	for _, transmit := range []bool{true, false} {
		if l, ok := w.cardLimit(p, transmit); ok {
			all = append(all, l)
		}
	}
	all = append(all, w.cpuLimits()...)
	orderLimits(all)
	return all
}

// hard are causes that more streams, other ports or another policy cannot
// mend, in the order they are named at a tie.
var hard = map[record.Cause]int{record.LineRate: 1, record.Shaper: 2, record.CardSlot: 3}

// placement are causes of links left unused.
var placement = map[record.Cause]bool{
	record.SingleLink: true, record.HashImbalance: true, record.LACPDown: true, record.AsymmetricRoute: true,
}

// nearTie is how close a hard limit must lie above an unused link's for the
// hard one to be what binds: mending the placement would gain no more than
// this.
const nearTie = 0.01

// orderLimits sorts tightest first. Unknown ones, rate zero, come last; a hard
// limit within one percent of the tightest placement limit goes before it.
func orderLimits(all []Limit) {
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i], all[j]
		if (a.Rate == 0) != (b.Rate == 0) {
			return b.Rate == 0
		}
		if math.Abs(float64(a.Rate-b.Rate)) > 1e-9*float64(b.Rate) {
			return a.Rate < b.Rate
		}
		return rank(a.Cause) < rank(b.Cause)
	})
	if len(all) == 0 || !placement[all[0].Cause] {
		return
	}
	for i := 1; i < len(all) && all[i].Rate > 0 && all[i].Rate <= all[0].Rate*(1+nearTie); i++ {
		if hard[all[i].Cause] != 0 {
			first := all[i]
			copy(all[1:i+1], all[:i])
			all[0] = first
			return
		}
	}
}

func rank(c record.Cause) int {
	if r, ok := hard[c]; ok {
		return r
	}
	if placement[c] {
		return len(hard) + 2
	}
	return len(hard) + 1
}

func (w *way) between() string { return w.sender.Name + " to " + w.receiver.Name }

func (w *way) windowLimit(cause record.Cause, where string, b windowBound, rtt time.Duration) Limit {
	word := "receive window"
	if cause == record.SendBuffer {
		word = "send buffer"
	}
	if b.bytes == 0 {
		return Limit{Cause: record.Unknown, Where: where, Why: word + ": " + b.why}
	}
	if rtt == 0 {
		return Limit{Cause: record.Unknown, Where: w.between(),
			Why: fmt.Sprintf("%s: %s; the round trip is unknown, so the rate it allows is too (measure latency)", word, b.why)}
	}
	n := w.traffic.Streams
	one := windowRate(b.bytes, rtt)
	trip := fmt.Sprintf("%.3f ms", unit.Milliseconds(rtt))
	if w.traffic.LoadedRTT == 0 {
		trip += fmt.Sprintf(" (the path's %.3f and the hosts' own delay)", unit.Milliseconds(w.path.RTT))
	}
	return Limit{Cause: cause, Where: where, Rate: one * unit.BitRate(n),
		Why: fmt.Sprintf("%s; %d %s x %s / %s = %s", b.why, n, plural(n, "stream"), b.bytes, trip, one*unit.BitRate(n))}
}

// shaperLimits are the rates that hold for all flows together.
func (w *way) shaperLimits() []Limit {
	var all []Limit
	share := w.shaperShare()
	s := w.segment(w.legs[0])
	add := func(rate unit.BitRate, where, what string) {
		if rate <= 0 {
			return
		}
		payload := rate * unit.BitRate(share)
		all = append(all, Limit{Cause: record.Shaper, Where: where, Rate: payload,
			Why: fmt.Sprintf("%s: %s x %d/%d (payload of a full frame, counted from the Ethernet header) = %s",
				what, rate, s.payload(), s.frame(netstate.FramingL2, 0), payload)})
	}
	add(w.path.Rate, w.between(), "the path's rate, shared by all flows of the pair")
	add(w.sender.Rate, w.sender.Name, "the host's rate in all")
	add(w.receiver.Rate, w.receiver.Name, "the host's rate in all")
	seen := map[string]bool{}
	for _, l := range w.legs {
		for _, sh := range l.shapers {
			if !seen[sh.link] && len(w.out.at) == 1 {
				add(sh.rate, w.sender.Name+": "+sh.link, "a root qdisc on "+sh.link)
			}
			seen[sh.link] = true
		}
	}
	return all
}

func (w *way) cpuLimits() []Limit {
	var all []Limit
	add := func(cause record.Cause, h netstate.Host) {
		if h.CPU.StreamRate <= 0 {
			return
		}
		n := w.traffic.Streams
		if h.CPU.Cores > 0 {
			n = min(n, h.CPU.Cores)
		}
		rate := h.CPU.StreamRate * unit.BitRate(n)
		all = append(all, Limit{Cause: cause, Where: h.Name, Rate: rate,
			Why: fmt.Sprintf("one core moves %s of one stream; %d at once = %s", h.CPU.StreamRate, n, rate)})
	}
	add(record.SenderCPU, w.sender)
	add(record.ReceiverCPU, w.receiver)
	return all
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
