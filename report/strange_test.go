package report

import (
	"fmt"
	"math"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

const evil = `<script>alert("x")</script>'"><img src=x onerror=y>|` + "`*\x1b[31m\u202e\n# h"

// poisoned is the sample with hostile text wherever a record holds text.
func poisoned() record.Record {
	r := sampleRecord()
	r.ID, r.Linerate, r.Fabric.File, r.Fabric.Text = evil, evil, evil, evil
	r.Environment.Kernel, r.Environment.BackEnd, r.Environment.Why = evil, evil, evil
	for _, hosts := range [][]netstate.Host{r.Environment.Hosts, r.Environment.After} {
		for i := range hosts {
			hosts[i].Name += evil
			for j := range hosts[i].Links {
				hosts[i].Links[j].Name += evil
			}
		}
	}
	for i := range r.Trials {
		t := &r.Trials[i]
		t.From, t.To, t.Step, t.Tool, t.Protocol, t.Ports, t.Congest, t.Stop = t.From+evil, t.To+evil, evil, evil, evil, evil, evil, evil
		t.Notes = []string{evil}
		if t.Finding != nil {
			t.Finding.Cause, t.Finding.Summary, t.Finding.Remedy = record.Cause(evil), evil, evil
			t.Finding.Evidence = []record.Evidence{{What: evil, Value: evil, Source: evil}}
		}
		for j := range t.Links {
			t.Links[j].Host += evil
			t.Links[j].Link += evil
		}
		for j := range t.Lanes {
			t.Lanes[j].EgressLink, t.Lanes[j].Way = evil, flow.Direction(evil)
		}
		for j := range t.CPU {
			t.CPU[j].Host = evil
		}
	}
	r.Trials[0].Direction, r.Trials[1].Phase = flow.Direction(evil), record.Phase(evil)
	r.Steps[0] = record.Step{Change: evil, Why: evil, Verdict: evil, Commands: []string{evil, "```"}, Kept: true}
	r.Failures = []record.Failure{{From: evil, To: evil, Direction: flow.Direction(evil), Error: evil}}
	r.Latency[0].From, r.Latency[0].To = evil, evil
	r.Latency[0].Notes, r.Latency[0].Protocol, r.Latency[0].Load, r.Ended = []string{evil}, evil, &record.Load{Direction: flow.Direction(evil)}, evil
	r.Trials[0].Outages = []record.Outage{{Host: evil, Link: evil, Event: evil, Stalled: []float64{1}, Moved: []int{0}}}
	return r
}

// strange are records nobody should write, and which must still print.
func strange() map[string]record.Record {
	out := map[string]record.Record{"empty": {}, "poisoned": poisoned()}
	zero := sampleRecord()
	for i := range zero.Trials {
		t := &zero.Trials[i]
		t.Goodput, t.Ceiling, t.Predicted, t.Window, t.GoodputLow, t.GoodputHigh = 0, 0, 0, 0, 0, 0
		for j := range t.Links {
			t.Links[j] = record.LinkUse{Host: t.Links[j].Host, Link: t.Links[j].Link}
		}
		for j := range t.Lanes {
			t.Lanes[j] = record.Lane{}
		}
		t.CPU = []record.CPUUse{{}}
	}
	out["zero"] = zero
	for name, v := range map[string]float64{"nan": math.NaN(), "infinite": math.Inf(1), "negative": -1e9, "huge": 1e300} {
		r := sampleRecord()
		for i := range r.Trials {
			t := &r.Trials[i]
			for _, p := range []*unit.BitRate{&t.Goodput, &t.GoodputLow, &t.GoodputHigh, &t.Forward, &t.Reverse, &t.Wire, &t.Ceiling, &t.Predicted} {
				*p = unit.BitRate(v)
			}
			t.Window, t.WarmUp = v, v
			for j := range t.Links {
				u := &t.Links[j]
				u.Tx, u.Rx, u.TxPayload, u.RxPayload, u.Ceiling = unit.BitRate(v), unit.BitRate(v), unit.BitRate(v), unit.BitRate(v), unit.BitRate(v)
			}
			for j := range t.Lanes {
				t.Lanes[j].Goodput = unit.BitRate(v)
				t.Lanes[j].TCP = record.TCP{BusyRatio: v, RwndLimited: v, SndbufLimited: v, RTTMS: v, MinRTTMS: v, SndMSS: 1448}
			}
			t.CPU = []record.CPUUse{{Host: "a", Busy: v, Softirq: v, Busiest: v, BusiestThread: v}}
			if t.Finding != nil {
				t.Finding.Rate, t.Finding.Ceiling, t.Finding.Expected, t.Finding.Confidence = unit.BitRate(v), unit.BitRate(v), unit.BitRate(v), v
			}
		}
		r.Steps[0].Before, r.Steps[0].After = unit.BitRate(v), unit.BitRate(v)
		r.Latency[0] = record.Latency{MinMS: v, AvgMS: v, MaxMS: v, P99MS: v, LossRatio: v}
		out[name] = r
	}
	mixed := sampleRecord()
	mixed.Trials[3].Goodput, mixed.Trials[7].Ceiling = unit.BitRate(math.NaN()), unit.BitRate(math.Inf(1))
	mixed.Trials[9].Links = nil
	out["mixed"] = mixed
	many := sampleRecord()
	for i := range many.Trials {
		for n := range 100 {
			many.Trials[i].Links = append(many.Trials[i].Links, record.LinkUse{Host: "a", Link: fmt.Sprintf("a%d", n+2), Tx: 1e6, TxPayload: 1e6, Ceiling: linkAt1500})
		}
	}
	out["hundred links"] = many
	half := sampleRecord()
	half.Trials = half.Trials[:12] // after alone
	out["after alone"] = half
	half.Trials = half.Trials[:0:0]
	half.Trials = append(half.Trials, sampleRecord().Trials[12:24]...)
	out["before alone"] = half
	stepped := sampleRecord()
	stepped.Trials = stepped.Trials[24:]
	out["step alone"] = stepped
	pairs := samplePlain()
	for n := range 20 {
		t := pairs.Trials[1]
		t.From, t.To, t.Tool = fmt.Sprintf("h%d", n), "other", []string{"linerate", "iperf3"}[n%2]
		pairs.Trials = append(pairs.Trials, t)
		t.Tool = "iperf2"
		pairs.Trials = append(pairs.Trials, t)
	}
	out["many pairs"] = pairs
	return out
}
