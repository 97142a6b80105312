package explain

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// lone is a record of one trial of which little is known, with that fabric.
func lone(t *testing.T, text string, change func(*record.Trial)) string {
	t.Helper()
	trial := record.Trial{
		From: "a", To: "b", Direction: flow.Forward, Streams: 2, Protocol: "tcp", Tool: "linerate", Ports: "chosen", Goodput: 40 * unit.Mbps,
		Ceiling: 100 * unit.Mbps, Window: 3, Lanes: []record.Lane{{Way: flow.Forward, Goodput: 40 * unit.Mbps}}, Links: []record.LinkUse{},
		CPU: []record.CPUUse{}, Notes: []string{},
	}
	if change != nil {
		change(&trial)
	}
	r := record.Record{Schema: record.Schema, Fabric: record.Fabric{File: "two.yaml", Text: text}, Trials: []record.Trial{trial}, Latency: []record.Latency{}}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return file(t, "record.json", string(b))
}

const (
	twoSpaces = `linerate: v1
hosts:
  a: {reach: "netns:linerate-nobody-a", network: {version: 2, ethernets: {eth0: {addresses: [10.7.0.1/24]}}}}
  b: {reach: "netns:linerate-nobody-b", network: {version: 2, ethernets: {eth0: {addresses: [10.7.0.2/24]}}}}
`
	oneReached = `linerate: v1
hosts:
  a: {reach: "netns:linerate-nobody-a", network: {version: 2, ethernets: {eth0: {addresses: [10.7.0.1/24]}}}}
  b: {network: {version: 2, ethernets: {eth0: {addresses: [10.7.0.2/24]}}}}
`
)

// TestExplainProbed: a record with probes is judged by them, and its probes are
// no results of their own.
func TestExplainProbed(t *testing.T) {
	path := lone(t, twoSpaces, nil)
	r, err := console.ReadRecord(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	probe := r.Trials[0]
	probe.Streams, probe.Variant = 8, record.Decision{Probe: record.ProbeStreams, Value: 8}.Variant(2)
	r.Trials = append(r.Trials, probe)
	findings := explain(r)
	if len(findings) != 1 || !strings.HasPrefix(findings[0].Summary, "With 8 streams instead of 2 the rate stayed where it was") {
		t.Errorf("%+v", findings)
	}
}

// TestExplainProbeAsksNobodyElse: hosts and paths of the fabric that no probe is
// about are neither reached nor pinged.
func TestExplainProbeAsksNobodyElse(t *testing.T) {
	path := lone(t, twoSpaces+`  c: {reach: "netns:linerate-nobody-c", network: {version: 2, ethernets: {eth0: {addresses: [10.7.0.3/24]}}}}
`, nil)
	r, err := console.ReadRecord(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := reachable(r, unsettledOf(r, nil))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Hosts) != 2 || len(f.Paths) != 1 || f.Paths[0].From != "a" || f.Paths[0].To != "b" {
		t.Errorf("hosts %v, paths %v", f.Hosts, f.Paths)
	}
}

// TestExplainProbeSaysSeparate (user A5b): of hosts with separate interfaces it is
// said, once for each pair, that nothing hashes their flows; of hosts with one
// interface, or a bond, nothing is.
func TestExplainProbeSaysSeparate(t *testing.T) {
	for name, tt := range map[string]struct {
		a, b string
		want string
	}{
		"separate": {
			"{ethernets: {ens5: {addresses: [10.7.0.1/24]}, ens6: {addresses: [10.8.0.1/24]}}}", "{ethernets: {ens5: {addresses: [10.7.0.2/24]}, ens6: {addresses: [10.8.0.2/24]}}}",
			"        a and b have separate interfaces, nothing hashes: the probes use the\n        addresses of the trial\n",
		},
		"one": {"{ethernets: {eth0: {addresses: [10.7.0.1/24]}}}", "{ethernets: {eth0: {addresses: [10.7.0.2/24]}}}", ""},
		"bond": {
			"{ethernets: {e1: {}, e2: {}}, bonds: {b0: {interfaces: [e1, e2], addresses: [10.7.0.1/24]}}}", "{ethernets: {e1: {}, e2: {}}, bonds: {b0: {interfaces: [e1, e2], addresses: [10.7.0.2/24]}}}", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := fabric.Parse("f.yaml", []byte("linerate: v1\nhosts:\n  a: {network: "+tt.a+"}\n  b: {network: "+tt.b+"}\n"))
			if err != nil {
				t.Fatal(err)
			}
			state := predict.Fabric{Paths: f.EffectivePaths(), Hosts: map[string]netstate.Host{}}
			for _, h := range f.Hosts {
				if state.Hosts[h.Name], err = f.State(h.Name); err != nil {
					t.Fatal(err)
				}
			}
			var said strings.Builder
			p := progress.New(&console.Console{Stderr: &said, Getenv: func(string) string { return "" }})
			trial := record.Trial{From: "a", To: "b", Direction: flow.Forward, Streams: 2}
			r := record.Record{Trials: []record.Trial{trial, trial}}
			saySeparate(p, state, r, []unsettled{{trial: 0}, {trial: 1}})
			if got := said.String(); got != tt.want {
				t.Errorf("it is said:\n%q\nwant\n%q", got, tt.want)
			}
		})
	}
}
