package live

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/evidence/livetraffic"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/unit"
)

// liveHost has a bond of two ports of 10 Gb/s and a port of its own.
func liveHost(policy netstate.HashPolicy) netstate.Host {
	port := &netstate.BondPort{Bond: "bond0", Active: true, MIIUp: true}
	link := func(name string, l netstate.Link) netstate.Link {
		l.Name, l.MTU, l.Up, l.Carrier = name, 1500, true, true
		return l
	}
	return netstate.Host{
		Name: "near", Kernel: netstate.Kernel{OS: "linux", Release: "6.1.0"},
		Links: []netstate.Link{
			link("eth0", netstate.Link{Index: 2, Speed: 10 * unit.Gbps, Driver: "ixgbe", Port: port, Master: "bond0"}),
			link("eth1", netstate.Link{Index: 3, Speed: 10 * unit.Gbps, Driver: "ixgbe", Port: port, Master: "bond0"}),
			link("bond0", netstate.Link{Index: 4, Kind: "bond", Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/24")},
				Bond: &netstate.Bond{Mode: netstate.BalanceXOR, HashPolicy: policy, Ports: []string{"eth0", "eth1"}}}),
			link("eth2", netstate.Link{Index: 5, Speed: 10 * unit.Gbps, Driver: "ixgbe", Addresses: []netip.Prefix{netip.MustParsePrefix("10.1.0.1/24")}}),
		},
	}
}

// sending is a connection that has something to send all the time and waits
// for nothing that TCP names.
func sendingFlow(change func(*livetraffic.Flow)) livetraffic.Flow {
	f := livetraffic.Flow{
		Tuple: flow.Tuple{Proto: flow.TCP, Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2"), Sport: 40000, Dport: 873},
		Span:  5 * time.Second, Sent: 4 * unit.Gbps, Program: livetraffic.Program{PID: 812, Name: "rsync", Threads: 1, Ran: 0.4},
		Way: livetraffic.Way{Link: "bond0", SrcMAC: flow.MAC{2, 0, 0, 0, 0, 1}, DstMAC: flow.MAC{2, 0, 0, 0, 0, 9}}, Congestion: "cubic",
		Out: livetraffic.Sending{
			Clock: true, Busy: 1, NotSent: 200 * unit.KiB, Windows: true, Window: 6 * unit.MiB, MostWindow: 6 * unit.MiB,
			RTT: time.Millisecond, MinRTT: 900 * time.Microsecond, MSS: 1448, Cwnd: 500 * unit.KiB, InFlight: 500 * unit.KiB, Buffer: 4 * unit.MiB,
		},
	}
	change(&f)
	return f
}

func receivingFlow(change func(*livetraffic.Flow)) livetraffic.Flow {
	return sendingFlow(func(f *livetraffic.Flow) {
		f.Sent, f.Received = 0, 4*unit.Gbps
		f.In = livetraffic.Reading{Window: 6 * unit.MiB, Buffer: 12 * unit.MiB, RTT: time.Millisecond, Packets: 1000000}
		change(f)
	})
}

// carried is what a link that sends full frames counts at a share of 10 Gb/s.
func carried(name string, share float64) livetraffic.Link {
	const frame, onWire = 1514, 1538
	packets := share * 10e9 / 8 / onWire
	return livetraffic.Link{Name: name, Tx: unit.FromBytes(packets*frame, 1), TxPackets: packets}
}

func took(name string, share float64) livetraffic.Link {
	l := carried(name, share)
	return livetraffic.Link{Name: name, Rx: l.Tx, RxPackets: l.TxPackets}
}

// dropping is links whose own queues dropped so many packets of what they sent.
func dropping(links []livetraffic.Link, drops uint64) []livetraffic.Link {
	links = slices.Clone(links)
	for i := range links {
		links[i].TxDrops = drops
	}
	return links
}

func TestLiveCauses(t *testing.T) {
	full := []livetraffic.Link{carried("eth0", 0.99), carried("eth1", 0.02), carried("eth2", 0.1)}
	calm := []livetraffic.Link{carried("eth0", 0.4), carried("eth1", 0.4), carried("eth2", 0.1)}
	both := []livetraffic.Link{carried("eth0", 0.99), carried("eth1", 0.98)}
	nothing := func(*livetraffic.Flow) {}
	onFirst := func(f *livetraffic.Flow) { f.Sport = firstPort(t) }
	for _, tt := range []struct {
		name  string
		host  netstate.HashPolicy
		links []livetraffic.Link
		flows []livetraffic.Flow
		cores []livetraffic.Core
		want  record.Cause
	}{
		{"nothing to send", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) { f.Out.Busy = 0.2 })}, nil, record.Application},
		{"starved while acknowledgements come", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) { f.Out.Starved, f.Out.NotSent = 0.9, 0 })}, nil, record.Application},
		{"one thread computes", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) { f.Out.Busy, f.Program.Ran = 0.2, 0.97 })}, nil, record.SenderCPU},
		{"quota", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) { f.Program.Quota, f.Program.Throttled = 0.2, 0.7 })}, nil, record.SenderCPU},
		{"nothing has moved yet", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) { f.Sent, f.Out.Busy = 0, 0.4 })}, nil, record.Unknown},
		{"window", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) {
			f.Out.RwndLimited, f.Out.Window, f.Out.MostWindow = 0.95, 500*unit.KiB, 500*unit.KiB
		})}, nil, record.ReceiveWindow},
		{"slow reader far away", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) {
			f.Out.RwndLimited, f.Out.Window, f.Sent = 0.95, 10*unit.KiB, unit.Gbps
		})}, nil, record.Application},
		{"window shut", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) {
			f.Out.RwndLimited, f.Out.Window, f.Out.MostWindow, f.Out.Shut, f.Sent = 0.95, 0, 0, 1, unit.Mbps
		})}, nil, record.Application},
		{"stuck at a shut window", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) {
			f.Out.Window, f.Out.MostWindow, f.Sent = 0, 0, 0
		})}, nil, record.Application},
		{"stuck", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) { f.Sent, f.Out.Recovering = 0, 1 })}, nil, record.Congestion},
		{"stuck after what was small arrived", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) {
			f.Sent, f.Out.Recovering, f.Out.Acked = 0, 1, 38
		})}, nil, record.MTU},
		{"stuck after much had arrived", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) {
			f.Sent, f.Out.Recovering, f.Out.Acked = 0, 1, 9*unit.MiB
		})}, nil, record.Congestion},
		{"answers by a link that sends nothing", netstate.Layer34, append(slices.Clone(both), livetraffic.Link{Name: "eth2", Rx: 660 * unit.Kbps, RxPackets: 1250}), []livetraffic.Flow{sendingFlow(onFirst)}, nil, record.SingleLink},
		{"payload by a link that sends nothing", netstate.Layer34, append(slices.Clone(both), took("eth2", 0.3)), []livetraffic.Flow{sendingFlow(onFirst)}, nil, record.LineRate},
		{"its shaper has packets waiting", netstate.Layer34, []livetraffic.Link{{Name: "eth2", Tx: 8.1 * unit.Gbps, TxPackets: 670000, Backlog: 50000, Overlimits: 8000}}, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) {
			f.Src, f.Way.Link = netip.MustParseAddr("10.1.0.1"), "eth2"
		})}, nil, record.LineRate},
		{"its shaper has packets waiting after an outage", netstate.Layer34, []livetraffic.Link{{Name: "eth2", Tx: 8.1 * unit.Gbps, TxPackets: 670000, Backlog: 50000, Overlimits: 8000}}, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) {
			f.Src, f.Way.Link, f.Out.Loss, f.Out.Retransmits = netip.MustParseAddr("10.1.0.1"), "eth2", 0.01, 300
		})}, nil, record.Congestion},
		{"its queue has bursts waiting", netstate.Layer34, []livetraffic.Link{{Name: "eth2", Tx: 8.1 * unit.Gbps, TxPackets: 670000, Backlog: 50000}}, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) {
			f.Src, f.Way.Link = netip.MustParseAddr("10.1.0.1"), "eth2"
		})}, nil, record.Unknown},
		{"send buffer", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) { f.Out.SndbufLimited = 0.6 })}, nil, record.SendBuffer},
		{"send buffer of a program that writes records", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) {
			f.Out.SndbufLimited, f.Out.Starved, f.Out.Filled, f.Out.NotSent, f.Out.Cwnd = 0.1, 1, 0.9, 0, 900*unit.KiB
		})}, nil, record.SendBuffer},
		{"a send buffer as small as the congestion window makes it", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) {
			f.Out.Filled, f.Out.NotSent, f.Out.Cwnd, f.Out.InFlight, f.Out.Buffer = 0.5, 0, 14*unit.KiB, 14*unit.KiB, 45*unit.KiB
		})}, nil, record.Unknown},
		{"a program that waits for an answer to each piece", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) {
			f.Out.SndbufLimited, f.Out.Starved, f.Out.Filled, f.Out.NotSent, f.Out.Cwnd, f.Received = 0, 1, 1, 0, 900*unit.KiB, 6*unit.Kbps
		})}, nil, record.Application},
		{"a burst that fills the buffer now and then", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) {
			f.Out.Starved, f.Out.Filled, f.Out.NotSent, f.Out.Busy = 1, 0.2, 0, 0.3
		})}, nil, record.Application},
		{"paced by the program", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) { f.Out.MaxPacing = 4.1 * unit.Gbps })}, nil, record.Pacing},
		{"paced, and late", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) {
			f.Out.MaxPacing, f.Out.Pacing, f.Out.InFlight = 5*unit.Gbps, 5*unit.Gbps, 100*unit.KiB
		})}, nil, record.Pacing},
		{"cap far above", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) { f.Out.MaxPacing = 9 * unit.Gbps })}, nil, record.Unknown},
		{"two share a full link", netstate.Layer34, full, []livetraffic.Flow{sendingFlow(onFirst), sendingFlow(onFirst)}, nil, record.HashImbalance},
		{"one fills a link", netstate.Layer34, full, []livetraffic.Flow{sendingFlow(onFirst)}, nil, record.SingleLink},
		{"layer2", netstate.Layer2, layer2Full(t), []livetraffic.Flow{sendingFlow(nothing), sendingFlow(nothing)}, nil, record.SingleLink},
		{"all full", netstate.Layer34, both, []livetraffic.Flow{sendingFlow(onFirst)}, nil, record.LineRate},
		{"loss", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) { f.Out.Loss, f.Out.Retransmits = 0.01, 500 })}, nil, record.Congestion},
		{"overtaking", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) {
			f.Out.Loss, f.Out.Retransmits, f.Out.Spurious, f.Out.Reordered = 0.01, 500, 400, 300
		})}, nil, record.Reordering},
		{"overtaking that the peer does not tell of", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) {
			f.Out.Loss, f.Out.Retransmits, f.Out.Spurious, f.Out.Reordered = 0.09, 105, 0, 60
		})}, nil, record.Reordering},
		{"losses, and a packet or two overtaken", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) {
			f.Out.Loss, f.Out.Retransmits, f.Out.Spurious, f.Out.Reordered = 0.01, 500, 0, 6
		})}, nil, record.Congestion},
		{"marks instead of losses", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) { f.Out.Marked = 0.02 })}, nil, record.Congestion},
		{"a mark now and then", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) { f.Out.Marked = 0.0001 })}, nil, record.Unknown},
		{"drops of the own queue", netstate.Layer34, dropping(calm, 5000), []livetraffic.Flow{sendingFlow(nothing)}, nil, record.Congestion},
		{"a drop or two of the own queue", netstate.Layer34, dropping(calm, 2), []livetraffic.Flow{sendingFlow(nothing)}, nil, record.Unknown},
		{"queue elsewhere", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) { f.Out.RTT = 20 * time.Millisecond })}, nil, record.Shaper},
		{"a queue behind two links that carry what one could", netstate.Layer34, []livetraffic.Link{carried("eth0", 0.5), carried("eth1", 0.48)}, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) { f.Out.RTT = 20 * time.Millisecond })}, nil, record.SingleLink},
		{"a queue behind two links, and one alone is used", netstate.Layer34, []livetraffic.Link{carried("eth0", 0.85), carried("eth1", 0.02)}, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) { f.Out.RTT = 20 * time.Millisecond })}, nil, record.Shaper},
		{"full of small segments", netstate.Layer34, []livetraffic.Link{{Name: "eth2", Tx: 9 * unit.Gbps, TxPackets: 5200000}}, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) {
			f.Src, f.Way.Link, f.Out.MSS, f.Sent = netip.MustParseAddr("10.1.0.1"), "eth2", 150, 6200*unit.Mbps
		})}, nil, record.MTU},
		{"small segments, and much room", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) { f.Out.MSS = 150 })}, nil, record.Unknown},
		{"nothing decides", netstate.Layer34, calm, []livetraffic.Flow{sendingFlow(nothing)}, nil, record.Unknown},
		{"the link of others", netstate.Layer34, []livetraffic.Link{carried("eth0", 0), carried("eth1", 0), carried("eth2", 0.99)}, []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) {
			f.Src, f.Way.Link = netip.MustParseAddr("10.9.0.1"), "eth2"
		})}, nil, record.LineRate},

		{"slow reader", netstate.Layer34, calm, []livetraffic.Flow{receivingFlow(func(f *livetraffic.Flow) { f.In.Full, f.In.Unread = 0.9, 5*unit.MiB })}, nil, record.Application},
		{"reader without time", netstate.Layer34, calm, []livetraffic.Flow{receivingFlow(func(f *livetraffic.Flow) { f.In.Full, f.Program.Ran = 0.9, 0.99 })}, nil, record.ReceiverCPU},
		{"reader with a quota", netstate.Layer34, calm, []livetraffic.Flow{receivingFlow(func(f *livetraffic.Flow) {
			f.In.Full, f.Program.Quota, f.Program.Throttled = 0.9, 0.1, 0.8
		})}, nil, record.ReceiverCPU},
		{"a reader that a quota stops before its window is shut", netstate.Layer34, calm, []livetraffic.Flow{receivingFlow(func(f *livetraffic.Flow) {
			f.In.Unread, f.Program.Quota, f.Program.Throttled = 900*unit.KiB, 0.2, 0.6
		})}, nil, record.ReceiverCPU},
		{"a quota that is felt elsewhere", netstate.Layer34, calm, []livetraffic.Flow{receivingFlow(func(f *livetraffic.Flow) {
			f.In.Unread, f.Program.Quota, f.Program.Throttled = 2*unit.KiB, 0.2, 0.6
		})}, nil, record.Unknown},
		{"softirq", netstate.Layer34, calm, []livetraffic.Flow{receivingFlow(nothing)}, []livetraffic.Core{{Core: 3, Busy: 1, Softirq: 0.97}}, record.ReceiverCPU},
		{"both links full of what comes in", netstate.Layer34, []livetraffic.Link{took("eth0", 0.99), took("eth1", 0.97)}, []livetraffic.Flow{receivingFlow(nothing)}, nil, record.LineRate},
		{"one is", netstate.Layer34, []livetraffic.Link{took("eth0", 0.99), took("eth1", 0.1)}, []livetraffic.Flow{receivingFlow(nothing)}, nil, record.HashImbalance},
		{"own window", netstate.Layer34, calm, []livetraffic.Flow{receivingFlow(func(f *livetraffic.Flow) { f.In.Window = 500 * unit.KiB })}, nil, record.ReceiveWindow},
		{"gaps", netstate.Layer34, calm, []livetraffic.Flow{receivingFlow(func(f *livetraffic.Flow) { f.In.OutOfOrder = 20000 })}, nil, record.Congestion},
		{"the sender's affair", netstate.Layer34, calm, []livetraffic.Flow{receivingFlow(nothing)}, nil, record.Unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := livetraffic.Watched{Host: liveHost(tt.host), Span: 5 * time.Second, Links: tt.links, Flows: tt.flows, Cores: tt.cores}
			r := Judge(w)
			if len(r.Flows) != 1 || len(r.Flows[0].Connections) != len(tt.flows) {
				t.Fatalf("told of %+v", r.Flows)
			}
			f := r.Flows[0].Finding
			if f.Cause != tt.want || f.Summary == "" || f.Remedy == "" || len(f.Evidence) == 0 || f.Confidence <= 0 || f.Confidence > 1 {
				t.Errorf("found %+v, want %s", f, tt.want)
			}
			if f.From != "near" || f.To != "10.0.0.2" || f.Streams != len(tt.flows) || r.Answer == "" {
				t.Errorf("found %+v, answer %q", f, r.Answer)
			}
			if f.Expected != 0 && f.Expected <= f.Rate {
				t.Errorf("removing the limit makes it slower: %v of %v", f.Expected, f.Rate)
			}
		})
	}
}

// firstPort is a source port whose connection leaves by eth0.
func firstPort(t *testing.T) uint16 {
	t.Helper()
	v := newView(livetraffic.Watched{Host: liveHost(netstate.Layer34)})
	for port := uint16(40000); port < 40100; port++ {
		if v.place(sendingFlow(func(f *livetraffic.Flow) { f.Sport = port })).link == "eth0" {
			return port
		}
	}
	t.Fatal("no port leaves by eth0")
	return 0
}

// layer2Full fills the link that layer2 chooses.
func layer2Full(t *testing.T) []livetraffic.Link {
	t.Helper()
	link := newView(livetraffic.Watched{Host: liveHost(netstate.Layer2)}).place(sendingFlow(func(*livetraffic.Flow) {})).link
	if link == "eth0" {
		return []livetraffic.Link{carried("eth0", 0.99), carried("eth1", 0)}
	}
	return []livetraffic.Link{carried("eth0", 0), carried("eth1", 0.99)}
}

// TestLiveUnanswered: what waits for an answer is said where nothing moves.
func TestLiveUnanswered(t *testing.T) {
	r := Judge(livetraffic.Watched{Host: liveHost(netstate.Layer34), Unanswered: []livetraffic.Unanswered{{Peer: netip.MustParseAddrPort("10.0.0.2:445"), Connections: 3}}})
	if !strings.Contains(r.Answer, "3 connections wait for 10.0.0.2:445") {
		t.Errorf("answer %q", r.Answer)
	}
}

// TestLiveUnknownLink: what nobody can say is not said.
func TestLiveUnknownLink(t *testing.T) {
	w := livetraffic.Watched{Host: liveHost(netstate.Encap34), Span: time.Second, Links: []livetraffic.Link{carried("eth0", 0.99), carried("eth1", 0.01)}}
	w.Flows = []livetraffic.Flow{sendingFlow(func(*livetraffic.Flow) {}), sendingFlow(func(f *livetraffic.Flow) { f.Way = livetraffic.Way{Why: "no route"}; f.Dport = 22 })}
	r := Judge(w)
	for _, f := range r.Flows {
		for _, c := range f.Connections {
			if c.Link != "" || c.Why == "" {
				t.Errorf("said %+v", c)
			}
		}
		if f.Finding.Cause == record.HashImbalance && f.Finding.Confidence > 0.5 {
			t.Errorf("sure of %+v", f.Finding)
		}
	}
	if r := Judge(livetraffic.Watched{}); r.Answer == "" || len(r.Flows) != 0 {
		t.Errorf("of nothing: %+v", r)
	}
}

// TestLiveOwnLimit: a cake of the host's own is a limit also where nobody knows what the
// link could do; a tbf there may stand for the line.
func TestLiveOwnLimit(t *testing.T) {
	for kind, want := range map[string]record.Cause{"cake": record.Shaper, "tbf": record.LineRate} {
		h := liveHost(netstate.Layer34)
		eth2 := &h.Links[3]
		eth2.Kind, eth2.Speed, eth2.Driver = "veth", 0, "veth"
		eth2.Qdiscs = []netstate.Qdisc{{Kind: kind, Handle: "5:", Parent: "root", Rate: 20 * unit.Mbps}}
		w := livetraffic.Watched{Host: h, Span: 5 * time.Second,
			Links: []livetraffic.Link{{Name: "eth2", Tx: 20 * unit.Mbps, TxPackets: 1651}},
			Flows: []livetraffic.Flow{sendingFlow(func(f *livetraffic.Flow) {
				f.Src, f.Way.Link, f.Sent = netip.MustParseAddr("10.1.0.1"), "eth2", 19*unit.Mbps
			})}}
		if f := Judge(w).Flows[0].Finding; f.Cause != want {
			t.Errorf("%s: %s: %s, want %s", kind, f.Cause, f.Summary, want)
		}
	}
}

// TestLiveStandby: the link that waits in an active-backup bond.
func TestLiveStandby(t *testing.T) {
	for up, want := range map[bool]record.Cause{true: record.SingleLink, false: record.LineRate} {
		h := liveHost(netstate.Layer34)
		h.Links[0].Port, h.Links[1].Port = &netstate.BondPort{Bond: "bond0", Active: true, MIIUp: true}, &netstate.BondPort{Bond: "bond0", MIIUp: up}
		h.Links[1].Carrier = up
		h.Links[2].Bond.Mode, h.Links[2].Bond.Active = netstate.ActiveBackup, "eth0"
		w := livetraffic.Watched{Host: h, Span: 5 * time.Second, Flows: []livetraffic.Flow{sendingFlow(func(*livetraffic.Flow) {})}, Links: []livetraffic.Link{carried("eth0", 0.99), carried("eth1", 0)}}
		if f := Judge(w).Flows[0].Finding; f.Cause != want {
			t.Errorf("the other up %v: %s: %s, want %s", up, f.Cause, f.Summary, want)
		}
	}
}

// TestLiveNextHops: a full link of a route over two, and the other has room or none.
func TestLiveNextHops(t *testing.T) {
	for _, tt := range []struct {
		name   string
		policy string
		other  float64
		flows  int
		want   record.Cause
	}{
		{"by addresses", "0", 0, 4, record.SingleLink},
		{"by ports", "1", 0.1, 4, record.HashImbalance},
		{"by ports, one connection", "1", 0.1, 1, record.SingleLink},
		{"both full", "1", 0.97, 4, record.LineRate},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := liveHost(netstate.Layer34)
			port := func(name, addr string, index int) netstate.Link {
				return netstate.Link{Name: name, Index: index, MTU: 1500, Up: true, Carrier: true, Speed: 10 * unit.Gbps, Driver: "ixgbe", Addresses: []netip.Prefix{netip.MustParsePrefix(addr)}}
			}
			h.Links = []netstate.Link{{Name: "lo", Index: 1, Kind: "loopback", Up: true, Carrier: true, Addresses: []netip.Prefix{netip.MustParsePrefix("10.99.0.1/32")}}, port("eth0", "10.1.0.1/24", 2), port("eth1", "10.2.0.1/24", 3)}
			h.Sysctls = map[string]netstate.Sysctl{"net.ipv4.fib_multipath_hash_policy": {Value: tt.policy}}
			h.Routes = []netstate.Route{{Dst: netip.MustParsePrefix("10.99.0.2/32"), Table: 254, Source: netip.MustParseAddr("10.99.0.1"), Hops: []netstate.NextHop{
				{Gateway: netip.MustParseAddr("10.1.0.9"), Link: "eth0", Weight: 1}, {Gateway: netip.MustParseAddr("10.2.0.9"), Link: "eth1", Weight: 1}}}}
			w := livetraffic.Watched{Host: h, Span: 5 * time.Second, Links: []livetraffic.Link{carried("eth0", 0.99), carried("eth1", tt.other)}}
			for range tt.flows {
				w.Flows = append(w.Flows, sendingFlow(func(f *livetraffic.Flow) {
					f.Src, f.Dst, f.Way.Link = netip.MustParseAddr("10.99.0.1"), netip.MustParseAddr("10.99.0.2"), "eth0"
				}))
			}
			if f := Judge(w).Flows[0].Finding; f.Cause != tt.want {
				t.Errorf("%s: %s, want %s", f.Cause, f.Summary, tt.want)
			}
		})
	}
}

// TestLiveLinks: a link that is full while another could help, which is no
// matter of hashing: LACP left a port out, or the route takes another link
// than the address belongs to.
func TestLiveLinks(t *testing.T) {
	lacp := func(second netstate.BondPort) netstate.Host {
		h := liveHost(netstate.Layer34)
		second.Bond = "bond0"
		first := netstate.BondPort{Bond: "bond0", Active: true, MIIUp: true, AggregatorID: 1}
		h.Links[0].Port, h.Links[1].Port = &first, &second
		h.Links[2].Bond.Mode, h.Links[2].Bond.AD = netstate.LACP, &netstate.Aggregator{ID: 1, Ports: 1}
		return h
	}
	outside := netstate.BondPort{Active: true, MIIUp: true, AggregatorID: 2}
	backup := netstate.BondPort{MIIUp: true, AggregatorID: 2}
	inside := netstate.BondPort{Active: true, MIIUp: true, AggregatorID: 1}
	silent, passive, expired := outside, inside, inside
	silent.ActorState, silent.PartnerState = 69, 1
	passive.ActorState, passive.PartnerState = 62, 62
	expired.ActorState, expired.PartnerState = 143, 55
	down := lacp(outside)
	down.Links[1].Carrier = false
	own := liveHost(netstate.Layer34) // eth2 has 10.1.0.1, the route says bond0
	astray := func(f *livetraffic.Flow) { f.Sport, f.Src = firstPort(t), netip.MustParseAddr("10.1.0.1") }
	for _, tt := range []struct {
		name  string
		host  netstate.Host
		first float64 // share of eth0
		other float64 // of eth1 and eth2
		flow  func(*livetraffic.Flow)
		each  int
		want  record.Cause
		gains bool
	}{
		{"outside the aggregator", lacp(outside), 0.99, 0.01, func(*livetraffic.Flow) {}, 2, record.LACPDown, true},
		{"in the backup state", lacp(backup), 0.99, 0.01, func(*livetraffic.Flow) {}, 2, record.LACPDown, true},
		{"outside, for one connection", lacp(outside), 0.99, 0.01, func(*livetraffic.Flow) {}, 1, record.LACPDown, false},
		{"outside, and nothing is full", lacp(outside), 0.4, 0.01, func(*livetraffic.Flow) {}, 2, record.Unknown, false},
		{"outside and silent, and nothing is full", lacp(silent), 0.4, 0.01, func(*livetraffic.Flow) {}, 2, record.Unknown, false},
		{"both ends passive, and nothing is full", lacp(passive), 0.4, 0.01, func(*livetraffic.Flow) {}, 2, record.LACPDown, false},
		{"LACP that timed out, and nothing is full", lacp(expired), 0.4, 0.01, func(*livetraffic.Flow) {}, 2, record.LACPDown, false},
		{"no cable", down, 0.99, 0.01, func(*livetraffic.Flow) {}, 2, record.LineRate, false},
		{"both inside", lacp(inside), 0.99, 0.98, func(f *livetraffic.Flow) { f.Sport = firstPort(t) }, 2, record.LineRate, false},
		{"the address is another link's", own, 0.99, 0.05, astray, 1, record.AsymmetricRoute, true},
		{"and that is full too", own, 0.99, 0.98, astray, 1, record.LineRate, false},
		{"and nothing is full", own, 0.4, 0.05, astray, 1, record.Unknown, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := livetraffic.Watched{Host: tt.host, Span: 5 * time.Second, Flows: slices.Repeat([]livetraffic.Flow{sendingFlow(tt.flow)}, tt.each),
				Links: []livetraffic.Link{carried("eth0", tt.first), carried("eth1", tt.other), carried("eth2", tt.other)}}
			r := Judge(w)
			f := r.Flows[0].Finding
			if f.Cause != tt.want || r.Flows[0].Connections[0].Link != "eth0" {
				t.Errorf("found %s by %q: %s; want %s", f.Cause, r.Flows[0].Connections[0].Link, f.Summary, tt.want)
			}
			if (f.Expected > f.Rate) != tt.gains {
				t.Errorf("expects %v of %v", f.Expected, f.Rate)
			}
		})
	}
}

// TestLiveRemedies: what a program can do about its one link is in its own words,
// and nothing is said of what it cannot.
func TestLiveRemedies(t *testing.T) {
	full := []livetraffic.Link{carried("eth0", 0.99), carried("eth1", 0.02), carried("eth2", 0.1)}
	kernel := func(use string, dport uint16) func(*livetraffic.Flow) {
		return func(f *livetraffic.Flow) { f.Program, f.Dport = livetraffic.Program{Kernel: use}, dport }
	}
	named := func(name string, dport uint16) func(*livetraffic.Flow) {
		return func(f *livetraffic.Flow) { f.Program.Name, f.Dport = name, dport }
	}
	for _, tt := range []struct {
		name        string
		policy      netstate.HashPolicy
		change      func(*livetraffic.Flow)
		says, never []string
	}{
		{"NFS", netstate.Layer34, kernel("NFS mount /data of 10.0.0.2", 2049), []string{"nconnect=N", "steer pick --for nfs"}, []string{"let the program"}},
		{"NFS where addresses decide", netstate.Layer23, kernel("NFS mount /data of 10.0.0.2", 2049), []string{"xmit_hash_policy layer3+4", "max_connect", "steer addresses"}, nil},
		{"NFS where MAC addresses decide", netstate.Layer2, kernel("NFS mount /data of 10.0.0.2", 2049), []string{"xmit_hash_policy layer3+4"}, []string{"max_connect"}},
		{"iSCSI", netstate.Layer34, kernel("iSCSI of 10.0.0.2", 3260), []string{"node.session.nr_sessions"}, nil},
		{"DRBD", netstate.Layer34, kernel("DRBD of 10.0.0.2", 7789), []string{"several resources"}, nil},
		{"NVMe", netstate.Layer34, kernel("NVMe over TCP of 10.0.0.2", 4420), []string{"--nr-io-queues=N"}, nil},
		{"Lustre, of which no row says anything", netstate.Layer34, kernel("Lustre of 10.0.0.2", 988), []string{"let the program use several connections"}, nil},
		{"rsync", netstate.Layer34, named("rsync", 873), []string{"several at once", "steer pick --for rsync"}, nil},
		{"a migration", netstate.Layer34, named("qemu-system-x86", 49153), []string{"--parallel-connections N"}, nil},
		{"a guest's screen", netstate.Layer34, named("qemu-system-x86", 5900), []string{"let the program"}, []string{"migrate"}},
		{"pg_basebackup", netstate.Layer34, named("pg_basebackup", 5432), []string{"no option for several", "steer mptcp"}, nil},
		{"a program of the user's", netstate.Layer34, named("pump", 9000), []string{"let the program use several connections"}, nil},
	} {
		f := sendingFlow(tt.change)
		host := liveHost(tt.policy)
		links := full
		b, err := steer.BundleOf(host, "bond0")
		if err != nil {
			t.Fatal(err)
		}
		if p := b.Place(flow.Frame{Tuple: f.Tuple, SrcMAC: f.Way.SrcMAC, DstMAC: f.Way.DstMAC}); p.Known && p.Link == "eth1" {
			links = []livetraffic.Link{carried("eth1", 0.99), carried("eth0", 0.02), carried("eth2", 0.1)}
		}
		found := Judge(livetraffic.Watched{Host: host, Span: 5 * time.Second, Links: links, Flows: []livetraffic.Flow{f}}).Flows[0].Finding
		if found.Cause != record.SingleLink {
			t.Errorf("%s: %s: %s", tt.name, found.Cause, found.Summary)
		}
		for _, word := range tt.says {
			if !strings.Contains(found.Remedy, word) {
				t.Errorf("%s: %q does not say %q", tt.name, found.Remedy, word)
			}
		}
		for _, word := range tt.never {
			if strings.Contains(found.Remedy, word) {
				t.Errorf("%s: %q says %q", tt.name, found.Remedy, word)
			}
		}
	}
}

// TestLiveSays: what is said beside the cause is true of the connection at hand.
func TestLiveSays(t *testing.T) {
	host := liveHost(netstate.Layer34)
	host.Links[3].MTU = 9000
	alone := func(change func(*livetraffic.Flow)) livetraffic.Flow {
		return sendingFlow(func(f *livetraffic.Flow) {
			f.Src, f.Dst, f.Way.Link = netip.MustParseAddr("10.1.0.1"), netip.MustParseAddr("10.1.0.2"), "eth2"
			change(f)
		})
	}
	calm := []livetraffic.Link{carried("eth2", 0.4)}
	for _, c := range []struct {
		name  string
		links []livetraffic.Link
		flow  livetraffic.Flow
		says  string
		never string
	}{
		{"a jumbo path that stands", calm, alone(func(f *livetraffic.Flow) { f.Sent, f.Out.Recovering = 0, 1 }), "-s 8972", "1472"},
		{"and by IPv6", calm, alone(func(f *livetraffic.Flow) {
			f.Sent, f.Out.Recovering, f.Dst = 0, 1, netip.MustParseAddr("fd00::2")
		}), "-s 8952", "1472"},
		{"copies of packets", calm, alone(func(f *livetraffic.Flow) { f.Out.RTT, f.Out.Spurious = 20*time.Millisecond, 900 }), "makes copies", "slower link"},
		{"a packet sent twice now and then", calm, alone(func(f *livetraffic.Flow) { f.Out.RTT, f.Out.Spurious, f.Out.Retransmits = 20*time.Millisecond, 30, 29 }), "slower link", "copies"},
		{"windows that are not scaled", calm, alone(func(f *livetraffic.Flow) {
			f.Out.RwndLimited, f.Out.Window, f.Out.MostWindow, f.Out.Unscaled = 0.95, 64*unit.KiB, 64*unit.KiB, true
		}), "tcp_window_scaling", "raise the largest of net.ipv4.tcp_rmem"},
		{"a full link of others", []livetraffic.Link{carried("eth2", 0.99)}, alone(func(f *livetraffic.Flow) { f.Sent = unit.Gbps }), "other traffic by eth2", "shaper"},
		{"a full link of its own", []livetraffic.Link{carried("eth2", 0.99)}, alone(func(f *livetraffic.Flow) { f.Sent = 9.3 * unit.Gbps }), "eth2 is full", "other traffic"},
		{"data that waits to be read", calm, receivingFlow(func(f *livetraffic.Flow) { f.In.Unread = 900 * unit.KiB }), "900 KiB wait to be read", "read at once"},
	} {
		f := Judge(livetraffic.Watched{Host: host, Span: 5 * time.Second, Links: c.links, Flows: []livetraffic.Flow{c.flow}}).Flows[0].Finding
		said := f.Summary + " " + f.Remedy
		for _, e := range f.Evidence {
			said += " " + e.What + " " + e.Value
		}
		if !strings.Contains(said, c.says) || strings.Contains(said, c.never) {
			t.Errorf("%s: said %q, want %q and never %q", c.name, said, c.says, c.never)
		}
	}
}

// TestLiveTunnel: what travels in a tunnel is limited by the link under it.
func TestLiveTunnel(t *testing.T) {
	for _, lower := range []string{"eth2", "bond0"} {
		host := liveHost(netstate.Layer34)
		host.Links = append(host.Links, netstate.Link{Name: "vx0", Index: 9, MTU: 1450, Up: true, Carrier: true, Kind: "vxlan",
			Tunnel: &netstate.Tunnel{Kind: "vxlan", ID: 7, Lower: lower, Local: netip.MustParseAddr("10.1.0.1"), Remote: netip.MustParseAddr("10.1.0.2")}})
		f := sendingFlow(func(f *livetraffic.Flow) { f.Way.Link = "vx0" })
		r := Judge(livetraffic.Watched{Host: host, Span: 5 * time.Second, Flows: []livetraffic.Flow{f},
			Links: []livetraffic.Link{carried("eth0", 0.99), carried("eth1", 0.98), carried("eth2", 0.99), carried("vx0", 0.9)}}).Flows[0]
		if r.Finding.Cause != record.LineRate || lower == "eth2" && r.Connections[0].Link != "eth2" || lower == "bond0" && (r.Connections[0].Link != "" || !strings.Contains(r.Connections[0].Why, "VXLAN")) {
			t.Errorf("over %s: %+v", lower, r)
		}
	}
}

// TestLiveExpectsNoMoreThanLinks: connections that come by one link of two gain together
// what the other has, once.
func TestLiveExpectsNoMoreThanLinks(t *testing.T) {
	var flows []livetraffic.Flow
	for range 4 {
		flows = append(flows, receivingFlow(func(f *livetraffic.Flow) { f.Received = 2.3 * unit.Gbps }))
	}
	f := Judge(livetraffic.Watched{Host: liveHost(netstate.Layer34), Span: 5 * time.Second, Flows: flows, Links: []livetraffic.Link{took("eth0", 0.99), took("eth1", 0.1)}}).Flows[0].Finding
	if f.Cause != record.HashImbalance || f.Expected > 20*unit.Gbps || f.Expected <= f.Rate {
		t.Errorf("%s: expects %v of %v", f.Cause, f.Expected, f.Rate)
	}
}

// TestDamagedIngress: what comes with a wrong checksum is named where it is as much as
// slows a sender down, and where something came behind a gap.
func TestDamagedIngress(t *testing.T) {
	for _, c := range []struct {
		name    string
		damaged uint64
		gaps    uint64
		says    bool
	}{{"many", 20000, 90000, true}, {"few", 40, 90000, false}, {"of others: nothing is missing", 20000, 0, false}, {"none", 0, 90000, false}} {
		w := livetraffic.Watched{Host: liveHost(netstate.Layer34), Span: 5 * time.Second, TCPExt: map[string]uint64{"TcpInCsumErrors": c.damaged},
			Flows: []livetraffic.Flow{receivingFlow(func(f *livetraffic.Flow) { f.In.OutOfOrder = c.gaps })}}
		got := Judge(w)
		if len(got.Flows) != 1 || strings.Contains(got.Flows[0].Finding.Summary, "wrong checksum") != c.says {
			t.Errorf("%s: %+v", c.name, got.Flows)
		}
	}
}
