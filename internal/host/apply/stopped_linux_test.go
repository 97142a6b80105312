package apply

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/act"
	"github.com/linerate/linerate/plan"
)

// TestKernelStopped (attack C) stops the applying process, or it and its guard,
// with SIGSTOP until the deadline is over, as a laptop's lid or a hypervisor
// does, and lets both go on: the host ends as before or confirmed, and never
// between. A guard ends a process that was stopped amid its steps and has the
// lock past the deadline: its host would stay as it is for as long.
func TestKernelStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	halfDone := func(e Entry) bool { return e.result().Applied >= 2 }
	applied := func(e Entry) bool { return e.State == agentapi.ChangeApplied }
	for _, tt := range []struct {
		name  string
		when  func(Entry) bool
		guard bool // is stopped too
		rolls bool // the guard rolls back meanwhile
		stop  func(*testing.T) (stop, goOn func(pid int) error)
	}{
		{"apply, half done", halfDone, false, true, bySignal}, {"apply, before it confirms", applied, false, true, bySignal},
		{"apply and guard, half done", halfDone, true, false, bySignal}, {"apply and guard, before it confirms", applied, true, false, bySignal},
		{"apply frozen, half done", halfDone, false, true, frozen("unified", "cgroup.freeze", "1", "0")},
		{"apply frozen by version 1, half done", halfDone, false, true, frozen("freezer", "freezer.state", "FROZEN", "THAWED")},
		{"apply and guard frozen, half done", halfDone, true, false, frozen("freezer", "freezer.state", "FROZEN", "THAWED")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stop, goOn := tt.stop(t)
			inNamespace(t, func(p plan.Plan, asBefore func()) {
				dir := t.TempDir()
				journal := OpenJournal(dir)
				child := exec.Command("/proc/self/exe")
				child.Env = append(os.Environ(), childEnv+"="+dir+" guard confirm")
				if err := child.Start(); err != nil {
					t.Error(err)
					return
				}
				defer func() {
					_ = goOn(child.Process.Pid) // it may have ended
					_ = child.Process.Kill()
				}()
				entry := func() (e Entry, ok bool) {
					all, _, err := journal.List()
					if err != nil || len(all) != 1 {
						return e, false
					}
					return all[0], true
				}
				waitFor(t, "the child to be that far", func() bool {
					e, ok := entry()
					return ok && tt.when(e)
				})
				e, _ := entry()
				stopped := []int{child.Process.Pid}
				guard, err := journal.readArmed(e.ID)
				if err != nil {
					t.Errorf("no guard: %v", err)
					return
				}
				if tt.guard {
					stopped = append(stopped, guard.PID)
				}
				for _, pid := range stopped {
					if err := stop(pid); err != nil {
						t.Errorf("stop %d: %v", pid, err)
						return
					}
				}
				time.Sleep(time.Until(e.Deadline) + time.Second)
				if tt.rolls {
					waitFor(t, "the guard to roll back what the stopped one has done", func() bool {
						e, ok := entry()
						return ok && e.State == agentapi.ChangeRolledBack
					})
					asBefore()
				} else if e, _ := entry(); !e.State.Pending() {
					t.Errorf("it is %s, while who is at it is stopped", e.State)
				}
				for _, pid := range stopped {
					if err := goOn(pid); err != nil && !errors.Is(err, syscall.ESRCH) {
						t.Errorf("continue %d: %v", pid, err)
					}
				}
				ended := child.Wait()
				waitFor(t, "an end", func() bool {
					e, ok := entry()
					return ok && !e.State.Pending() && !guard.Alive()
				})
				e, _ = entry()
				switch {
				case e.State == agentapi.ChangeRolledBack && ended != nil:
					asBefore()
				case e.State == agentapi.ChangeConfirmed && ended == nil && !tt.rolls:
					for _, s := range p.Steps {
						if now, err := (act.Kernel{}).Read(context.Background(), s); err != nil || now != s.New {
							t.Errorf("it is confirmed, and %s is %s, %v; want %s", s.Target(), now, err, s.New)
						}
					}
				default:
					t.Errorf("the change is %s, and who applied it ended with %v", e.State, ended)
				}
			})
		})
	}
}

// bySignal stops a process as Ctrl-Z does.
func bySignal(*testing.T) (stop, goOn func(pid int) error) {
	return func(pid int) error { return syscall.Kill(pid, syscall.SIGSTOP) }, func(pid int) error { return syscall.Kill(pid, syscall.SIGCONT) }
}

// frozen stops processes by a control group of their own, gone with the test.
func frozen(hierarchy, file, freeze, thaw string) func(t *testing.T) (stop, goOn func(pid int) error) {
	return func(t *testing.T) (stop, goOn func(pid int) error) {
		root := filepath.Join("/sys/fs/cgroup", hierarchy)
		if _, err := os.Stat(root); err != nil && hierarchy == "unified" {
			root = filepath.Dir(root)
		}
		dir := filepath.Join(root, fmt.Sprintf("linerate-test-frozen-%d", os.Getpid()))
		if os.Getuid() != 0 {
			t.Skip("making a control group needs root")
		}
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Skip("no version 1 of the freezer here")
		}
		write := func(name, text string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644) }
		t.Cleanup(func() {
			_ = write(file, thaw)
			waitFor(t, "the group to be empty", func() bool { return os.Remove(dir) == nil })
		})
		return func(pid int) error {
				return errors.Join(write("cgroup.procs", fmt.Sprint(pid)), write(file, freeze))
			}, func(int) error {
				return write(file, thaw)
			}
	}
}
