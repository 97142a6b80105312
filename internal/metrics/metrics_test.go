package metrics

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/nats/natsagent"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// The names are a promise: what the documentation lists is what there is.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, f := range families {
		labels := strings.Join(f.Labels, ", ")
		if f.Of == OfPaths {
			labels = "path"
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s | %s | %s |\n", f.Name, f.Of, kind(f), labels, f.Help)
	}
	if !strings.Contains(string(text), want.String()) {
		t.Errorf("docs/metrics.md has not this table:\n%s", want.String())
	}
}

func kind(f Family) string {
	if f.Kind == prometheus.CounterValue {
		return "counter"
	}
	return "gauge"
}

// Names as Prometheus's own reader of names would have them.
func TestNames(t *testing.T) {
	seen := make(map[string]bool)
	for _, f := range families {
		if seen[f.Name] || !strings.HasPrefix(f.Name, "linerate_") || !strings.HasSuffix(f.Help, ".") {
			t.Errorf("%s: twice, not ours, or without a sentence of help", f.Name)
		}
		seen[f.Name] = true
		if (f.Kind == prometheus.CounterValue) != strings.HasSuffix(f.Name, "_total") {
			t.Errorf("%s: _total is for counters and no other", f.Name)
		}
	}
}

// bonded is a host with a bond of three ports, of which the last is down.
func bonded() netstate.Host {
	h := netstate.Host{Name: "db1", Links: []netstate.Link{
		{Name: "lo", Kind: "loopback", Up: true, Carrier: true},
		{Name: "veth9", Kind: "veth", Up: true, Carrier: true},
		{Name: "bond0", Kind: "bond", Up: true, Carrier: true, MTU: 9000, Speed: 20 * unit.Gbps, Bond: &netstate.Bond{
			Mode: netstate.LACP, HashPolicy: netstate.Layer34, Ports: []string{"eth0", "eth1", "eth2"},
			AD: &netstate.Aggregator{ID: 1, Ports: 2, PartnerMAC: flow.MAC{2, 0, 0, 0, 0, 1}},
		}},
	}}
	for i, name := range []string{"eth0", "eth1", "eth2"} {
		up := i < 2
		h.Links = append(h.Links, netstate.Link{
			Name: name, Up: true, Carrier: up, MTU: 9000, Speed: 10 * unit.Gbps, Master: "bond0",
			Counters: netstate.Counters{TxBytes: uint64(i+1) * 1000, RxBytes: 7},
			Port:     &netstate.BondPort{Bond: "bond0", Active: up, MIIUp: up, AggregatorID: 1, FailureCount: i},
		})
	}
	return h
}

func TestAgentTells(t *testing.T) {
	counts := natsagent.Counts{
		Connected: true, Reconnects: 2, BytesIn: 10, BytesOut: 20, Conversations: 1, Running: 3, Since: time.UnixMilli(1500), Published: time.UnixMilli(2500),
		Calls:   map[natsagent.Call]natsagent.Called{{Method: "observe"}: {Count: 4, Time: 2 * time.Second}, {Method: "start", Failed: true}: {Count: 1}},
		Changes: map[natsagent.Change]uint64{{Method: "apply", Outcome: "rolled back"}: 5}, Refused: map[string]uint64{"role": 6},
	}
	said := scrape(t, "", Agent(AgentConfig{Host: "db1", Linerate: "v1", Most: "change", Counts: func() natsagent.Counts { return counts }, Observe: observing(bonded())}))
	for _, want := range []string{
		`linerate_agent_info{host="db1",linerate="v1",most="change"} 1`,
		`linerate_agent_start_time_seconds 1.5`,
		`linerate_agent_connected 1`,
		`linerate_agent_reconnects_total 2`,
		`linerate_agent_bus_bytes_total{direction="receive"} 10`,
		`linerate_agent_published_time_seconds 2.5`,
		`linerate_agent_calls_running 3`,
		`linerate_agent_calls_total{method="observe",outcome="done"} 4`,
		`linerate_agent_call_seconds_total{method="observe",outcome="done"} 2`,
		`linerate_agent_calls_total{method="start",outcome="failed"} 1`,
		`linerate_agent_changes_total{method="apply",outcome="rolled_back"} 5`,
		`linerate_agent_changes_total{method="rollback",outcome="failed"} 0`,
		`linerate_agent_refused_total{why="role"} 6`,
		`linerate_agent_refused_total{why="busy"} 0`,
		`linerate_link_up{kind="device",link="eth2"} 0`,
		`linerate_link_speed_bytes_per_second{kind="bond",link="bond0"} 2.5e+09`,
		`linerate_bond_info{bond="bond0",mode="802.3ad",xmit_hash_policy="layer3+4"} 1`,
		`linerate_bond_ports{bond="bond0"} 3`,
		`linerate_bond_ports_usable{bond="bond0"} 2`,
		`linerate_bond_partner{bond="bond0"} 1`,
		`linerate_bond_port_usable{bond="bond0",port="eth2"} 0`,
		`linerate_bond_port_failures_total{bond="bond0",port="eth2"} 2`,
		`linerate_bond_port_bytes_total{bond="bond0",direction="transmit",port="eth1"} 2000`,
	} {
		if !strings.Contains(said, want+"\n") {
			t.Errorf("not said: %s", want)
		}
	}
	for _, never := range []string{`link="lo"`, `link="veth9"`} {
		if strings.Contains(said, never) {
			t.Errorf("said: %s", never)
		}
	}
	all(t, said, OfAgent)
}

// all checks that a teller said every family of its kind.
func all(t *testing.T, said string, of ...string) {
	t.Helper()
	for _, f := range families {
		if slices.Contains(of, f.Of) && !regexp.MustCompile(`(?m)^`+f.Name+`[ {]`).MatchString(said) {
			t.Errorf("nothing of %s", f.Name)
		}
	}
}

func TestPathsTell(t *testing.T) {
	p := &Paths{}
	began := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	for run, rate := range []unit.BitRate{940, 950, 930, 400} {
		trial := record.Trial{From: "a", To: "b", Direction: flow.Forward, Streams: 2, Protocol: "tcp", Tool: "linerate", Ports: "chosen", Goodput: rate * unit.Mbps, Ceiling: 990 * unit.Mbps,
			Started: began.Add(time.Duration(run) * time.Hour)}
		p.Add(fmt.Sprint("eve.", run), trial)
		p.Add(fmt.Sprint("eve.", run), trial) // delivered twice
	}
	said := scrape(t, "", OfThePaths(p))
	for _, want := range []string{
		`linerate_path_goodput_bytes_per_second{direction="forward",from="a",phase="measure",protocol="tcp",setting="",streams="2",to="b",tool="linerate"} 5e+07`,
		`linerate_path_usual_bytes_per_second{direction="forward",from="a",phase="measure",protocol="tcp",setting="",streams="2",to="b",tool="linerate"} 1.175e+08`,
		`linerate_path_ceiling_bytes_per_second{direction="forward",from="a",phase="measure",protocol="tcp",setting="",streams="2",to="b",tool="linerate"} 1.2375e+08`,
	} {
		if !strings.Contains(said, want+"\n") {
			t.Errorf("not said: %s\n%s", want, said)
		}
	}
	all(t, said, OfPaths)
}

// A fleet of more paths than are told keeps the newest.
func TestPathsBounded(t *testing.T) {
	p := &Paths{}
	began := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	for i := range mostPaths + 3 {
		p.Add("eve.1", record.Trial{From: "a", To: fmt.Sprint("b", i), Direction: flow.Forward, Streams: 1, Goodput: unit.Mbps, Started: began.Add(time.Duration(i) * time.Second)})
	}
	told := p.all()
	if len(told) != mostPaths || slices.ContainsFunc(told, func(n pathNow) bool { return n.To == "b0" || n.To == "b2" }) {
		t.Errorf("%d paths, want %d without the oldest", len(told), mostPaths)
	}
	for i := range 3 * mostPoints {
		p.Add(fmt.Sprint("eve.", i), record.Trial{From: "a", To: "b9", Direction: flow.Forward, Streams: 1, Goodput: unit.Mbps, Started: began.Add(time.Duration(i) * time.Hour)})
	}
	for _, l := range p.lines {
		if len(l.Points) > mostPoints {
			t.Errorf("%d points kept of %s", len(l.Points), l.To)
		}
	}
}

// scrape reads an endpoint as Prometheus does and checks what it says by
// Prometheus's own rules.
func scrape(t *testing.T, accept string, collectors ...prometheus.Collector) string {
	t.Helper()
	e, err := Listen(t.Context(), "127.0.0.1:0", nil, collectors...)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+e.Addr().String()+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", accept)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%v %s\n%s", err, resp.Status, text)
	}
	if accept == "" {
		problems, err := promlint.New(strings.NewReader(string(text))).Lint()
		if err != nil || len(problems) > 0 {
			t.Errorf("%v %v", problems, err)
		}
	}
	return string(text)
}

// A reader that asks for OpenMetrics has it, with its end marked.
func TestOpenMetrics(t *testing.T) {
	said := scrape(t, "application/openmetrics-text; version=1.0.0", Agent(AgentConfig{Counts: func() natsagent.Counts { return natsagent.Counts{} }}))
	if !strings.HasSuffix(said, "# EOF\n") || !strings.Contains(said, "# TYPE linerate_agent_reconnects counter") {
		t.Errorf("no OpenMetrics:\n%s", said)
	}
}

func TestEndpointRefuses(t *testing.T) {
	e, err := Listen(t.Context(), "127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := Listen(t.Context(), e.Addr().String(), nil); err == nil {
		t.Error("an address that is taken was taken")
	}
	for path, method := range map[string]string{"/metrics": http.MethodPost, "/debug/pprof/": http.MethodGet, "/metrics/../../etc/passwd": http.MethodGet} {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+e.Addr().String()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode < 400 {
			t.Errorf("%s %s: %s", method, path, resp.Status)
		}
	}
}
