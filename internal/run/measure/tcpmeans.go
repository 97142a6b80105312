package measure

import (
	"math"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// usableShare is the part of a receive buffer that TCP offers as window, about:
// the other half is for what the packets take beyond their payload
// (tcp_adv_win_scale 1; since Linux 6.6 scaling_ratio, which begins there).
const usableShare = 0.5

// unheededShare is the part of that window which must wait to be read before
// the reader counts as late.
const unheededShare = 0.5

// during are the samples of an end's window, both edges included.
func (e *end) during() []agentapi.Sample {
	return e.samples[e.opened:max(e.last()+1, e.opened)]
}

// present are what TCP said of a stream in the window's samples.
func (e *end) present(stream int) []agentapi.TCPCount {
	var out []agentapi.TCPCount
	for _, s := range e.during() {
		if c := tcpOf(s, stream); c.Present {
			out = append(out, c)
		}
	}
	return out
}

// mean is the mean of a value over the samples; zero of none.
func mean(all []agentapi.TCPCount, of func(agentapi.TCPCount) float64) float64 {
	sum := 0.0
	for _, c := range all {
		sum += of(c)
	}
	return sum / float64(max(len(all), 1))
}

// share is the part of the samples for which something holds.
func share(all []agentapi.TCPCount, holds func(agentapi.TCPCount) bool) float64 {
	n := mean(all, func(c agentapi.TCPCount) float64 {
		if holds(c) {
			return 1
		}
		return 0
	})
	return math.Round(n*1e4) / 1e4
}

// addSent adds what the sender's samples tell together.
func addSent(tcp *record.TCP, all []agentapi.TCPCount) {
	tcp.RcvWnd, tcp.RcvMSS, tcp.RcvRTTMS, tcp.RcvSpace = 0, 0, 0, 0 // the receiver's to say
	if len(all) == 0 {
		return
	}
	a, b := all[0], all[len(all)-1]
	tcp.Samples = len(all)
	tcp.BytesSent = netstate.Grown(a.BytesSent, b.BytesSent)
	tcp.DSACKDups = netstate.Grown32(a.Last.DSACKDups, b.Last.DSACKDups)
	tcp.ReordSeen = netstate.Grown32(a.Last.ReordSeen, b.Last.ReordSeen)
	tcp.Timeouts = netstate.Grown32(a.Last.Timeouts, b.Last.Timeouts)
	tcp.ECNMarks = netstate.Grown32(a.Last.ECNMarks, b.Last.ECNMarks)
	tcp.Rehashes = netstate.Grown32(a.Last.Rehashes, b.Last.Rehashes)
	tcp.TimeoutMS = max(b.Last.TimeoutMS-a.Last.TimeoutMS, 0)
	tcp.MeanRTTMS = rounded(mean(all, func(c agentapi.TCPCount) float64 { return c.Last.RTTMS }))
	for _, c := range all {
		tcp.HighestRTTMS = max(tcp.HighestRTTMS, c.Last.RTTMS)
	}
	tcp.MeanCwnd = rounded(mean(all, func(c agentapi.TCPCount) float64 { return float64(c.Last.SndCwnd) }))
	tcp.MeanInFlight = rounded(mean(all, func(c agentapi.TCPCount) float64 { return float64(c.InFlight) }))
	tcp.CwndLimited = share(all, func(c agentapi.TCPCount) bool { return c.InFlight > 0 && c.InFlight >= c.Last.SndCwnd })
	tcp.Pacing = unit.BitRate(math.Round(mean(all, func(c agentapi.TCPCount) float64 { return float64(c.Last.Pacing) })))
	tcp.MeanNotSent = unit.Bytes(mean(all, func(c agentapi.TCPCount) float64 { return float64(c.Last.NotSent) }))
	tcp.MeanBelow = unit.Bytes(mean(all, func(c agentapi.TCPCount) float64 { return float64(c.Below) }))
	tcp.Starved = share(all, func(c agentapi.TCPCount) bool {
		return c.Last.NotSent < max(unit.Bytes(c.Last.SndMSS), 1) && c.Last.AppLimited
	})
	tcp.Disordered = share(all, func(c agentapi.TCPCount) bool { return c.Last.CongestionState == "disorder" })
	tcp.Recovering = share(all, func(c agentapi.TCPCount) bool {
		return c.Last.CongestionState == "recovery" || c.Last.CongestionState == "loss"
	})
}

// addTaken adds what the receiver's samples tell together.
func addTaken(tcp *record.TCP, all []agentapi.TCPCount) {
	if len(all) == 0 {
		return
	}
	a, b := all[0], all[len(all)-1]
	tcp.Samples = max(tcp.Samples, len(all))
	tcp.SocketDrops = netstate.Grown32(a.SocketDrops, b.SocketDrops)
	tcp.RcvSpace, tcp.RcvMSS, tcp.RcvRTTMS = b.Last.RcvSpace, b.Last.RcvMSS, b.Last.RcvRTTMS
	tcp.RcvWnd = unit.Bytes(mean(all, func(c agentapi.TCPCount) float64 { return float64(c.Last.RcvWnd) }))
	tcp.MeanUnread = unit.Bytes(mean(all, func(c agentapi.TCPCount) float64 { return float64(c.Unread) }))
	tcp.Unheeded = share(all, func(c agentapi.TCPCount) bool {
		return c.RcvBuf > 0 && float64(c.Unread) > unheededShare*usableShare*float64(c.RcvBuf)
	})
}

// rounded keeps three decimals: more is noise, and a record holds many.
func rounded(v float64) float64 { return math.Round(v*1e3) / 1e3 }
