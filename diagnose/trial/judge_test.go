package trial

import (
	"slices"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestHypotheses: each sign of a cause, and beside it what looks alike and is
// something else.
func TestHypotheses(t *testing.T) {
	f := pair{end: end{links: 2, policy: netstate.Layer34}}.fabric()
	at := func(share unit.BitRate, change func(*record.TCP)) record.Trial {
		return measured(sent(2, rates(share*one, share*one), rates(share*one, share*one)), change)
	}
	use := func(t record.Trial, host string, change func(*record.CPUUse)) record.Trial {
		t.CPU = append([]record.CPUUse(nil), t.CPU...)
		for i := range t.CPU {
			if t.CPU[i].Host == host {
				change(&t.CPU[i])
			}
		}
		return t
	}
	// piece has all of a buffer of 36 KiB in flight, which one piece of 64 KB filled
	// at once: Linux 6.1 counted no wait for it (34.2 Mbit/s over 14.6 ms).
	piece := func(buffer unit.Bytes) record.Trial {
		t := at(0.3, func(*record.TCP) {})
		for i := range t.Lanes {
			l := &t.Lanes[i]
			l.SndBuf = buffer
			trip := 1000 * 62_400 * 8 / float64(l.Goodput)
			l.TCP.MinRTTMS, l.TCP.MeanRTTMS, l.TCP.RTTMS = trip, trip, trip
		}
		return t
	}
	four := pair{end: end{links: 4, policy: netstate.Layer34}}.fabric()
	long := func(c *record.TCP) { c.MinRTTMS, c.MeanRTTMS, c.RTTMS = 9, 40, 40 }
	oneLink := func(loss func(*record.TCP)) record.Trial {
		trial := measured(sent(2, rates(one, 0.05*one), rates(one, 0.05*one)), func(*record.TCP) {})
		for i, rate := range rates(one, 0.05*one) {
			trial.Lanes[i].Goodput, trial.Lanes[i].EgressLink = rate, []string{"eth0", "eth1"}[i]
		}
		loss(&trial.Lanes[1].TCP)
		return trial
	}
	root := func(rate unit.BitRate) predict.Fabric {
		g := pair{end: end{links: 2, policy: netstate.Layer34}}.fabric()
		for i, l := range g.Hosts["a"].Links {
			if l.Bond != nil {
				g.Hosts["a"].Links[i].Qdiscs = []netstate.Qdisc{{Kind: "htb", Parent: "root", Rate: rate}}
			}
		}
		return g
	}
	tcpPace := predict.Fabric{Hosts: map[string]netstate.Host{"a": withSysctl(f.Hosts["a"], fqOwnRatios, "30"), "b": f.Hosts["b"]}, Paths: f.Paths}
	slow := func(c *record.TCP) { c.Pacing, c.Samples = 0.3*one*1.04, 0 }
	for _, c := range []struct {
		name   string
		fabric predict.Fabric
		trial  record.Trial
		want   record.Cause
	}{
		{"window full, round trip as short as it gets", f, at(0.3, func(c *record.TCP) { c.RwndLimited = 0.9 }), record.ReceiveWindow},
		{"window full of what waits in a queue", f, steady(at(0.5, func(c *record.TCP) { c.RwndLimited = 0.9; c.MinRTTMS, c.MeanRTTMS, c.RTTMS = 9, 120, 120 }), 0.01), record.Shaper},
		{"a timer that waits, counted as the window", f, with(at(0.05, func(c *record.TCP) {
			c.RwndLimited, c.Recovering, c.SndWnd, c.BytesRetrans = 0.95, 0.6, 3<<20, 10<<10
			c.BytesSent, c.SegmentsOut = 1<<20, 724
		}), func(*record.Trial) {}), record.Congestion},
		{"window full of what nobody reads", f, at(0.3, func(c *record.TCP) { c.RwndLimited, c.Unheeded = 0.9, 0.8 }), record.Application},
		{"window of three packets, seen as they arrive", f, at(0.3, func(c *record.TCP) { c.RwndLimited, c.Unheeded = 0.99, 0.33 }), record.ReceiveWindow},
		{"full of what nobody reads, and the reader's group is out of time", f, use(at(0.3, func(c *record.TCP) { c.RwndLimited, c.Unheeded = 0.9, 0.8 }), "b", func(u *record.CPUUse) { u.Quota, u.Throttled = 0.2, 0.7 }), record.ReceiverCPU},
		{"send buffer", f, at(0.3, func(c *record.TCP) { c.SndbufLimited = 0.8 }), record.SendBuffer},
		{"send buffer that one piece fills", f, piece(36 * unit.KiB), record.SendBuffer},
		{"one that has room for more pieces", f, piece(400 * unit.KiB), record.Unknown},
		{"losses one at a time", f, sackedOnce(at(0.2, func(c *record.TCP) { c.BytesRetrans = 80 << 10 })), record.Congestion},
		{"as many and the receiver had most of them", f, at(0.2, func(c *record.TCP) { c.BytesRetrans, c.DSACKDups, c.Reordering, c.ReordSeen = 800<<10, 500, 40, 600 }), record.Reordering},
		{"as many, never with a window that shrinks, and a flat rate", f, steady(at(0.5, func(c *record.TCP) {
			c.MinRTTMS, c.MeanRTTMS, c.RTTMS, c.Reordering, c.ReordSeen, c.BytesRetrans, c.DSACKDups = 9, 40, 40, 3, 4000, 1<<20, 724
		}), 0.01), record.Shaper},
		{"as many, with one that does", f, steady(at(0.5, func(c *record.TCP) {
			c.MinRTTMS, c.MeanRTTMS, c.RTTMS, c.Reordering, c.ReordSeen, c.BytesRetrans, c.DSACKDups, c.Recovering = 9, 40, 40, 3, 4000, 1<<20, 724, 0.3
		}), 0.01), record.Reordering},
		{"late packets in small number", f, sackedOnce(at(0.2, func(c *record.TCP) { c.BytesRetrans, c.ReordSeen, c.Reordering = 80<<10, 1, 4 })), record.Congestion},
		{"losses of one link only, the other full", f, oneLink(func(c *record.TCP) { c.BytesRetrans = 250 << 10 }), record.Congestion},
		{"one link slow for want of a window", f, oneLink(func(c *record.TCP) { c.RwndLimited = 0.95 }), record.ReceiveWindow},
		{"a queue, and a flat rate", f, steady(at(0.5, long), 0.01), record.Shaper},
		{"a queue, and a buffer that congestion control would let out", f, steady(with(at(0.5, func(c *record.TCP) {
			c.MinRTTMS, c.MeanRTTMS, c.RTTMS, c.SndbufLimited, c.CwndLimited, c.MeanInFlight = 9, 13, 13, 0.2, 0, 150
		}), func(t *record.Trial) {
			for i := range t.Lanes {
				t.Lanes[i].SndBuf = unit.Bytes(t.Lanes[i].Goodput / 8 * 0.012)
			}
		}), 0.09), record.Unknown},
		{"a queue no longer than hosts make", f, at(0.5, func(c *record.TCP) { c.MeanRTTMS = 9.7 }), record.Unknown},
		{"a queue in the sender's own link", f, withBacklog(at(0.5, func(c *record.TCP) { c.MinRTTMS, c.MeanRTTMS = 9, 13 }), 200*unit.KiB), record.Unknown},
		{"a shaper on the sender's bond", root(600e6), at(0.6, func(*record.TCP) {}), record.Shaper},
		{"one that lets more through", root(900e6), at(0.6, func(*record.TCP) {}), record.Unknown},
		{"the provider's allowance", f, withDriver(at(0.5, func(*record.TCP) {}), "bw_out_allowance_exceeded", 812), record.Shaper},
		{"an allowance that was not touched", f, withDriver(at(0.5, func(*record.TCP) {}), "bw_out_allowance_exceeded", 0), record.Unknown},
		{"threads without a core", f, use(at(0.5, func(c *record.TCP) { c.BusyRatio = 0.4 }), "a", func(u *record.CPUUse) {
			u.Threads = []record.ThreadUse{{Way: forward, Sending: true, Busy: 0.05, Waited: 0.7}}
		}), record.SenderCPU},
		{"threads that wait a little", f, use(at(0.5, func(c *record.TCP) { c.BusyRatio, c.Starved = 0.4, 0.5 }), "a", func(u *record.CPUUse) {
			u.Threads = []record.ThreadUse{{Way: forward, Sending: true, Busy: 0.05, Waited: 0.1}}
		}), record.Application},
		{"a quota that is used up", f, use(at(0.5, func(c *record.TCP) { c.BusyRatio = 0.4 }), "a", func(u *record.CPUUse) { u.Quota, u.Throttled = 0.3, 0.6 }), record.SenderCPU},
		{"a quota that is not", f, use(at(0.5, func(c *record.TCP) { c.BusyRatio = 0.4 }), "a", func(u *record.CPUUse) { u.Quota = 2 }), record.Application},
		{"interrupts of one core", f, use(at(0.5, func(*record.TCP) {}), "b", func(u *record.CPUUse) {
			u.PerCore = []record.CoreUse{{Core: 3, Busy: 0.99, Softirq: 0.95}, {Core: 4, Busy: 0.2}}
		}), record.ReceiverCPU},
		{"a slow pace of TCP's own", tcpPace, at(0.3, slow), record.Pacing},
		{"the same without the sysctl", f, at(0.3, slow), record.Unknown},
		{"a socket that the program paces", f, at(0.3, func(c *record.TCP) { c.MaxPacing = 0.3 * one }), record.Pacing},
		{"a pace that is not reached", f, at(0.1, func(c *record.TCP) { c.MaxPacing = 0.9 * one }), record.Unknown},
		{"active-backup, its link not quite full", pair{end: end{links: 2, mode: netstate.ActiveBackup}}.fabric(), measured(sent(4, rates(0.9*one, 0), rates(0.9*one, 0)), func(*record.TCP) {}), record.SingleLink},
		{"one stream of four links, a window at half a link", four, measured(sent(1, rates(one/2, 0, 0, 0), rates(one/2, 0, 0, 0)), func(c *record.TCP) { c.RwndLimited = 0.9 }), record.SingleLink},
		{"a window at a tenth of a link", four, measured(sent(1, rates(one/10, 0, 0, 0), rates(one/10, 0, 0, 0)), func(c *record.TCP) { c.RwndLimited = 0.9 }), record.ReceiveWindow},
		{"links a little below full, alike", f, at(0.9, func(c *record.TCP) { c.MeanRTTMS = 14 }), record.LineRate},
	} {
		got := Judge(c.fabric, c.trial)
		if got.Cause != c.want {
			t.Errorf("%s: %s %.2f (%s), want %s", c.name, got.Cause, got.Confidence, got.Summary, c.want)
		}
		sum := got.Confidence
		for _, a := range got.Also {
			sum += a.Confidence
			if a.Cause == got.Cause || a.Summary == "" {
				t.Errorf("%s: alternative %+v", c.name, a)
			}
		}
		if sum > 1.001 || got.Confidence < sureEnough && got.Cause != record.Unknown && got.Decide.Probe == "" {
			t.Errorf("%s: confidences sum to %.3f, decide %q", c.name, sum, got.Decide.Probe)
		}
	}
}

// withBacklog has that much waiting before each of the sender's links.
func withBacklog(t record.Trial, size unit.Bytes) record.Trial {
	for i := range t.Links {
		if t.Links[i].Host == "a" {
			t.Links[i].MeanBacklog = size
		}
	}
	return t
}

func withDriver(t record.Trial, name string, n uint64) record.Trial {
	t.Links[0].Driver = map[string]uint64{name: n}
	return t
}

// TestSwitchNotAsDeclared: the sender's layer3+4 spreads the streams, and all
// arrive by one link of as many.
func TestSwitchNotAsDeclared(t *testing.T) {
	f := predict.Fabric{Hosts: pair{end: end{links: 2, policy: netstate.Layer34}}.fabric().Hosts, Paths: []fabric.Path{{From: "a", To: "b", RTT: 9 * time.Millisecond, SwitchHash: "layer3+4", Declared: true}}}
	trial := measured(sent(4, rates(one/2, one/2), rates(one, 0)), func(*record.TCP) {})
	for i := range trial.Lanes {
		trial.Lanes[i].EgressLink = []string{"eth0", "eth1"}[i%2]
	}
	if got := Judge(f, trial); got.Cause != record.SingleLink {
		t.Errorf("%s: %s", got.Cause, got.Summary)
	}
	trial.Lanes[1].EgressLink, trial.Lanes[3].EgressLink = "eth0", "eth0"
	if got := Judge(f, trial); got.Cause != record.HashImbalance {
		t.Errorf("not spread by the sender: %s: %s", got.Cause, got.Summary)
	}
}

// TestKeptCountersAreEvidence (code 4.7b): marks of a queue on the way and polls that
// ended with packets left stand beside a finding, and change none.
func TestKeptCountersAreEvidence(t *testing.T) {
	f := pair{end: end{links: 2, policy: netstate.Layer34}}.fabric()
	trial := func(marks, squeezes uint64) record.Trial {
		out := measured(sent(2, rates(0.3*one, 0.3*one), rates(0.3*one, 0.3*one)), func(c *record.TCP) { c.ECNMarks = marks })
		out.CPU = []record.CPUUse{{Host: "b", Cores: 8, Busy: 1.4, Busiest: 1, TimeSqueezes: squeezes, PerCore: []record.CoreUse{{Core: 2, Busy: 1, Softirq: 0.98}}}}
		return out
	}
	plain, counted := Judge(f, trial(0, 0)), Judge(f, trial(3, 7))
	if plain.Cause != record.ReceiverCPU || counted.Cause != plain.Cause || counted.Confidence != plain.Confidence {
		t.Errorf("%s (%.2f), with counters %s (%.2f)", plain.Cause, plain.Confidence, counted.Cause, counted.Confidence)
	}
	for source, want := range map[string]string{fromTCP: "+6", "/proc/net/softnet_stat": "+7"} {
		is := func(e record.Evidence) bool { return e.Source == source && e.Value == want }
		if !slices.ContainsFunc(counted.Evidence, is) || slices.ContainsFunc(plain.Evidence, is) {
			t.Errorf("%s of %s: %+v, without counters %+v", want, source, counted.Evidence, plain.Evidence)
		}
	}
}
