package trial

import (
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

func TestOutage(t *testing.T) {
	lacp := pair{end: end{links: 2, policy: netstate.Layer34}}.fabric()
	backup := pair{end: end{links: 2, mode: netstate.ActiveBackup}}.fabric()
	trial := sent(4, rates(one, 0.6*one), rates(one, 0.6*one))
	trial.Ceiling = 2 * one
	down := record.Outage{Host: "a", Link: "eth1", Event: "down", At: 1, Stalled: []float64{0.4, 0}, Recovered: 0.5, Resolution: 0.02}
	up := record.Outage{Host: "a", Link: "eth1", Event: "up", At: 1.5, Stalled: []float64{0, 0}, Recovered: 0.1, Resolution: 0.02}
	asked, unfelt := down, down
	asked.Asked = true
	unfelt.Stalled, unfelt.Recovered = []float64{0, 0.02}, 0
	outages := func(all ...record.Outage) record.Trial {
		return with(trial, func(t *record.Trial) { t.Outages = all })
	}
	for _, r := range []rule{
		{name: "failed and came back", fabric: lacp, trial: outages(down, up), cause: record.Unknown,
			summary: "eth1 of a failed for 0.5 s in this window", remedy: "measure again", source: fromCarrier},
		{name: "the run took it down", fabric: lacp, trial: outages(asked, up), cause: record.Unknown, summary: "as the run was told to", remedy: "--fail-link"},
		{name: "left its LACP bond for good", fabric: lacp, trial: outages(down), cause: record.LACPDown, summary: "did not come back", remedy: "bring eth1 of a up",
			leastSure: 0.8, expected: 2 * one},
		{name: "no LACP", fabric: backup, trial: outages(down), cause: record.Unknown, summary: "did not come back"},
		{name: "was down before", fabric: lacp, trial: outages(up), cause: record.Unknown, summary: "was down and came back"},
		{name: "nobody felt it", fabric: lacp, trial: outages(unfelt), cause: record.HashImbalance, expected: 2 * one},
		{name: "the ceiling was reached", fabric: lacp, trial: with(outages(down, up), func(t *record.Trial) { t.Ceiling = t.Goodput }), cause: record.HashImbalance, expected: 2 * one},
		{name: "losses held it all the time", fabric: lacp, trial: with(sackedOnce(measured(outages(down), func(c *record.TCP) { c.BytesRetrans = 300 << 10 })), func(t *record.Trial) {
			t.Goodput = 0.6 * one
			t.Blocks = []unit.BitRate{0.6 * one, 0.7 * one, 0.5 * one, 0.4 * one, 0.3 * one}
			t.Links, t.Lanes = slices.Clone(t.Links), slices.Clone(t.Lanes)
			for i := range t.Links {
				t.Links[i].TxPayload, t.Links[i].RxPayload = t.Links[i].TxPayload*0.4, t.Links[i].RxPayload*0.4
			}
			for i := range t.Lanes {
				t.Lanes[i].Goodput *= 0.4
			}
		}), cause: record.Congestion, expected: 2 * one},
		{name: "nothing arrived", fabric: lacp, trial: with(own(outages(down), 0), func(*record.Trial) {}), cause: record.LACPDown, expected: 2 * one},
	} {
		t.Run(r.name, func(t *testing.T) { r.check(t) })
	}
}

// small is a trial in packets of that payload over one full link of a and b.
func small(protocol string, payload int, headers int) record.Trial {
	rate := 500e6 * unit.BitRate(payload) / unit.BitRate(payload+headers)
	t := sent(2, rates(rate), rates(rate))
	t.Protocol, t.Ceiling = protocol, one
	for i := range t.Links {
		t.Links[i].Ceiling = rate
	}
	for i := range t.Lanes {
		if protocol == "udp" {
			t.Lanes[i].TCP, t.Lanes[i].UDP = record.TCP{}, &record.UDP{Payload: payload, Sent: 1000, Received: 1000}
			continue
		}
		t.Lanes[i].TCP.SndMSS, t.Lanes[i].Asked = payload, &record.Socket{MSS: payload + 12}
	}
	if protocol == "udp" {
		t.UDP = &record.UDP{Payload: payload, Sent: 2000, Received: 2000}
	}
	return t
}

func TestPackets(t *testing.T) {
	single := pair{end: end{links: 1}}.fabric()
	busy := record.CPUUse{Host: "a", Cores: 4, Busiest: 0.99, BusiestThread: 0.99}
	shaped := pair{end: end{links: 1, speed: 1e9}}.fabric()
	shaped.Hosts["a"].Links[0].Qdiscs = []netstate.Qdisc{{Kind: "tbf", Parent: "root", Rate: 500e6}}
	half := small("tcp", 524, 66)
	half.Links[0].TxPayload, half.Links[1].RxPayload = half.Goodput/2, half.Goodput/2
	for _, r := range []rule{
		{name: "small segments fill the link", fabric: single, trial: cpu(small("tcp", 524, 66), busy), cause: record.MTU,
			summary: "segments of 524 bytes spend 11.2 % of it on headers; with 1448 bytes it is 478 Mbit/s", remedy: "leave --mss out", source: fromCounters, leastSure: 0.9, expected: one},
		{name: "small datagrams fill the link", fabric: single, trial: small("udp", 100, 42), cause: record.MTU,
			summary: "datagrams of 100 bytes spend 29.6 %", remedy: "--datagram", expected: 500e6 * 1472 / 1514},
		{name: "small segments fill a shaped link", fabric: shaped, trial: small("tcp", 524, 66), cause: record.Shaper, summary: "segments of 524 bytes spend 11.2 %", expected: 2 * one * 524 / (524 + 66) * (1448 + 66) / 1448},
		{name: "segments as large as they can be", fabric: single, trial: small("tcp", 1448, 66), cause: record.LineRate},
		{name: "small segments, and room", fabric: single, trial: cpu(own(half, half.Goodput/2), busy), cause: record.SenderCPU, expected: one},
	} {
		t.Run(r.name, func(t *testing.T) { r.check(t) })
	}
}

func TestPaced(t *testing.T) {
	single := pair{end: end{links: 1}}.fabric()
	paced := func(rate, pace unit.BitRate) record.Trial {
		return with(sent(2, rates(rate), rates(rate)), func(t *record.Trial) {
			for i := range t.Lanes {
				t.Lanes[i].Asked, t.Lanes[i].Granted = &record.Socket{Pacing: pace}, &record.Socket{Pacing: pace}
			}
		})
	}
	for _, r := range []rule{
		{name: "as TCP paces", fabric: single, trial: paced(200e6, 100e6), cause: record.Pacing, summary: "100 Mbit/s each", remedy: "--pacing", source: "SO_MAX_PACING_RATE", leastSure: 0.9, expected: one},
		{name: "as fq paces, headers counted", fabric: single, trial: paced(190e6, 100e6), cause: record.Pacing, expected: one},
		{name: "below the pace", fabric: single, trial: paced(150e6, 100e6), cause: record.Unknown},
		{name: "the pace did not hold", fabric: single, trial: paced(300e6, 100e6), cause: record.Unknown},
		{name: "paced above the link", fabric: single, trial: paced(one, 400e6), cause: record.LineRate},
	} {
		t.Run(r.name, func(t *testing.T) { r.check(t) })
	}
	if f := Judge(single, paced(200e6, 100e6)); !strings.Contains(f.Summary, "200 Mbit/s in all") || f.Direction != flow.Forward {
		t.Errorf("%q", f.Summary)
	}
}

// TestSubnets: two subnets over two links of each host stand in for a bond.
func TestSubnets(t *testing.T) {
	f := subnets()
	half := sent(1, rates(one, 0), rates(one, 0))
	half.Ceiling = 2 * one
	both := sent(1, rates(one, 0), rates(one, 0))
	both.Direction, both.Ceiling, both.Goodput = flow.Both, 4*one, 2*one
	both.Lanes = append(both.Lanes, streams(1, flow.Reverse, one)...)
	for i := range both.Links {
		both.Links[i].TxPayload, both.Links[i].RxPayload = max(both.Links[i].TxPayload, both.Links[i].RxPayload), max(both.Links[i].TxPayload, both.Links[i].RxPayload)
	}
	// Peers 12p: subflows are made from the host that opens the connection.
	multipath := sent(1, rates(one, 0), rates(one, 0))
	multipath.Ceiling, multipath.Protocol = 2*one, "mptcp"
	// One of the two links alone was counted: an alias sweep's.
	part := sent(2, rates(one), rates(one))
	part.Ceiling = one
	wide := part
	wide.Ceiling = 2 * one
	for _, r := range []rule{
		{name: "one stream", fabric: f, trial: half, cause: record.SingleLink, summary: "a stream has one pair of addresses", remedy: "use 2 streams", not: "hash", expected: 2 * one},
		{name: "one MPTCP stream of one subflow", fabric: f, trial: multipath, cause: record.SingleLink, summary: "each connection has one subflow", remedy: "give a, which opens the connections, an endpoint with `subflow`", expected: 943 * unit.Mbps},
		{name: "one stream each way", fabric: f, trial: both, cause: record.SingleLink, remedy: "use 2 streams", expected: 4 * one},
		{name: "a part of the lanes, against its own ceiling", fabric: f, trial: part, cause: record.LineRate, summary: "The one link in use"},
		{name: "a part of the lanes, against the pair's", fabric: f, trial: wide, cause: record.SingleLink, summary: "50.0 % of the ceiling", not: "othing is left to gain", expected: 2 * one},
	} {
		t.Run(r.name, func(t *testing.T) { r.check(t) })
	}
}
