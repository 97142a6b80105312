package apply

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// TestKeepable: the question changes nothing, and its answer is Confirm's.
func TestKeepable(t *testing.T) {
	ctx := context.Background()
	root, p := withFiles(t, testPlans(t)["online"])
	a := fileApplier(t, tempDir(t), root, &fakeKernel{host: testHost()})
	r, err := a.Apply(ctx, p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Keepable(ctx, r.ID); err != nil {
		t.Errorf("applied: %v", err)
	}
	sameTree(t, "asked", root, oldTree)
	edited := filepath.Join(root, "/etc/sysctl.d/90-gone.conf")
	was, err := os.ReadFile(edited)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"edited\n", string(was)} {
		if err := os.WriteFile(edited, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		if err := a.Keepable(ctx, ""); errors.Is(err, ErrChanged) != (text == "edited\n") {
			t.Errorf("with %q: %v", text, err)
		}
	}
	if e, err := a.find(r.ID); err != nil || e.State != agentapi.ChangeApplied || len(e.Files) > 0 {
		t.Errorf("asking changed the entry: %+v, %v", e, err)
	}
	if err := a.Confirm(ctx, r.ID); err != nil {
		t.Fatal(err)
	}
	sameTree(t, "confirmed", root, newTree)
	if err := a.Keepable(ctx, r.ID); !errors.Is(err, ErrState) {
		t.Errorf("confirmed already: %v", err)
	}
}
