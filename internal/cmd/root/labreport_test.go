package root

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
)

// run as `lab run all -o` writes it: a row of rates, a ratio without a published
// rate, a ping, a tune, and a scenario that failed.
const allRun = `{"scenarios": [
  {"scenario": "one", "title": "t", "source": "s", "back_end": "uml", "kernel": "6.12.88", "scale": 32, "tools": {"iperf2": "iperf version 2.1.8", "tune": "v1"}, "findings": [], "notes": [], "rows": [
    {"step": "default", "from": "a", "to": "b", "streams": 2, "direction": "forward", "measured_bps": 18e9, "predicted_bps": 18.5e9, "published_bps": 18.4e9, "published_ratio": null, "measured_ratio": null, "ceiling_bps": 31.8e9, "tool": "iperf2", "kind": "rate", "cpu_bound": false, "verdict": "reproduced"},
    {"step": "default", "from": "b", "to": "a", "streams": 0, "direction": "forward", "measured_bps": 0, "predicted_bps": 0, "published_bps": null, "published_ratio": null, "measured_ratio": null, "ceiling_bps": 0, "tool": "ping", "kind": "rate", "cpu_bound": false, "measured_ms": 2.6, "published_ms": 2.5, "verdict": "reproduced"},
    {"step": "tuned", "from": "a", "to": "b", "streams": 4, "direction": "both", "measured_bps": 62e9, "predicted_bps": 63e9, "published_bps": 57.4e9, "published_ratio": null, "measured_ratio": null, "ceiling_bps": 63.6e9, "tool": "tune", "kind": "best", "cpu_bound": false, "verdict": "reached",
     "tuned": {"before_bps": 30e9, "forward_bps": 31.2e9, "reverse_bps": 30.8e9, "ceiling_ratio": 0.9748, "ceiling_mtu_bytes": 9000, "changes": ["MTU 9000 on ens3"], "stopped": "target", "measurements_count": 9, "traffic_s": 31.5}}]},
  {"scenario": "two", "back_end": "", "kernel": "", "scale": 0, "tools": null, "rows": null, "findings": null, "notes": null, "error": "no kernel"}]}`

// TestLabReport: what a run wrote becomes the document, with a chart of the
// scenario that has rates; what is no such file is refused and nothing written.
func TestLabReport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "docs")
	if o := run(t, "", "lab", "report", file(t, "run.json", allRun), "-o", dir); o.status != console.ExitDone {
		t.Fatalf("exit %d: %s", o.status, o.stderr)
	}
	text, err := os.ReadFile(filepath.Join(dir, "lab-report.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| default | a, b, forward | 2 | iperf2 | 18.4 | 18 | 18.5 | 31.2 | 31.8 |  | reproduced |", "| 2.5 ms | 2.6 ms |  |  |  |  | reproduced |",
		"| tuned | a, b, both | 4 | tune | 57.4 |  | 63 | 62 | 63.6 |  | reached |", "97.5 % of the ceiling at MTU 9000", "- MTU 9000 on ens3", "**Failed**: no kernel", "(lab-one.svg)",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	found, err := os.ReadDir(dir)
	if err != nil || len(found) != 2 {
		t.Errorf("%d files, %v; want the document and one chart", len(found), err)
	}
	none := filepath.Join(t.TempDir(), "none")
	for _, text := range []string{"{}", `{"scenarios": []}`, "nonsense"} {
		if o := run(t, "", "lab", "report", file(t, "bad.json", text), "-o", none); o.status != console.ExitUsage {
			t.Errorf("%s: exit %d: %s", text, o.status, o.stderr)
		}
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("a directory was made for nothing")
	}
}
