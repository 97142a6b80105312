package floor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/guest"
)

// Main is the body of a TestMain: it runs the tests on the lab's back end and
// returns the exit status. Where no such kernel can be had here the package is
// skipped, with the reason.
func Main(m *testing.M, want lab.BackEnd) int {
	return MainWith(m, want, More{})
}

// More is what some tests want of a lab kernel beside what all have.
type More struct {
	Modules []string
	// Env names a variable that is handed on, a directory of the machine's that
	// the tests may write to: "" is none.
	Env string
	// Series is the distribution kernel to emulate where EnvKernel says none.
	Series string
}

// MainWith is Main with more.
func MainWith(m *testing.M, want lab.BackEnd, more More) int {
	if guest.IsInit() {
		guest.Init()
	}
	return run(m, want, more)
}

// EnvKernel chooses the kernel that the tests run on: a series such as 5.10,
// emulated, or uml. Without it the lab's back end is chosen as always.
const EnvKernel = "PROVE_KERNEL"

func choose(want lab.BackEnd, otherwise string) (lab.Choice, error) {
	switch series := cmp.Or(os.Getenv(EnvKernel), otherwise); series {
	case "":
		return lab.Choose(want)
	case string(lab.UML):
		return lab.Choose(lab.UML)
	default:
		return lab.ChooseKernel(series)
	}
}

func run(m *testing.M, want lab.BackEnd, more More) int {
	choice, err := choose(want, more.Series)
	switch {
	case err != nil && os.Getenv(EnvKernel) == "":
		// What go test -v prints of a skipped test: no other can be said to be one from here.
		fmt.Printf("=== RUN   TestMain\n    %v: make deps deps-qemu installs one\n--- SKIP: TestMain (0.00s)\n", err)
		return 0
	case err != nil:
		fmt.Fprintln(os.Stderr, "labtest:", err)
		return 1
	}
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "labtest:", err)
		return 1
	}
	cmd := guest.Command{Args: forGuest(os.Args[1:]), Dir: dir, Stdout: os.Stdout, Stderr: os.Stderr, Env: proofEnv(), Modules: more.Modules}
	if keep := os.Getenv(more.Env); more.Env != "" && keep != "" {
		cmd.Env, cmd.Writable = append(cmd.Env, more.Env+"="+keep), []string{keep}
	}
	if data := filepath.Join(dir, "testdata"); choice.BackEnd == lab.QEMU && isDir(data) {
		cmd.Files = []string{data}
	}
	exit, entered, err := lab.Enter(context.Background(), choice, cmd)
	switch {
	case !entered:
		return m.Run()
	case err != nil:
		fmt.Fprintln(os.Stderr, "labtest:", err)
		return 1
	}
	fmt.Fprintf(os.Stderr, "lab kernel %s (back end %s: %s)\n", exit.Kernel, choice.BackEnd, choice.Why)
	return exit.Status
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
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

// Space is a namespace that goes when the test does.
type Space struct {
	NS      netns.Namespace
	Builder *rtnl.Builder
}

// NewSpace makes a namespace for a test; it fails the test where it cannot.
func NewSpace(t testing.TB, name string) Space {
	t.Helper()
	name = "linerate-test-" + name
	ns, err := netns.Create(name)
	Must(t, err)
	t.Cleanup(func() { _ = netns.Delete(name) })
	b, err := rtnl.OpenBuilder(ns)
	Must(t, err)
	t.Cleanup(b.Close)
	return Space{ns, b}
}

// Must fails the test on an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Pause is the time between two looks at something that comes about by itself.
func Pause() { time.Sleep(pause) }

const pause = 20 * time.Millisecond
