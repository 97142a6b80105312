package disturbed

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/lab/scenario"
)

// cable is one gigabit port on each side, as fast as a lab on the running kernel
// carries it with time to spare, and frames of 1500 bytes.
const cable = `linerate: v1
hosts:
  sender:
    network: {version: 2, ethernets: {eth0: {addresses: [10.2.0.1/24]}}}
    hardware: {links: {eth0: {speed: 1G}}}
  receiver:
    network: {version: 2, ethernets: {eth0: {addresses: [10.2.0.2/24]}}}
    hardware: {links: {eth0: {speed: 1G}}}
paths:
  - {between: [sender, receiver]}
scenario:
  name: disturbed
  title: "one cable, on a machine whose cores come and go"
  source: "none"
  scale: 2
  steps:
    - name: "tuned"
      measure:
        - {tool: tune, from: sender, to: receiver}
`

// mostTune is longer than a tune that spends its whole budget.
const mostTune = 3 * time.Minute

// TestDisturbed: what the prediction expects of large frames (3.8 %), and what the
// cores' absence hides (up to 15 % of a window), is kept all the same. PROVE_SEED
// and PROVE_RUN choose the story.
func TestDisturbed(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("not root: no core can be taken")
	}
	dir := t.TempDir()
	program, file, rows := filepath.Join(dir, "linerate"), filepath.Join(dir, "cable.yaml"), filepath.Join(dir, "rows.json")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/linerate/linerate/cmd/linerate").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	if err := os.WriteFile(file, []byte(cable), 0o600); err != nil {
		t.Fatal(err)
	}
	seed := floor.Number(t, "PROVE_SEED", 0) + floor.Number(t, "PROVE_RUN", 0)
	ctx, done := context.WithTimeout(t.Context(), mostTune)
	defer done()
	takeCores(ctx, t, seed)
	c := exec.CommandContext(ctx, program, "lab", "run", file, "--back-end", "host", "-o", rows)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGINT) } // it takes its lab down
	c.WaitDelay = time.Minute
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	failed := c.Run()
	done()
	tuned := rowOf(t, rows, said.String(), failed)
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("kernel %s, cores taken by seed %d: %.3f of the ceiling after %d looks, %.0f s of traffic; kept %q", bytes.TrimSpace(kernel), seed, tuned.Share, tuned.Windows, tuned.Traffic, tuned.Changes)
	if !slices.ContainsFunc(tuned.Changes, func(s string) bool { return strings.HasPrefix(s, "MTU 9000 ") }) {
		t.Errorf("MTU 9000 was not kept:\n%s", said.String())
	}
}

// rowOf is what the lab's only row says of its tune.
func rowOf(t *testing.T, file, said string, failed error) scenario.Tuned {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v, %v\n%s", err, failed, said)
	}
	var o scenario.Outcome
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	if len(o.Rows) != 1 || o.Rows[0].Tuned == nil {
		t.Fatalf("%d rows: %v\n%s", len(o.Rows), failed, said)
	}
	return *o.Rows[0].Tuned
}
