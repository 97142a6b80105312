package crash

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/root"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/guest"
)

// TestMain makes the test binary the program too, whose processes are killed.
func TestMain(m *testing.M) {
	if guest.IsInit() {
		guest.Init()
	}
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "guard", "recover", "agent":
			os.Exit(root.Run(console.System("test"), os.Args[1:]))
		case jobCommand:
			os.Exit(jobMain(os.Args[2]))
		}
	}
	os.Exit(m.Run())
}

// The parts of the proof: parts of cuts, some plans each, some at a time, then one
// of power cuts and one of sessions that are killed on a machine with systemd.
const (
	cutParts  = 5
	plansEach = 6
	atOnce    = 3 // lab kernels, of which most wait for a deadline or a process
	powerPart = cutParts + 1
	unitsPart = cutParts + 2
)

// envPlan is the number of the plan that a lab kernel's part is about.
const envPlan = "LINERATE_CRASH_PLAN"

// TestCrash does one part of the proof: that of PROVE_RUN. In the suite, which
// has no time for more, it is a sample: PROVE_DRAW chooses its kind.
func TestCrash(t *testing.T) {
	seed, part, drawn := number("PROVE_SEED", 1), number("PROVE_RUN", 0), number("PROVE_DRAW", 0)
	switch scenario := os.Getenv(envScenario); {
	case scenario != "":
		inside(t, scenario)
	case os.Getenv(envPlan) != "":
		cuts(t, seed, number(envPlan, 0), part == 0 && number("PROVE_PLAN", 0) == 0)
	case number("PROVE_PLAN", 0) > 0: // one of the proof's plans alone
		inLab(t, number("PROVE_PLAN", 0))
	case part == powerPart:
		powerCuts(t, powerCases)
	case part == unitsPart || part == 0 && drawn%3 == 2:
		unitCuts(t)
	case part == 0 && drawn%3 == 1:
		powerCuts(t, powerCases[3:4])
	case part == 0:
		inLab(t, drawn%(cutParts*plansEach))
	default:
		for n := (part - 1) * plansEach; n < part*plansEach; n += atOnce {
			inLab(t, n+1, n+2, n+3)
		}
	}
}

func number(env string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(env)); err == nil {
		return n
	}
	return otherwise
}

// inLab runs the calling test in lab kernels, one a plan, all at the same time.
func inLab(t *testing.T, plans ...int) {
	t.Helper()
	choice, err := lab.Choose(lab.UML)
	if err != nil {
		t.Skipf("%v: make deps installs one", err)
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	said := make([]bytes.Buffer, len(plans))
	exits := make([]guest.Exit, len(plans))
	errs := make([]error, len(plans))
	var running sync.WaitGroup
	for i, n := range plans {
		cmd := guest.Command{Args: []string{"-test.run=^TestCrash$", "-test.v", "-test.timeout=30m"}, Dir: dir, Stdout: &said[i], Stderr: &said[i],
			Env: []string{envPlan + "=" + strconv.Itoa(n)}}
		for _, kv := range os.Environ() {
			if strings.HasPrefix(kv, "PROVE_") {
				cmd.Env = append(cmd.Env, kv)
			}
		}
		running.Go(func() { exits[i], _, errs[i] = lab.Enter(context.Background(), choice, cmd) })
	}
	running.Wait()
	for i, n := range plans {
		fmt.Print(said[i].String())
		if errs[i] != nil || exits[i].Status != 0 {
			t.Errorf("plan %d in the lab kernel: status %d, %v", n, exits[i].Status, errs[i])
		}
	}
	fmt.Fprintf(os.Stderr, "lab kernel %s (back end %s: %s)\n", exits[0].Kernel, choice.BackEnd, choice.Why)
}

// self is the test binary.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path, err = filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
