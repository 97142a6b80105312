package trial

import (
	"math"
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// boundBySend is what two streams of the default send buffer (4 MiB, 0.96 of it
// in flight) carry over 200 ms and the hosts' 0.15: the next limit once the
// receive window is out of the way.
const boundBySend = 2 * (4 << 20) * 8 * 0.96 / 0.20015

// TestFlowRules: no link is full; TCP, the processors or nobody says why.
func TestFlowRules(t *testing.T) {
	f := pair{end: end{links: 2, policy: netstate.Layer34}, rtt: 200 * time.Millisecond}.fabric()
	near := pair{end: end{links: 2, policy: netstate.Layer34}}.fabric()
	slow := sent(2, rates(one/4, one/4), rates(one/4, one/4))
	receive := tcpOf(slow, func(c *record.TCP) { c.RwndLimited = 0.9 })
	send := tcpOf(slow, func(c *record.TCP) { c.SndbufLimited = 0.5; c.RwndLimited = 0.2 })
	old := tcpOf(receive, func(c *record.TCP) { c.SndWnd = 0 })
	lost := tcpOf(slow, func(c *record.TCP) { c.BytesRetrans = 1 << 20 })
	lostOld := with(slow, func(t *record.Trial) { t.Lanes[0].Retransmits = 4000 })
	partly := with(receive, func(t *record.Trial) { t.Lanes[1].TCP = record.TCP{} })
	uncounted := tcpOf(slow, func(c *record.TCP) { *c = record.TCP{} })
	noSpeed := with(slow, func(t *record.Trial) {
		t.Links = append([]record.LinkUse(nil), t.Links...)
		for i := range t.Links {
			t.Links[i].Ceiling = 0
		}
	})
	others := own(sent(2, rates(one, one), rates(one, one)), one)
	into := own(sent(2, rates(one/4, one/4), rates(one, one)), one/2)
	copied := tcpOf(others, func(c *record.TCP) { c.SegmentsOut, c.DSACKDups = 10000, 9000 })
	marks := tcpOf(slow, func(c *record.TCP) { c.SegmentsOut, c.ECNMarks = 10000, 160 })
	drops := func(n uint64) record.Trial {
		return with(slow, func(t *record.Trial) {
			t.Links = append([]record.LinkUse(nil), t.Links...)
			t.Links[0].TxPackets, t.Links[0].QdiscDrops = 2534, n
		})
	}
	unscaled := with(tcpOf(receive, func(c *record.TCP) { c.SndWnd = 64 << 10 }), func(t *record.Trial) {
		for i := range t.Lanes {
			t.Lanes[i].RcvBuf = 767 << 10
		}
	})
	a, b := record.CPUUse{Host: "a", Cores: 8, Busiest: 0.97}, record.CPUUse{Host: "b", Cores: 8, Busiest: 0.2}
	flip := func(u record.CPUUse, host string) record.CPUUse { u.Host = host; return u }
	busy := func(u record.CPUUse) record.CPUUse { u.BusiestThread = 0.95; return u }
	shared := func(u record.CPUUse) record.CPUUse { u.Shared = true; return u }
	for _, r := range []rule{
		{name: "receive window", fabric: f, trial: receive, cause: record.ReceiveWindow, summary: "a window of 3 MiB over 9.2 ms", remedy: "on b: `sysctl -w 'net.ipv4.tcp_rmem=", source: "TCP_INFO", leastSure: 0.8, expected: 2 * one},
		{name: "receive window, size not told", fabric: f, trial: old, cause: record.ReceiveWindow, not: "a window of", remedy: "on b: `sysctl -w 'net.ipv4.tcp_rmem=", expected: 2 * one},
		{name: "receive window, a stream without counters", fabric: near, trial: partly, cause: record.ReceiveWindow, leastSure: 0.85, expected: 2 * one},
		{name: "send buffer", fabric: near, trial: send, cause: record.SendBuffer, remedy: "on a: `sysctl -w 'net.ipv4.tcp_wmem=", source: "TCP_INFO", leastSure: 0.6, mostSure: 0.9, expected: 2 * one},
		{name: "send buffer, of programs that asked for theirs at both ends", fabric: near, trial: asking(tcpOf(send, func(c *record.TCP) { c.RwndLimited, c.SndWnd = 0.1, 400<<10 }), record.Socket{SndBuf: 100 << 10, RcvBuf: 400 << 10}),
			cause: record.SendBuffer, summary: "SO_SNDBUF", expected: 2 * (400 << 10) * 8 / 0.0092},
		{name: "another program's core", fabric: near, trial: cpu(receive, a, b), cause: record.ReceiveWindow, expected: 2 * one},
		{name: "a full core, no stream's thread", fabric: near, trial: cpu(slow, a, b), cause: record.SenderCPU, leastSure: 0.4, mostSure: 0.6, expected: 2 * one},
		{name: "sender's core", fabric: near, trial: cpu(slow, busy(a), b), cause: record.SenderCPU, summary: "core of a was busy 97.0 %", remedy: "use 4 streams", source: "/proc/stat", leastSure: 0.8, expected: 2 * one},
		{name: "receiver's core", fabric: near, trial: cpu(slow, flip(b, "a"), busy(flip(a, "b"))), cause: record.ReceiverCPU, summary: "core of b", leastSure: 0.8, expected: 2 * one},
		{name: "as many streams as cores", fabric: near, trial: cpu(slow, record.CPUUse{Host: "a", Cores: 2, Busiest: 1}), cause: record.SenderCPU, remedy: "as many streams as cores", expected: 2 * one},
		{name: "receiver's thread", fabric: near, trial: cpu(slow, flip(b, "a"), record.CPUUse{Host: "b", Cores: 8, Busiest: 0.6, BusiestThread: 0.95}), cause: record.ReceiverCPU, summary: "95.0 %", source: "thread", expected: 2 * one},
		{name: "shared machine", fabric: near, trial: cpu(slow, shared(a), shared(flip(a, "b"))), cause: record.SenderCPU, summary: "both ends share", leastSure: 0.4, mostSure: 0.6, expected: 2 * one},
		{name: "shared machine, the receiver's reading a hair above", fabric: near, trial: cpu(slow, shared(a), record.CPUUse{Host: "b", Cores: 8, Busiest: 0.971, Shared: true}), cause: record.SenderCPU, mostSure: 0.6, expected: 2 * one},
		{name: "shared machine, the receiver's thread", fabric: near, trial: cpu(slow, shared(a), record.CPUUse{Host: "b", Cores: 8, Busiest: 0.97, BusiestThread: 0.98, Shared: true}), cause: record.ReceiverCPU, leastSure: 0.8, expected: 2 * one},
		{name: "a third host's core", fabric: near, trial: cpu(slow, flip(a, "c")), cause: record.Unknown},
		{name: "loss", fabric: near, trial: lost, cause: record.Congestion, summary: "sent again", remedy: "drops", source: "TCP_INFO", leastSure: 0.5, expected: 2 * one},
		{name: "loss on a kernel that counts segments", fabric: near, trial: lostOld, cause: record.Congestion, expected: 2 * one},
		{name: "nothing arrived", fabric: near, trial: cpu(sent(2, rates(0, 0), rates(0, 0)), a), cause: record.Unknown, summary: "Nothing arrived from a", remedy: "ping", mostSure: 0.1},
		{name: "nothing arrived, nothing counted", fabric: near, trial: record.Trial{From: "a", To: "b", Direction: forward}, cause: record.Unknown, summary: "Nothing arrived"},
		{name: "speed unknown", fabric: near, trial: noSpeed, cause: record.Unknown, summary: "speed of a link is not known", remedy: "hardware.links"},
		{name: "no link counters", fabric: near, trial: with(slow, func(t *record.Trial) { t.Links = nil }), cause: record.Unknown, summary: "counters are missing", remedy: "observed"},
		{name: "no TCP counters", fabric: near, trial: uncounted, cause: record.Unknown, summary: "TCP counters are missing", remedy: "Linux"},
		{name: "links full of other traffic", fabric: near, trial: others, cause: record.LineRate, summary: "the rest is other traffic", not: "had room", remedy: "who else sends there", leastSure: 0.9},
		{name: "links full of copies", fabric: near, trial: copied, cause: record.LineRate, summary: "arrive more than once", remedy: "mirror port", leastSure: 0.9},
		{name: "the receiver's link full of what others send", fabric: near, trial: into, cause: record.LineRate, summary: "The links of b are full", leastSure: 0.9},
		{name: "nobody else, a little of everything", fabric: near, trial: sent(2, rates(one*45/100, one*45/100), rates(one*45/100, one*45/100)), cause: record.Unknown},
		{name: "marks", fabric: near, trial: marks, cause: record.Congestion, summary: "marks packets (ECN)", remedy: "threshold", source: "tcpi_delivered_ce", leastSure: 0.6, expected: 2 * one},
		{name: "a few marks", fabric: near, trial: tcpOf(slow, func(c *record.TCP) { c.SegmentsOut, c.ECNMarks = 1000000, 30 }), cause: record.Unknown},
		{name: "a queue of its own that drops", fabric: near, trial: drops(122), cause: record.Congestion, summary: "drops in its own queue", remedy: "tc -s -d qdisc", source: "RTM_GETQDISC", leastSure: 0.6, expected: 2 * one},
		{name: "a few drops of its own", fabric: near, trial: drops(9), cause: record.Unknown},
		{name: "windows that are not scaled", fabric: f, trial: unscaled, cause: record.ReceiveWindow, summary: "not scaled (RFC 7323)", remedy: "tcp_window_scaling", not: "net.ipv4.tcp_rmem=", leastSure: 0.8, expected: boundBySend},
		{name: "nothing known to bind", fabric: near, trial: slow, cause: record.Unknown, summary: "had room", remedy: "twice the streams"},
	} {
		t.Run(r.name, r.check)
	}
}

// TestHostile: whatever a record holds, numbers stay numbers and nothing
// panics.
func TestHostile(t *testing.T) {
	number := rapid.OneOf(rapid.Just(0.0), rapid.Just(-1.0), rapid.Just(float64(one)), rapid.Float64(), rapid.Just(math.NaN()), rapid.Just(math.Inf(1)), rapid.Just(math.MaxFloat64))
	name := rapid.SampledFrom([]string{"", "a", "b", "eth0", "eth1", "bond0"})
	addr := rapid.SampledFrom([]netip.Addr{{}, netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("fd00::1")})
	way := rapid.SampledFrom([]flow.Direction{"", forward, flow.Reverse, flow.Both, "sideways"})
	rapid.Check(t, func(t *rapid.T) {
		rate := func(what string) unit.BitRate { return unit.BitRate(number.Draw(t, what)) }
		trial := record.Trial{From: name.Draw(t, "from"), To: name.Draw(t, "to"), Direction: way.Draw(t, "direction"), Streams: rapid.Int().Draw(t, "streams"),
			Protocol: rapid.SampledFrom([]string{"", "tcp", "udp", "smtp"}).Draw(t, "protocol"), Wire: rate("wire"), Goodput: rate("goodput"), Window: number.Draw(t, "window")}
		for range rapid.IntRange(0, 4).Draw(t, "lanes") {
			trial.Lanes = append(trial.Lanes, record.Lane{Lane: flow.Lane{Src: addr.Draw(t, "src"), Dst: addr.Draw(t, "dst")}, Way: way.Draw(t, "way"), Goodput: rate("lane"),
				Retransmits: rapid.Uint64().Draw(t, "retransmits"),
				TCP: record.TCP{SndMSS: rapid.IntRange(-1, 1448).Draw(t, "mss"), RwndLimited: number.Draw(t, "rwnd"), SndbufLimited: number.Draw(t, "sndbuf"),
					RTTMS: number.Draw(t, "rtt"), BytesRetrans: rapid.Uint64().Draw(t, "retrans")}})
		}
		for range rapid.IntRange(0, 4).Draw(t, "links") {
			trial.Links = append(trial.Links, record.LinkUse{Host: name.Draw(t, "host"), Link: name.Draw(t, "link"), TxPayload: rate("tx"), RxPayload: rate("rx"), Ceiling: rate("ceiling")})
		}
		for range rapid.IntRange(0, 2).Draw(t, "cpus") {
			trial.CPU = append(trial.CPU, record.CPUUse{Host: name.Draw(t, "cpu"), Busiest: number.Draw(t, "busiest"), BusiestThread: number.Draw(t, "thread"), Shared: rapid.Bool().Draw(t, "shared")})
		}
		f := predict.Fabric{}
		if rapid.Bool().Draw(t, "fabric") {
			f = pair{end: end{links: rapid.IntRange(1, 3).Draw(t, "ports"), policy: rapid.SampledFrom(netstate.HashPolicies()).Draw(t, "policy"),
				mode: rapid.SampledFrom(netstate.BondModes()).Draw(t, "mode"), outside: rapid.IntRange(0, 2).Draw(t, "outside")}, rate: rate("path")}.fabric()
		}
		got := Judge(f, trial)
		for _, n := range []float64{got.Confidence, float64(got.Expected)} {
			if math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
				t.Fatalf("%v in %+v", n, got)
			}
		}
		var cause record.Cause
		if cause.UnmarshalText([]byte(got.Cause)) != nil || got.Confidence > 1 || got.Summary == "" || got.Remedy == "" || len(got.Evidence) == 0 {
			t.Fatalf("incomplete: %+v", got)
		}
	})
}
