package paths

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Of a congestion window that stays as it is: over how many intervals, by how much it may
// differ, and over which round trips, in milliseconds.
const (
	fewestFlat          = 3
	mostFlat            = 1.05
	leastTrip, mostTrip = 8, 1000
)

// flatWindow: a flow over a long way that repeats nothing, and whose congestion window does
// not grow: it grows as long as TCP alone limits, so that a buffer is full.
func flatWindow(v *scene.View) {
	host, trip, by, ok := tripOf(v)
	ms := piece.Float(trip.Text)
	if !ok || ms < leastTrip || ms > mostTrip || v.HasFinding(record.ReceiveWindow) || v.HasFinding(record.SendBuffer) {
		return
	}
	for _, r := range v.Case.Runs {
		flight := float64(r.Rate) / 8 * ms / 1000
		if r.UDP || r.Rate == 0 || scene.NearLineRate(r.Rate) && (flight < nearlyAll*float64(r.CwndMost) || fastest(v) < 2*r.Rate) || r.Retransmits != 0 || r.Target > 0 || r.Reverse || r.Intervals < fewestFlat || max(len(r.Streams), r.Parallel) > 1 ||
			r.CwndLeast == 0 || float64(r.CwndMost) > mostFlat*float64(r.CwndLeast) || flight < leastOfFlat*float64(r.CwndMost) || flight > mostOfFlat*float64(r.CwndMost) {
			continue
		}
		whose := "the receiver's window (tcp_rmem there, of which about half is the window, or a window without scaling), or the sender's buffer (tcp_wmem, or what the program set)"
		if r.Window > 0 {
			whose = fmt.Sprintf("the buffer that was asked for (%v with -w), or the receiver's window", r.Window)
		}
		for _, w := range windows {
			if w.cause == record.ReceiveWindow && flight >= 0.75*w.bytes && flight <= 1.1*w.bytes {
				whose = w.what + ": " + whose
			}
		}
		v.Add(record.ReceiveWindow, 0.62, host, fmt.Sprintf("the window over %.0f ms", ms),
			fmt.Sprintf("%v over %.0f ms is %v in flight, about the congestion window of %v, which does not grow in %d intervals though nothing was sent again: no loss and no queue limits this flow but %s. A flow carries its window in each round trip.", r.Rate, ms, unit.Bytes(flight), r.CwndMost, r.Intervals, whose),
			fmt.Sprintf("Raise the third values on both ends: for 1 Gbit/s about %v (twice the rate times the round trip): `sysctl -w net.ipv4.tcp_rmem='4096 131072 N' net.ipv4.tcp_wmem='4096 65536 N'`, with net.core.rmem_max and wmem_max for programs that set buffers themselves, and no -w; or use several flows.", unit.Bytes(2*1e9/8*ms/1000)),
			scene.Saw(r.Tool, fmt.Sprintf("%v, 0 segments sent again", r.Rate), r.Source), scene.Saw("congestion window", fmt.Sprintf("%v to %v", r.CwndLeast, r.CwndMost), r.Source), scene.Saw(by, trip.Text+" ms", trip.Source)).Ask = longAsks
		return
	}
}

// Of what is in flight, as a part of the congestion window: a buffer counts its own
// overhead, and the window is what it was when it was last needed.
const (
	leastOfFlat = 0.4
	mostOfFlat  = 1.15
	nearlyAll   = 0.85
)

// fastest is the fastest link whose speed is told; zero none is.
func fastest(v *scene.View) unit.BitRate {
	return slices.Max(append([]unit.BitRate{0}, v.LinkSpeeds()...))
}

// tripOf is the round trip of the case in milliseconds, whose it is and by what it is known:
// as ping measured it, else as a sentence says; false where neither is, or of several far ends.
func tripOf(v *scene.View) (host *piece.Host, ms piece.Value, by string, ok bool) {
	target := ""
	for _, h := range v.Case.Hosts {
		for _, p := range h.Pings {
			took := p.AvgMS
			if took == 0 {
				took = p.MinMS
			}
			if took == 0 {
				continue
			}
			if ok && p.Target != target {
				return nil, piece.Value{}, "", false
			}
			target, host, by, ok = p.Target, h, "ping", true
			ms = piece.Value{Text: fmt.Sprintf("%.3g", took), Source: p.Source}
		}
	}
	if !ok {
		host, ms, ok = v.SaidBy("trip_ms")
		by = "said"
	}
	return host, ms, by, ok
}
