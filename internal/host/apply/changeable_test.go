package apply

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestChangeable: the question leaves nothing behind, and its answer is Apply's:
// of a journal that cannot be, and of a change that nobody has ended.
func TestChangeable(t *testing.T) {
	ctx := context.Background()
	dir := tempDir(t)
	a := fileApplier(t, dir, t.TempDir(), &fakeKernel{host: testHost()})
	if err := a.Changeable(ctx); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(a.cfg.Dir, tempPrefix+"*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if all, _, err := a.List(); err != nil || len(all) > 0 {
		t.Errorf("asking made entries: %v %v", all, err)
	}
	p := testPlans(t)["online"]
	if _, err := a.Apply(ctx, p, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := a.Changeable(ctx); !errors.Is(err, ErrPending) {
		t.Errorf("with a change that is not confirmed: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a = fileApplier(t, filepath.Join(file, "journal"), t.TempDir(), &fakeKernel{host: testHost()})
	if err := a.Changeable(ctx); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("below a file: %v", err)
	}
}
