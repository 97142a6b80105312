package apply

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/act"
	"github.com/linerate/linerate/plan"
)

// TestKernelEndedStays loses the journal in every way the moment after a change was
// confirmed, or rolled back, and that was told, with a guard that still stood by what
// it had read before, and one that was stopped meanwhile: what was told stays true,
// and so does what somebody sets afterwards.
func TestKernelEndedStays(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting a tmpfs takes root")
	}
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	ends := map[string]func(*Applier, string) error{
		"confirmed": func(a *Applier, id string) error { return a.Confirm(context.Background(), id) },
		"rolled back": func(a *Applier, id string) error {
			_, err := a.Rollback(context.Background(), id)
			return err
		},
	}
	for ended, end := range ends {
		for name, lose := range journalLosses {
			for _, stopped := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, stopped %v", ended, name, stopped), func(t *testing.T) {
					t.Parallel()
					inNamespace(t, func(p plan.Plan, _ func()) {
						a, err := New(Config{Kernel: act.Kernel{}, Dir: filepath.Join(ownDisk(t), "journal"), StartGuard: StartGuard})
						if err != nil {
							t.Error(err)
							return
						}
						r, err := a.Apply(context.Background(), p, Options{Deadline: 4 * time.Second})
						if err != nil || r.State != agentapi.ChangeApplied {
							t.Errorf("apply: %+v, %v", r, err)
							return
						}
						guard, err := a.journal.readArmed(r.ID)
						if err != nil || !guard.Alive() {
							t.Errorf("no guard: %v", err)
							return
						}
						defer func() { _ = guard.end() }()
						if stopped {
							if err := syscall.Kill(guard.PID, syscall.SIGSTOP); err != nil {
								t.Error(err)
							}
						}
						if err := end(a, r.ID); err != nil {
							t.Error(err)
						}
						if err := lose(a.cfg.Dir); err != nil {
							t.Error(err)
						}
						// What somebody sets now is theirs.
						if p.Steps[2].Old, p.Steps[2].New = p.Steps[2].New, "7000"; ended == "rolled back" {
							if err := a.cfg.Kernel.Do(context.Background(), p.Steps[2]); err != nil {
								t.Error(err)
							}
						}
						if stopped {
							_ = syscall.Kill(guard.PID, syscall.SIGCONT) // it may have been ended
						}
						waitFor(t, "the guard to end", func() bool { return !guard.Alive() })
						want := map[string]string{"confirmed": "9000", "rolled back": "7000"}[ended]
						if now, err := a.cfg.Kernel.Read(context.Background(), p.Steps[2]); err != nil || now != want {
							t.Errorf("it was told that it is %s, and %s is %s, %v; want %s", ended, p.Steps[2].Target(), now, err, want)
						}
					})
				})
			}
		}
	}
}
