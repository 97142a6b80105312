package measure

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/predict/tunnel"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestHeaderBytes: with what predict takes off, a full frame is payload and
// headers and nothing else.
func TestHeaderBytes(t *testing.T) {
	for _, c := range []struct {
		v6   bool
		tags int
		want float64
	}{{false, 0, 66}, {true, 0, 86}, {false, 1, 70}, {true, 2, 94}} {
		got := headerBytes("tcp", c.v6, tunnel.Stack{Tags: c.tags})
		if got != c.want {
			t.Errorf("IPv6 %v, %d tags: %v, want %v", c.v6, c.tags, got, c.want)
		}
		if own := framing.HeaderBytes("tcp", c.v6) + 14 + 4*c.tags; float64(own) != got {
			t.Errorf("IPv6 %v, %d tags: predict counts %d bytes of headers, here %v", c.v6, c.tags, own, got)
		}
	}
}

// measured is a trial of two streams over two links that ran for two seconds:
// 1000 full segments a stream and second.
func measured(t *testing.T) *trial {
	n := networkOf(bonded("alpha", 2, 1, 1), bonded("beta", 2, 1, 101), "layer3+4")
	spec := Spec{From: "alpha", To: "beta", Direction: flow.Forward, Streams: 2}
	w := wayOf(t, n, flow.Forward, 2)
	ports, _, err := choosePorts(n, w, 5201, occupied{})
	if err != nil {
		t.Fatal(err)
	}
	tr := &trial{cfg: Config{Network: n}, spec: spec, streams: map[flow.Direction][]agentapi.Stream{}, warmUp: time.Second}
	for i, sport := range ports {
		tr.streams[flow.Forward] = append(tr.streams[flow.Forward], agentapi.Stream{Lane: w.lane(i), Sport: sport, Dport: 5201})
	}
	sink := &end{host: "beta", way: w}
	source := &end{host: "alpha", way: w, sending: true}
	for k := range 11 { // 0.2 s apart
		at, segments := time.Duration(k)*step, uint64(200*k)
		bytes := []uint64{500 + segments*1448, segments * 1448}
		tx := netstate.Counters{TxBytes: 7 + segments*1514, TxPackets: segments}
		rx := netstate.Counters{RxBytes: segments * 1514, RxPackets: segments}
		counts := func(c netstate.Counters) []agentapi.LinkCount {
			return []agentapi.LinkCount{{Link: "eth0", At: at, LinkCounters: netstate.LinkCounters{Counters: c}}, {Link: "eth1", At: at, LinkCounters: netstate.LinkCounters{Counters: c}}}
		}
		out := agentapi.TCPCount{Present: true, Busy: at, RwndLimited: at / 4, SegmentsOut: segments, Retransmits: uint64(k), BytesRetrans: uint64(k) * 1448,
			Last: record.TCP{SndMSS: 1448, RTTMS: 9.5}, SndBuf: 4 * unit.MiB}
		in := agentapi.TCPCount{Present: true, SegmentsIn: segments, Last: record.TCP{RcvSpace: 100, RcvOutOfOrder: uint64(3 * k)}, RcvBuf: 6 * unit.MiB}
		cpu := agentapi.CPUCount{Busy: []float64{0.05 * float64(k), 0.2 * float64(k)}, Softirq: []float64{0, 0.1 * float64(k)}, Threads: []float64{0.1 * float64(k), 0}}
		source.samples = append(source.samples, agentapi.Sample{At: at, Bytes: bytes, Links: counts(tx), CPU: cpu, TCP: []agentapi.TCPCount{out, out}})
		sink.samples = append(sink.samples, agentapi.Sample{At: at, Bytes: bytes, Links: counts(rx), CPU: cpu, TCP: []agentapi.TCPCount{in, in}})
	}
	tr.ends = []*end{sink, source}
	return tr
}

func TestResult(t *testing.T) {
	tr := measured(t)
	got, err := tr.result(stopDuration)
	if err != nil {
		t.Fatal(err)
	}
	const stream = 1000 * 1448 * 8
	if len(got.Notes) != 0 || got.Notes == nil {
		t.Errorf("notes %q, want an empty list", got.Notes)
	}
	want := record.Trial{
		From: "alpha", To: "beta", Direction: flow.Forward, Streams: 2, Protocol: "tcp", Tool: "linerate", Ports: "chosen", MTU: 1500,
		Goodput: 2 * stream, GoodputLow: 2 * stream, GoodputHigh: 2 * stream, Wire: 2 * 1000 * 1514 * 8,
		Ceiling: 2 * 500e6 * 1448 / 1514, CeilingMTU: 1500, Window: 2, WarmUp: 1, Stop: stopDuration,
	}
	links := make(map[string]bool)
	for i, l := range got.Lanes {
		links[l.EgressLink] = true
		if l.Goodput != stream || l.TCP.BusyRatio != 1 || l.TCP.RwndLimited != 0.25 || l.Retransmits != 10 || l.TCP.BytesRetrans != 10*1448 ||
			l.TCP.SegmentsOut != 2000 || l.TCP.SegmentsIn != 2000 || l.TCP.RcvOutOfOrder != 30 || l.TCP.RTTMS != 9.5 || l.TCP.RcvSpace != 100 ||
			l.SndBuf != 4*unit.MiB || l.RcvBuf != 6*unit.MiB || l.IngressLink != "" {
			t.Errorf("lane %d: %+v", i, l)
		}
	}
	if len(got.Lanes) != 2 || len(links) != 2 || links[""] {
		t.Errorf("lanes leave by %v, want one by each link", links)
	}
	for _, l := range got.Links {
		tx := map[bool]unit.BitRate{true: stream, false: 0}
		here := l.Host == "alpha"
		if !near(float64(l.TxPayload), float64(tx[here]), 1e-9) || !near(float64(l.RxPayload), float64(tx[!here]), 1e-9) || l.Ceiling != want.Ceiling/2 {
			t.Errorf("link %+v", l)
		}
	}
	if len(got.Links) != 4 || len(got.CPU) != 2 {
		t.Fatalf("%d links, %d processors", len(got.Links), len(got.CPU))
	}
	if c := got.CPU[0]; c.Host != "beta" || c.Cores != 2 || !near(c.Busy, 1.25, 1e-9) || c.Busiest != 1 || c.Softirq != 0.5 || c.BusiestThread != 0.5 || c.Shared {
		t.Errorf("processor %+v", c)
	}
	if len(got.Blocks) != 10 || got.BlockLength != 0.2 || len(got.Series) != 10 || len(got.SeriesAt) != 10 || got.SeriesAt[9] != 2 || got.Shaper != nil ||
		!near(float64(got.Blocks[3]), 2*stream, 1e-9) || !near(float64(got.Series[3]), 2*stream, 1e-6) {
		t.Errorf("blocks %v of %v s, series %v at %v", got.Blocks, got.BlockLength, got.Series, got.SeriesAt)
	}
	got.Lanes, got.Links, got.CPU, got.Notes = nil, nil, nil, nil
	got.Blocks, got.BlockLength, got.Series, got.SeriesAt = nil, 0, nil, nil
	approx := cmp.Comparer(func(a, b unit.BitRate) bool { return near(float64(a), float64(b), 1e-9) })
	if diff := cmp.Diff(want, got, approx); diff != "" {
		t.Errorf("trial (-want +got)\n%s", diff)
	}
}

// TestResultOfLittle: ends that read less than ours, or were set back.
func TestResultOfLittle(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*trial)
		check  func(record.Trial) bool
	}{
		{"no TCP_INFO", func(tr *trial) {
			for _, e := range tr.ends {
				for i := range e.samples {
					e.samples[i].TCP = nil
				}
			}
		}, func(r record.Trial) bool { return r.Lanes[0].TCP == (record.TCP{}) && r.Goodput > 0 }},
		{"no processors", func(tr *trial) {
			for _, e := range tr.ends {
				for i := range e.samples {
					e.samples[i].CPU = agentapi.CPUCount{}
				}
			}
		}, func(r record.Trial) bool { return r.CPU[0].Busy == 0 && r.CPU[0].Cores == 0 }},
		{"a link's counters set back", func(tr *trial) {
			tr.ends[0].samples[10].Links[0].Counters = netstate.Counters{}
		}, func(r record.Trial) bool {
			return r.Links[0].Rx == 0 && r.Links[0].RxPackets == 0 && strings.Contains(r.Notes[0], "inconsistent")
		}},
		{"TCP counters set back", func(tr *trial) {
			for i := 1; i <= 10; i++ {
				tr.ends[1].samples[i].TCP[0] = agentapi.TCPCount{Present: true}
			}
			tr.ends[1].samples[0].TCP[0].Retransmits, tr.ends[1].samples[0].TCP[0].BytesRetrans = 9, 9
		}, func(r record.Trial) bool { return r.Lanes[0].Retransmits == 0 && r.Lanes[0].TCP.BytesRetrans == 0 }},
		{"bytes that wait to be read", func(tr *trial) {
			for i := range tr.ends[0].samples {
				tr.ends[0].samples[i].TCP[0].Unread = unit.Bytes(100 * i)
			}
		}, func(r record.Trial) bool { return near(float64(r.Unread), 1000*8/2, 1e-9) }},
		{"fewer wait than did", func(tr *trial) {
			for i := range tr.ends[0].samples {
				tr.ends[0].samples[i].TCP[0].Unread = unit.Bytes(1000 - 100*i)
			}
		}, func(r record.Trial) bool { return near(float64(r.Unread), -1000*8/2, 1e-9) }},
		{"one machine", func(tr *trial) { tr.cfg.Network.Machines["beta"] = "m1" }, func(r record.Trial) bool { return r.CPU[0].Shared && r.CPU[1].Shared }},
		{"above the ceiling", func(tr *trial) {
			for _, name := range []string{"alpha", "beta"} {
				for i := range 2 {
					tr.cfg.Network.Fabric.Hosts[name].Links[i].Speed = 5e6
				}
			}
		}, func(r record.Trial) bool { return strings.Contains(strings.Join(r.Notes, " "), "impossible") }},
	} {
		tr := measured(t)
		c.change(tr)
		got, err := tr.result(stopMaximum)
		if err != nil || !c.check(got) {
			t.Errorf("%s: %v\n%+v", c.name, err, got)
		}
	}
}

func TestRatio(t *testing.T) {
	for _, c := range [][3]float64{{1, 2, 0.5}, {3, 2, 1}, {-1, 2, 0}, {1, 0, 0}, {1, -1, 0}, {1, 3, 0.3333}} {
		if got := ratio(c[0], c[1]); got != c[2] {
			t.Errorf("%v of %v: %v, want %v", c[0], c[1], got, c[2])
		}
	}
}
