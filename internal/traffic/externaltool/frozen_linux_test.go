package externaltool

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/process"
)

// TestKillFrozen: a program that does not go when it is killed, as one does in a frozen
// control group, is waited for no longer than process.LeaveTime.
func TestKillFrozen(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("making a control group needs root")
	}
	dir := filepath.Join("/sys/fs/cgroup/freezer", fmt.Sprintf("linerate-test-tool-%d", os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skip("no version 1 of the freezer here")
	}
	write := func(name, text string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644) }
	one := &run{exited: make(chan struct{}), sampled: newSampler(Config{}, agentapi.ToolRequest{})}
	one.command = exec.Command("sleep", "60")
	ownGroup(one.command)
	if err := one.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = one.command.Wait()
		close(one.exited)
	}()
	if err := errors.Join(write("cgroup.procs", fmt.Sprint(one.command.Process.Pid)), write("freezer.state", "FROZEN")); err != nil {
		t.Error(err)
	}
	began := time.Now()
	one.kill()
	if took := time.Since(began); took < process.LeaveTime || took > 3*process.LeaveTime {
		t.Errorf("killed after %v", took)
	}
	if err := write("freezer.state", "THAWED"); err != nil {
		t.Error(err)
	}
	<-one.exited
	for end := time.Now().Add(5 * time.Second); os.Remove(dir) != nil && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
	}
}
