package report

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// The sample's numbers: two links shaped to 500 Mbit/s counted from the
// Ethernet header, payload = rate x MSS / (MTU + 14).
const (
	linkAt1500 = 500e6 * 1448 / 1514
	linkAt9000 = 500e6 * 8948 / 9014
)

var sampleStart = time.Date(2026, 5, 4, 3, 12, 7, 0, time.UTC)

func sampleHost(name string, after bool) netstate.Host {
	size, policy := 1500, netstate.Layer2
	if after {
		size, policy = 9000, netstate.Layer34
	}
	h := netstate.Host{Name: name, Kernel: netstate.Kernel{OS: "linux", Release: "6.1.176"}, CPU: netstate.CPU{Cores: 1}}
	ports := []string{name + "0", name + "1"}
	for _, p := range ports {
		h.Links = append(h.Links, netstate.Link{Name: p, MTU: size, Up: true, Carrier: true, Speed: 500e6, Framing: netstate.FramingL2,
			Master: "bond0", Port: &netstate.BondPort{Bond: "bond0", Active: true, MIIUp: true, AggregatorID: 1}})
	}
	h.Links = append(h.Links, netstate.Link{Name: "bond0", Kind: "bond", MTU: size, Up: true, Carrier: true,
		Bond: &netstate.Bond{Mode: netstate.LACP, HashPolicy: policy, LACPRate: netstate.LACPFast, Miimon: 100 * time.Millisecond, Ports: ports,
			AD: &netstate.Aggregator{ID: 1, Ports: 2}}})
	return h
}

// sampleTrial is one trial as the demo gives it: before, every flow of a way
// on its first link; after, flows spread over both.
func sampleTrial(phase record.Phase, d flow.Direction, streams int) record.Trial {
	perLink, size, spread := unit.BitRate(linkAt1500), 1500, false
	if phase == record.PhaseAfter {
		perLink, size, spread = linkAt9000, 9000, true
	}
	perLink *= 0.9972
	way, links := perLink, 1
	if spread && streams > 1 {
		way, links = 2*perLink, 2
	}
	t := record.Trial{Phase: phase, From: "a", To: "b", Direction: d, Streams: streams, Protocol: "tcp", Tool: "linerate", Ports: "chosen",
		MTU: size, Congest: "cubic", Started: sampleStart.Add(time.Duration(streams) * time.Minute), Ceiling: 2 * linkAt9000, CeilingMTU: 9000,
		Window: 4, WarmUp: 1.5, Stop: "interval", Goodput: way, Predicted: way / 0.9972}
	t.Limit = record.HashImbalance
	if spread {
		t.Limit = record.LineRate
	}
	if streams == 1 {
		t.Limit = record.SingleLink
	}
	use := map[string]*record.LinkUse{}
	for _, host := range []string{"a", "b"} {
		for i := range 2 {
			name := fmt.Sprintf("%s%d", host, i)
			use[name] = &record.LinkUse{Host: host, Link: name, Ceiling: perLink / 0.9972}
		}
	}
	for _, w := range d.Ways() {
		src, dst := "a", "b"
		if w == flow.Reverse {
			src, dst = "b", "a"
		}
		for i := range streams {
			n := i % links
			out, in := fmt.Sprintf("%s%d", src, n), fmt.Sprintf("%s%d", dst, n)
			r := way / unit.BitRate(streams)
			t.Lanes = append(t.Lanes, record.Lane{Lane: flow.Lane{Src: netip.MustParseAddr("10.1.0." + map[string]string{"a": "1", "b": "2"}[src]), Dst: netip.MustParseAddr("10.1.0." + map[string]string{"a": "1", "b": "2"}[dst])},
				Way: w, Sport: uint16(40000 + i), Dport: 5201, Goodput: r, Retransmits: uint64(3 * i), EgressLink: out, IngressLink: in,
				TCP: record.TCP{BusyRatio: 0.998, RwndLimited: 0.012, RTTMS: 14.2, MinRTTMS: 9.05, SndMSS: size - 52, Delivery: r, Reordering: 3}})
			use[out].TxPayload += r
			use[in].RxPayload += r
			use[out].Tx += r * 1.035
			use[in].Rx += r * 1.035
			use[in].Tx += r * 0.012
			use[out].Rx += r * 0.012
		}
	}
	for _, n := range []string{"a0", "a1", "b0", "b1"} {
		u := use[n]
		u.TxPackets, u.RxPackets = uint64(u.Tx/12000*4), uint64(u.Rx/12000*4)
		t.Links = append(t.Links, *u)
	}
	if d == flow.Both {
		t.Forward, t.Reverse = way, way
		t.Goodput, t.Ceiling, t.Predicted = 2*way, 2*t.Ceiling, 2*t.Predicted
	}
	t.GoodputLow, t.GoodputHigh = t.Goodput*0.991, t.Goodput*1.004
	t.Wire = t.Goodput * unit.BitRate(size+14) / unit.BitRate(size-52)
	t.CPU = []record.CPUUse{{Host: "a", Cores: 1, Busy: 0.31, Softirq: 0.12, Busiest: 0.31, BusiestThread: 0.11, Shared: true}, {Host: "b", Cores: 1, Busy: 0.42, Softirq: 0.25, Busiest: 0.42, BusiestThread: 0.09, Shared: true}}
	t.Notes = []string{"clocks of both hosts agree to 0.2 ms"}
	t.Finding = sampleFinding(t)
	return t
}

func sampleFinding(t record.Trial) *record.Finding {
	f := &record.Finding{From: t.From, To: t.To, Direction: t.Direction, Streams: t.Streams, Rate: t.Goodput, Ceiling: t.Ceiling, Phase: t.Phase, Confidence: 0.97}
	switch t.Limit {
	case record.HashImbalance:
		f.Cause = record.HashImbalance
		f.Summary = "All flows leave by one link of bond0 and the other idles: layer2 hashes MAC addresses, and two hosts have one pair of them."
		f.Evidence = []record.Evidence{
			{What: "payload sent by a0", Value: "478 Mbit/s, 100 % of its ceiling", Source: "rtnl_link_stats64 of a0 over the window"},
			{What: "payload sent by a1", Value: "0 bit/s", Source: "rtnl_link_stats64 of a1 over the window"},
			{What: "transmit hash policy", Value: "layer2", Source: "IFLA_BOND_XMIT_HASH_POLICY of bond0 on a"},
			{What: "flows on the fuller link", Value: fmt.Sprintf("%d of %d", t.Streams, t.Streams), Source: "steer: the hash of kernel 6.1 computed for every flow"},
		}
		f.Remedy, f.Expected = "set transmit-hash-policy layer3+4 on bond0 of a and b, and ports that spread evenly (linerate steer pick)", 2*linkAt1500
	case record.SingleLink:
		f.Cause, f.Confidence = record.SingleLink, 0.99
		f.Summary = "One flow uses one link: a bond never splits a flow. The link it takes is full."
		f.Evidence = []record.Evidence{{What: "payload sent by a0", Value: perWay(t) + ", 100 % of its ceiling", Source: "rtnl_link_stats64 of a0 over the window"}}
		f.Remedy = "use two streams or more, or multipath TCP (linerate steer mptcp)"
		f.Expected = 2 * linkAt9000
	default:
		f.Cause, f.Confidence = record.LineRate, 0.99
		f.Summary = "Both links run at their shaped rate."
		f.Evidence = []record.Evidence{{What: "payload sent by a0 and a1", Value: "495 Mbit/s each, 100 % of their ceilings", Source: "rtnl_link_stats64 over the window"}}
	}
	return f
}

// sampleRecord is a whole run of demo.
func sampleRecord() record.Record {
	r := record.Record{Schema: record.Schema, ID: "20260504T031207Z-7f3a", Started: sampleStart, Linerate: "0.9.0",
		Fabric: record.Fabric{File: "demo.yaml", Text: "linerate: v1\nhosts:\n  a: {network: {version: 2}}\n  b: {network: {version: 2}}\n"},
		Environment: record.Environment{Kernel: "6.1.176", BackEnd: "uml", Why: "no network namespaces here: user-mode Linux runs a kernel of its own",
			Hosts: []netstate.Host{sampleHost("a", false), sampleHost("b", false)}, After: []netstate.Host{sampleHost("a", true), sampleHost("b", true)}},
		Latency: []record.Latency{{From: "a", To: "b", MinMS: 9.0, AvgMS: 9.1, P50MS: 9.08, MaxMS: 9.4, P99MS: 9.4, MdevMS: 0.06, Sent: 50, PathMTU: 9000, Notes: []string{"p99 of 50 answers is their largest"}},
			{From: "b", To: "a", MinMS: 9.0, AvgMS: 9.1, MaxMS: 9.4, P99MS: 9.36, Sent: 50},
			{From: "a", To: "b", MinMS: 12.1, AvgMS: 31.4, P50MS: 33.2, MaxMS: 51.9, P99MS: 50.2, MdevMS: 7.71, LossRatio: 0.01, Sent: 150, Protocol: "icmp",
				Load: &record.Load{Direction: flow.Forward, Streams: 8, Goodput: 478e6}, Notes: []string{"the slowest answer took 4.3 times as long as the fastest"}}},
		Steps: []record.Step{
			{Change: "transmit-hash-policy layer2 → layer3+4 on bond0 of a and b", Why: "flows share one link while the other idles: layer2 sees one pair of MAC addresses",
				Before: 478e6, After: 955.8e6, Kept: true, Verdict: "+100.0 %, significant (p < 0.001)",
				Commands: []string{"ip link set dev bond0 type bond xmit_hash_policy layer3+4"}},
			{Change: "net.ipv4.tcp_rmem maximum 6 MiB → 32 MiB on b", Why: "the receiver's window was the limit for 1.2 % of the time",
				Before: 955.8e6, After: 955.1e6, Kept: false, Verdict: "no difference (p = 0.61)",
				Commands: []string{`sysctl -w net.ipv4.tcp_rmem="4096 131072 33554432"`}},
			{Change: "MTU 1500 → 9000 on bond0 of a and b", Why: "probes of 9000 bytes pass end to end, and headers take 4.4 % at 1500",
				Before: 955.8e6, After: 992.1e6, Kept: true, Verdict: "+3.8 %, significant (p < 0.001)",
				Commands: []string{"ip link set dev a0 mtu 9000", "ip link set dev a1 mtu 9000", "ip link set dev bond0 mtu 9000"}},
		},
	}
	for _, phase := range []record.Phase{record.PhaseAfter, record.PhaseBefore} {
		for _, d := range flow.Directions() {
			for _, n := range []int{1, 2, 4, 8} {
				r.Trials = append(r.Trials, sampleTrial(phase, d, n))
			}
		}
	}
	step := sampleTrial(record.PhaseBefore, flow.Forward, 4)
	step.Phase, step.Step, step.Finding = record.PhaseStep, r.Steps[0].Change, nil
	r.Trials = append(r.Trials, step)
	return r
}

// samplePlain is a plain measurement: no phases, no steps.
func samplePlain() record.Record {
	r := sampleRecord()
	r.Steps, r.Environment.BackEnd, r.Environment.Why, r.Environment.After = nil, "", "", nil
	var trials []record.Trial
	for _, t := range r.Trials {
		if t.Phase == record.PhaseBefore {
			t.Phase = ""
			f := *t.Finding
			f.Phase = ""
			t.Finding = &f
			trials = append(trials, t)
		}
	}
	r.Trials = trials
	r.Failures = []record.Failure{{From: "a", To: "c", Error: "dial c: connection refused"}}
	return r
}

func perWay(t record.Trial) string { return t.Lanes[0].Goodput.String() }
