package root

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
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

func TestExplainProbeRefused(t *testing.T) {
	reached := lone(t, twoSpaces, nil)
	for _, c := range []struct {
		status     int
		line, hint string
		args       []string
	}{
		{console.ExitUsage, "explain: --yes, --ports, --output and --force are about probes", "--probe", []string{reached, "--yes"}},
		{console.ExitUsage, "explain: --yes, --ports, --output and --force are about probes", "--probe", []string{reached, "-o", "x.json"}},
		{console.ExitUsage, "explain: --probe sends for ", "--yes", []string{reached, "--probe"}},
		{console.ExitUsage, "read nowhere.json", "check the name", []string{"nowhere.json", "--probe", "--yes"}},
		{console.ExitUnreachable, "probe a to b: host is unreachable: the record has no fabric", "`linerate listen` on b", []string{lone(t, "", nil), "--probe", "--yes"}},
		{console.ExitUnreachable, "probe a to b: host is unreachable: hosts.b.reach is not set", "`linerate measure b` on a", []string{lone(t, oneReached, nil), "--probe", "--yes"}},
		{console.ExitUnreachable, "probe ", "`linerate listen` on ", []string{"../../evidence/resultfile/testdata/iperf2-tcp-client.csv", "--probe", "--yes"}},
		{console.ExitUnreachable, "", "check hosts.NAME.reach", []string{reached, "--probe", "--yes"}},
	} {
		refused(t, "", c.status, c.line, c.hint, append([]string{"explain"}, c.args...)...)
	}
}

// TestExplainProbeSays: what would be sent is shown before anybody is asked.
func TestExplainProbeSays(t *testing.T) {
	o := run(t, "", "explain", lone(t, twoSpaces, nil), "--probe", "--yes")
	fits(t, o.stderr)
	for _, want := range []string{"a to b, forward, 2 streams: ", "  - ", "as much as passes"} {
		if !strings.Contains(o.stderr, want) {
			t.Errorf("no %q in\n%s", want, o.stderr)
		}
	}
}

// TestExplainProbeNothing: a finding that asks for nothing is shown as ever.
func TestExplainProbeNothing(t *testing.T) {
	full := lone(t, twoSpaces, func(t *record.Trial) {
		t.Phase, t.Finding = record.PhaseAfter, &record.Finding{Cause: record.LineRate, Confidence: 0.95, Summary: "The link is full.", From: "a", To: "b", Direction: flow.Forward, Streams: 2}
	})
	o := run(t, "", "explain", full, "--probe")
	if o.status != console.ExitDone || !strings.Contains(o.stdout, "The link is full.") || !strings.Contains(o.stderr, "nothing to probe") {
		t.Errorf("exit %d: %s%s", o.status, o.stdout, o.stderr)
	}
	doc := document(t, run(t, "", "explain", full, "--probe", "--json"))
	wantKeys(t, "explain --probe", doc, "findings probes")
}
