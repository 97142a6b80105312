package root

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
)

// Twelve runs of which the last lost a tenth: the store tells the last beside what
// was usual before it, on standard output and in a file for node_exporter alike.
func TestHistoryMetrics(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(console.EnvStore, "history.db")
	for day := range 12 {
		file := fmt.Sprintf("run%02d.json", day)
		if err := console.WriteJSON(context.Background(), file, pageRun(day)); err != nil {
			t.Fatal(err)
		}
		if o := run(t, "", "history", "add", file); o.status != console.ExitDone {
			t.Fatal(o.stderr)
		}
	}
	o := run(t, "", "history", "--metrics", "-", "--since", "2026-03-01")
	for name, want := range map[string]float64{"linerate_path_goodput_bytes_per_second": 836e6 / 8, "linerate_path_usual_bytes_per_second": 930e6 / 8, "linerate_path_ceiling_bytes_per_second": 993e6 / 8} {
		m := regexp.MustCompile(`(?m)^` + name + `\{direction="forward",from="rbx",.*streams="8",to="lim".*\} (\S+)$`).FindStringSubmatch(o.stdout)
		if m == nil {
			t.Errorf("nothing of %s\n%s%s", name, o.stdout, o.stderr)
			continue
		}
		if got, err := strconv.ParseFloat(m[1], 64); err != nil || got < 0.99*want || got > 1.01*want {
			t.Errorf("%s: %s, want about %g", name, m[1], want)
		}
	}
	file := filepath.Join(t.TempDir(), "linerate.prom")
	if f := run(t, "", "history", "--metrics", file, "--since", "2026-03-01"); f.status != console.ExitDone || f.stdout != "" {
		t.Errorf("%d %s%s", f.status, f.stdout, f.stderr)
	}
	text, err := os.ReadFile(file)
	if err != nil || string(text) != o.stdout {
		t.Errorf("%v: the file says otherwise than standard output", err)
	}
	if old := run(t, "", "history", "--metrics", "-"); old.status != console.ExitDone || old.stdout != "" {
		t.Errorf("of the last 30 days: %d %s%s", old.status, old.stdout, old.stderr)
	}
	if bad := run(t, "", "history", "--metrics", filepath.Join(t.TempDir(), "none", "x.prom")); bad.status == console.ExitDone {
		t.Error("a directory that is not there was written to")
	}
}

func TestMetricsAddress(t *testing.T) {
	for _, address := range []string{"9117", "localhost:9117", "127.0.0.1"} {
		if o := run(t, "", "serve", "--state", t.TempDir(), "--listen", "127.0.0.1:0", "--metrics", address); o.status != console.ExitUsage {
			t.Errorf("%s: %d %s", address, o.status, o.stderr)
		}
	}
}
