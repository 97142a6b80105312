package pages

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/declared"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/report"
	"github.com/linerate/linerate/unit"
)

// sixReports are pages of the six kinds of report, by name.
func sixReports(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{"prediction": foreseenPage(t, "two-hosts-lacp.yaml"), "prediction-full": foreseenPage(t, "one-link.yaml")}
	for name, r := range map[string]record.Record{
		"demo":     demonstration(t),
		"tune":     stored(t, "../../../../report/testdata/sample.json"),
		"unknown":  threeLinks(),
		"matrix":   slowMatrix(),
		"failover": failover(),
	} {
		page, err := report.HTML(r, report.Options{})
		if err != nil {
			t.Fatal(err)
		}
		out[name] = page
	}
	return out
}

// stored is a record of a run in the lab.
func stored(t *testing.T, file string) record.Record {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r record.Record
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// oneWay is what links carry where the first host alone sends, or the other.
func oneWay(both []record.LinkUse, forward bool) []record.LinkUse {
	out := slices.Clone(both)
	for i := range out {
		if (out[i].Host == "alpha") == forward {
			out[i].Rx, out[i].RxPayload = 0, 0
		} else {
			out[i].Tx, out[i].TxPayload = 0, 0
		}
	}
	return out
}

// demonstration is a demo's record: the same with every stream count on both
// sides, and the last rate a little above its ceiling.
func demonstration(t *testing.T) record.Record {
	t.Helper()
	r := stored(t, "../../../../report/testdata/sample.json")
	r.Tuning, r.Environment.BackEnd, r.Environment.Why = nil, "uml", "no network namespaces here"
	ends := map[record.Phase]record.Trial{}
	for _, trial := range r.Trials {
		if trial.Direction == flow.Both && trial.Phase != record.PhaseStep {
			ends[trial.Phase] = trial
		}
	}
	r.Trials = nil
	for _, phase := range []record.Phase{record.PhaseBefore, record.PhaseAfter} {
		for _, d := range flow.Directions() {
			for _, n := range []int{1, 2, 4, 8} {
				trial := ends[phase]
				trial.Direction, trial.Streams = d, n
				if d != flow.Both {
					trial.Links = oneWay(trial.Links, d == flow.Forward)
					trial.Goodput, trial.GoodputLow, trial.GoodputHigh, trial.Ceiling, trial.Predicted = trial.Goodput/2, trial.GoodputLow/2, trial.GoodputHigh/2, trial.Ceiling/2, trial.Predicted/2
				}
				if phase == record.PhaseAfter {
					trial.Goodput = trial.Ceiling * 1.001
				}
				f := *trial.Finding
				f.Direction, f.Streams, f.Rate, f.Ceiling = d, n, trial.Goodput, trial.Ceiling
				trial.Finding = &f
				r.Trials = append(r.Trials, trial)
			}
		}
	}
	return r
}

func foreseenPage(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../../docs/examples", file))
	if err != nil {
		t.Fatal(err)
	}
	f, err := fabric.Parse(file, text)
	if err != nil {
		t.Fatal(err)
	}
	state, err := declared.State(f)
	if err != nil {
		t.Fatal(err)
	}
	m := f.Measure
	m.Streams, m.Directions = []int{1, 2, 4, 8}, flow.Directions()
	all, err := predict.Matrix(state, m)
	if err != nil {
		t.Fatal(err)
	}
	page, err := report.ForeseenHTML(report.Foreseen{File: file, Text: string(text), Hosts: state.Hosts, Paths: state.Paths, Predictions: all, Linerate: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// threeLinks are three interfaces whose speed nobody knows, behind a shaper of
// 100 Mbit/s each.
func threeLinks() record.Record {
	r := record.Record{Schema: record.Schema, ID: "run-3", Started: time.Date(2026, 11, 25, 9, 12, 0, 0, time.UTC), Linerate: "test", Fabric: record.Fabric{File: "g.yaml"}}
	for _, host := range []string{"192.0.2.11", "192.0.2.12"} {
		h := netstate.Host{Name: host, Kernel: netstate.Kernel{OS: "linux", Release: "6.1.0"}}
		for i := range 3 {
			h.Links = append(h.Links, netstate.Link{Name: fmt.Sprint("ens", i+1), MTU: 1500, Up: true, Carrier: true})
		}
		r.Environment.Hosts = append(r.Environment.Hosts, h)
	}
	for _, d := range flow.Directions() {
		for _, n := range []int{1, 4, 8} {
			links := min(n, 3)
			per := unit.BitRate(95.6e6)
			trial := record.Trial{From: "192.0.2.11", To: "192.0.2.12", Direction: d, Streams: n, Protocol: "tcp", Tool: "linerate", Ports: "chosen", MTU: 1500,
				Started: r.Started, Goodput: per * unit.BitRate(links), Window: 4, WarmUp: 1, Predicted: 431e9}
			if d == flow.Both {
				trial.Forward, trial.Reverse, trial.Goodput = trial.Goodput, trial.Goodput, 2*trial.Goodput
			}
			for i := range links {
				u := record.LinkUse{Host: "192.0.2.11", Link: fmt.Sprint("ens", i+1), Tx: per * 1.03, TxPayload: per, TxPackets: 8000}
				if d == flow.Reverse {
					u = record.LinkUse{Host: "192.0.2.11", Link: fmt.Sprint("ens", i+1), Rx: per * 1.03, RxPayload: per, RxPackets: 8000}
				}
				far := record.LinkUse{Host: "192.0.2.12", Link: u.Link, Tx: u.Rx, TxPayload: u.RxPayload, Rx: u.Tx, RxPayload: u.TxPayload, RxPackets: u.TxPackets, TxPackets: u.RxPackets}
				trial.Links = append(trial.Links, u, far)
			}
			trial.GoodputLow, trial.GoodputHigh = trial.Goodput*0.99, trial.Goodput*1.01
			trial.Finding = &record.Finding{From: trial.From, To: trial.To, Direction: d, Streams: n, Cause: record.Shaper, Confidence: 0.78, Rate: trial.Goodput, Expected: 1.29e12,
				Summary:  "Something on the way lets through about 99.8 Mbit/s: the streams find a queue there (7.8 ms on top of the path's 0.0). Without it: 1.29 Tbit/s instead of 95.6 Mbit/s.",
				Remedy:   "look for a rate limit on the way: `tc qdisc show` on both hosts, the switch's ports, the provider's contract for about 99.8 Mbit/s",
				Evidence: []record.Evidence{{What: "round trip of the streams", Value: "7.8 ms", Source: "TCP_INFO's tcpi_rtt"}, {What: "ens2 sent", Value: "95.6 Mbit/s", Source: "RTM_GETLINK IFLA_STATS64, over the common window"}},
				Decide:   record.Decision{Probe: record.ProbeStreams, Value: 16, Text: "measure the same with 16 streams: if the sum stays, something that all share limits it (a shaper)"}}
			r.Trials = append(r.Trials, trial)
		}
	}
	return r
}

// slowMatrix is a rack of five in which three ways carry half.
func slowMatrix() record.Record {
	r := mesh(3, 5, 20)
	r.Fabric.File = "rack.yaml"
	for i := range r.Trials {
		t := &r.Trials[i]
		if t.Goodput > 5e9 {
			continue
		}
		t.Finding = &record.Finding{From: t.From, To: t.To, Direction: t.Direction, Streams: t.Streams, Cause: record.SingleLink, Confidence: 0.9, Rate: t.Goodput, Ceiling: t.Ceiling, Expected: 9.8e9,
			Summary:  "All 4 streams leave by eth0, 1 of 2 links: layer2 hashes MAC addresses, and two hosts have one pair of them.",
			Remedy:   "set the transmit hash policy of bond0 on " + t.From + " to layer3+4 and choose source ports (`linerate tune`); then use at least 2 streams",
			Evidence: []record.Evidence{{What: "eth0", Value: "full", Source: "RTM_GETLINK"}}}
	}
	return r
}

// failover is a lab run in which a link of a bond was taken down for three seconds.
func failover() record.Record {
	r := record.Record{Schema: record.Schema, ID: "run-f", Started: time.Date(2026, 11, 25, 9, 12, 0, 0, time.UTC), Linerate: "test", Fabric: record.Fabric{File: "failover.yaml"}}
	for _, host := range []string{"alpha", "beta"} {
		h := netstate.Host{Name: host, Kernel: netstate.Kernel{OS: "linux", Release: "6.1.0"}}
		for i := range 2 {
			h.Links = append(h.Links, netstate.Link{Name: fmt.Sprint("eth", i), MTU: 1500, Up: true, Carrier: true, Speed: 500e6, Master: "bond0", Port: &netstate.BondPort{Bond: "bond0", Active: true, MIIUp: true}})
		}
		h.Links = append(h.Links, netstate.Link{Name: "bond0", Kind: "bond", MTU: 1500, Up: true, Carrier: true,
			Bond: &netstate.Bond{Mode: netstate.LACP, HashPolicy: netstate.Layer34, Miimon: 100 * time.Millisecond, Ports: []string{"eth0", "eth1"}}})
		r.Environment.Hosts = append(r.Environment.Hosts, h)
	}
	trial := record.Trial{From: "alpha", To: "beta", Direction: flow.Forward, Streams: 4, Protocol: "tcp", Tool: "linerate", Ports: "chosen", Started: r.Started, MTU: 1500,
		Goodput: 741e6, GoodputLow: 700e6, GoodputHigh: 790e6, Ceiling: 956e6, CeilingMTU: 1500, Window: 8, WarmUp: 1,
		Outages: []record.Outage{
			{Host: "alpha", Link: "eth0", Event: "down", At: 3, Stalled: []float64{0.31, 0.29, 0, 0}, Recovered: 0.42, Retransmits: 212, Moved: []int{0, 1}, Resolution: 0.05, Asked: true},
			{Host: "alpha", Link: "eth0", Event: "up", At: 6, Stalled: []float64{0.1, 0, 0, 0}, Recovered: 0.6, Moved: []int{0, 1}, Resolution: 0.05, Asked: true}}}
	for i := range 45 {
		rate, at := unit.BitRate(950e6), 0.2*float64(i+1)
		if at > 3 && at <= 6 {
			rate = 470e6
		}
		trial.Series, trial.SeriesAt = append(trial.Series, rate), append(trial.SeriesAt, at)
	}
	for i, rate := range []unit.BitRate{290e6, 451e6} {
		link := fmt.Sprint("eth", i)
		trial.Links = append(trial.Links, record.LinkUse{Host: "alpha", Link: link, Tx: rate, TxPayload: rate, TxPackets: 9000, Ceiling: 478e6},
			record.LinkUse{Host: "beta", Link: link, Rx: rate, RxPayload: rate, RxPackets: 9000, Ceiling: 478e6})
	}
	trial.Finding = &record.Finding{From: "alpha", To: "beta", Direction: flow.Forward, Streams: 4, Cause: record.Unknown, Confidence: 0.9, Rate: trial.Goodput, Ceiling: trial.Ceiling,
		Summary: "eth0 of alpha failed for 3.0 s in this window, as the run was told to: the figure is not that of a steady path.", Remedy: "measure without `--fail-link` for the steady rate",
		Evidence: []record.Evidence{{What: "eth0 of alpha", Value: "2 of 4 streams stood still, 0.31 s at most", Source: "IFLA_CARRIER and IFLA_CARRIER_CHANGES, over the common window"}}}
	r.Trials = []record.Trial{trial}
	return r
}
