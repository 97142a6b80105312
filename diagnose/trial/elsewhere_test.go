package trial

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestElsewhere: faults that the lab does not inject, as a kernel shows them,
// each beside what looks like it.
func TestElsewhere(t *testing.T) {
	f := pair{end: end{links: 2, policy: netstate.Layer34}}.fabric()
	rnd := rand.New(rand.NewPCG(20261122, 9))
	at := func(share unit.BitRate, change func(*record.TCP)) record.Trial {
		return measured(sent(4, rates(share*one, share*one), rates(share*one, share*one)), change)
	}
	ext := func(t record.Trial, host string, counts map[string]uint64) record.Trial {
		t.CPU = append([]record.CPUUse(nil), t.CPU...)
		for i := range t.CPU {
			if t.CPU[i].Host == host {
				t.CPU[i].TCPExt = counts
			}
		}
		return t
	}
	window := func(size unit.Bytes) func(*record.TCP) {
		return func(c *record.TCP) { c.RwndLimited, c.SndWnd, c.CwndLimited = 0.95, size, 0 }
	}
	for _, c := range []struct {
		name   string
		fabric predict.Fabric
		trial  record.Trial
		want   record.Cause
	}{
		{"a reader that sleeps, seen by the windows it shut", f, ext(at(0.2, window(3*unit.MiB)), "b", map[string]uint64{"TCPToZeroWindowAdv": 60, "TCPFromZeroWindowAdv": 60}), record.Application},
		{"a small window that never shuts", f, ext(at(0.2, window(55*unit.KiB)), "b", map[string]uint64{}), record.ReceiveWindow},
		{"a small window that shut for a moment", f, ext(at(0.2, window(55*unit.KiB)), "b", map[string]uint64{"TCPToZeroWindowAdv": 60, "TCPFromZeroWindowAdv": 60}), record.ReceiveWindow},
		{"links of unlike delay, a window too small", f, steady(unlikeTrips(at(0.3, window(140*unit.KiB)), 9, 29, 0.2), 0.01), record.ReceiveWindow},
		{"links of like delay, a queue on the way of two", f, steady(unlikeTrips(at(0.3, func(*record.TCP) {}), 9, 9, 20), 0.01), record.Shaper},
		{"packets that come twice, and some losses", f, sackedOnce(at(0.2, func(c *record.TCP) { c.BytesRetrans, c.DSACKDups = 80<<10, 900 })), record.Congestion},
		{"acknowledgements lost, timeouts for nothing", f, at(0.2, func(c *record.TCP) {
			c.BytesRetrans, c.DSACKDups, c.Timeouts, c.Recovering = 300<<10, 190, 60, 0.3
		}), record.Congestion},
		{"packets that come late, acknowledgements do not", f, at(0.2, func(c *record.TCP) {
			c.BytesRetrans, c.DSACKDups, c.RcvOutOfOrder, c.Recovering = 300<<10, 190, 900, 0.3
		}), record.Reordering},
		{"acknowledgements wait for a slow way back", f, steady(at(0.3, func(c *record.TCP) { c.MeanRTTMS, c.RTTMS = 140, 140 }), 0.03), record.Shaper},
		{"one of two ports slower than it says", f, slowPort(0.1), record.Shaper},
		{"streams unevenly placed on ports as fast as they say", f, spreadUnevenly(), record.HashImbalance},
		{"a queue of two packets at home", f, homeDrops(sackedOnce(at(0.3, func(c *record.TCP) { c.BytesRetrans = 200 << 10 }))), record.Congestion},
		{"bbr through a policer", f, steady(withCongestion(at(0.4, func(c *record.TCP) { c.BytesRetrans, c.Recovering = 9<<20, 0.8 }), "bbr"), 0.02), record.Shaper},
		{"a policer and cubic", f, steady(ext(at(0.4, func(c *record.TCP) { c.BytesRetrans = 600 << 10 }), "a", map[string]uint64{"TCPFastRetrans": 500, "TCPSackRecovery": 60}), 0.03), record.Shaper},
		{"tbf on one of two links, full", ownTBF(100e6), slowPort(0.2), record.Shaper},
		{"all streams on one core", f, pinned(at(0.5, func(c *record.TCP) { c.BusyRatio, c.Starved = 0.5, 0.4 })), record.SenderCPU},
		{"interrupts of one core take all of it, no offloads", f, cpu(at(0.4, func(*record.TCP) {}), record.CPUUse{Host: "a", Cores: 8, Busy: 1, Busiest: 0.4}, record.CPUUse{Host: "b", Cores: 8, Busy: 1.4, Busiest: 1, PerCore: []record.CoreUse{{Core: 2, Busy: 1, Softirq: 0.98}}}), record.ReceiverCPU},
		{"a socket may hand its card next to nothing", fabricWith(f, "a", "net.ipv4.tcp_limit_output_bytes", "2048"), at(0.3, atHome), record.SendBuffer},
		{"the same with the usual limit", fabricWith(f, "a", "net.ipv4.tcp_limit_output_bytes", "1048576"), at(0.3, atHome), record.Unknown},
		{"a receiver out of TCP memory", f, ext(at(0.2, window(20*unit.KiB)), "b", map[string]uint64{"TCPMemoryPressures": 3, "PruneCalled": 400, "RcvPruned": 50}), record.ReceiveWindow},
		{"a foreign tool's receive buffer", f, foreignWindow(at(0.25, window(64*unit.KiB))), record.ReceiveWindow},
		{"addresses hashed over two plain links", multipathed("0"), measured(sent(4, rates(one, 0), rates(one, 0)), func(*record.TCP) {}), record.SingleLink},
		{"ports hashed over two plain links, all alike by chance", multipathed("1"), measured(sent(4, rates(one, 0), rates(one, 0)), func(*record.TCP) {}), record.HashImbalance},
		{"a port that flaps", f, flapping(at(0.5, func(*record.TCP) {}), 3), record.LACPDown},
		{"a port that was away once", f, flapping(at(0.5, func(*record.TCP) {}), 1), record.Unknown},
		{"half of the streams dropped at the receiver", subnets(), filtered(40), record.AsymmetricRoute},
		{"half of the streams dropped, nobody says where", subnets(), filtered(0), record.Congestion},
		{"links of unlike delay, and a queue on both", f, steady(unlikeTrips(at(0.3, func(*record.TCP) {}), 9, 29, 22), 0.01), record.Shaper},
		{"links of unlike delay, and losses", f, sackedOnce(unlikeTrips(at(0.2, func(c *record.TCP) { c.BytesRetrans = 80 << 10 }), 9, 29, 0.3)), record.Congestion},
		{"links of unlike delay, and a buffer", f, unlikeTrips(at(0.3, func(c *record.TCP) { c.SndbufLimited, c.CwndLimited = 0.9, 0 }), 9, 60, 0.3), record.SendBuffer},
		{"one of two ports slower, nobody knows who uses it", f, with(slowPort(0.1), func(t *record.Trial) {
			for i := range t.Lanes {
				t.Lanes[i].EgressLink, t.Lanes[i].IngressLink = "", ""
			}
		}), record.Shaper},
		{"a way back that drops, on a path that drops nothing else", f, at(0.5, func(c *record.TCP) { c.BytesRetrans, c.DSACKDups, c.Recovering = 90<<10, 60, 0.2 }), record.Congestion},
		{"readers on one core", f, readersPinned(at(0.5, func(c *record.TCP) { c.RwndLimited, c.Unheeded = 0.6, 0.7 })), record.ReceiverCPU},
		{"no core free, nobody counts who waits", f, crowded(at(0.1, func(c *record.TCP) { c.BusyRatio, c.Starved = 0.06, 0.9 }), "a"), record.SenderCPU},
		{"no core free at the reader's", f, crowded(at(0.1, func(c *record.TCP) { c.RwndLimited, c.Unheeded = 0.8, 0.9 }), "b"), record.ReceiverCPU},
		{"streams that stand still for want of data", f, idleStreams(), record.Application},
		{"a slot's pause: a queue at home, links half full, no window", f, withBacklog(steady(at(0.5, func(c *record.TCP) { c.MeanRTTMS, c.RTTMS = 40, 40 }), 0.01), 200*unit.KiB), record.Shaper},
		{"two small windows into deep queues", f, steady(at(0.5, func(c *record.TCP) { window(400 * unit.KiB)(c); c.MeanRTTMS, c.RTTMS = 27, 27 }), 0.02), record.Shaper},
	} {
		if got := Judge(c.fabric, c.trial); got.Cause != c.want {
			t.Errorf("%s: %s %.2f (%s), want %s", c.name, got.Cause, got.Confidence, got.Summary, c.want)
		}
		for range 8 {
			if got := Judge(c.fabric, unsteady(rnd, c.trial)); got.Cause != c.want {
				t.Errorf("%s, figures a little off: %s %.2f (%s), want %s", c.name, got.Cause, got.Confidence, got.Summary, c.want)
			}
		}
	}
}

// unsteady is the trial with what TCP said of each stream up to 5 % off.
func unsteady(rnd *rand.Rand, t record.Trial) record.Trial {
	off := func(x float64) float64 { return x * (1 + 0.05*(2*rnd.Float64()-1)) }
	return tcpOf(t, func(c *record.TCP) {
		c.RwndLimited, c.SndbufLimited, c.BusyRatio = off(c.RwndLimited), off(c.SndbufLimited), min(off(c.BusyRatio), 1)
		c.Starved, c.Unheeded, c.Recovering = off(c.Starved), off(c.Unheeded), off(c.Recovering)
		c.MeanRTTMS, c.RTTMS = max(off(c.MeanRTTMS), c.MinRTTMS), max(off(c.RTTMS), c.MinRTTMS)
		c.MeanCwnd, c.MeanInFlight = off(c.MeanCwnd), off(c.MeanInFlight)
		c.BytesRetrans, c.DSACKDups = uint64(off(float64(c.BytesRetrans))), uint64(off(float64(c.DSACKDups)))
		c.SndWnd = unit.Bytes(off(float64(c.SndWnd)))
	})
}

// unlikeTrips has the second half of the streams go another way than the
// first: with that shortest round trip, and a queue of so many milliseconds on
// both.
func unlikeTrips(t record.Trial, first, second, queue float64) record.Trial {
	for i := range t.Lanes {
		c := &t.Lanes[i].TCP
		c.MinRTTMS, t.Lanes[i].EgressLink = first, "eth0"
		if i >= len(t.Lanes)/2 {
			c.MinRTTMS, t.Lanes[i].EgressLink = second, "eth1"
		}
		c.MeanRTTMS = c.MinRTTMS + queue
		c.RTTMS = c.MeanRTTMS
	}
	return t
}

// slowPort has two streams on each link, one link full and the other, said to
// be as fast, at that share under a deep queue.
func slowPort(share unit.BitRate) record.Trial {
	trial := measured(sent(4, rates(one, share*one), rates(one, share*one)), func(*record.TCP) {})
	for i := range trial.Lanes {
		l := &trial.Lanes[i]
		l.Goodput, l.EgressLink, l.IngressLink = one/2, "eth0", "eth0"
		if i > 1 {
			l.Goodput, l.EgressLink, l.IngressLink = share*one/2, "eth1", "eth1"
			l.TCP.MeanRTTMS, l.TCP.RTTMS = 60, 60
		}
	}
	return trial
}

// spreadUnevenly has all four streams on one link.
func spreadUnevenly() record.Trial {
	return placed(measured(sent(4, rates(one, 0), rates(one, 0)), func(*record.TCP) {}), "eth0")
}

func homeDrops(t record.Trial) record.Trial {
	for i := range t.Links {
		if t.Links[i].Host == "a" {
			t.Links[i].QdiscDrops = 400
		}
	}
	return t
}

func withCongestion(t record.Trial, name string) record.Trial { t.Congest = name; return t }

// ownTBF is the pair with a shaper on the sender's second port.
func ownTBF(rate unit.BitRate) predict.Fabric {
	f := pair{end: end{links: 2, policy: netstate.Layer34}}.fabric()
	f.Hosts["a"].Links[1].Qdiscs = []netstate.Qdisc{{Kind: "tbf", Parent: "root", Rate: rate}}
	return f
}

// pinned has all of the sender's threads on one core of eight.
func pinned(t record.Trial) record.Trial {
	core := 3
	use := record.CPUUse{Host: "a", Cores: 8, Busy: 1.2, Busiest: 1, BusiestThread: 0.26, PerCore: []record.CoreUse{{Core: 3, Busy: 1, Softirq: 0.1}, {Core: 4, Busy: 0.1}}}
	for range 4 {
		use.Threads = append(use.Threads, record.ThreadUse{Way: forward, Sending: true, Busy: 0.25, Waited: 0.7, Pinned: &core})
	}
	return cpu(t, use, record.CPUUse{Host: "b", Cores: 8, Busy: 1, Busiest: 0.3})
}

// atHome is far less in flight than congestion control and the window allow.
func atHome(c *record.TCP) { c.MeanCwnd, c.MeanInFlight, c.CwndLimited = 400, 60, 0 }

func fabricWith(f predict.Fabric, host, key, value string) predict.Fabric {
	g := predict.Fabric{Hosts: map[string]netstate.Host{}, Paths: f.Paths}
	for name, h := range f.Hosts {
		g.Hosts[name] = h
	}
	g.Hosts[host] = withSysctl(f.Hosts[host], key, value)
	return g
}

// foreignWindow has the buffer that a program asked for itself, as another
// tool's sockets show it: nothing says what was asked.
func foreignWindow(t record.Trial) record.Trial {
	for i := range t.Lanes {
		t.Lanes[i].RcvBuf, t.Lanes[i].Asked, t.Lanes[i].Granted = 128*unit.KiB, nil, nil
	}
	t.Tool = "iperf3"
	return t
}

// multipathed is two plain links below one route with two legs.
func multipathed(policy string) predict.Fabric {
	f := subnets()
	a := withSysctl(f.Hosts["a"], "net.ipv4.fib_multipath_hash_policy", policy)
	a.Routes = append(a.Routes, netstate.Route{Dst: f.Hosts["b"].Links[0].Addresses[0].Masked(), Hops: []netstate.NextHop{{Link: "eth0"}, {Link: "eth1"}}})
	f.Hosts["a"] = a
	return f
}

// flapping is a port of the sender's bond that goes away so often, and comes
// back.
func flapping(t record.Trial, times int) record.Trial {
	for i := range times {
		t.Outages = append(t.Outages,
			record.Outage{Host: "a", Link: "eth1", Event: "down", At: 0.5 + float64(i), Stalled: []float64{0.4}, Recovered: 0.3, Resolution: 0.05},
			record.Outage{Host: "a", Link: "eth1", Event: "up", At: 0.8 + float64(i), Stalled: []float64{0.2}, Recovered: 0.3, Resolution: 0.05})
	}
	return t
}

// filtered has the second subnet's streams at a standstill: what they sent
// again all arrived at the receiver's link, and its kernel took none of it.
func filtered(drops uint64) record.Trial {
	trial := measured(sent(4, rates(0.5*one, 0), rates(0.5*one, 0)), func(*record.TCP) {})
	trial.Ceiling = 2 * one
	for i := range trial.Lanes {
		l := &trial.Lanes[i]
		l.Goodput, l.EgressLink = 0.25*one, "eth0"
		if i > 1 {
			l.Goodput, l.EgressLink, l.Retransmits = 0, "eth1", 14
			l.Src, l.Dst = netip.MustParseAddr("10.0.1.1"), netip.MustParseAddr("10.0.1.2")
			l.TCP.MeanInFlight, l.TCP.MeanCwnd, l.TCP.Timeouts, l.TCP.Recovering, l.TCP.BytesRetrans, l.TCP.BytesSent = 1, 1, 14, 1, 14*1448, 20*1448
		}
	}
	if drops > 0 {
		trial.CPU[1].TCPExt = map[string]uint64{"IPReversePathFilter": drops}
	}
	return trial
}

// readersPinned has all of the receiver's threads on one core of eight.
func readersPinned(t record.Trial) record.Trial {
	use := record.CPUUse{Host: "b", Cores: 8, Busy: 1.2, Busiest: 1, BusiestThread: 0.26}
	for range 4 {
		use.Threads = append(use.Threads, record.ThreadUse{Way: forward, Busy: 0.25, Waited: 0.7})
	}
	return cpu(t, record.CPUUse{Host: "a", Cores: 8, Busy: 1, Busiest: 0.3}, use)
}

// crowded has every core of a host busy with other programs' work, on a kernel
// that does not count what waits for one.
func crowded(t record.Trial, host string) record.Trial {
	all := []record.CPUUse{{Host: "a", Cores: 4, Busy: 0.5, Busiest: 0.3}, {Host: "b", Cores: 4, Busy: 0.5, Busiest: 0.3}}
	for i := range all {
		if all[i].Host == host {
			all[i].Busy, all[i].Busiest, all[i].BusiestThread = 3.98, 1, 0.02
		}
	}
	return cpu(t, all...)
}

// idleStreams is two streams that carry something, and two that were given
// nothing to send.
func idleStreams() record.Trial {
	trial := measured(sent(4, rates(0.1*one, 0.1*one), rates(0.1*one, 0.1*one)), func(c *record.TCP) { c.BusyRatio, c.Starved = 0.3, 0.7 })
	for i := range trial.Lanes {
		trial.Lanes[i].Goodput = 0.1 * one
		if i > 1 {
			trial.Lanes[i].Goodput = 0
		}
	}
	return trial
}

// steady has a trial's rate swing by so much from block to block.
func steady(t record.Trial, swing float64) record.Trial {
	for i := range 10 {
		t.Blocks = append(t.Blocks, t.Goodput*unit.BitRate(1+swing*float64(2*(i%2)-1)))
	}
	return t
}
