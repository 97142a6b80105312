package scenariorun

import (
	"slices"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// TestSummed: a row of several pairs is their common window's, with the
// prediction and the ceiling of all together, and counts each link once though
// every trial has counted it.
func TestSummed(t *testing.T) {
	links := []record.LinkUse{{Host: "store", Link: "eth0", RxPayload: 70, TxPayload: 1}, {Host: "store", Link: "eth1", RxPayload: 30, TxPayload: 1}}
	trials := []record.Trial{
		{From: "a", To: "store", Goodput: 50, Notes: []string{"of a"}, Links: append(slices.Clone(links), record.LinkUse{Host: "a", Link: "eth0", TxPayload: 50})},
		{From: "b", To: "store", Goodput: 50, CPU: []record.CPUUse{{Host: "b", Busiest: 1}}, Links: append(slices.Clone(links), record.LinkUse{Host: "b", Link: "eth0", TxPayload: 50})},
	}
	joint := func(host, link string) predict.Joint {
		return predict.Joint{Together: 80, TogetherLinks: []predict.LinkShare{
			{Host: host, Link: "eth0", Transmit: true, Load: 80},
			{Host: "store", Link: "eth0"}, {Host: "store", Link: "eth1"}, {Host: "store", Link: link, Load: 80}, {Host: "store", Link: "tun0", Load: 1},
		}}
	}
	row, trial := summed(record.Group{Streams: 2, Goodput: 100, Ceiling: 150, Notes: []string{"of all"}}, trials, []predict.Joint{joint("a", "eth0"), joint("b", "eth1")})
	if row.Measured != 100 || row.Predicted != 150 || row.Ceiling != 150 || row.Streams != 2 || !row.CPUBound {
		t.Errorf("%+v", row)
	}
	if !slices.Equal(trial.Notes, []string{"of all", "a to store: of a"}) || trial.Finding != nil {
		t.Errorf("%v, finding %v", trial.Notes, trial.Finding)
	}
	// Hosts of one link have no shares, nor has what no trial counted.
	if len(row.Shares) != 1 || row.Shares[0].Host != "store" || !row.Shares[0].Receives || len(row.Shares[0].Links) != 2 {
		t.Fatalf("%+v", row.Shares)
	}
	for i, want := range []scenario.LinkShare{
		{Link: "eth0", Measured: 70, MeasuredShare: 0.7, Predicted: 80, PredictedShare: 0.5},
		{Link: "eth1", Measured: 30, MeasuredShare: 0.3, Predicted: 80, PredictedShare: 0.5},
	} {
		if got := row.Shares[0].Links[i]; got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// TestPathsOf: each pair has what the file says of it, turned to its direction.
func TestPathsOf(t *testing.T) {
	f := fabric.Fabric{
		Hosts: []fabric.Host{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}},
		Paths: []fabric.Path{{From: "c", To: "a", RTT: time.Millisecond}, {From: "c", To: "b", RTT: time.Second, Directed: true}},
	}
	m := scenario.Measurement{Senders: []string{"a", "b"}, Receivers: []string{"c"}, Direction: flow.Forward}
	got := pathsOf(f, m)
	if len(got) != 2 || got[0].From != "a" || got[0].To != "c" || got[0].RTT != time.Millisecond || got[1].From != "b" || got[1].RTT != 0 || !got[0].Declared || !got[1].Declared {
		t.Errorf("%+v", got)
	}
	if hosts := hostsOf(f, m); len(hosts) != 3 || len(f.Hosts) != 4 {
		t.Errorf("hosts %v of %v", hosts, f.Hosts)
	}
	if all := traffic(m, 3); len(all) != 2 || all[1].From != "b" || all[1].To != "c" || all[1].Streams != 3 {
		t.Errorf("%+v", all)
	}
}
