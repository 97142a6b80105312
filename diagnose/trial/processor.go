package trial

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
)

// Shares of the time from which a quota or the wait for a core is what holds
// a stream's thread.
const (
	stoppedShare  = 0.10
	crowdedShare  = 0.30
	wantsHalf     = 0.50 // of the time running or waiting to: a thread that keeps up seldom waits
	softirqCore   = 0.80
	stolenShare   = 0.20
	wantsCore     = 0.85
	readerHardly  = 0.10
	idleSender    = 0.35 // of the time: a sender that is late leaves its socket empty
	fromCgroup    = "cpu.stat of the control group"
	fromSchedstat = "/proc/PID/task/TID/schedstat"
	fromThread    = "clock_gettime of the thread"
)

func (v *wayView) senderCore() (hypothesis, bool)   { return v.core(v.from, record.SenderCPU) }
func (v *wayView) receiverCore() (hypothesis, bool) { return v.core(v.to, record.ReceiverCPU) }

// core: the processor time that one end's threads get is used up.
func (v *wayView) core(host string, cause record.Cause) (hypothesis, bool) {
	use, ok := v.processorOf(host)
	if !ok || !v.room() {
		return hypothesis{}, false
	}
	busy, waited := v.threads(use, cause == record.SenderCPU)
	h := hypothesis{cause: cause, seen: true, mended: "With a processor that keeps up", evidence: v.coreEvidence(use, busy, waited), remedy: v.processorRemedy(use)}
	switch {
	case use.Quota > 0 && use.Throttled >= stoppedShare:
		h.sure = min(0.65+0.6*use.Throttled, 0.95)
		h.summary = fmt.Sprintf("The program on %s may use %.2g cores (the quota of its control group), and was stopped %s of the time for having used them up.", host, use.Quota, diagnose.Percent(use.Throttled))
		h.remedy = record.ByHand(fmt.Sprintf("raise the processor quota of the program's control group on %s (cpu.max, or cpu.cfs_quota_us; a container's CPU limit)", host))
	case busy >= busyCore:
		h.sure = 0.85
		h.summary = fmt.Sprintf("A core of %s was busy %s of the time with one stream's thread: the result is what it can move, not the links'.", host, diagnose.Percent(busiest(use)))
		if v.oneThreaded(use) {
			h.summary = fmt.Sprintf("iperf3's one thread on %s was busy %s of the time with all %d streams: the result is what it can move, not the links'.", host, diagnose.Percent(busiest(use)), len(v.lanes))
		}
	case busy+waited >= wantsHalf && waited >= crowdedShare && !coreToSpare(use):
		h.sure = min(0.6+0.35*(busy+waited), 0.93)
		h.summary = fmt.Sprintf("The threads of %s wanted a core and %s of the time had none: other work runs there.", host, diagnose.Percent(waited))
		h.remedy = record.ByHand(fmt.Sprintf("move the other work of %s to other cores, or give the streams' threads cores of their own (`taskset`)", host))
	case !use.Shared && v.softirqFull(use):
		h.sure = 0.8
		h.summary = fmt.Sprintf("One core of %s takes in packets all the time (softirq) while others have room: it is the limit, not the links.", host)
		h.remedy = record.ByHand(fmt.Sprintf("spread the interrupts of %s over more cores (more channels: `ethtool -L`, or receive packet steering), or use larger frames", host))
	case crowdedOut(use) && v.lateAt(cause):
		h.sure = 0.7
		h.summary = fmt.Sprintf("All cores of %s were busy, hardly with the streams' threads, and its end of the streams was late: other work takes the processor.", host)
		h.remedy = record.ByHand(fmt.Sprintf("move the other work of %s elsewhere, or give the streams' program a larger share (`nice`, cpu.weight)", host))
	case use.Steal >= stolenShare:
		h.sure = 0.7
		h.summary = fmt.Sprintf("A hypervisor took %s of %s's processor time away.", diagnose.Percent(use.Steal), host)
		h.remedy = record.ByHand("use an instance with cores of its own")
	default:
		return hypothesis{}, false
	}
	v.doubtCore(&h, use)
	return h, true
}

// leastSpare is the share of a host's only core that must be idle for its
// threads to get what they want, if late.
const leastSpare = 0.05

// coreToSpare reports a host whose only core had time left, and whose threads
// no quota stopped: they wait for each other, and yet all get their turn.
func coreToSpare(use record.CPUUse) bool {
	return use.Cores == 1 && use.Throttled < stoppedShare && ratio(use.Busiest) < 1-leastSpare
}

// doubtCore: what TCP waited for says which end was late.
func (v *wayView) doubtCore(h *hypothesis, use record.CPUUse) {
	w := v.waits
	other, otherWaited := v.otherEnd(h.cause)
	if waits := waitedOf(v, use, h.cause); use.Throttled < stoppedShare && waits > 0 && otherWaited > waits {
		h.sure *= 0.6
		h.against = append(h.against, record.Evidence{What: "time the threads of " + other + " waited for a core", Value: diagnose.Percent(otherWaited), Source: fromSchedstat})
	}
	if use.Shared && use.Cores <= 1 {
		// One core for both ends: its threads wait for each other.
		h.sure = min(h.sure, 0.5)
		h.summary = "The processor that both ends share was full: the result is its limit, not the links'."
	}
	if !w.known {
		return
	}
	late := max(w.rwnd, w.unheeded)
	switch {
	case h.cause == record.SenderCPU && w.idle() < idleSender && w.queued() > deepQueue:
		h.sure *= 0.7
		h.against = append(h.against, record.Evidence{What: "time without data to send", Value: fmt.Sprintf("%s, while %.1f ms of packets waited on the way", diagnose.Percent(w.idle()), w.queue()), Source: fromTCP})
	case h.cause == record.SenderCPU && late >= 0.5 && !v.quotaOf(v.from):
		h.sure *= 0.4
		h.against = append(h.against, record.Evidence{What: "time limited by the receive window", Value: diagnose.Percent(w.rwnd) + ": the sender had more to send", Source: fromTCP})
	case h.cause == record.ReceiverCPU && late < readerHardly && !v.softirqFull(use) && v.bothBusy():
		h.sure *= 0.7
		h.against = append(h.against, record.Evidence{What: "time limited by the receive window", Value: diagnose.Percent(w.rwnd) + ": the receiver kept up", Source: fromTCP})
	}
}

// otherEnd is the host at the other end, and how long its thread waited.
func (v *wayView) otherEnd(cause record.Cause) (host string, waited float64) {
	host = v.to
	if cause == record.ReceiverCPU {
		host = v.from
	}
	use, _ := v.processorOf(host)
	_, waited = v.threads(use, cause == record.ReceiverCPU)
	return host, waited
}

func waitedOf(v *wayView, use record.CPUUse, cause record.Cause) float64 {
	_, waited := v.threads(use, cause == record.SenderCPU)
	return waited
}

// quotaOf reports a host whose threads were stopped by a quota for a good part.
func (v *wayView) quotaOf(host string) bool {
	use, ok := v.processorOf(host)
	return ok && use.Quota > 0 && use.Throttled >= limitedShare && v.waits.rwnd < use.Throttled
}

func (v *wayView) bothBusy() bool {
	a, okA := v.processorOf(v.from)
	b, okB := v.processorOf(v.to)
	return okA && okB && a.BusiestThread >= busyCore && b.BusiestThread >= busyCore
}

func (v *wayView) processorOf(host string) (record.CPUUse, bool) {
	for _, c := range v.trial.CPU {
		if c.Host == host {
			return c, true
		}
	}
	return record.CPUUse{}, false
}

// threads is how busy the busiest thread of one end's streams was, and how
// long that one waited for a core, as shares of the window.
func (v *wayView) threads(use record.CPUUse, sending bool) (busy, waited float64) {
	for _, t := range use.Threads {
		if t.Way != "" && (t.Way != v.way || t.Sending != sending) {
			continue
		}
		if ratio(t.Busy)+ratio(t.Waited) > busy+waited {
			busy, waited = ratio(t.Busy), ratio(t.Waited)
		}
	}
	if len(use.Threads) == 0 {
		busy = ratio(use.BusiestThread)
	}
	if v.trial.Direction != flow.Both {
		busy = max(busy, ratio(use.BusiestThread))
	}
	return busy, waited
}

func (v *wayView) coreEvidence(use record.CPUUse, busy, waited float64) []record.Evidence {
	var out []record.Evidence
	if use.Cores > 0 || use.Busiest > 0 { // another tool's file has its own process alone
		out = append(out, record.Evidence{What: "busiest core of " + use.Host, Value: diagnose.Percent(use.Busiest), Source: "/proc/stat"})
	}
	out = append(out, record.Evidence{What: "busiest stream thread of " + use.Host, Value: diagnose.Percent(max(busy, ratio(use.BusiestThread))), Source: fromThread})
	if waited > 0 {
		out = append(out, record.Evidence{What: "time that thread waited for a core", Value: diagnose.Percent(waited), Source: fromSchedstat})
	}
	if use.Quota > 0 {
		out = append(out, record.Evidence{What: "quota of its control group", Value: fmt.Sprintf("%.2g cores, stopped %s of the time", use.Quota, diagnose.Percent(use.Throttled)), Source: fromCgroup})
	}
	if use.Steal > 0 {
		out = append(out, record.Evidence{What: "time taken by a hypervisor on " + use.Host, Value: diagnose.Percent(use.Steal), Source: "/proc/stat"})
	}
	if use.SoftnetDrops > 0 {
		out = append(out, record.Evidence{What: "packets dropped before " + use.Host + "'s stack", Value: fmt.Sprintf("+%d", use.SoftnetDrops), Source: "/proc/net/softnet_stat"})
	}
	if use.TimeSqueezes > 0 {
		out = append(out, record.Evidence{What: "polls of " + use.Host + " that ended with packets left (net.core.netdev_budget)", Value: fmt.Sprintf("+%d", use.TimeSqueezes), Source: "/proc/net/softnet_stat"})
	}
	return append(append(out, v.tcpEvidence()...), v.loads()...)
}

// softirqFull reports a core that does nothing but take in packets.
func (v *wayView) softirqFull(use record.CPUUse) bool {
	return slices.ContainsFunc(use.PerCore, func(c record.CoreUse) bool { return ratio(c.Softirq) >= softirqCore && ratio(c.Busy) >= busyCore })
}

// oneCoreFull: both ends run on one core, and it has no time left.
func (v *wayView) oneCoreFull() bool {
	return slices.ContainsFunc(v.trial.CPU, func(c record.CPUUse) bool { return c.Shared && c.Cores == 1 && ratio(c.Busiest) >= 0.97 })
}

// anyCore: some core was full, though no stream's thread was: its softirq, or
// another program's work.
func (v *wayView) anyCore() (hypothesis, bool) {
	use, ok := v.busiestHost()
	if !ok || !v.room() {
		return hypothesis{}, false
	}
	h := hypothesis{
		cause: record.SenderCPU, sure: 0.5,
		summary:  fmt.Sprintf("A core of %s was busy %s of the time, though not with a stream's thread: its interrupts, or another program's work.", use.Host, diagnose.Percent(busiest(use))),
		evidence: v.coreEvidence(use, use.BusiestThread, 0),
		remedy:   v.processorRemedy(use),
		decide:   record.Decision{Probe: record.ProbeIdle, Between: []record.Cause{record.SenderCPU, record.ReceiverCPU, record.Unknown}, Text: "look at the processors while nothing is sent: what is busy then is another program's"},
	}
	if use.Host == v.to && !use.Shared {
		h.cause = record.ReceiverCPU
	}
	if use.Shared {
		h.sure = 0.42
		h.summary = "The processor that both ends share was full: the result is its limit, not the links'."
	}
	return h, true
}

// busiestHost is the end with the busiest core, the sender at a tie and on a
// machine that both share.
func (v *wayView) busiestHost() (best record.CPUUse, ok bool) {
	for _, host := range []string{v.from, v.to} {
		c, found := v.processorOf(host)
		if !found || ratio(busiest(c)) < busyCore || ok && (c.Shared || busiest(c) <= busiest(best)) {
			continue
		}
		best, ok = c, true
	}
	return best, ok
}

func busiest(c record.CPUUse) float64 { return max(ratio(c.Busiest), ratio(c.BusiestThread)) }

// oneThreaded reports iperf3 before 3.16, whose one thread has all the streams: of
// those alone a file tells how busy the thread was.
func (v *wayView) oneThreaded(use record.CPUUse) bool {
	return v.trial.Tool == "iperf3" && len(v.lanes) > 1 && ratio(use.BusiestThread) > 0 && len(use.Threads) < 2
}

// processorRemedy: more streams help only while cores are left to run them.
func (v *wayView) processorRemedy(use record.CPUUse) record.Remedy {
	if v.oneThreaded(use) {
		return record.ByHand("run several iperf3 at once, each with a port of its own (`-p`), or iperf3 3.16 or newer: before, one thread moves all streams, and more streams (-P) add nothing")
	}
	if use.Cores > 0 && len(v.lanes) >= use.Cores {
		return record.ByHand("use larger frames or a faster core: there are as many streams as cores already")
	}
	return record.Remedy{v.traffic().More(min(2*len(v.lanes), max(use.Cores, 2)))}.Or(record.Ask("use larger frames, or a faster core"))
}

// allCores is the share of a host's cores from which none is free.
const allCores = 0.97

// crowdedOut reports a host without a free core whose streams' threads had
// little of it, where nobody counted how long they waited for one. One core that
// both ends share is busy with their own packets.
func crowdedOut(use record.CPUUse) bool {
	waited := slices.ContainsFunc(use.Threads, func(t record.ThreadUse) bool { return t.Waited > 0 })
	return !waited && use.Cores > 0 && !(use.Shared && use.Cores == 1) && sound(use.Busy) >= allCores*float64(use.Cores) && ratio(use.BusiestThread) < busyCore
}

// lateAt reports an end that TCP waited for: a sender that left his socket
// empty, a receiver that left his window full.
func (v *wayView) lateAt(cause record.Cause) bool {
	w := v.waits
	if cause == record.SenderCPU {
		return max(w.idle(), w.starved) >= limitedShare
	}
	return w.unheeded >= unreadMost
}
