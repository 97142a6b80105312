package apply

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/act"
	"github.com/linerate/linerate/internal/kernel/sysctl"
	"github.com/linerate/linerate/plan"
)

// childEnv makes the test binary apply a plan and end: DIR and whether a
// guard is wanted, as "DIR guard" or "DIR none"; "DIR guard confirm" confirms it
// a second after it was applied.
const childEnv = "LINERATE_TEST_APPLY"

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "guard":
		os.Exit(report(guardMain(os.Args[2:])))
	case os.Getenv(childEnv) != "":
		os.Exit(report(applyMain(os.Getenv(childEnv))))
	}
	os.Exit(m.Run())
}

func report(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// guardMain is the guard command, as cmd/linerate has to do it but for the
// namespace, which a child inherits.
func guardMain(args []string) error {
	flags := flag.NewFlagSet("guard", flag.ContinueOnError)
	dir, id, detach := flags.String("dir", "", ""), flags.String("id", "", ""), flags.Bool("detach", false, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *detach {
		pid, err := Detach([]string{"guard", "--dir", *dir, "--id", *id})
		fmt.Println(pid)
		return err
	}
	return Guard(context.Background(), Config{Kernel: act.Kernel{}, Dir: *dir}, *id)
}

// slowSteps leaves time to be killed between steps.
type slowSteps struct{ act.Kernel }

func (k slowSteps) Do(ctx context.Context, s plan.Step) error {
	time.Sleep(200 * time.Millisecond)
	return k.Kernel.Do(ctx, s)
}

func applyMain(how string) error {
	dir, guard, _ := strings.Cut(how, " ")
	guard, confirm, _ := strings.Cut(guard, " ")
	c := Config{Kernel: slowSteps{}, Dir: dir}
	if guard == "guard" {
		c.StartGuard = StartGuard
	}
	a, err := New(c)
	if err != nil {
		return err
	}
	p, err := livePlan()
	if err != nil {
		return err
	}
	deadline := 3 * time.Second
	if confirm != "" { // a slow machine must get so far
		deadline = 8 * time.Second
	}
	r, err := a.Apply(context.Background(), p, Options{Deadline: deadline})
	if err == nil && confirm != "" {
		time.Sleep(time.Second)
		err = a.Confirm(context.Background(), r.ID)
	}
	return err
}

const rmem = "net.ipv4.tcp_rmem"

func livePlan() (plan.Plan, error) {
	v, err := sysctl.Read(rmem)
	return plan.Plan{Host: "h", Steps: []plan.Step{
		{Kind: plan.Sysctl, Key: rmem, Old: v[rmem].Value, New: "4096 65536 1048576"},
		{Kind: plan.LinkMTU, Link: "v0", Old: "1500", New: "9000"},
		{Kind: plan.LinkMTU, Link: "v1", Old: "1500", New: "9000"},
		{Kind: plan.LinkState, Link: "v0", Old: plan.Down, New: plan.Up},
	}}, err
}

// inNamespace runs fn on a thread with a network namespace of its own that
// holds the veth pair v0, v1, and gives it the plan and a check that all is as
// before.
func inNamespace(t *testing.T, fn func(p plan.Plan, asBefore func())) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the test
		var err error
		defer func() { done <- err }()
		if err = syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
			return
		}
		if err = netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "v0"}, PeerName: "v1"}); err != nil {
			return
		}
		p, planErr := livePlan()
		if err = planErr; err != nil {
			return
		}
		fn(p, func() {
			t.Helper()
			for _, s := range p.Steps {
				if now, err := (act.Kernel{}).Read(context.Background(), s); err != nil || now != s.Old {
					t.Errorf("%s is %s, %v; before it was %s", s.Target(), now, err, s.Old)
				}
			}
		})
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestKernelApplyConfirmRollback(t *testing.T) {
	inNamespace(t, func(p plan.Plan, asBefore func()) {
		ctx := context.Background()
		a, err := New(Config{Kernel: act.Kernel{}, Dir: t.TempDir(), StartGuard: StartGuard})
		if err != nil {
			t.Error(err)
			return
		}
		r, err := a.Apply(ctx, p, Options{})
		if err != nil || r.State != agentapi.ChangeApplied {
			t.Errorf("apply: %+v, %v", r, err)
			return
		}
		guard, err := a.journal.readArmed(r.ID)
		if err != nil || !guard.Alive() || guard.PID == os.Getpid() {
			t.Errorf("guard %+v, %v", guard, err)
		}
		if err := a.Confirm(ctx, r.ID); err != nil {
			t.Error(err)
		}
		waitFor(t, "the guard to end after the confirmation", func() bool { return !guard.Alive() })
		if now, err := a.cfg.Kernel.Read(ctx, p.Steps[1]); err != nil || now != "9000" {
			t.Errorf("after the guard's end: %s, %v", now, err)
		}
		if back, err := a.Rollback(ctx, r.ID); err != nil || back.State != agentapi.ChangeRolledBack || len(back.Left) > 0 {
			t.Errorf("rollback: %+v, %v", back, err)
		}
		asBefore()
	})
}

func TestKernelGuardCannotArm(t *testing.T) {
	inNamespace(t, func(p plan.Plan, asBefore func()) {
		broken := errors.New("no guard")
		a, err := New(Config{Kernel: act.Kernel{}, Dir: t.TempDir(), StartGuard: func(context.Context, Config, string) error { return broken }})
		if err != nil {
			t.Error(err)
			return
		}
		if r, err := a.Apply(context.Background(), p, Options{}); !errors.Is(err, broken) || r.State != agentapi.ChangeRolledBack || r.RolledBack != 0 {
			t.Errorf("%+v, %v", r, err)
		}
		asBefore()
	})
}

// TestKernelKilled kills the applying process with SIGKILL in the middle and
// after the end: its guard, or the next program's Recover, takes all back.
func TestKernelKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	for _, tt := range []struct {
		name, guard string
		steps       int
	}{{"guard, half done", "guard", 2}, {"recover, half done", "none", 2}, {"guard, unconfirmed", "guard", 4}, {"recover, unconfirmed", "none", 4}} {
		t.Run(tt.name, func(t *testing.T) {
			inNamespace(t, func(_ plan.Plan, asBefore func()) {
				dir := t.TempDir()
				journal := OpenJournal(dir)
				child := exec.Command("/proc/self/exe")
				child.Env = append(os.Environ(), childEnv+"="+dir+" "+tt.guard)
				if err := child.Start(); err != nil {
					t.Error(err)
					return
				}
				done := func(e Entry) int { return e.result().Applied }
				waitFor(t, "the child to be half through", func() bool {
					all, _, err := journal.List()
					return err == nil && len(all) == 1 && done(all[0]) >= tt.steps
				})
				_ = child.Process.Kill()
				_ = child.Wait()
				if tt.guard == "none" {
					a, err := New(Config{Kernel: act.Kernel{}, Dir: dir})
					if err != nil {
						t.Error(err)
						return
					}
					if got, err := a.Recover(context.Background()); err != nil || len(got.Results) != 1 || len(got.Results[0].Left) > 0 {
						t.Errorf("recover: %+v, %v", got, err)
					}
				}
				waitFor(t, "all to be taken back", func() bool {
					all, _, err := journal.List()
					return err == nil && len(all) == 1 && all[0].State == agentapi.ChangeRolledBack
				})
				asBefore()
			})
		})
	}
}

func waitFor(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if cond() {
			return
		}
	}
	t.Errorf("waited in vain for %s", what)
}
