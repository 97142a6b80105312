package root

import (
	"fmt"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
)

// manyClients is a store with one link and clients that all have a path to it.
func manyClients(n int, speed string) string {
	var hosts, paths strings.Builder
	for i := range n {
		fmt.Fprintf(&hosts, "  client-with-a-name-so-long-that-tables-break-%d:\n    network: {ethernets: {eth0: {addresses: [10.0.%d.%d/16]}}}\n    hardware: {links: {eth0: {speed: %s}}}\n",
			i, 1+i/200, 1+i%200, speed)
		fmt.Fprintf(&paths, "  - {between: [client-with-a-name-so-long-that-tables-break-%d, store], rtt: 1ms}\n", i)
	}
	return "linerate: v1\nhosts:\n  store:\n    network: {ethernets: {eth0: {addresses: [10.0.0.1/16]}}}\n    hardware: {links: {eth0: {speed: 10G}}}\n" +
		hosts.String() + "paths:\n" + paths.String()
}

// TestPredictTogetherMany: more pairs than fit are summed up.
func TestPredictTogetherMany(t *testing.T) {
	o := run(t, "", "predict", file(t, "fleet.yaml", manyClients(300, "1G")), "--together", "--directions", "forward")
	if o.status != console.ExitDone || o.stderr != "" {
		t.Fatalf("exit %d, %s", o.status, o.stderr)
	}
	fits(t, o.stdout)
	for _, want := range []string{"300 pairs at once, forward, 16 streams each, tcp\n", "  least: ", "  median: ", "  most: ", "  who loses most:\n",
		"line-rate [1]", "[1] line-rate, store: eth0, receiving: 300 pairs share its 10.0 Gbit/s", "Links between switches"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("no %q in\n%s", want, o.stdout)
		}
	}
	if n := strings.Count(o.stdout, "\n"); n > 25 {
		t.Errorf("%d lines:\n%s", n, o.stdout)
	}
}

// A pair that the file says too little about is unknown, and the others are
// not.
func TestPredictTogetherUnknown(t *testing.T) {
	open := strings.Replace(manyClients(2, "1G"), "- {between: [client-with-a-name-so-long-that-tables-break-1, store], rtt: 1ms}",
		"- {between: [client-with-a-name-so-long-that-tables-break-1, other]}", 1)
	open = strings.Replace(open, "paths:\n", "  other:\n    network: {ethernets: {eth0: {addresses: [10.0.0.3/16]}}}\npaths:\n", 1)
	open = strings.Replace(open, "[10.0.1.2/16]}}}\n    hardware: {links: {eth0: {speed: 1G}}}", "[10.0.1.2/16]}}}", 1)
	name := file(t, "open.yaml", open)
	o := run(t, "", "predict", name, "--together", "--directions", "forward")
	if o.status != console.ExitDone || !strings.Contains(o.stdout, "sum, without 1 unknown") {
		t.Errorf("exit %d, %s%s", o.status, o.stdout, o.stderr)
	}
	fits(t, o.stdout)
	all := document(t, run(t, "", "predict", name, "--together", "--directions", "both", "--json"))["predictions"].([]any)
	if len(all) != 2 {
		t.Fatalf("%d predictions, want 2", len(all))
	}
	for i, unknown := range []bool{false, true} {
		p := all[i].(map[string]any)
		wantKeys(t, "prediction", p, "from to direction streams protocol rate_bps ceiling_bps limit limits together_bps together_limit together_where",
			"together_why", "together_forward_bps", "together_reverse_bps", "forward_bps", "reverse_bps", "kernel_ports_bps", "kernel_ports_worst_bps", "rate_low_bps", "rate_high_bps", "range_why")
		if got := p["together_limit"] == "unknown" && p["together_bps"] == 0.0; got != unknown {
			t.Errorf("pair %d: %v of %v, want unknown %v", i, p["together_limit"], p["together_bps"], unknown)
		}
	}
}
