package crash

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/cli"
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
			os.Exit(cli.Main(cli.System("test"), os.Args[1:]))
		case jobCommand:
			os.Exit(jobMain(os.Args[2]))
		}
	}
	os.Exit(m.Run())
}

// The parts of the proof: parts of cuts, one plan each, then one of power cuts
// and one of sessions that are killed on a machine with systemd.
const (
	cutParts   = 30
	powerPart  = cutParts + 1
	unitsPart  = cutParts + 2
	lastOfDays = 3
)

// TestCrash does one part of the proof: that of PROVE_RUN. In the suite, which
// has no time for more, it is a sample: of every day's the next kind.
func TestCrash(t *testing.T) {
	if scenario := os.Getenv(envScenario); scenario != "" {
		inside(t, scenario)
		return
	}
	part := number("PROVE_RUN", 0)
	day := int(time.Now().Unix()/86400) % lastOfDays
	switch {
	case part == powerPart:
		powerCuts(t, powerCases)
	case part == unitsPart || part == 0 && day == 2 && !inGuest():
		unitCuts(t)
	case part == 0 && day == 1 && !inGuest():
		powerCuts(t, powerCases[3:4])
	default:
		inLab(t, func() { cuts(t, number("PROVE_SEED", 1), part) })
	}
}

func number(env string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(env)); err == nil {
		return n
	}
	return otherwise
}

func inGuest() bool { return os.Getenv(guest.EnvGuest) != "" }

// inLab runs the calling test in a lab kernel, and there it runs f.
func inLab(t *testing.T, f func()) {
	t.Helper()
	if inGuest() {
		f()
		return
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	cmd := guest.Command{Args: []string{"-test.run=^" + t.Name() + "$", "-test.v", "-test.timeout=30m"}, Dir: dir, Stdout: os.Stdout, Stderr: os.Stderr}
	for _, kv := range os.Environ() {
		if strings.HasPrefix(kv, "PROVE_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	choice, err := lab.Choose(lab.UML)
	if err != nil {
		t.Fatal(err) // a test that was not run has not passed
	}
	exit, _, err := lab.Enter(context.Background(), choice, cmd)
	if err != nil || exit.Status != 0 {
		t.Fatalf("in the lab kernel: status %d, %v", exit.Status, err)
	}
	fmt.Fprintf(os.Stderr, "lab kernel %s (back end %s: %s)\n", exit.Kernel, choice.BackEnd, choice.Why)
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
