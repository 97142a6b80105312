package scenariorun

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/kernel/procfs"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

func TestPingAverage(t *testing.T) {
	for text, want := range map[string]float64{
		"rtt min/avg/max/mdev = 3.730/3.785/3.947/0.050 ms\n":            3.785,
		"100 packets\nround-trip min/avg/max = 8.810/8.902/9.100 ms\n":   8.902,
		"rtt min/avg/max/mdev = 0.1/12/30.2/1 ms, pipe 2\n":              12,
		"20 packets transmitted, 0 received, 100% packet loss, time 1\n": 0,
		"": 0,
	} {
		got, err := pingAverage(text)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestBusiest(t *testing.T) {
	before := []procfs.CPUTime{{CPU: 0, Busy: 1, Total: 10}, {CPU: 2, Busy: 5, Total: 10}, {CPU: 3, Total: 7}}
	after := []procfs.CPUTime{{CPU: 0, Busy: 4, Total: 20}, {CPU: 2, Busy: 14.5, Total: 20}, {CPU: 3, Total: 7}}
	if got := busiest(before, after); math.Abs(got-0.95) > 1e-9 {
		t.Errorf("%v, want 0.95", got)
	}
}

// TestIPerf3Trial: what counts is what arrived, and a processor that was full
// marks the row.
func TestIPerf3Trial(t *testing.T) {
	text, err := os.ReadFile("../../evidence/resultfile/testdata/iperf3-parallel.json")
	if err != nil {
		t.Fatal(err)
	}
	m := scenario.Measurement{From: "a", To: "b", Direction: flow.Forward}
	trial, shares, err := iperf3Trial(text, m, 4, record.FullProcessor)
	if err != nil {
		t.Fatal(err)
	}
	row := rowOf(trial)
	if trial.From != "a" || row.Streams != 4 || !row.CPUBound || row.Measured < unit.Mbps {
		t.Errorf("row %+v of %s", row, trial.From)
	}
	if math.Abs(shares.Sender-0.052425) > 1e-6 || math.Abs(shares.Receiver-0.019021) > 1e-6 {
		t.Errorf("shares %+v", shares)
	}
	if last := trial.CPU[len(trial.CPU)-1]; last.Host != "a" || last.Busiest != record.FullProcessor {
		t.Errorf("the machine's processor: %+v", trial.CPU)
	}
	for d, want := range map[flow.Direction]*scenario.CPUShares{flow.Both: nil, flow.Reverse: {Sender: 0.2, Receiver: 0.1}} {
		got := sharesOf(record.Trial{From: "near", To: "far", Direction: d, CPU: []record.CPUUse{{Host: "near", Busy: 0.1}, {Host: "far", Busy: 0.2}}})
		if (got == nil) != (want == nil) || got != nil && (got.Sender != want.Sender || got.Receiver != want.Receiver) {
			t.Errorf("%s: shares %+v", d, got)
		}
	}
	refused, err := os.ReadFile("../../evidence/resultfile/testdata/iperf3-refused.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := iperf3Trial(refused, m, 4, 0); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("a refused connection: %v", err)
	}
	for _, bad := range []string{"", "{}", "iperf3: error - unable to connect\n"} {
		if _, _, err := iperf3Trial([]byte(bad), m, 4, 0); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// TestNoDelay: what a scenario asks of Nagle's algorithm reaches iperf3's arguments
// and every other tool's sockets, and nothing does where it asks for nothing.
func TestNoDelay(t *testing.T) {
	for _, off := range []bool{false, true} {
		m := scenario.Measurement{Direction: flow.Reverse, NoDelay: off, Buffer: 4096}
		words := iperf3Words(m, flow.Lane{}, 2)
		if slices.Contains(words, "-N") != off || !slices.Contains(words, "-R") || !slices.Contains(words, "4096") {
			t.Errorf("no delay %v: iperf3 %v", off, words)
		}
		if got := matrixOf(m).Base.Socket.NoDelay; got != off {
			t.Errorf("no delay %v: sockets without Nagle's algorithm: %v", off, got)
		}
	}
}
