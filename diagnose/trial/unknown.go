package trial

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/predict/routing"
	"github.com/linerate/linerate/record"
)

// unknown names the measurement that would decide.
func (v *wayView) unknown(considered []hypothesis) hypothesis {
	h := hypothesis{cause: record.Unknown, nothingToWin: true}
	h.evidence = append(h.evidence, record.Evidence{What: "payload from " + v.from + " to " + v.to, Value: v.goodput.String(), Source: "bytes that the receiving sockets read, over the common window"})
	h.evidence = append(append(h.evidence, v.tcpEvidence()...), v.loads()...)
	switch {
	case v.goodput <= 0:
		h.summary = fmt.Sprintf("Nothing arrived from %s.", v.from)
		h.remedy = record.ByHand("check that the addresses reach each other (`ping`)")
	case len(v.egress)+len(v.ingress) == 0:
		h.summary = "The links' counters are missing, so nobody can say how full they were."
		h.remedy = record.ByHand("measure again with both hosts observed")
	case v.ceiling() == 0:
		h.summary = "The speed of a link is not known, so nobody can say how full it was."
		h.remedy = record.ByHand("name the links' speeds in hosts.NAME.hardware.links and measure again")
	case allFull(v.egress) || allFull(v.ingress):
		h.summary = fmt.Sprintf("The links were full, but only %s of what they can carry was this trial's: something else uses them too.", diagnose.Percent(v.share()))
		h.remedy = record.ByHand("measure again when the other traffic is gone")
	case v.trial.UDP != nil:
		h.summary = fmt.Sprintf("The links of %s and %s had room, no core was busy, and hardly a datagram was lost: no more was sent.", v.from, v.to)
		h.remedy = record.ByHand("offer more (`--rate-limit`), in more streams or larger datagrams")
	case v.trial.Protocol == "mptcp":
		h.summary = "An MPTCP connection has no TCP counters of its own, so what it waited for is not known."
		h.remedy = record.Do(record.Option("--protocol", "tcp")).Or(record.Ask("look at the subflows while they run (`ss -tinM`)"))
	case !v.waits.present:
		h.summary = "The sender's TCP counters are missing, so what it waited for is not known."
		h.remedy = record.ByHand("measure again with the sender on Linux")
	case v.standsNowAndThen():
		swing, _ := v.swing()
		h.summary = fmt.Sprintf("The rate swings by %s from one moment to the next, nothing is lost, and what %s has to send waits on %[2]s itself: the machine had no time for it now and then.", diagnose.Percent(swing), v.from)
		h.remedy = record.ByHand("see what else runs on the machines, and on the hosts of virtual ones (`vmstat 1`: r, st), and measure again when they have less to do")
	default:
		h.summary = fmt.Sprintf("The links of %s and %s had room, TCP did not wait for a window, and no core was busy.", v.from, v.to)
		h.remedy = record.ByHand("measure longer (`--duration 30s`) and with twice the streams: if the rate grows, streams were the limit; if not, something on the way is")
	}
	h.decide = v.decision(h, considered)
	return h
}

// standsNowAndThen reports a rate that swings widely though nothing is lost and the
// windows are open: the hosts send and read by fits and starts.
func (v *wayView) standsNowAndThen() bool {
	swing, steady := v.swing()
	return steady && swing > roughSwing && v.waits.heldAtHome() && v.waits.repeated < repeatedFew
}

// longer is how many seconds decide whether a rate still grows: CUBIC's way
// back from a loss at 10 Gbit/s and 10 ms takes 19 s.
const longer = 30

// decision is the one measurement that would tell the likeliest causes apart.
func (v *wayView) decision(first hypothesis, others []hypothesis) record.Decision {
	idle := first.cause == record.Unknown && v.standsNowAndThen()
	for _, h := range append([]hypothesis{first}, others...) {
		if h.decide.Probe != "" && !idle {
			return h.decide
		}
	}
	between := []record.Cause{first.cause}
	for _, h := range others {
		if !slices.Contains(between, h.cause) {
			between = append(between, h.cause)
		}
	}
	switch {
	case idle:
		return record.Decision{Probe: record.ProbeIdle, Between: between, Text: "see what the processors and links do while nothing is sent: what keeps a machine from sending is there then too"}
	case len(v.egress)+len(v.ingress) == 0 || v.ceiling() == 0 || !v.waits.present && v.trial.UDP == nil:
		return record.Decision{Probe: record.ProbeObserved, Between: between, Text: "measure again with both hosts observed and the links' speeds known: the counters then say which link, window or core was full"}
	case allFull(v.egress) || allFull(v.ingress):
		return record.Decision{Probe: record.ProbeIdle, Between: between, Text: "count what the links carry while nothing is sent: what is there then is other traffic"}
	case v.goodput <= 0 || v.share() < standstill && v.fullSegment() > usualFrame:
		return record.Decision{Probe: record.ProbePacketSize, Value: float64(v.mtu()), Between: between, Text: "send single packets of the MTU's size: if they are lost and small ones not, it is the MTU"}
	case v.growing():
		return record.Decision{Probe: record.ProbeLonger, Value: longer, Between: between, Text: "measure for 30 s: the rate was still growing"}
	}
	return v.decideStreams(between...)
}

// decideStreams: twice the streams tell what each stream has for itself from
// what all share.
func (v *wayView) decideStreams(between ...record.Cause) record.Decision {
	return record.Decision{
		Probe: record.ProbeStreams, Value: float64(2 * max(v.trial.Streams, 1)), Between: between,
		Text: fmt.Sprintf("measure the same with %d streams: if the sum stays, something that all share limits it (a shaper); if it grows, each stream is limited by itself (losses, a window)", 2*max(v.trial.Streams, 1)),
	}
}

// growing reports a rate that rose over the window by more than its swing.
func (v *wayView) growing() bool {
	b := v.trial.Blocks
	if len(b) < 6 || v.trial.Direction != v.way {
		return false
	}
	third := len(b) / 3
	var early, late float64
	for i := range third {
		early, late = early+float64(b[i]), late+float64(b[len(b)-1-i])
	}
	return late > 1.1*early
}

// mtu is that of the device that the streams leave by; zero unknown.
func (v *wayView) mtu() int {
	if len(v.lanes) == 0 {
		return 0
	}
	return routing.FacingOne(v.fabric.Hosts[v.from], v.lanes[0].Src, v.lanes[0].Dst).MTU
}
