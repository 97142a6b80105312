package live

import (
	"fmt"
	"time"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/internal/evidence/livetraffic"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Where the facts of a live connection were read.
const (
	fromSockDiag = "sock_diag"
	liveCounters = "RTM_GETLINK IFLA_STATS64"
	fromSchedule = "/proc/PID/task/*/schedstat"
)

// sending says what limits a connection that sends: first what its own program
// asked for, then what TCP says it waited for, then the links, then the way.
func (v *view) sending(f livetraffic.Flow, at direction) record.Finding {
	for _, rule := range []func(livetraffic.Flow, direction) (record.Finding, bool){
		v.stuck, v.pacing, v.quotaFinding, v.crowdedWindow, v.farReader, v.peerWindow, v.ownBuffer, v.slowWriter,
		v.smallSegments, v.fullWay, v.overtaken, v.notInSync, v.lossy, v.marked, v.ownQueue, v.slowSender, v.queuedElsewhere,
	} {
		if found, ok := rule(f, at); ok {
			return found
		}
	}
	return v.unknown(f)
}

// Who is a program as a sentence begins with it: "rsync[812]".
func Who(p livetraffic.Program) string {
	switch {
	case p.Kernel != "":
		return p.Kernel
	case p.Name != "":
		return fmt.Sprintf("%s[%d]", p.Name, p.PID)
	case p.PID != 0:
		return fmt.Sprintf("process %d", p.PID)
	case p.Hidden:
		return fmt.Sprintf("a program of user %d", p.UID)
	}
	return "no program" // the kernel's own, or one that ended
}

// stuck is a connection with something to send that does not move.
func (v *view) stuck(f livetraffic.Flow, _ direction) (record.Finding, bool) {
	if f.Rate() >= leastShown {
		return record.Finding{}, false
	}
	evidence := []record.Evidence{
		diagnose.Fact("moved", f.Rate().String(), fromSockDiag+" bytes_acked"),
		diagnose.Fact("waiting to be sent", f.Out.NotSent.String(), fromSockDiag+" notsent_bytes"),
	}
	if f.Out.Windows && f.Out.MostWindow < f.Out.MSS {
		return record.Finding{
			Cause: record.Application, Confidence: 0.9,
			Summary:  fmt.Sprintf("Nothing moves: %s has closed its window, because the program there does not read.", f.Dst),
			Evidence: append(evidence, diagnose.Fact("window of the peer", f.Out.MostWindow.String(), fromSockDiag+" snd_wnd")),
			Remedy:   "look at the program on " + f.Dst.String() + " that should read",
		}, true
	}
	if f.Out.Recovering >= starvedShare || f.Out.Retransmits > 0 {
		if f.Out.Acked > 1 && f.Out.Acked < f.Out.MSS {
			return v.swallowed(f, evidence), true
		}
		return record.Finding{
			Cause: record.Congestion, Confidence: 0.6,
			Summary:  fmt.Sprintf("Nothing moves: what is sent to %s is not acknowledged, and is sent again.", f.Dst),
			Evidence: append(evidence, diagnose.Fact("sent again", fmt.Sprint(f.Out.Retransmits), fromSockDiag+" total_retrans")),
			Remedy:   fmt.Sprintf("see whether packets of this size get through: ping -M do -s %d %s", v.largestPing(f), f.Dst),
			Also:     []record.Alternative{{Cause: record.MTU, Confidence: 0.3, Summary: "packets of full size do not get through, smaller ones do"}},
		}, true
	}
	return record.Finding{}, false
}

// swallowed: what the program wrote first was small and arrived, and of what filled a
// packet nothing has.
func (v *view) swallowed(f livetraffic.Flow, evidence []record.Evidence) record.Finding {
	return record.Finding{
		Cause: record.MTU, Confidence: 0.85,
		Summary: fmt.Sprintf("Nothing moves: packets of full size do not get through to %s, and nobody says so; smaller ones do.", f.Dst),
		Evidence: append(evidence,
			diagnose.Fact("acknowledged since it began", f.Out.Acked.String(), fromSockDiag+" bytes_acked"),
			diagnose.Fact("segments of", f.Out.MSS.String(), fromSockDiag+" snd_mss"),
			diagnose.Fact("sent again", fmt.Sprint(f.Out.Retransmits), fromSockDiag+" total_retrans")),
		Remedy: fmt.Sprintf("find the size that gets through (ping -M do -s %d %s, and smaller) and set that MTU at both ends, or raise it on the switches and tunnels between; until then net.ipv4.tcp_mtu_probing=1", v.largestPing(f), f.Dst),
		Also:   []record.Alternative{{Cause: record.Congestion, Confidence: 0.1, Summary: "the way broke off just after the connection had begun"}},
	}
}

// largestPing is the payload of an echo that fills the link's packets: less the headers
// of IP and ICMP.
func (v *view) largestPing(f livetraffic.Flow) int {
	headers, mtu := 20+8, framing.DefaultMTU
	if f.Dst.Is6() {
		headers = 40 + 8
	}
	if l, ok := v.watched.Host.Link(f.Way.Link); ok && l.MTU > headers {
		mtu = l.MTU
	}
	return mtu - headers
}

// pacing: the program asked for no more, or fq holds each flow back.
func (v *view) pacing(f livetraffic.Flow, at direction) (record.Finding, bool) {
	if cap := f.Out.MaxPacing; cap > 0 && (f.Sent >= unit.BitRate(pacedShare*float64(cap)) || held(f)) {
		return record.Finding{
			Cause: record.Pacing, Confidence: 0.97,
			Summary:  fmt.Sprintf("%s asked the kernel to send no faster than %v a connection (SO_MAX_PACING_RATE), and that is what it gets.", Who(f.Program), cap),
			Evidence: []record.Evidence{diagnose.Fact("rate asked for at most", cap.String(), fromSockDiag+" max_pacing_rate"), diagnose.Fact("rate reached", f.Sent.String(), fromSockDiag+" bytes_acked")},
			Remedy:   "raise the rate in the program's own settings if this is slower than wanted",
			Expected: v.room(f, at),
		}, true
	}
	for _, name := range at.devices() {
		l, _ := v.watched.Host.Link(name)
		for _, q := range l.Qdiscs {
			if q.FlowRate > 0 && f.Sent >= unit.BitRate(pacedShare*float64(q.FlowRate)) {
				return record.Finding{
					Cause: record.Pacing, Confidence: 0.95,
					Summary:  fmt.Sprintf("The queue of %s limits every connection to %v (fq maxrate), and that is what this one gets.", name, q.FlowRate),
					Evidence: []record.Evidence{diagnose.Fact("fq maxrate on "+name, q.FlowRate.String(), "RTM_GETQDISC"), diagnose.Fact("rate reached", f.Sent.String(), fromSockDiag+" bytes_acked")},
					Remedy:   fmt.Sprintf("raise maxrate: tc qdisc change dev %s root fq maxrate RATE", name),
					Expected: v.room(f, at),
				}, true
			}
		}
	}
	return record.Finding{}, false
}

// held reports a connection that its cap alone keeps from sending more: the
// kernel paces at the cap, something waits, and neither the congestion window
// nor the peer's is used up. A busy machine's timers are late, so that the
// rate may stay below the cap.
func held(f livetraffic.Flow) bool {
	o := f.Out
	return o.Pacing >= unit.BitRate(0.95*float64(o.MaxPacing)) && f.Sent >= o.MaxPacing/2 &&
		o.NotSent >= o.MSS && 4*o.InFlight < 3*o.Cwnd && o.RwndLimited < limitedShare
}

// quotaFinding: the program's control group is stopped when its time is used up.
func (v *view) quotaFinding(f livetraffic.Flow, _ direction) (record.Finding, bool) {
	if f.Program.Quota == 0 || f.Program.Throttled < throttledShare || f.Out.RwndLimited >= limitedShare {
		return record.Finding{}, false
	}
	return v.quota(f, record.SenderCPU), true
}

func (v *view) quota(f livetraffic.Flow, cause record.Cause) record.Finding {
	return record.Finding{
		Cause: cause, Confidence: 0.9,
		Summary: fmt.Sprintf("%s may use %.2g of a core and is stopped %s of the time for having used it up.", Who(f.Program), f.Program.Quota, diagnose.Percent(f.Program.Throttled)),
		Evidence: []record.Evidence{
			diagnose.Fact("processor quota", fmt.Sprintf("%.2g cores", f.Program.Quota), "cgroup cpu"), diagnose.Fact("stopped for it", diagnose.Percent(f.Program.Throttled), "cgroup cpu.stat"),
		},
		Remedy: "give its control group more processor time (CPUQuota of its service, or the container's limit)",
	}
}

// windowed is the share of the time that the peer's window was waited for,
// where it is the most that was waited for.
func windowed(f livetraffic.Flow) bool {
	return f.Out.RwndLimited >= limitedShare && f.Out.RwndLimited >= f.Out.SndbufLimited
}

// crowdedWindow: on a full link the round trip grows until any window is too
// small. A connection that is most of the link's traffic has the link for a
// limit then; a smaller one would get a larger share with a larger window.
func (v *view) crowdedWindow(f livetraffic.Flow, at direction) (record.Finding, bool) {
	if !windowed(f) || !v.alone(f, at) {
		return record.Finding{}, false
	}
	return v.fullWay(f, at)
}

// law is what the peer's largest window lets through in one round trip.
func law(window unit.Bytes, rtt time.Duration) unit.BitRate {
	if rtt <= 0 {
		return 0
	}
	return unit.FromBytes(float64(window), rtt.Seconds())
}

func (v *view) windowEvidence(f livetraffic.Flow) []record.Evidence {
	return []record.Evidence{
		diagnose.Fact("time spent waiting for the peer's window", diagnose.Percent(f.Out.RwndLimited), fromSockDiag+" rwnd_limited"),
		diagnose.Fact("window of the peer, mean and largest", fmt.Sprintf("%v, %v", f.Out.Window, f.Out.MostWindow), fromSockDiag+" snd_wnd"),
		diagnose.Fact("round trip", brief(f.Out.RTT), fromSockDiag+" rtt"),
	}
}

// farReader: the window is small because the program there has not read, not
// because the buffer is: one window a round trip would be far more.
func (v *view) farReader(f livetraffic.Flow, _ direction) (record.Finding, bool) {
	if !windowed(f) || !f.Out.Windows {
		return record.Finding{}, false
	}
	could := law(f.Out.MostWindow, f.Out.RTT)
	slow := f.Sent < unit.BitRate(readerShare*float64(could)) && f.Out.Window < f.Out.MostWindow/2
	if f.Out.Shut < starvedShare && !slow {
		return record.Finding{}, false
	}
	summary := fmt.Sprintf("The program on %s does not read fast enough: its window is shut most of the time.", f.Dst)
	if slow {
		summary = fmt.Sprintf("The program on %s does not read fast enough: its window closes although its buffer would allow %v.", f.Dst, could)
	}
	return record.Finding{
		Cause: record.Application, Confidence: 0.8,
		Summary:  summary,
		Evidence: append(v.windowEvidence(f), diagnose.Fact("looks with no room in it", diagnose.Percent(f.Out.Shut), fromSockDiag+" snd_wnd")),
		Remedy:   fmt.Sprintf("look at the reading program: `linerate explain --live` on %s says whether it lacks processor time", f.Dst),
	}, true
}

// peerWindow: the peer's buffer holds less than the way does.
func (v *view) peerWindow(f livetraffic.Flow, at direction) (record.Finding, bool) {
	if !windowed(f) {
		return record.Finding{}, false
	}
	found := record.Finding{
		Cause: record.ReceiveWindow, Confidence: 0.6 + 0.35*f.Out.RwndLimited,
		Summary: fmt.Sprintf("%s offers a window of %v, which over a round trip of %s is %v: the receiver's buffer is the limit.",
			f.Dst, f.Out.MostWindow, brief(f.Out.RTT), law(f.Out.MostWindow, f.Out.RTT)),
		Evidence: v.windowEvidence(f),
		Remedy:   fmt.Sprintf("on %s raise the largest of net.ipv4.tcp_rmem, or the SO_RCVBUF that the program there asks for (a `window` in its `ip route show` holds it as well), or use more connections", f.Dst),
		Expected: v.room(f, at),
	}
	if f.Out.Unscaled {
		found.Summary = fmt.Sprintf("%s offers a window of %v, which over a round trip of %s is %v: the windows are not scaled (RFC 7323), so that none can be larger than 64 KiB.",
			f.Dst, f.Out.MostWindow, brief(f.Out.RTT), law(f.Out.MostWindow, f.Out.RTT))
		found.Remedy = fmt.Sprintf("set net.ipv4.tcp_window_scaling to 1 on this host and on %s; where it is, look for a firewall in between that strips the option; until then use more connections: a larger tcp_rmem changes nothing", f.Dst)
	}
	if !f.Out.Windows {
		found.Confidence = 0.6
		found.Summary = fmt.Sprintf("TCP waits %s of the time for the window that %s offers.", diagnose.Percent(f.Out.RwndLimited), f.Dst)
	}
	found.Also = []record.Alternative{{Cause: record.Application, Confidence: 1 - found.Confidence,
		Summary: fmt.Sprintf("the program on %s may read slowly; `linerate explain --live` there tells", f.Dst)}}
	return found, true
}

// ownBuffer: the send buffer holds less than the way does. TCP's clock counts
// the wait only where a write ended for want of room; a program that writes
// small records waits between its writes, and a buffer that is full of what is
// on its way shows it, where the congestion window would let more out: the kernel makes
// the buffer no larger than twice that window (tcp_sndbuf_expand of net/ipv4/tcp_input.c).
func (v *view) ownBuffer(f livetraffic.Flow, at direction) (record.Finding, bool) {
	limited := f.Out.SndbufLimited
	full := limited < limitedShare && f.Out.Filled >= starvedShare && 10*f.Out.InFlight < 9*f.Out.Cwnd
	if limited < limitedShare && !full {
		return record.Finding{}, false
	}
	found := record.Finding{
		Cause: record.SendBuffer, Confidence: 0.6 + 0.35*limited,
		Summary: fmt.Sprintf("The socket's send buffer of %v is too small for a round trip of %s: %s of the time %s waits for room in it although the way could take more.",
			f.Out.Buffer, brief(f.Out.RTT), diagnose.Percent(limited), Who(f.Program)),
		Evidence: []record.Evidence{
			diagnose.Fact("time spent waiting for room in the send buffer", diagnose.Percent(limited), fromSockDiag+" sndbuf_limited"),
			diagnose.Fact("send buffer", f.Out.Buffer.String(), fromSockDiag+" SKMEMINFO"),
			diagnose.Fact("round trip", brief(f.Out.RTT), fromSockDiag+" rtt"),
		},
		Remedy:   fmt.Sprintf("raise the largest of net.ipv4.tcp_wmem, or the SO_SNDBUF that %s asks for", Who(f.Program)),
		Expected: v.room(f, at),
	}
	if full {
		found.Confidence = 0.5 + 0.35*f.Out.Filled
		found.Summary = fmt.Sprintf("The socket's send buffer of %v is too small for a round trip of %s: it is full of what is on its way, and %s has to wait before it can write more.",
			f.Out.Buffer, brief(f.Out.RTT), Who(f.Program))
		found.Evidence[0] = diagnose.Fact("looks with the send buffer full and all of it on its way", diagnose.Percent(f.Out.Filled), fromSockDiag+" SKMEMINFO, notsent_bytes")
		found.Also = []record.Alternative{{Cause: record.Application, Confidence: 1 - found.Confidence,
			Summary: Who(f.Program) + " writes no more than this, in pieces that fill the buffer"}}
		if f.Received > 0 {
			return v.dialogue(f, found), true
		}
	}
	return found, true
}

// dialogue: the peer answers on the same connection, and what is on its way fills
// the buffer that grew to the program's pieces: it waits for an answer before it
// writes the next. TCP's clock would count a wait for room.
func (v *view) dialogue(f livetraffic.Flow, buffer record.Finding) record.Finding {
	return record.Finding{
		Cause: record.Application, Confidence: 0.65,
		Summary: fmt.Sprintf("%s writes a piece, and the next when %s has answered: a round trip of %s passes between them.", Who(f.Program), f.Dst, brief(f.Out.RTT)),
		Evidence: append([]record.Evidence{
			diagnose.Fact("what comes back on the same connection", f.Received.String(), fromSockDiag+" bytes_received"),
			diagnose.Fact("time spent waiting for room in the send buffer", diagnose.Percent(f.Out.SndbufLimited), fromSockDiag+" sndbuf_limited"),
		}, buffer.Evidence...),
		Remedy: "have more requests under way at once (a deeper queue, several connections), or larger pieces; a larger tcp_wmem changes nothing unless the program sets SO_SNDBUF itself",
		Also:   []record.Alternative{{Cause: record.SendBuffer, Confidence: 0.3, Summary: fmt.Sprintf("a send buffer of %v that the program asked for (SO_SNDBUF) holds no more", f.Out.Buffer)}},
	}
}

// slowWriter: there is nothing to send for much of the time.
func (v *view) slowWriter(f livetraffic.Flow, _ direction) (record.Finding, bool) {
	idle := f.Out.Clock && 1-f.Out.Busy >= idleShare
	starved := f.Out.Starved >= starvedShare && f.Out.NotSent < f.Out.MSS
	if !idle && !starved || f.Rate() == 0 { // what does not move writes nothing
		return record.Finding{}, false
	}
	evidence := []record.Evidence{
		diagnose.Fact("time with nothing to send", diagnose.Percent(1-f.Out.Busy), fromSockDiag+" busy_time"),
		diagnose.Fact("looks with nothing waiting", diagnose.Percent(f.Out.Starved), fromSockDiag+" delivery_rate_app_limited, notsent_bytes"),
	}
	if found, ok := v.busyThread(f, record.SenderCPU, evidence); ok {
		return found, true
	}
	waits := f.Out.Starved
	if f.Out.Clock {
		waits = max(waits, 1-f.Out.Busy)
	}
	found := record.Finding{
		Cause: record.Application, Confidence: min(0.9, 0.5+waits/2),
		Summary:  fmt.Sprintf("%s writes no more than this: the network waits for it.", Who(f.Program)),
		Evidence: evidence,
		Remedy:   "look at what the program waits for: its disk, its source, or its own limit",
	}
	if f.Program.Threads > 0 {
		found.Evidence = append(found.Evidence, diagnose.Fact("its busiest thread", diagnose.Percent(f.Program.Ran)+" of a core", fromSchedule))
	}
	return found, true
}

// busyThread: the program's busiest thread has no time left, or gets none.
func (v *view) busyThread(f livetraffic.Flow, cause record.Cause, evidence []record.Evidence) (record.Finding, bool) {
	p := f.Program
	if p.Threads == 0 || p.Ran+p.Waited < busyShare {
		return record.Finding{}, false
	}
	found := record.Finding{
		Cause: cause, Confidence: 0.85,
		Summary:  fmt.Sprintf("One thread of %s takes a whole core and is the limit.", Who(p)),
		Evidence: append(evidence, diagnose.Fact("its busiest thread", diagnose.Percent(p.Ran)+" of a core", fromSchedule)),
		Remedy:   "run more of them at once, or give it a faster core",
	}
	if p.Waited >= limitedShare {
		found.Summary = fmt.Sprintf("%s could run but has no core for it %s of the time.", Who(p), diagnose.Percent(p.Waited))
		found.Evidence = append(found.Evidence, diagnose.Fact("waited for a core", diagnose.Percent(p.Waited), fromSchedule))
		found.Remedy = "find out what else keeps the cores busy, or give the program some of its own"
	}
	return found, true
}

// slowSender: the way is open, the link is not full, and the thread has no
// time left.
func (v *view) slowSender(f livetraffic.Flow, _ direction) (record.Finding, bool) {
	return v.busyThread(f, record.SenderCPU, []record.Evidence{diagnose.Fact("waiting to be sent", f.Out.NotSent.String(), fromSockDiag+" notsent_bytes")})
}

// brief is a time as people write it.
func brief(d time.Duration) string {
	return fmt.Sprintf("%.3g ms", float64(d)/float64(time.Millisecond))
}
