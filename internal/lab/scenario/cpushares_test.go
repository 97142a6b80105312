package scenario

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/unit"
)

// TestCPUShares: what iperf3 took of a processor stands below a row of which
// somebody published it, with what each Gbit/s took.
func TestCPUShares(t *testing.T) {
	published := 2.7 * unit.Gbps
	r := Row{Measured: 2.5 * unit.Gbps, Published: &published, CPU: &CPUShares{Sender: 0.01, Receiver: 0.02}}
	if got := r.Below(); got != "" {
		t.Errorf("nobody published it: %q", got)
	}
	r.CPU.Published = []float64{0.07, 0.12}
	want := "    of a thread, sender and receiver: 1 and 2 %, 0.4 and 0.8 % a Gbit/s\n" +
		"      published: 7 and 12 %, 2.59 and 4.44 % a Gbit/s\n"
	if got := r.Below(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	r.CPU.Sender, r.CPU.Receiver = 0.998, 1
	if got := r.Below(); !strings.Contains(got, "99.8 and 100 %") {
		t.Errorf("of a full thread: %q", got)
	}
	r.CPU.Published = r.CPU.Published[:1]
	if got := r.Below(); got != "" {
		t.Errorf("of one end: %q", got)
	}
	r.CPU.Published = []float64{1, 0.83}
	r.Published, r.Measured = nil, 0
	if got := r.Below(); strings.Contains(got, "Gbit/s") {
		t.Errorf("of no rate: %q", got)
	}
}

// TestCPUSharesChecked: two ends have two shares, and only iperf3 says them.
func TestCPUSharesChecked(t *testing.T) {
	step := func(m string) string { return two + "  {name: x, steps: [{name: s, measure: [{" + m + "}]}]}\n" }
	if m := parse(t, step("tool: iperf3, from: a, to: b, published_cpu: [7%, 12%]")).Steps[0].Measure[0]; len(m.CPU) != 2 || m.CPU[1] != 0.12 {
		t.Errorf("read %v", m.CPU)
	}
	for text, want := range map[string]string{
		"tool: iperf3, from: a, to: b, published_cpu: 7%":                         "for the two ends",
		"tool: iperf3, from: a, to: b, published_cpu: [7%, 12]":                   "is not a share",
		"tool: iperf3, from: a, to: b, direction: both, published_cpu: [7%, 12%]": "both ends",
		"tool: linerate, from: a, to: b, published_cpu: [7%, 12%]":                "of iperf3",
		"tool: iperf3, from: a, to: b, published_cpus: [0.1, 0.12]":               "published_cpu",
	} {
		if _, err := Parse("x.yaml", []byte(step(text))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
