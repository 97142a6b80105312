package apply

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/plan"
)

func TestApplyConfirmRollback(t *testing.T) {
	ctx := context.Background()
	for name, p := range testPlans(t) {
		k := &fakeKernel{host: testHost()}
		a := applier(t, filepath.Join(tempDir(t), "journal"), k)
		r, err := a.Apply(ctx, p, Options{})
		if err != nil || r.State != agentapi.ChangeApplied || r.Applied != len(p.Steps) {
			t.Fatalf("%s: %+v, %v", name, r, err)
		}
		want, err := plan.Apply(testHost(), p)
		if err != nil {
			t.Fatal(err)
		}
		sameHost(t, name+" applied", want, k.host)
		if _, err := a.Apply(ctx, p, Options{}); !errors.Is(err, ErrPending) {
			t.Errorf("%s: apply over an unconfirmed change: %v, want ErrPending", name, err)
		}
		if err := a.Confirm(ctx, r.ID); err != nil {
			t.Fatal(err)
		}
		if err := a.Confirm(ctx, r.ID); !errors.Is(err, ErrState) {
			t.Errorf("%s: confirmed twice: %v", name, err)
		}
		back, err := a.Rollback(ctx, r.ID)
		if err != nil || back.State != agentapi.ChangeRolledBack || back.RolledBack != len(p.Steps) {
			t.Fatalf("%s: rollback %+v, %v", name, back, err)
		}
		sameHost(t, name+" rolled back", testHost(), k.host)
		if _, err := a.Rollback(ctx, r.ID); !errors.Is(err, ErrState) {
			t.Errorf("%s: rolled back twice: %v", name, err)
		}
		entries, problems, err := a.List()
		if err != nil || len(problems) > 0 || len(entries) != 1 || entries[0].Observed[p.Steps[0].Target()] != p.Steps[0].Old {
			t.Errorf("%s: journal %+v, %v, %v", name, entries, problems, err)
		}
		if info, err := os.Stat(a.cfg.Dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: journal directory %v, %v", name, info.Mode(), err)
		}
	}
}

// TestErrorAtEveryStep: an error before or after a step's effect, and a
// context that ends there, leave the host as it was.
func TestErrorAtEveryStep(t *testing.T) {
	broken := errors.New("broken")
	for name, p := range testPlans(t) {
		for n := range p.Steps {
			for how, fault := range map[string]func(*fakeKernel, context.CancelFunc){
				"error before":  func(k *fakeKernel, _ context.CancelFunc) { k.before = failOnce(n, broken) },
				"error after":   func(k *fakeKernel, _ context.CancelFunc) { k.after = failOnce(n, broken) },
				"cancel before": func(k *fakeKernel, stop context.CancelFunc) { k.before = callOnce(n, stop) },
				"cancel after":  func(k *fakeKernel, stop context.CancelFunc) { k.after = callOnce(n, stop) },
			} {
				ctx, cancel := context.WithCancel(context.Background())
				k := &fakeKernel{host: testHost()}
				fault(k, cancel)
				r, err := applier(t, tempDir(t), k).Apply(ctx, p, Options{})
				cancel()
				var step *StepError
				if !errors.As(err, &step) || !step.RolledBack || r.State != agentapi.ChangeRolledBack || r.ID == "" {
					t.Fatalf("%s, step %d, %s: %+v, %v", name, n+1, how, r, err)
				}
				if !errors.Is(err, broken) && !errors.Is(err, context.Canceled) {
					t.Errorf("%s, step %d, %s: cause lost: %v", name, n+1, how, err)
				}
				sameHost(t, name+" "+how, testHost(), k.host)
			}
		}
	}
}

func failOnce(at int, err error) func(int) error {
	return func(n int) error {
		if n == at {
			return err
		}
		return nil
	}
}

func callOnce(at int, fn func()) func(int) error {
	return func(n int) error {
		if n == at {
			fn()
		}
		return nil
	}
}

func TestCancelledAfterTheLastStep(t *testing.T) {
	p := testPlans(t)["online"]
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	k := &fakeKernel{host: testHost()}
	reads := 0
	k.reads = func(plan.Step) {
		if reads++; reads == 2*len(p.Steps) {
			cancel()
		}
	}
	r, err := applier(t, tempDir(t), k).Apply(ctx, p, Options{})
	if !errors.Is(err, context.Canceled) || r.State != agentapi.ChangeRolledBack {
		t.Errorf("%+v, %v", r, err)
	}
	sameHost(t, "cancelled", testHost(), k.host)
}

func TestWhatTheKernelMakesOfAValue(t *testing.T) {
	k := &fakeKernel{host: testHost()}
	k.clamp = func(s plan.Step) plan.Step {
		if s.Kind == plan.Sysctl && s.New == "4096 131072 33554432" {
			s.New = "4096 131072 8388608"
		}
		return s
	}
	r, err := applier(t, tempDir(t), k).Apply(context.Background(), testPlans(t)["online"], Options{})
	if !errors.Is(err, ErrNotVerified) || r.State != agentapi.ChangeRolledBack || len(r.Left) > 0 {
		t.Errorf("a clamped value: %+v, %v", r, err)
	}
	sameHost(t, "clamped", testHost(), k.host)
}

func TestPatience(t *testing.T) {
	k := &fakeKernel{host: testHost()}
	late := 0
	slow := slowKernel{k, &late}
	a, err := New(Config{Kernel: slow, Dir: tempDir(t), Settle: time.Second, Poll: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := a.Apply(context.Background(), testPlans(t)["online"], Options{}); err != nil || r.State != agentapi.ChangeApplied {
		t.Errorf("a step that shows late: %+v, %v", r, err)
	}
	if late == 0 {
		t.Error("nothing was late: not tried")
	}
}

// slowKernel shows each change at the fourth look.
type slowKernel struct {
	*fakeKernel
	late *int
}

func (k slowKernel) Read(ctx context.Context, s plan.Step) (string, error) {
	now, err := k.fakeKernel.Read(ctx, s)
	if now == s.New {
		if *k.late++; *k.late%4 != 0 {
			return s.Old, err
		}
	}
	return now, err
}

func TestChangedSincePlanned(t *testing.T) {
	k := &fakeKernel{host: testHost()}
	k.host.Sysctls["net.ipv4.tcp_rmem"] = testSysctl("1 2 3")
	dir := tempDir(t)
	_, err := applier(t, dir, k).Apply(context.Background(), testPlans(t)["bounce"], Options{})
	if !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "1 2 3") || k.dos != 0 {
		t.Errorf("%v after %d changes", err, k.dos)
	}
	if entries, _ := filepath.Glob(filepath.Join(dir, "*.json")); len(entries) > 0 {
		t.Errorf("a journal entry for nothing: %v", entries)
	}
}

// TestManners: what somebody else changed since stays, and is reported.
func TestManners(t *testing.T) {
	ctx := context.Background()
	k := &fakeKernel{host: testHost()}
	a := applier(t, tempDir(t), k)
	r, err := a.Apply(ctx, testPlans(t)["online"], Options{})
	if err != nil {
		t.Fatal(err)
	}
	k.host.Sysctls["net.ipv4.tcp_rmem"] = testSysctl("1 2 3")
	back, err := a.Rollback(ctx, "")
	if err != nil || back.ID != r.ID || back.State != agentapi.ChangeRolledBack || len(back.Left) != 1 || !strings.Contains(back.Left[0], "1 2 3") {
		t.Errorf("%+v, %v", back, err)
	}
	want := testHost()
	want.Sysctls["net.ipv4.tcp_rmem"] = testSysctl("1 2 3")
	sameHost(t, "all but the foreign change", want, k.host)
}

// refusing is a kernel that will not change one thing.
type refusing struct {
	*fakeKernel
	target string
}

func (k refusing) Do(ctx context.Context, s plan.Step) error {
	if s.Target() == k.target {
		return fs.ErrPermission
	}
	return k.fakeKernel.Do(ctx, s)
}

func TestRollbackGoesOnAfterAnError(t *testing.T) {
	ctx := context.Background()
	p := testPlans(t)["online"]
	k := &fakeKernel{host: testHost()}
	a := applier(t, tempDir(t), k)
	r, err := a.Apply(ctx, p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	a.cfg.Kernel = refusing{k, p.Steps[2].Target()}
	back, err := a.Rollback(ctx, r.ID)
	if !errors.Is(err, fs.ErrPermission) || back.State != agentapi.ChangeFailed || back.RolledBack != len(p.Steps)-1 {
		t.Errorf("%+v, %v", back, err)
	}
	a.cfg.Kernel = k
	if back, err := a.Rollback(ctx, r.ID); err != nil || back.State != agentapi.ChangeRolledBack {
		t.Errorf("second try: %+v, %v", back, err)
	}
	sameHost(t, "after the second try", testHost(), k.host)
}

// TestRollbackTriesAgain: what is refused once goes when the others are undone.
func TestRollbackTriesAgain(t *testing.T) {
	ctx := context.Background()
	p := testPlans(t)["online"]
	k := &fakeKernel{host: testHost()}
	a := applier(t, tempDir(t), k)
	r, err := a.Apply(ctx, p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	k.before = failOnce(k.dos+1, fs.ErrPermission)
	if back, err := a.Rollback(ctx, r.ID); err != nil || back.State != agentapi.ChangeRolledBack || back.RolledBack != len(p.Steps) {
		t.Errorf("%+v, %v", back, err)
	}
	sameHost(t, "in the second pass", testHost(), k.host)
}

func TestLock(t *testing.T) {
	ctx := context.Background()
	dir := tempDir(t)
	k := &fakeKernel{host: testHost()}
	first, second := applier(t, dir, k), applier(t, dir, k)
	unlock, err := first.lock(ctx, "apply")
	if err != nil {
		t.Fatal(err)
	}
	_, err = second.Apply(ctx, testPlans(t)["online"], Options{})
	var locked *LockedError
	if !errors.As(err, &locked) || !errors.Is(err, ErrLocked) || locked.Holder.PID != os.Getpid() || locked.Holder.What != "apply" {
		t.Errorf("locked: %v", err)
	}
	other, err := New(Config{Kernel: k, Dir: dir, Namespace: "other"})
	if err != nil {
		t.Fatal(err)
	}
	if free, err := other.lock(ctx, "apply"); err != nil {
		t.Errorf("another namespace: %v", err)
	} else {
		free()
	}
	time.AfterFunc(20*time.Millisecond, unlock)
	if _, err := second.Apply(ctx, testPlans(t)["online"], Options{Wait: true}); err != nil {
		t.Errorf("waiting: %v", err)
	}
	// A look at what was left behind stands in nobody's way.
	if unlock, err = first.lock(ctx, recovering); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(20*time.Millisecond, unlock)
	if err := second.Changeable(ctx); errors.Is(err, ErrLocked) {
		t.Errorf("beside a recover: %v", err)
	}
}

func TestEmptyPlan(t *testing.T) {
	r, err := applier(t, tempDir(t), &fakeKernel{}).Apply(context.Background(), plan.Plan{}, Options{})
	if err != nil || r.State != agentapi.ChangeConfirmed || r.ID != "" {
		t.Errorf("%+v, %v", r, err)
	}
}
