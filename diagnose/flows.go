package diagnose

import (
	"fmt"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// shaper: a declared cap on the path or a host, reached while links idle.
func (v *wayView) shaper() (record.Finding, bool) {
	for _, c := range v.caps() {
		share := float64(v.goodput / c.payload)
		if c.payload == 0 || share < atCeiling {
			continue
		}
		return record.Finding{
			Cause: record.Shaper, Confidence: 0.9,
			Summary:  fmt.Sprintf("The result is the cap of %s (%v).", c.what, c.rate),
			Evidence: append([]record.Evidence{{What: "declared rate of " + c.what, Value: c.rate.String(), Source: "the fabric file"}}, v.loads()...),
			Remedy:   "the cap is the provider's: more streams or tuning cannot pass it",
		}, true
	}
	return record.Finding{}, false
}

type limit struct {
	what          string
	rate, payload unit.BitRate
}

// caps are the declared limits in payload, by the efficiency the links show.
func (v *wayView) caps() []limit {
	efficiency := 0.95
	if v.trial.Wire > 0 {
		efficiency = float64(v.trial.Goodput / v.trial.Wire)
	}
	var out []limit
	add := func(what string, rate unit.BitRate) {
		if rate > 0 {
			out = append(out, limit{what, rate, rate * unit.BitRate(efficiency)})
		}
	}
	for _, p := range v.fabric.Paths {
		if p.From == v.from && p.To == v.to || !p.Directed && p.From == v.to && p.To == v.from {
			add("the path", p.Rate)
		}
	}
	add(v.from, v.fabric.Hosts[v.from].Rate)
	add(v.to, v.fabric.Hosts[v.to].Rate)
	return out
}

// shares are the goodput-weighted means of what TCP waited for.
func (v *wayView) shares() (busy, rwnd, sndbuf float64, present bool) {
	var weight float64
	for _, l := range v.lanes {
		w := max(float64(l.Goodput), 1)
		busy, rwnd, sndbuf, weight = busy+w*l.TCP.BusyRatio, rwnd+w*l.TCP.RwndLimited, sndbuf+w*l.TCP.SndbufLimited, weight+w
		present = present || l.TCP.SndMSS > 0
	}
	if weight == 0 {
		return 0, 0, 0, false
	}
	return busy / weight, rwnd / weight, sndbuf / weight, present
}

// windows: TCP itself says that it waited for window or buffer.
func (v *wayView) windows() (record.Finding, bool) {
	_, rwnd, sndbuf, present := v.shares()
	if !present || max(rwnd, sndbuf) < limitedShare {
		return record.Finding{}, false
	}
	lane := v.lanes[0]
	evidence := append(v.tcpEvidence(), v.loads()...)
	if rwnd >= sndbuf {
		return record.Finding{
			Cause: record.ReceiveWindow, Confidence: confidence(rwnd),
			Summary: fmt.Sprintf("The streams from %s waited for %s's receive window %s of the time: a window of %v over %.1f ms allows %v a stream.",
				v.from, v.to, percent(rwnd), lane.TCP.SndWnd, lane.TCP.RTTMS, windowRate(lane)),
			Evidence: evidence,
			Remedy:   fmt.Sprintf("raise the third value of net.ipv4.tcp_rmem on %s (or the application's SO_RCVBUF), or use more streams", v.to),
		}, true
	}
	return record.Finding{
		Cause: record.SendBuffer, Confidence: confidence(sndbuf),
		Summary:  fmt.Sprintf("The streams from %s waited for their own send buffer %s of the time.", v.from, percent(sndbuf)),
		Evidence: evidence,
		Remedy:   fmt.Sprintf("raise the third value of net.ipv4.tcp_wmem on %s (or the application's SO_SNDBUF), or use more streams", v.from),
	}, true
}

func windowRate(l record.Lane) unit.BitRate {
	return unit.FromBytes(float64(l.TCP.SndWnd), l.TCP.RTTMS/1000)
}

// confidence grows from the threshold to certainty.
func confidence(share float64) float64 {
	return min(0.6+0.4*(share-limitedShare)/(1-limitedShare), 0.95)
}

func (v *wayView) tcpEvidence() []record.Evidence {
	busy, rwnd, sndbuf, present := v.shares()
	if !present {
		return nil
	}
	return []record.Evidence{
		{What: "time with data to send", Value: percent(busy), Source: fromTCP},
		{What: "time limited by the receive window", Value: percent(rwnd), Source: fromTCP},
		{What: "time limited by the send buffer", Value: percent(sndbuf), Source: fromTCP},
		{What: "round trip under load", Value: fmt.Sprintf("%.2f ms", v.lanes[0].TCP.RTTMS), Source: fromTCP},
	}
}

// processor: a core or a stream's own thread was full. On one shared machine
// the two ends cannot be told apart; the sender is named, with less
// confidence.
func (v *wayView) processor() (record.Finding, bool) {
	type candidate struct {
		cause record.Cause
		host  string
		use   record.CPUUse
	}
	var best *candidate
	for _, c := range v.trial.CPU {
		busiest := max(c.Busiest, c.BusiestThread)
		cause := record.SenderCPU
		if c.Host == v.to {
			cause = record.ReceiverCPU
		}
		if busiest >= busyCore && (best == nil || busiest > max(best.use.Busiest, best.use.BusiestThread)) {
			best = &candidate{cause, c.Host, c}
		}
	}
	if best == nil {
		return record.Finding{}, false
	}
	f := record.Finding{
		Cause: best.cause, Confidence: 0.85,
		Summary: fmt.Sprintf("A core of %s was busy %s of the time: the result is its limit, not the links'.", best.host, percent(best.use.Busiest)),
		Evidence: append([]record.Evidence{
			{What: "busiest core of " + best.host, Value: percent(best.use.Busiest), Source: "/proc/stat"},
			{What: "busiest stream thread of " + best.host, Value: percent(best.use.BusiestThread), Source: "clock_gettime of the thread"},
		}, v.loads()...),
		Remedy: v.processorRemedy(best.use),
	}
	if best.use.Shared {
		f.Confidence = 0.5
		f.Summary = "The processor that both ends share was full: the result is its limit, not the links'."
	}
	return f, true
}

// processorRemedy: more streams help only while cores are left to run them.
func (v *wayView) processorRemedy(use record.CPUUse) string {
	if len(v.lanes) >= use.Cores {
		return "use larger frames or a faster core: there are as many streams as cores already"
	}
	return "use more streams so that more cores share the work, larger frames, or a faster core"
}

// loss: the path drops segments while no link is full.
func (v *wayView) loss() (record.Finding, bool) {
	var sent, again float64
	for _, l := range v.lanes {
		sent += float64(l.Goodput) / 8 * v.trial.Window
		again += float64(l.TCP.BytesRetrans)
	}
	if sent == 0 || again/sent < lossShare {
		return record.Finding{}, false
	}
	return record.Finding{
		Cause: record.Congestion, Confidence: 0.6,
		Summary: fmt.Sprintf("%s of the bytes from %s had to be sent again while no link was full: something on the way drops.", percent(again/sent), v.from),
		Evidence: append([]record.Evidence{{What: "bytes sent again", Value: fmt.Sprintf("%.0f (%s)", again, percent(again/sent)), Source: fromTCP}},
			append(v.tcpEvidence(), v.loads()...)...),
		Remedy: "find where it drops: link errors, a shaper's queue, a switch buffer",
	}, true
}

// unknown names the measurement that would decide.
func (v *wayView) unknown() record.Finding {
	f := record.Finding{Cause: record.Unknown, Confidence: 0, Evidence: append(v.tcpEvidence(), v.loads()...)}
	_, _, _, present := v.shares()
	switch {
	case v.goodput == 0:
		f.Summary = fmt.Sprintf("Nothing arrived from %s.", v.from)
		f.Remedy = "check that the addresses reach each other (`ping`)"
	case v.ceiling() == 0:
		f.Summary = "The speed of a link is not known, so nobody can say how full it was."
		f.Remedy = "name the links' speeds in hosts.NAME.hardware.links and measure again"
	case !present:
		f.Summary = "The sender's TCP counters are missing, so what it waited for is not known."
		f.Remedy = "measure again with the sender on Linux"
	default:
		f.Summary = fmt.Sprintf("No link of %s or %s was full, TCP did not wait for a window, and no core was busy.", v.from, v.to)
		f.Remedy = "measure longer (`--duration 30s`) and with twice the streams: if the rate grows, streams were the limit; if not, something on the way is"
	}
	return f
}
