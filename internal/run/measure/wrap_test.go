package measure

import (
	"net/netip"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestCountersWrap (code 4.5): counters of 32 bits (struct gnet_stats_queue,
// softnet_data, tcp_info) begin again while the window is open, and one of a fast
// stream more than once.
func TestCountersWrap(t *testing.T) {
	open := agentapi.Sample{Bytes: []uint64{0}, Links: []agentapi.LinkCount{{Link: "eth0", LinkCounters: netstate.LinkCounters{QdiscDrops: 1<<32 - 10, QdiscOverlimits: 1<<32 - 100, QdiscRequeues: 1<<32 - 1}}},
		CPU: agentapi.CPUCount{SoftnetDropped: 1<<32 - 10, SoftnetSqueezed: 1<<32 - 10}}
	shut := agentapi.Sample{At: 1e9, Bytes: []uint64{1}, Links: []agentapi.LinkCount{{Link: "eth0", At: 1e9, LinkCounters: netstate.LinkCounters{QdiscDrops: 490, QdiscOverlimits: 99_900, QdiscRequeues: 99}}},
		CPU: agentapi.CPUCount{SoftnetDropped: 490, SoftnetSqueezed: 490}}
	tr := &trial{cfg: Config{Network: Network{Fabric: predict.Fabric{Hosts: map[string]netstate.Host{}}}}, spec: Spec{Protocol: "tcp"}}
	e := &end{host: "a", way: way{lanes: []flow.Lane{{}}, streams: 1}, samples: []agentapi.Sample{open, shut}}
	var out record.Trial
	tr.addLinks(&out, e)
	if u := out.Links[0]; u.QdiscDrops != 500 || u.QdiscOverlimits != 100_000 || u.Requeues != 100 {
		t.Errorf("qdisc: drops %d (really 500), overlimits %d (really 100000), requeues %d (really 100)", u.QdiscDrops, u.QdiscOverlimits, u.Requeues)
	}
	if cpu := tr.processors("a", open.CPU, shut.CPU, 1); cpu.SoftnetDrops != 500 || cpu.TimeSqueezes != 500 {
		t.Errorf("softnet: drops %d, squeezes %d (really 500)", cpu.SoftnetDrops, cpu.TimeSqueezes)
	}

	// 6 billion segments in ten samples, as of an hour at 20 Gbit/s.
	const each, from = 600_000_000, 1<<32 - 500_000
	lane := flow.Lane{}
	sink, source := e, &end{host: "b", way: e.way, sending: true}
	sink.samples = nil
	for n := range uint64(11) {
		tcp := []agentapi.TCPCount{{Present: true, SegmentsIn: uint64(uint32(from + n*each)), SegmentsOut: uint64(uint32(from + n*each)), Retransmits: uint64(uint32(1<<32 - 5 + n))}}
		s := agentapi.Sample{At: time.Duration(n) * time.Second, Bytes: []uint64{n}, TCP: tcp}
		sink.samples, source.samples = append(sink.samples, s), append(source.samples, s)
	}
	tr.ends = []*end{sink, source}
	tr.streams = map[flow.Direction][]agentapi.Stream{e.way.name: {{Lane: lane}}}
	out = record.Trial{}
	tr.addLanes(&out, sink)
	if l := out.Lanes[0]; l.TCP.SegmentsIn != 10*each || l.TCP.SegmentsOut != 10*each || l.Retransmits != 10 || out.Wire == 0 {
		t.Errorf("segments %d in and %d out (really %d), %d retransmitted (really 10), %v on the wire", l.TCP.SegmentsIn, l.TCP.SegmentsOut, uint64(10*each), l.Retransmits, out.Wire)
	}
}

// TestReceiverShapesAnswers: a shaper of the receiver's own holds what it sends, and its
// link may take in what its speed allows.
func TestReceiverShapesAnswers(t *testing.T) {
	shaped := netstate.Link{Name: "eth0", Up: true, Carrier: true, Speed: 60 * unit.Mbps, MTU: 1500, Framing: netstate.FramingL2,
		Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/24")}, Qdiscs: []netstate.Qdisc{{Kind: "tbf", Parent: "root", Rate: 150e3}}}
	there := flow.Lane{Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2")}
	ceiling := func(sending bool, direction flow.Direction) unit.BitRate {
		tr := &trial{cfg: Config{Network: Network{Fabric: predict.Fabric{Hosts: map[string]netstate.Host{"a": {Name: "a", Links: []netstate.Link{shaped}}}}}}, spec: Spec{Protocol: "tcp", Direction: direction}}
		lane := there
		if !sending {
			lane = there.Reverse()
		}
		e := &end{host: "a", sending: sending, way: way{lanes: []flow.Lane{lane}, streams: 1}, samples: []agentapi.Sample{{Bytes: []uint64{0}, Links: []agentapi.LinkCount{{Link: "eth0"}}}, {At: 1e9, Bytes: []uint64{1}, Links: []agentapi.LinkCount{{Link: "eth0", At: 1e9}}}}}
		var out record.Trial
		tr.addLinks(&out, e)
		return out.Links[0].Ceiling
	}
	if c := ceiling(true, flow.Forward); c > 150e3 || c < 100e3 {
		t.Errorf("what it sends: %v", c)
	}
	if c := ceiling(false, flow.Forward); c < 50*unit.Mbps {
		t.Errorf("what it receives: %v", c)
	}
}
