package scenarios

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/lab/scenario"
)

// allWithin is how long all of them may take together on two cores.
const allWithin = 25 * time.Minute

// leastNFS is what two links are to carry of NFS, of what one does.
const leastNFS = 1.95

// TestScenarios: in a proof all of them, as `lab run all` runs them, or the one
// that PROVE_SCENARIO names; else the shortest by itself.
func TestScenarios(t *testing.T) {
	if err := guest.Installed(); err != nil {
		t.Skip(err)
	}
	name := cmp.Or(os.Getenv("PROVE_SCENARIO"), "all")
	if os.Getenv("PROVE_RUN") == "" {
		floor.Turn(t, floor.Rehearsing)
		name = "fan-in"
	}
	file := filepath.Join(t.TempDir(), "rows.json")
	if kept := os.Getenv("PROVE_ROWS"); kept != "" {
		file = kept // for `lab replicas`; what was said is beside it
	}
	began := time.Now()
	said, failed := run(t, "lab", "run", name, "-o", file)
	took := time.Since(began)
	if err := os.WriteFile(file+".log", []byte(said), 0o600); err != nil {
		t.Fatal(err)
	}
	all := read(t, file, name == "all")
	if len(all) == 0 {
		t.Fatalf("%v\n%s", failed, said)
	}
	t.Logf("lab kernel %s", kernelOf(all))
	for _, o := range all {
		t.Logf("scenarios: %s", summary(o))
		for _, r := range o.Rows {
			if r.Tool == string(scenario.NFS) && r.MeasuredRatio != nil && *r.MeasuredRatio < leastNFS {
				t.Errorf("%s, %s: %.3f times one link, want %v", o.Scenario, r.Step, *r.MeasuredRatio, leastNFS)
			}
		}
	}
	t.Logf("scenarios: %s in %.0f s", name, took.Seconds())
	if failed != nil || !scenario.Green(all) {
		t.Errorf("not green: %v\n%s", failed, said)
	}
	if name == "all" && took > allWithin {
		t.Errorf("all took %v, want %v at most", took.Round(time.Second), allWithin)
	}
}

// run builds the program and runs it on two cores, where there are more.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "linerate")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/linerate/linerate/cmd/linerate").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	argv := append([]string{program}, args...)
	if taskset, err := exec.LookPath("taskset"); err == nil && runtime.NumCPU() > 2 {
		argv = append([]string{taskset, "-c", cores()}, argv...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*allWithin) // also when the test is over
	defer cancel()
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGINT) } // it takes its lab down
	c.WaitDelay = time.Minute
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	err := c.Run()
	return said.String(), err
}

// cores are the two that a run has: PROVE_CORES, or the first.
func cores() string {
	if c := os.Getenv("PROVE_CORES"); c != "" {
		return c
	}
	return "0,1"
}

// read are the outcomes that a run wrote; none where it wrote nothing.
func read(t *testing.T, file string, all bool) []scenario.Outcome {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	var many struct {
		Scenarios []scenario.Outcome `json:"scenarios"`
	}
	var one scenario.Outcome
	if all {
		err = json.Unmarshal(text, &many)
	} else {
		err = json.Unmarshal(text, &one)
		many.Scenarios = []scenario.Outcome{one}
	}
	if err != nil {
		t.Fatal(err)
	}
	return many.Scenarios
}

func kernelOf(all []scenario.Outcome) string {
	for _, o := range all {
		if o.Kernel != "" {
			return o.Kernel
		}
	}
	return "unknown"
}

// summary is an outcome in one line: what was scored and how far the worst is
// off, and what tune came to.
func summary(o scenario.Outcome) string {
	if o.Error != "" {
		return o.Scenario + " failed: " + o.Error
	}
	scored, off, full, worst := 0, 0, 0, 0.0
	best := ""
	for _, r := range o.Rows {
		switch r.Verdict {
		case scenario.Reproduced, scenario.Off, scenario.Reached, scenario.Limited:
			scored++
		}
		if r.Verdict == scenario.Off {
			off++
		}
		if r.CPUBound {
			full++
		}
		if r.Published != nil && r.Kind == scenario.Rate {
			worst = math.Max(worst, math.Abs(float64(r.Measured / *r.Published)-1))
		}
		if r.MeasuredRatio != nil {
			best += fmt.Sprintf(", ratio %.3f", *r.MeasuredRatio)
		}
		if r.Tuned != nil {
			best += fmt.Sprintf(", tune %s %.3f of the ceiling", r.Verdict, float64(r.Measured/r.Ceiling))
		}
	}
	return o.Scenario + ": " + strconv.Itoa(len(o.Rows)) + fmt.Sprintf(" rows, %d scored, %d off, %d by a full processor, rates within %.1f %%%s", scored, off, full, 100*worst, best)
}
