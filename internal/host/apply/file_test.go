package apply

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/plan"
)

func str(s string) *string { return &s }

// withFiles makes a tree with configuration files, and the plan that changes
// one through a link, makes one and removes one.
func withFiles(t *testing.T, p plan.Plan) (root string, with plan.Plan) {
	t.Helper()
	root = tempDir(t)
	for path, text := range map[string]string{
		"/etc/netplan/real/a.yaml": "old a\n", "/etc/sysctl.d/90-gone.conf": "old b\n", "/etc/netplan/other.yaml": "not ours\n",
	} {
		full := filepath.Join(root, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o640)); err != nil {
			t.Fatal(err)
		}
	}
	// An absolute link leads to the tree's own file.
	if err := os.Symlink("/etc/netplan/real/a.yaml", filepath.Join(root, "/etc/netplan/a.yaml")); err != nil {
		t.Fatal(err)
	}
	p.Files = []plan.File{
		{Path: "/etc/netplan/a.yaml", Mode: 0o600, Old: str("old a\n"), New: str("new a\n")},
		{Path: "/etc/sysctl.d/95-new.conf", Mode: 0o644, New: str("new c\n")},
		{Path: "/etc/sysctl.d/90-gone.conf", Old: str("old b\n")},
	}
	return root, p
}

// tree is every file below root, with its mode.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, root)
		if info.Mode()&os.ModeSymlink != 0 {
			to, err := os.Readlink(path)
			out[name] = "-> " + to
			return err
		}
		b, err := os.ReadFile(path)
		out[name] = info.Mode().String() + " " + string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var oldTree = map[string]string{
	"/etc/netplan/a.yaml": "-> /etc/netplan/real/a.yaml", "/etc/netplan/other.yaml": "-rw-r----- not ours\n",
	"/etc/netplan/real/a.yaml": "-rw-r----- old a\n", "/etc/sysctl.d/90-gone.conf": "-rw-r----- old b\n",
}

var newTree = map[string]string{
	"/etc/netplan/a.yaml": "-> /etc/netplan/real/a.yaml", "/etc/netplan/other.yaml": "-rw-r----- not ours\n",
	"/etc/netplan/real/a.yaml": "-rw-r----- new a\n", "/etc/sysctl.d/95-new.conf": "-rw-r--r-- new c\n",
}

func fileApplier(t *testing.T, dir, root string, k Kernel) *Applier {
	t.Helper()
	a := applier(t, dir, k)
	a.cfg.Root = root
	return a
}

func sameTree(t *testing.T, what, root string, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, tree(t, root)); diff != "" {
		t.Fatalf("%s: files (-want +got):\n%s", what, diff)
	}
}

func TestFilesWithTheConfirmation(t *testing.T) {
	ctx := context.Background()
	root, p := withFiles(t, testPlans(t)["bounce"])
	k := &fakeKernel{host: testHost()}
	a := fileApplier(t, tempDir(t), root, k)
	r, err := a.Apply(ctx, p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	sameTree(t, "applied, not confirmed", root, oldTree)
	if err := a.Confirm(ctx, ""); err != nil {
		t.Fatal(err)
	}
	sameTree(t, "confirmed", root, newTree)
	back, err := a.Rollback(ctx, r.ID)
	if err != nil || back.State != agentapi.ChangeRolledBack || len(back.Left) > 0 {
		t.Fatalf("rollback: %+v, %v", back, err)
	}
	sameTree(t, "rolled back", root, oldTree)
	sameHost(t, "rolled back", testHost(), k.host)
}

func TestFilesAlone(t *testing.T) {
	ctx := context.Background()
	root, p := withFiles(t, plan.Plan{})
	a := fileApplier(t, tempDir(t), root, &fakeKernel{host: testHost()})
	r, err := a.Apply(ctx, p, Options{})
	if err != nil || r.State != agentapi.ChangeApplied {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := a.Confirm(ctx, r.ID); err != nil {
		t.Fatal(err)
	}
	sameTree(t, "confirmed", root, newTree)
}

// TestFileChangedMeanwhile: somebody's edit between the plan and the
// confirmation refuses it whole.
func TestFileChangedMeanwhile(t *testing.T) {
	ctx := context.Background()
	root, p := withFiles(t, testPlans(t)["online"])
	k := &fakeKernel{host: testHost()}
	a := fileApplier(t, tempDir(t), root, k)
	r, err := a.Apply(ctx, p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	edited := filepath.Join(root, "/etc/sysctl.d/90-gone.conf")
	if err := os.WriteFile(edited, []byte("edited\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	var file *FileError
	if err := a.Confirm(ctx, r.ID); !errors.Is(err, ErrChanged) || !errors.As(err, &file) || file.Path != "/etc/sysctl.d/90-gone.conf" {
		t.Errorf("confirm: %v", err)
	}
	if e, err := a.find(""); err != nil || e.State != agentapi.ChangeApplied {
		t.Errorf("after a refusal: %s, %v", e.State, err)
	}
	if err := os.WriteFile(edited, []byte("old b\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	sameTree(t, "refused", root, oldTree)
	if err := a.Confirm(ctx, r.ID); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "/etc/netplan/real/a.yaml"), []byte("mine\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	back, err := a.Rollback(ctx, r.ID)
	if err != nil || len(back.Left) != 1 || !strings.Contains(back.Left[0], "a.yaml") {
		t.Errorf("rollback over an edit: %+v, %v", back, err)
	}
	sameHost(t, "rolled back", testHost(), k.host)
	if b, _ := os.ReadFile(filepath.Join(root, "/etc/netplan/real/a.yaml")); string(b) != "mine\n" {
		t.Errorf("somebody's edit is gone: %q", b)
	}
	if _, err := a.Apply(ctx, p, Options{}); !errors.Is(err, ErrChanged) {
		t.Errorf("apply over other texts: %v, want ErrChanged", err)
	}
}

func TestFilePaths(t *testing.T) {
	for path, want := range map[string]bool{
		"/etc/netplan/50-x.yaml": true, "/etc/systemd/network/10-x.network.d/mtu.conf": true, "/etc/network/interfaces": true,
		"/etc/passwd": false, "etc/netplan/x": false, "/etc/netplan/../passwd": false, "/etc/netplan": false, "/etc/netplan/": false,
		"/etc/netplan/.x": false, "": false, "/etc/netplanx/a": false, "/etc/netplan/a\nb": false,
	} {
		dir := tempDir(t)
		a := fileApplier(t, dir, dir, &fakeKernel{host: testHost()})
		_, err := a.Apply(context.Background(), plan.Plan{Files: []plan.File{{Path: path, New: str("x")}}}, Options{})
		if got := err == nil; got != want || !want && !errors.Is(err, ErrPath) {
			t.Errorf("%q: %v, allowed should be %v", path, err, want)
		}
		if entries, _ := filepath.Glob(filepath.Join(dir, "*.json")); !want && len(entries) > 0 {
			t.Errorf("%q: journalled", path)
		}
	}
	a := applier(t, tempDir(t), &fakeKernel{host: testHost()})
	a.cfg.Namespace = "ns"
	if _, err := a.Apply(context.Background(), plan.Plan{Files: []plan.File{{Path: "/etc/netplan/x", New: str("x")}}}, Options{}); !errors.Is(err, ErrPath) {
		t.Errorf("in a namespace: %v", err)
	}
}

// wholeAgain: whatever was cut, Recover leaves all as it was or all new.
func wholeAgain(t *testing.T, what, dir, root string, k *fakeKernel, p plan.Plan) agentapi.ChangeState {
	t.Helper()
	k.before, k.after = nil, nil
	a := fileApplier(t, dir, root, k)
	if got, err := a.Recover(context.Background()); err != nil || len(got.Problems) > 0 {
		t.Fatalf("%s: recover: %+v, %v", what, got, err)
	}
	entries, _, err := a.List()
	if err != nil || len(entries) > 1 {
		t.Fatalf("%s: %d entries, %v", what, len(entries), err)
	}
	state := agentapi.ChangeRolledBack // died before anything was written
	if len(entries) == 1 {
		state = entries[0].State
	}
	switch state {
	case agentapi.ChangeConfirmed:
		want, err := plan.Apply(testHost(), plan.Plan{Steps: p.Steps})
		if err != nil {
			t.Fatal(err)
		}
		sameTree(t, what, root, newTree)
		sameHost(t, what, want, k.host)
	case agentapi.ChangeRolledBack:
		sameTree(t, what, root, oldTree)
		sameHost(t, what, testHost(), k.host)
	default:
		t.Fatalf("%s: it is %s", what, state)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*"+spareSuffix)); len(left) > 0 && len(entries) == 1 {
		t.Errorf("%s: ended and left %v", what, left)
	}
	return state
}

// TestCrashInConfirm dies between any two things that Confirm does to the disk,
// and once more between any two that Recover does then.
func TestCrashInConfirm(t *testing.T) {
	ctx := context.Background()
	ends := make(map[agentapi.ChangeState]int)
	for n, through := 0, false; !through; n++ {
		for m, again := 0, false; !again; m++ {
			root, p := withFiles(t, testPlans(t)["online"])
			dir, k := tempDir(t), &fakeKernel{host: testHost()}
			a := fileApplier(t, dir, root, k)
			a.self = dead()
			if _, err := a.Apply(ctx, p, Options{}); err != nil {
				t.Fatal(err)
			}
			a.journal.moment = crashAt(n)
			through = !crashes(t, func() {
				if err := a.Confirm(ctx, ""); err != nil {
					t.Errorf("confirm: %v", err)
				}
			})
			b := fileApplier(t, dir, root, k)
			b.journal.moment = crashAt(m)
			again = !crashes(t, func() { _, _ = b.Recover(ctx) })
			ends[wholeAgain(t, caseName("confirm", n)+caseName(", recover", m), dir, root, k, p)]++
		}
	}
	if ends[agentapi.ChangeConfirmed] < 5 || ends[agentapi.ChangeRolledBack] < 5 {
		t.Errorf("ends: %v", ends)
	}
}

// TestCrashInRollback dies while a confirmed change is taken back: it is never
// left half way, and not confirmed again.
func TestCrashInRollback(t *testing.T) {
	ctx := context.Background()
	for n, through := 0, false; !through; n++ {
		root, p := withFiles(t, testPlans(t)["bounce"])
		dir, k := tempDir(t), &fakeKernel{host: testHost()}
		a := fileApplier(t, dir, root, k)
		a.self = dead()
		if _, err := a.Apply(ctx, p, Options{}); err != nil {
			t.Fatal(err)
		}
		if err := a.Confirm(ctx, ""); err != nil {
			t.Fatal(err)
		}
		entries, _, _ := a.List()
		moment := crashAt(n)
		a.journal.moment, k.before = moment, func(int) error { moment(); return nil }
		k.after = k.before
		through = !crashes(t, func() { _, _ = a.Rollback(ctx, entries[0].ID) })
		state := wholeAgain(t, caseName("rollback", n), dir, root, k, p)
		if through && state != agentapi.ChangeRolledBack {
			t.Errorf("not cut, and %s", state)
		}
	}
}

// TestCrashThenReboot: the boot unit ends what another boot left, and touches
// files alone.
func TestCrashThenReboot(t *testing.T) {
	ctx := context.Background()
	ends := make(map[agentapi.ChangeState]int)
	for n, through := 0, false; !through; n++ {
		root, p := withFiles(t, testPlans(t)["online"])
		dir, k := tempDir(t), &fakeKernel{host: testHost()}
		a := fileApplier(t, dir, root, k)
		a.self.Boot = "an earlier boot"
		if _, err := a.Apply(ctx, p, Options{}); err != nil {
			t.Fatal(err)
		}
		a.journal.moment = crashAt(n)
		through = !crashes(t, func() { _ = a.Confirm(ctx, "") })
		k.host = testHost() // what a reboot does to it
		done := k.dos
		b := fileApplier(t, dir, root, k)
		if _, err := b.RecoverBoot(ctx); err != nil || k.dos != done {
			t.Fatalf("%v after %d changes", err, k.dos-done)
		}
		entries, _, _ := b.List()
		want := oldTree
		if entries[0].State == agentapi.ChangeConfirmed {
			want = newTree
		}
		sameTree(t, caseName("boot", n), root, want)
		ends[entries[0].State]++
	}
	if len(ends) != 2 || ends[agentapi.ChangeConfirmed] < 2 || ends[agentapi.ChangeRolledBack] < 2 {
		t.Errorf("ends: %v", ends)
	}
}

// TestCrashThenNewContainer: a container that is started anew is in the boot that it was
// in. The boot unit makes its files whole, and leaves the steps to the next command:
// they may still stand.
func TestCrashThenNewContainer(t *testing.T) {
	ctx := context.Background()
	confirmed := 0
	for n, through := 0, false; !through; n++ {
		root, p := withFiles(t, testPlans(t)["online"])
		dir, k := tempDir(t), &fakeKernel{host: testHost()}
		a := fileApplier(t, dir, root, k)
		a.self, a.first = dead(), 1
		if _, err := a.Apply(ctx, p, Options{}); err != nil {
			t.Fatal(err)
		}
		a.journal.moment = crashAt(n)
		through = !crashes(t, func() { _ = a.Confirm(ctx, "") })
		done := k.dos
		b := fileApplier(t, dir, root, k)
		b.first = 2
		if _, err := b.RecoverBoot(ctx); err != nil || k.dos != done {
			t.Fatalf("%v after %d changes", err, k.dos-done)
		}
		entries, _, _ := b.List()
		name := caseName("new container", n)
		if entries[0].State == agentapi.ChangeConfirmed {
			sameTree(t, name, root, newTree)
			confirmed++
			continue
		}
		sameTree(t, name, root, oldTree)
		if _, err := b.Recover(ctx); err != nil {
			t.Fatal(err)
		}
		sameHost(t, name, testHost(), k.host)
	}
	if confirmed < 2 {
		t.Errorf("%d changes were finished", confirmed)
	}
}

// TestConfirmAfterReboot: what a reboot took back is not kept any more, also where no
// boot unit has said so: its files would be those of a change that nobody has tried.
func TestConfirmAfterReboot(t *testing.T) {
	ctx := context.Background()
	root, p := withFiles(t, testPlans(t)["online"])
	dir, k := tempDir(t), &fakeKernel{host: testHost()}
	a := fileApplier(t, dir, root, k)
	a.self.Boot = "an earlier boot"
	r, err := a.Apply(ctx, p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	k.host = testHost() // what a reboot does to it
	b := fileApplier(t, dir, root, k)
	for what, ask := range map[string]func(context.Context, string) error{"keepable": b.Keepable, "confirm": b.Confirm} {
		if err := ask(ctx, r.ID); !errors.Is(err, ErrState) {
			t.Errorf("%s: %v", what, err)
		}
	}
	sameTree(t, "rebooted", root, oldTree)
	if got, err := b.Recover(ctx); err != nil || len(got.Results) != 1 || got.Results[0].State != agentapi.ChangeRolledBack {
		t.Errorf("%+v, %v", got, err)
	}
}
