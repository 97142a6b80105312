package scenariorun

import (
	"testing"

	"github.com/linerate/linerate/internal/host/apply/testjournal"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/internal/lab/scenariorun"
	"github.com/linerate/linerate/unit"
)

// rows is a network of one cable of 1 Gbit/s, as 50 Mbit/s, that every tool
// measures. The lab's own kernel adds 0.3 ms to the round trip; a window of 1 s
// would count what queues held when it began.
const rows = `
linerate: v1
hosts:
  a:
    network: {version: 2, ethernets: {eth0: {addresses: [10.9.0.1/24]}}}
    hardware: {links: {eth0: {speed: 1G}}}
  b:
    network: {version: 2, ethernets: {eth0: {addresses: [10.9.0.2/24]}}}
    hardware: {links: {eth0: {speed: 1G}}}
paths:
  - {between: [a, b], rtt: 4ms}
scenario:
  name: rows
  scale: 20
  steps:
    - name: every tool
      measure:
        - {tool: ping, from: a, to: b, published_rtt: 4.3ms, count: 20}
        - {tool: iperf3, from: a, to: b, streams: [1, 2], duration: 3s, published: [941M, 941M]}
        - {tool: iperf3, from: a, to: b, direction: reverse, duration: 3s, published: 941M}
        - {tool: iperf2, from: a, to: b, duration: 1s, published: 941M}
        - {tool: linerate, from: a, to: b, duration: 1s, published: 941M}
        - {tool: linerate, from: a, to: b, aliases: 2, duration: 1s, published: 941M, kind: claim}
    - name: larger frames
      with: "mtu=9000"
      measure:
        - {tool: iperf3, from: a, to: b, streams: [1, 2], duration: 3s, published: [990M, 990M]}
`

// TestRows: every tool's rows are at the published scale, near what the line
// carries and no more.
func TestRows(t *testing.T) {
	floor.Turn(t, floor.Rehearsing)
	s, err := scenario.Parse("rows.yaml", []byte(rows))
	floor.Must(t, err)
	told := 0
	result, err := scenariorun.Run(t.Context(), scenariorun.Config{Scenario: s, Version: "test", BackEnd: "test", JournalDir: testjournal.Dir(t), Tell: func(p scenariorun.Progress) {
		if p.Row != nil {
			told++
			t.Log(scenario.Line(*p.Row))
		}
	}})
	floor.Must(t, err)
	const want = 9
	if len(result.Rows) != want || told != want {
		t.Fatalf("%d rows, told of %d, want %d", len(result.Rows), told, want)
	}
	for _, r := range result.Rows {
		if r.Verdict == scenario.Off {
			t.Errorf("off: %+v", r)
		}
		if r.MeasuredRTT == 0 && (r.Ceiling < 930*unit.Mbps || r.Ceiling > unit.Gbps || r.Kind == scenario.Rate && r.Measured > r.Ceiling*1.02 || r.Predicted > r.Ceiling) {
			t.Errorf("measured %v, predicted %v, ceiling %v of a line of 1 Gbit/s", r.Measured, r.Predicted, r.Ceiling)
		}
		if r.Tool != string(scenario.Ping) && r.Tool != string(scenario.Linerate) && r.Kind == scenario.Rate && r.Streams == 0 {
			t.Errorf("a row without streams: %+v", r)
		}
	}
	for _, tool := range []scenario.Tool{scenario.IPerf3, scenario.IPerf2, scenario.Ping, scenario.Linerate} {
		if result.Tools[tool] == "" {
			t.Errorf("no version of %s", tool)
		}
	}
	if result.Kernel == "" || len(result.Findings) == 0 {
		t.Errorf("kernel %q, %d findings", result.Kernel, len(result.Findings))
	}
	nothingLeft(t)
}
