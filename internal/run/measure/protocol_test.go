package measure

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

func TestDatagramsOf(t *testing.T) {
	for _, c := range []struct {
		name        string
		open, shut  agentapi.UDPCount
		sent, bytes uint64
		want        record.UDP
	}{
		{"all arrived", agentapi.UDPCount{Datagrams: 100, Highest: 100}, agentapi.UDPCount{Datagrams: 300, Highest: 300, Jitter: 1500 * time.Microsecond}, 210, 200 * 1472,
			record.UDP{Payload: 1472, Sent: 200, Received: 200, JitterMS: 1.5}},
		{"a quarter lost, some of it here", agentapi.UDPCount{Datagrams: 75, Highest: 100, Dropped: 1}, agentapi.UDPCount{Datagrams: 225, Highest: 300, Dropped: 6, Reordered: 2}, 210, 150 * 100,
			record.UDP{Payload: 100, Sent: 200, Received: 150, Lost: 50, LossRatio: 0.25, Reordered: 2, SocketDrops: 5}},
		{"what came twice is not received twice", agentapi.UDPCount{}, agentapi.UDPCount{Datagrams: 13, Twice: 3, Highest: 10}, 10, 1000,
			record.UDP{Payload: 100, Sent: 10, Received: 10, Twice: 3}},
		{"late ones of before the window", agentapi.UDPCount{Datagrams: 90, Highest: 100}, agentapi.UDPCount{Datagrams: 205, Highest: 210}, 110, 11500,
			record.UDP{Payload: 100, Sent: 115, Received: 115}},
		{"nothing arrived", agentapi.UDPCount{}, agentapi.UDPCount{}, 500, 0, record.UDP{Sent: 500, Lost: 500, LossRatio: 1}},
		{"nothing was sent", agentapi.UDPCount{}, agentapi.UDPCount{}, 0, 0, record.UDP{}},
	} {
		if diff := cmp.Diff(&c.want, datagramsOf(c.open, c.shut, c.sent, c.bytes)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

// TestOffer: UDP that was told nothing keeps to the ceiling of its way.
func TestOffer(t *testing.T) {
	n := networkOf(bonded("alpha", 2, 1, 1), bonded("beta", 2, 1, 101), "layer3+4")
	full := unit.BitRate(2 * 500e6 * 1472.0 / 1514)
	small := full * unit.BitRate(100.0/(100+28+38)/(1472.0/(1472+28+38)))
	for _, c := range []struct {
		name string
		spec Spec
		want unit.BitRate // of each of four streams
		said bool
	}{
		{"tcp", Spec{}, 0, false},
		{"tcp with a limit", Spec{Rate: 4e6}, 1e6, false},
		{"udp", Spec{Protocol: protocolUDP}, full / 4, true},
		{"udp of small datagrams", Spec{Protocol: protocolUDP, Datagrams: &agentapi.Datagrams{Payload: 100}}, small / 4, true},
		{"udp of datagrams that are cut", Spec{Protocol: protocolUDP, Datagrams: &agentapi.Datagrams{Payload: 9000}}, full / 4, true},
		{"udp with a limit", Spec{Protocol: protocolUDP, Rate: 4e6}, 1e6, false},
		{"udp that floods", Spec{Protocol: protocolUDP, Flood: true}, 0, false},
		{"mptcp", Spec{Protocol: protocolMPTCP}, 0, false},
	} {
		c.spec.From, c.spec.To, c.spec.Direction, c.spec.Streams = "alpha", "beta", flow.Forward, 4
		tr := &trial{cfg: Config{Network: n}, spec: c.spec}
		all, err := ways(n, c.spec)
		if err != nil {
			t.Fatal(err)
		}
		got, err := tr.offer(all[0])
		if err != nil || !near(float64(got), float64(c.want), 1e-9) {
			t.Errorf("%s: %v, %v; want %v", c.name, got, err, c.want)
		}
		if said := strings.Contains(strings.Join(tr.notes, ""), "was offered"); said != c.said || (tr.offered > 0) != c.said {
			t.Errorf("%s: notes %q, offered %v", c.name, tr.notes, tr.offered)
		}
		proto := flow.TCP
		if c.spec.Protocol == protocolUDP {
			proto = flow.UDP
		}
		if all[0].transport() != proto {
			t.Errorf("%s: ports are chosen for %v", c.name, all[0].transport())
		}
	}
}

// TestResultOfDatagrams: goodput, wire and loss of a trial of UDP.
func TestResultOfDatagrams(t *testing.T) {
	tr := measured(t)
	tr.spec.Protocol = protocolUDP
	for _, e := range tr.ends {
		for k := range e.samples {
			s, n := &e.samples[k], uint64(100*k)
			s.TCP, s.Bytes = nil, []uint64{n * 1472, n * 1472}
			if e.sending {
				n = n * 5 / 4
			}
			s.UDP = []agentapi.UDPCount{{Datagrams: n, Highest: uint64(100*k) * 5 / 4}, {Datagrams: n, Highest: uint64(100*k) * 5 / 4}}
			for i := range s.Links {
				if e.sending {
					s.Links[i].Counters.TxBytes, s.Links[i].Counters.TxPackets = n*1514, n
				} else {
					s.Links[i].Counters.RxBytes, s.Links[i].Counters.RxPackets = n*1514, n
				}
			}
		}
	}
	got, err := tr.result(stopDuration)
	if err != nil {
		t.Fatal(err)
	}
	want := record.UDP{Payload: 1472, Sent: 2500, Received: 2000, Lost: 500, LossRatio: 0.2}
	if diff := cmp.Diff(&want, got.UDP); diff != "" {
		t.Errorf("datagrams (-want +got)\n%s", diff)
	}
	goodput, wire := 2*1000*1472*8/2.0, 2*1000*1514*8/2.0
	if !near(float64(got.Goodput), goodput, 1e-9) || !near(float64(got.Wire), wire, 1e-9) || !near(float64(got.Ceiling), 2*500e6*1472/1514, 1e-9) {
		t.Errorf("%v of %v, %v on the wire; want %v and %v", got.Goodput, got.Ceiling, got.Wire, goodput, wire)
	}
	if wrong := got.Check(); len(wrong) > 0 || got.Protocol != "udp" || got.Lanes[0].UDP == nil {
		t.Errorf("%v in %+v", wrong, got)
	}
	for _, l := range got.Links {
		if l.Host == "beta" && !near(float64(l.RxPayload), goodput/2, 1e-9) {
			t.Errorf("%s took in %v of payload, want %v", l.Link, l.RxPayload, goodput/2)
		}
	}
}

func TestProcessors(t *testing.T) {
	tr := measured(t)
	for _, e := range tr.ends {
		last := &e.samples[len(e.samples)-1].CPU
		e.samples[0].CPU.Switches, e.samples[0].CPU.SoftnetDropped = []agentapi.Switches{{Voluntary: 5, Involuntary: 1}}, 7
		last.Cores, last.Switches, last.Pinned = []int{0, 4}, []agentapi.Switches{{Voluntary: 25, Involuntary: 4}}, []int{4, -1}
		last.SoftnetDropped, last.SoftnetSqueezed = 10, 2
	}
	got, err := tr.result(stopDuration)
	if err != nil {
		t.Fatal(err)
	}
	core := 4
	want := record.CPUUse{
		Host: "beta", Cores: 2, Busy: 1.25, Softirq: 0.5, Busiest: 1, BusiestThread: 0.5, SoftnetDrops: 3, TimeSqueezes: 2,
		PerCore: []record.CoreUse{{Core: 0, Busy: 0.25}, {Core: 4, Busy: 1, Softirq: 0.5}},
		Threads: []record.ThreadUse{{Way: flow.Forward, Busy: 0.5, Voluntary: 20, Involuntary: 3, Pinned: &core}, {Way: flow.Forward}},
	}
	if diff := cmp.Diff(want, got.CPU[0]); diff != "" {
		t.Errorf("processors (-want +got)\n%s", diff)
	}
}

func TestProcessorNotes(t *testing.T) {
	full := record.CPUUse{Host: "alpha", Cores: 4, Busy: 2, BusiestThread: 0.98, Busiest: 0.99,
		PerCore: []record.CoreUse{{Core: 0, Busy: 0.4}, {Core: 1, Busy: 0.99, Softirq: 0.2}},
		Threads: []record.ThreadUse{{Way: flow.Forward, Sending: true, Busy: 0.3}, {Way: flow.Forward, Busy: 0.1}, {Way: flow.Forward, Sending: true, Busy: 0.98}}}
	change := func(f func(*record.Trial)) record.Trial {
		c := full
		out := record.Trial{Direction: flow.Forward, Goodput: 50, Ceiling: 100, CPU: []record.CPUUse{{Host: "beta", Cores: 4}, c}}
		f(&out)
		return out
	}
	for _, c := range []struct {
		name  string
		trial record.Trial
		want  string
	}{
		{"a stream's thread", change(func(*record.Trial) {}), "processor: the thread sending stream 2 used 98 % of a core on alpha; not a link's figure"},
		{"at the ceiling all the same", change(func(r *record.Trial) { r.Goodput = 98 }), ""},
		{"the one link in use was full", change(func(r *record.Trial) {
			r.From, r.To = "alpha", "beta"
			r.Links = []record.LinkUse{{Host: "alpha", Link: "eth0", TxPayload: 49.5, Ceiling: 50}, {Host: "alpha", Link: "eth1", TxPayload: 0.1, Ceiling: 50}}
		}), ""},
		{"its receiver's link was full", change(func(r *record.Trial) {
			r.From, r.To = "alpha", "beta"
			r.Links = []record.LinkUse{{Host: "alpha", Link: "eth0", TxPayload: 50, Ceiling: 100}, {Host: "beta", Link: "eth0", RxPayload: 50, Ceiling: 50}}
		}), ""},
		{"a link had room", change(func(r *record.Trial) {
			r.From, r.To = "alpha", "beta"
			r.Links = []record.LinkUse{{Host: "alpha", Link: "eth0", TxPayload: 48, Ceiling: 50}}
		}), "not a link's figure"},
		{"one way of two was full", change(func(r *record.Trial) {
			r.From, r.To, r.Direction = "alpha", "beta", flow.Both
			r.Links = []record.LinkUse{{Host: "alpha", Link: "eth0", TxPayload: 50, RxPayload: 20, Ceiling: 50}}
		}), "not a link's figure"},
		{"at its own limit", change(func(r *record.Trial) { r.RateLimit = 50 }), ""},
		{"nothing was full", change(func(r *record.Trial) { r.CPU = r.CPU[:1] }), ""},
		{"a core full of interrupts", change(func(r *record.Trial) {
			r.CPU[1].Threads, r.CPU[1].BusiestThread = nil, 0.3
			r.CPU[1].PerCore = []record.CoreUse{{Core: 7, Busy: 0.99, Softirq: 0.97}}
		}), "core 7 of alpha was 99 % busy, 97 % with the network's interrupts"},
		{"a core full of something else", change(func(r *record.Trial) { r.CPU[1].Threads, r.CPU[1].BusiestThread = nil, 0.3 }), ""},
	} {
		got := strings.Join(processorNotes(c.trial), "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestSubflows: an MPTCP trial says its subflows and where each leaves.
func TestSubflows(t *testing.T) {
	tr := measured(t)
	tr.spec.Protocol = protocolMPTCP
	for _, e := range tr.ends {
		for k := range e.samples {
			s := &e.samples[k]
			lane := tr.streams[flow.Forward][0]
			c := &agentapi.MPTCPCount{Subflows: []flow.Tuple{
				{Src: lane.Src, Dst: lane.Dst, Sport: lane.Sport, Dport: 5201}, {Src: lane.Src, Dst: lane.Dst, Sport: tr.streams[flow.Forward][1].Sport, Dport: 5201},
			}}
			s.TCP = []agentapi.TCPCount{{MPTCP: c}, {MPTCP: c}}
		}
	}
	got, err := tr.result(stopDuration)
	if err != nil {
		t.Fatal(err)
	}
	sub := got.Lanes[0].Subflows
	if len(sub) != 2 || sub[0].EgressLink == "" || sub[1].EgressLink == "" || sub[0].EgressLink == sub[1].EgressLink {
		t.Errorf("subflows %+v, want one by each link", sub)
	}
	if got.Protocol != "mptcp" || got.Wire <= got.Goodput {
		t.Errorf("%s: %v of payload, %v on the wire", got.Protocol, got.Goodput, got.Wire)
	}
}
