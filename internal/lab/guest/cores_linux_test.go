package guest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/linerate/linerate/internal/kernel/sys"
)

// A kernel that is bound to a core is, and this program is not.
func TestKernelOnItsCore(t *testing.T) {
	if err := Installed(); err != nil {
		t.Skip(err)
	}
	mine, err := sys.Affinity()
	if err != nil {
		t.Fatal(err)
	}
	last := mine[len(mine)-1]
	var on []int
	var out bytes.Buffer
	exit, err := Run(t.Context(), Command{
		Args: []string{"speak"}, Dir: t.TempDir(), MemoryMiB: 512, Stdout: &out, Stderr: &out, Cores: []int{last},
		Started: func(pid int) { on, err = sys.ThreadAffinity(pid) },
	})
	if err != nil || exit.Kernel == "" {
		t.Fatalf("%v, %v\n%.300s", exit, err, out.String())
	}
	if fmt.Sprint(on) != fmt.Sprint([]int{last}) {
		t.Errorf("the kernel is on cores %v, want %d", on, last)
	}
	if now, err := sys.Affinity(); err != nil || fmt.Sprint(now) != fmt.Sprint(mine) {
		t.Errorf("this program is on cores %v, was on %v: %v", now, mine, err)
	}
}
