package overssh

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/record"
)

// TestHostileHosts: hosts that answer as no host does, by a real sshd (attack 8, 9).
// Each is one line, the others are measured, and neither time nor memory is theirs.
func TestHostileHosts(t *testing.T) {
	const greeting = `echo "linerate-far: system $(uname -sm)"; echo linerate-far: end; read what; `
	kinds := []struct{ why, force string }{
		{"", ""}, {"", ""},
		{"its login shell prints without end", "cat /dev/zero"},
		{"it stopped reading while linerate was copied", greeting + "echo linerate-far: send /tmp/x; exec sleep 300"},
		{"its login shell prints without end", "yes"},
		{"its shell did not answer for 30s", "cat /dev/zero >&2"},
		{"its shell did not answer for 30s", "sleep 300"},
		{"it printed", greeting + "echo linerate-far: ready; exec yes"},
	}
	var as []hosting
	for _, k := range kinds {
		as = append(as, hosting{force: k.force})
	}
	r := newRack(t, 0, as...)
	file := r.fabricFile("hostile", func(i int) string { return fmt.Sprintf("{reach: \"ssh://root@h%d\"", i) })
	out := filepath.Join(r.path, "record.json")
	cmd := r.command(t.Context(), "measure", file, "--duration", "500ms", "--ping-count", "1", "--no-loaded-latency", "-o", out)
	begin := time.Now()
	got := r.finish(cmd)
	took := time.Since(begin)
	text := unwrapped(got.err)
	for i, k := range kinds {
		name := fmt.Sprintf("h%d is left out", i+1)
		if n := strings.Count(text, name); (k.why == "") != (n == 0) || n > 1 {
			t.Errorf("h%d is said to be left out %d times", i+1, n)
		}
		_, line, _ := strings.Cut(text, name)
		line, _, _ = strings.Cut(line, "\n")
		if !strings.Contains(line, k.why) {
			t.Errorf("h%d%.300s\nwant %q", i+1, line, k.why)
		}
	}
	var rec record.Record
	floor.Must(t, json.Unmarshal([]byte(own(t, out)), &rec))
	if got.status != 1 || len(rec.Trials) != 1 {
		t.Errorf("status %d, %d trials, want 1 and 1", got.status, len(rec.Trials))
	}
	used := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if mb := used.Maxrss >> 10; mb > 300 {
		t.Errorf("%d MB of memory", mb)
	}
	// Those that say nothing are waited for 30 s, twice: they are tried again.
	if took > 150*time.Second {
		t.Errorf("it took %v", took)
	}
	t.Logf("%v, %d MB of memory", took.Round(time.Second), used.Maxrss>>10)
	if t.Failed() {
		t.Logf("%.5000s", got.err)
	}
}
