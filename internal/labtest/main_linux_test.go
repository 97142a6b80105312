package labtest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/cli"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/guest"
)

// TestMain takes the tests to where they can run. A machine that can run no
// lab fails them: a test that was not run has not passed.
func TestMain(m *testing.M) {
	if guest.IsInit() {
		guest.Init()
	}
	if len(os.Args) > 1 && os.Args[1] == "guard" { // the dead man of a change
		os.Exit(cli.Main(cli.System("test"), os.Args[1:]))
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	choice, err := lab.Choose(lab.Auto)
	if err != nil {
		fmt.Fprintln(os.Stderr, "labtest:", err)
		return 1
	}
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "labtest:", err)
		return 1
	}
	exit, entered, err := lab.Enter(context.Background(), choice, guest.Command{
		Args: forGuest(os.Args[1:]), Dir: dir, Stdout: os.Stdout, Stderr: os.Stderr, Env: proofEnv(),
	})
	switch {
	case !entered:
		return m.Run()
	case err != nil:
		fmt.Fprintln(os.Stderr, "labtest:", err)
		return 1
	}
	fmt.Fprintf(os.Stderr, "lab kernel %s (%s)\n", exit.Kernel, choice.Why)
	return exit.Status
}

// forGuest leaves out the flags that name files outside the guest's reach.
func forGuest(args []string) []string {
	var out []string
	for _, a := range args {
		if !strings.HasPrefix(a, "-test.testlogfile=") && !strings.HasPrefix(a, "-test.coverprofile=") && !strings.HasPrefix(a, "-test.gocoverdir=") {
			out = append(out, a)
		}
	}
	return out
}

// proofEnv hands the settings of a proof (`make prove-...`) on.
func proofEnv() []string {
	var out []string
	for _, kv := range os.Environ() {
		if strings.HasPrefix(kv, "PROVE_") {
			out = append(out, kv)
		}
	}
	return out
}
