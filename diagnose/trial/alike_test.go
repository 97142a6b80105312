package trial

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestAlike: faults that were first taken for others, each beside the other.
func TestAlike(t *testing.T) {
	f := pair{end: end{links: 2, policy: netstate.Layer34}}.fabric()
	at := func(share unit.BitRate, change func(*record.TCP)) record.Trial {
		return measured(sent(4, rates(share*one, share*one), rates(share*one, share*one)), change)
	}
	// What the own host holds back: far less in flight than congestion control
	// allows, and no window is full.
	home := func(c *record.TCP) {
		c.Samples, c.MeanCwnd, c.MeanInFlight, c.CwndLimited = 10, 400, 60, 0
	}
	sizes := func(t record.Trial, passed int) record.Trial {
		t.Sizes = []record.SizeProbe{{From: "a", To: "b", Link: "bond0", MTU: 1500, Answers: true, Sent: 24, Passed: passed, Passes: 1400}}
		return t
	}
	oneCore := func(busiest float64) record.Trial {
		trial := at(0.4, func(c *record.TCP) { c.BusyRatio, c.Starved = 0.65, 0.5 })
		for _, host := range []string{"a", "b"} {
			trial.CPU = append(trial.CPU, record.CPUUse{Host: host, Cores: 1, Shared: true, Busiest: busiest, Threads: []record.ThreadUse{{Way: forward, Sending: host == "a", Busy: 0.12, Waited: 0.43}}})
		}
		trial.CPU = trial.CPU[len(trial.CPU)-2:]
		return trial
	}
	alone := func(backlog unit.Bytes) record.Trial {
		trial := measured(sent(1, rates(0.8*one, 0), rates(0.8*one, 0)), home)
		trial.Links[0].MeanBacklog = backlog
		return trial
	}
	// Drops of the sender's own queue, while the rate went by fits and starts.
	fitful := homeDrops(at(0.4, func(*record.TCP) {}))
	fitful.Blocks, fitful.BlockLength = []unit.BitRate{1.2 * one, 0.3 * one, 1.2 * one, 0.5 * one, 0.8 * one, 0.8 * one}, 0.5
	cake := func(rate unit.BitRate) predict.Fabric {
		f := pair{end: end{links: 2, policy: netstate.Layer34}}.fabric()
		for i := range 2 {
			f.Hosts["a"].Links[i].Qdiscs = []netstate.Qdisc{{Kind: "cake", Parent: "root", Rate: rate}}
		}
		return f
	}
	for _, c := range []struct {
		name   string
		fabric predict.Fabric
		trial  record.Trial
		want   record.Cause
	}{
		{"a queue of its own drops, whose rate is filled at times", cake(0.6 * one), fitful, record.Unknown},
		{"a queue of its own drops, and its rate is never filled", cake(0.9 * one), fitful, record.Congestion},
		{"a port of balance-xor down", portDown(netstate.BalanceXOR), sent(4, rates(one, 0), rates(one, 0)), record.LACPDown},
		{"a port of balance-rr down", portDown(netstate.BalanceRR), sent(4, rates(one, 0), rates(one, 0)), record.LACPDown},
		{"the standby of active-backup down", portDown(netstate.ActiveBackup), sent(4, rates(one, 0), rates(one, 0)), record.LineRate},
		{"late packets, and windows full with half of what congestion control allows", f, lateAndFull(at(0.4, home), 20), record.ReceiveWindow},
		{"late packets, and windows full with all that congestion control allows", f, lateAndFull(at(0.4, home), 6), record.Reordering},
		{"a port down, and a queue before the other, which is half used", portDown(netstate.BalanceXOR), steady(queuedAt(0.6), 0.01), record.LACPDown},
		{"a port down, and a queue before the other, which is hardly used", portDown(netstate.BalanceXOR), steady(queuedAt(0.2), 0.01), record.Shaper},
		{"no port down, and a queue before links that are half used", f, steady(at(0.6, func(c *record.TCP) { c.MeanRTTMS, c.RTTMS = 140, 140 }), 0.01), record.Shaper},
		{"a port down, its link's part for the other way", portDown(netstate.LACP), bothWays(0.7), record.LACPDown},
		{"links full of small packets", mtuOf(254), tiny(202), record.MTU},
		{"links full of packets of the usual size", f, at(1, func(*record.TCP) {}), record.LineRate},
		{"some echoes lost, and full segments get on", f, sizes(sackedOnce(at(0.2, func(c *record.TCP) { c.BytesRetrans = 80 << 10 })), 22), record.Congestion},
		{"as many lost, and segments had to shrink", f, sizes(at(0.02, func(c *record.TCP) { c.SndMSS, c.Timeouts = 512, 4 }), 0), record.MTU},
		{"a buffer that overhead fills", f, withBuffer(at(0.3, home), 1.8), record.SendBuffer},
		{"a buffer with room", f, withBuffer(at(0.3, home), 6), record.Unknown},
		{"a pace that timers do not reach", f, at(0.3, func(c *record.TCP) { home(c); c.MaxPacing, c.Pacing = 0.25*one, 0.25*one }), record.Pacing},
		{"a pace far above", f, at(0.3, func(c *record.TCP) { home(c); c.MaxPacing, c.Pacing = 0.9*one, 0.9*one }), record.Unknown},
		{"streams of one link paced, of the other lossy", flowsAt(0.2 * one), halfPaced(0.2*one, 0.1*one), record.Pacing},
		{"the same pace, no room beside it", flowsAt(0.48 * one), halfPaced(0.48*one, 0.02*one), record.Congestion},
		{"threads of one core that wait for each other", f, oneCore(0.9), record.Application},
		{"one core without time left", f, oneCore(0.99), record.SenderCPU},
		{"one stream, a queue that never empties", f, alone(200 * unit.KiB), record.SingleLink},
		{"one stream, no queue", f, alone(0), record.Unknown},
		{"streams gathered on a link that is nearly full", f, gathered(0.82), record.HashImbalance},
		{"the same on half a link", f, gathered(0.5), record.Shaper},
	} {
		if got := Judge(c.fabric, c.trial); got.Cause != c.want {
			t.Errorf("%s: %s %.2f (%s), want %s", c.name, got.Cause, got.Confidence, got.Summary, c.want)
		}
	}
}

// portDown is the pair with eth1 of both hosts down.
func portDown(mode netstate.BondMode) predict.Fabric {
	p := pair{end: end{links: 2, mode: mode, policy: netstate.Layer34}}
	if mode == netstate.BalanceRR { // its number is zero, the pair's "not said"
		p.mode = netstate.BalanceXOR
	}
	f := p.fabric()
	for _, h := range f.Hosts {
		for i := range h.Links {
			if h.Links[i].Name == "eth1" {
				h.Links[i].Up, h.Links[i].Carrier, h.Links[i].Port.MIIUp = false, false, false
			}
			if h.Links[i].Bond != nil {
				h.Links[i].Bond.Mode = mode
			}
		}
	}
	return f
}

func mtuOf(mtu int) predict.Fabric {
	f := pair{end: end{links: 2, policy: netstate.Layer34}}.fabric()
	for i := range f.Hosts["a"].Links {
		f.Hosts["a"].Links[i].MTU = mtu
	}
	return f
}

// tiny is both links full of segments of that size, by ceilings that know it.
func tiny(mss int) record.Trial {
	full := 500e6 * unit.BitRate(mss) / unit.BitRate(mss+66)
	trial := measured(sent(4, rates(full, full), rates(full, full)), func(c *record.TCP) { c.SndMSS = mss })
	for i := range trial.Links {
		if trial.Links[i].Host == "a" {
			trial.Links[i].Ceiling = full
		}
	}
	return trial
}

// withBuffer gives each stream a send buffer of so many times what it has in
// flight.
func withBuffer(t record.Trial, times float64) record.Trial {
	for i := range t.Lanes {
		l := &t.Lanes[i]
		l.SndBuf = unit.Bytes(times * float64(l.Goodput) / 8 * l.TCP.MeanRTTMS / 1000)
	}
	return t
}

// flowsAt is the pair whose senders hold each flow to a rate.
func flowsAt(rate unit.BitRate) predict.Fabric {
	f := pair{end: end{links: 2, policy: netstate.Layer34}}.fabric()
	for i := range f.Hosts["a"].Links {
		f.Hosts["a"].Links[i].Qdiscs = []netstate.Qdisc{{Kind: "fq", Parent: "root", FlowRate: rate}}
	}
	return f
}

// halfPaced is two streams at a pace on one link, and two that losses keep
// below it on the other.
func halfPaced(pace, lossy unit.BitRate) record.Trial {
	trial := sackedOnce(measured(sent(4, rates(2*pace, 2*lossy), rates(2*pace, 2*lossy)), func(*record.TCP) {}))
	for i := range trial.Lanes {
		l := &trial.Lanes[i]
		l.Goodput, l.EgressLink = pace, "eth0"
		if i > 1 {
			l.Goodput, l.EgressLink, l.TCP.BytesRetrans = lossy, "eth1", 600<<10
		}
	}
	return trial
}

// bothWays is a trial of both over one link: one fills it, and the other has a
// share of it and a queue.
func bothWays(share unit.BitRate) record.Trial {
	trial := measured(sent(4, rates(share*one, 0), rates(share*one, 0)), func(c *record.TCP) { c.MinRTTMS, c.MeanRTTMS, c.RTTMS = 9, 200, 200 })
	trial.Direction, trial.Goodput = flow.Both, (1+share)*one
	trial.Lanes = append(trial.Lanes, streams(4, flow.Reverse, one)...)
	trial.Links[0].RxPayload, trial.Links[2].TxPayload = one, one
	return trial
}

// gathered is four streams that all arrive by one link, and queue.
func gathered(share unit.BitRate) record.Trial {
	return measured(sent(4, rates(share*one/2, share*one/2), rates(share*one, 0)), func(c *record.TCP) { c.MinRTTMS, c.MeanRTTMS, c.RTTMS = 9, 90, 90 })
}

// TestNotInForce: a declared rate that was passed is said to be wrong.
func TestNotInForce(t *testing.T) {
	f := pair{end: end{links: 2, policy: netstate.Layer34}, rate: 300e6}.fabric()
	got := Judge(f, sent(2, rates(one, one), rates(one, one)))
	if got.Cause != record.LineRate || !strings.Contains(got.Summary, "declares for the path (300 Mbit/s) is not in force") {
		t.Errorf("%s: %s", got.Cause, got.Summary)
	}
	if got := Judge(f, sent(2, rates(0.3*one, 0.3*one), rates(0.3*one, 0.3*one))); strings.Contains(got.Summary, "not in force") {
		t.Errorf("a cap that binds: %s", got.Summary)
	}
}

// queuedAt is a trial whose streams all come by one link, at a share of it, and wait in a
// queue.
func queuedAt(share unit.BitRate) record.Trial {
	return measured(sent(4, rates(share*one, 0), rates(share*one, 0)), func(c *record.TCP) { c.MeanRTTMS, c.RTTMS = 140, 140 })
}

// lateAndFull is a trial whose packets come late while its streams wait for the window
// all the time; congestion control would let so many segments go out, and six are.
func lateAndFull(t record.Trial, cwnd float64) record.Trial {
	for i := range t.Lanes {
		c := &t.Lanes[i].TCP
		c.RwndLimited, c.MeanCwnd, c.MeanInFlight, c.CwndLimited, c.SndWnd = 0.99, cwnd, 6, 0, 60*unit.KiB
		if cwnd < 10 {
			c.CwndLimited = 0.9
		}
		c.MeanRTTMS, c.RTTMS = 20, 20
		c.Reordering, c.ReordSeen, c.DSACKDups, c.BytesRetrans, c.Samples = 6, 40, 8, 12<<10, 10
		c.SegmentsOut = 2000
	}
	return t
}
