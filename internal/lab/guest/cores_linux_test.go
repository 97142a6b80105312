package guest

import (
	"bytes"
	"slices"
	"testing"

	"github.com/linerate/linerate/internal/kernel/sys"
)

// Each lab kernel has a core of its own while there are any; the next runs wherever
// there is room. This program keeps its cores.
func TestKernelsOnTheirCores(t *testing.T) {
	if err := Installed(); err != nil {
		t.Skip(err)
	}
	mine, err := sys.Affinity()
	if err != nil {
		t.Fatal(err)
	}
	var taken []*core
	for one := claimCore(); one != nil; one = claimCore() {
		taken = append(taken, one)
	}
	defer func() {
		for _, one := range taken {
			one.leave()
		}
	}()
	if len(taken) == 0 {
		t.Skip("other labs have every core")
	}
	if on := whereKernelRuns(t); !slices.Equal(on, mine) {
		t.Errorf("with no core left the kernel is on %v, want %v", on, mine)
	}
	taken[0].leave()
	free := taken[0].number
	taken = taken[1:]
	if on := whereKernelRuns(t); !slices.Equal(on, []int{free}) {
		t.Errorf("the kernel is on cores %v, want %d", on, free)
	}
	again := claimCore()
	if again == nil || again.number != free {
		t.Errorf("the core was not let go: %v", again)
	}
	again.leave()
	if now, err := sys.Affinity(); err != nil || !slices.Equal(now, mine) {
		t.Errorf("this program is on cores %v, was on %v: %v", now, mine, err)
	}
}

func whereKernelRuns(t *testing.T) (on []int) {
	t.Helper()
	var out bytes.Buffer
	var failed error
	exit, err := Run(t.Context(), Command{
		Args: []string{"speak"}, Dir: t.TempDir(), MemoryMiB: 512, Stdout: &out, Stderr: &out,
		Started: func(pid int) { on, failed = sys.ThreadAffinity(pid) },
	})
	if err != nil || failed != nil || exit.Kernel == "" {
		t.Fatalf("%v, %v, %v\n%.300s", exit, err, failed, out.String())
	}
	return on
}
