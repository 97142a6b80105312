package diagnose

import (
	"fmt"
	"math"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// shaper: a declared cap on the path or a host, reached while links idle.
func (v *wayView) shaper() (record.Finding, bool) {
	c, ok := v.cap()
	if !ok {
		return record.Finding{}, false
	}
	return record.Finding{
		Cause: record.Shaper, Confidence: 0.9,
		Summary:  fmt.Sprintf("The result is the cap of %s (%v).", c.what, c.rate),
		Evidence: append([]record.Evidence{{What: "declared rate of " + c.what, Value: c.rate.String(), Source: "the fabric file"}}, v.loads()...),
		Remedy:   "the cap is the provider's: more streams or tuning cannot pass it",
	}, true
}

// pastCap is how far a result may lie above a cap that holds it; beyond, the
// cap is not in force.
const pastCap = 1.03

// cap is the tightest declared limit that the result has reached.
func (v *wayView) cap() (tightest limit, ok bool) {
	for _, c := range v.caps() {
		share := fraction(v.goodput, c.payload)
		if share >= atCeiling && share <= pastCap && (!ok || c.payload < tightest.payload) {
			tightest, ok = c, true
		}
	}
	return tightest, ok
}

type limit struct {
	what          string
	rate, payload unit.BitRate
}

// caps are the declared limits in payload, by the efficiency the links show.
func (v *wayView) caps() []limit {
	efficiency := 0.95
	if e := fraction(v.trial.Goodput, v.trial.Wire); e > 0 {
		efficiency = min(e, 1)
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

// shares are the goodput-weighted means of what TCP waited for, over the
// streams that have counters.
func (v *wayView) shares() (busy, rwnd, sndbuf float64, present bool) {
	var all unit.BitRate
	for _, l := range v.lanes {
		if l.TCP.SndMSS > 0 {
			all += max(l.Goodput, 1)
		}
	}
	for _, l := range v.lanes {
		if l.TCP.SndMSS <= 0 {
			continue
		}
		w := fraction(max(l.Goodput, 1), all)
		busy, rwnd, sndbuf, present = busy+w*ratio(l.TCP.BusyRatio), rwnd+w*ratio(l.TCP.RwndLimited), sndbuf+w*ratio(l.TCP.SndbufLimited), true
	}
	return busy, rwnd, sndbuf, present
}

// ratio is a share that a record holds; zero when it is no number.
func ratio(share float64) float64 {
	if !(share > 0) {
		return 0
	}
	return min(share, 1)
}

// windows: TCP itself says that it waited for window or buffer.
func (v *wayView) windows() (record.Finding, bool) {
	_, rwnd, sndbuf, present := v.shares()
	if !present || max(rwnd, sndbuf) < limitedShare {
		return record.Finding{}, false
	}
	evidence := append(v.tcpEvidence(), v.loads()...)
	if rwnd >= sndbuf {
		return record.Finding{
			Cause: record.ReceiveWindow, Confidence: confidence(rwnd),
			Summary: fmt.Sprintf("The streams from %s waited for %s's receive window %s of the time%s.",
				v.from, v.to, percent(rwnd), v.windowText()),
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

// windowText is what the window allows the stream that waited most; "" where
// the kernel does not tell the window (before 5.4).
func (v *wayView) windowText() string {
	most := v.lanes[0]
	for _, l := range v.lanes {
		if l.TCP.RwndLimited > most.TCP.RwndLimited {
			most = l
		}
	}
	rate := unit.FromBytes(float64(most.TCP.SndWnd), most.TCP.RTTMS/1000)
	if rate <= 0 {
		return ""
	}
	return fmt.Sprintf(": a window of %v over %.1f ms allows %v a stream", most.TCP.SndWnd, most.TCP.RTTMS, rate)
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
		{What: "longest round trip under load", Value: fmt.Sprintf("%.2f ms", v.longestRTT()), Source: fromTCP},
	}
}

func (v *wayView) longestRTT() (ms float64) {
	for _, l := range v.lanes {
		ms = max(ms, l.TCP.RTTMS)
	}
	return ms
}

// processor: a stream's own thread or the whole machine was full.
func (v *wayView) processor() (record.Finding, bool) { return v.busyHost(streamsOwn) }

// oneCore: some core was full, though no stream's thread was: its softirq, or
// a program that has nothing to do with this. Believed only when TCP itself
// waited for nothing.
func (v *wayView) oneCore() (record.Finding, bool) {
	f, ok := v.busyHost(func(record.CPUUse) bool { return true })
	f.Confidence = min(f.Confidence, 0.5)
	return f, ok
}

// streamsOwn reports load that is the streams' own beyond doubt: their
// threads', a whole machine's, or a lab's, where nothing else runs.
func streamsOwn(c record.CPUUse) bool {
	return c.BusiestThread >= busyCore || c.Shared || c.Cores > 0 && c.Busy >= busyCore*float64(c.Cores)
}

// busyHost names the end whose processor was full. On one shared machine the
// two ends cannot be told apart by its cores; the sender is named then, with
// less confidence. A thread is always its own end's.
func (v *wayView) busyHost(counts func(record.CPUUse) bool) (record.Finding, bool) {
	var best *record.CPUUse
	for i, c := range v.trial.CPU {
		if c.Host != v.from && c.Host != v.to || !counts(c) {
			continue
		}
		if busiest(c) >= busyCore && (best == nil || busiest(c) > busiest(*best)) {
			best = &v.trial.CPU[i]
		}
	}
	if best == nil {
		return record.Finding{}, false
	}
	f := record.Finding{
		Cause: record.SenderCPU, Confidence: 0.85,
		Summary: fmt.Sprintf("A core of %s was busy %s of the time: the result is its limit, not the links'.", best.Host, percent(busiest(*best))),
		Evidence: append([]record.Evidence{
			{What: "busiest core of " + best.Host, Value: percent(best.Busiest), Source: "/proc/stat"},
			{What: "busiest stream thread of " + best.Host, Value: percent(best.BusiestThread), Source: "clock_gettime of the thread"},
		}, v.loads()...),
		Remedy: v.processorRemedy(*best),
	}
	ownThread := best.BusiestThread >= busyCore
	if best.Host == v.to && (!best.Shared || ownThread) {
		f.Cause = record.ReceiverCPU
	}
	if best.Shared {
		f.Confidence = 0.5
		f.Summary = "The processor that both ends share was full: the result is its limit, not the links'."
	}
	return f, true
}

func busiest(c record.CPUUse) float64 { return max(c.Busiest, c.BusiestThread) }

// processorRemedy: more streams help only while cores are left to run them.
func (v *wayView) processorRemedy(use record.CPUUse) string {
	if use.Cores > 0 && len(v.lanes) >= use.Cores {
		return "use larger frames or a faster core: there are as many streams as cores already"
	}
	return "use more streams so that more cores share the work, larger frames, or a faster core"
}

// loss: the path drops segments while no link is full.
func (v *wayView) loss() (record.Finding, bool) {
	var sent, again float64
	for _, l := range v.lanes {
		sent += float64(l.Goodput) / 8 * v.trial.Window
		// Kernels before 4.19 count segments only.
		again += max(float64(l.TCP.BytesRetrans), float64(l.Retransmits)*float64(l.TCP.SndMSS))
	}
	if share := again / sent; !(sent > 0 && share >= lossShare) || math.IsInf(share, 0) {
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
	f := record.Finding{Cause: record.Unknown, Confidence: 0}
	f.Evidence = append(f.Evidence, record.Evidence{What: "payload from " + v.from + " to " + v.to, Value: v.goodput.String(), Source: "bytes that the receiving sockets read, over the common window"})
	f.Evidence = append(append(f.Evidence, v.tcpEvidence()...), v.loads()...)
	_, _, _, present := v.shares()
	switch {
	case v.goodput <= 0:
		f.Summary = fmt.Sprintf("Nothing arrived from %s.", v.from)
		f.Remedy = "check that the addresses reach each other (`ping`)"
	case len(v.egress)+len(v.ingress) == 0:
		f.Summary = "The links' counters are missing, so nobody can say how full they were."
		f.Remedy = "measure again with both hosts observed"
	case v.ceiling() == 0:
		f.Summary = "The speed of a link is not known, so nobody can say how full it was."
		f.Remedy = "name the links' speeds in hosts.NAME.hardware.links and measure again"
	case allFull(v.egress) || allFull(v.ingress):
		f.Summary = fmt.Sprintf("The links were full, but only %s of what they can carry was this trial's: something else uses them too.", percent(v.share()))
		f.Remedy = "measure again when the other traffic is gone"
	case v.trial.UDP != nil:
		f.Summary = fmt.Sprintf("The links of %s and %s had room, no core was busy, and hardly a datagram was lost: no more was sent.", v.from, v.to)
		f.Remedy = "offer more (`--rate-limit`), in more streams or larger datagrams"
	case v.trial.Protocol == "mptcp":
		f.Summary = "An MPTCP connection has no TCP counters of its own, so what it waited for is not known."
		f.Remedy = "compare with `--protocol tcp`, whose streams say what they wait for, or look at the subflows while they run (`ss -tinM`)"
	case !present:
		f.Summary = "The sender's TCP counters are missing, so what it waited for is not known."
		f.Remedy = "measure again with the sender on Linux"
	default:
		f.Summary = fmt.Sprintf("The links of %s and %s had room, TCP did not wait for a window, and no core was busy.", v.from, v.to)
		f.Remedy = "measure longer (`--duration 30s`) and with twice the streams: if the rate grows, streams were the limit; if not, something on the way is"
	}
	return f
}
