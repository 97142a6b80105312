package apply

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

func holder(run string) agentapi.Holder {
	return agentapi.Holder{Run: run, User: "root", Host: "ctl", PID: 7, What: "measure fabric.yaml"}
}

func TestLockHost(t *testing.T) {
	dir := t.TempDir()
	first, err := LockHost(dir, holder("one"))
	if err != nil || first.Note != "" {
		t.Fatalf("%+v, %v", first, err)
	}
	_, err = LockHost(dir, holder("two"))
	var held *InUseError
	if !errors.Is(err, ErrInUse) || !errors.As(err, &held) || held.Holder.Run != "one" || held.Holder.Since.IsZero() ||
		!strings.HasPrefix(err.Error(), "the host is in use: locked by root@ctl, process 7 (measure fabric.yaml), for ") {
		t.Errorf("a second run: %v", err)
	}
	// The same run under another name of the host; letting go of that does
	// not let others in.
	again, err := LockHost(dir, holder("one"))
	if err != nil {
		t.Errorf("the same run: %v", err)
	}
	again.Release()
	if _, err = LockHost(dir, holder("two")); !errors.Is(err, ErrInUse) {
		t.Errorf("a second run after the same run let go of its other name: %v", err)
	}
	// And a hold that was taken second stands by itself.
	last, err := LockHost(dir, holder("one"))
	if err != nil {
		t.Fatalf("the same run: %v", err)
	}
	first.Release()
	first.Release()
	if _, err = LockHost(dir, holder("two")); !errors.As(err, &held) || held.Holder.Run != "one" {
		t.Errorf("a second run while the first holds on by its other name: %v", err)
	}
	last.Release()
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) > 0 {
		t.Errorf("let go, and left %q", files)
	}
	next, err := LockHost(dir, holder("two"))
	if err != nil {
		t.Fatalf("after it was let go: %v", err)
	}
	next.Release()
}

// A file that was left by a run that was killed, or that says nothing to make
// sense of, is no hindrance; one that is locked and says nothing is.
func TestLockLeftBehind(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "hold."+namespaceID())
	for _, text := range []string{`{"run":"dead"}` + "\n" + strings.Repeat("x", 500), "", "{", "\x00\xff"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		h, err := LockHost(dir, holder("one"))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if _, err = LockHost(dir, holder("two")); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), "root@ctl") {
			t.Errorf("%q: %v", text, err)
		}
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		if text != "" { // looking again takes its time
			h.Release()
			continue
		}
		if _, err = LockHost(dir, holder("two")); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), "another run") {
			t.Errorf("a holder without words: %v", err)
		}
		h.Release()
	}
}

// Many runs at once: one at a time holds, and each of them in the end.
func TestLockOneAtATime(t *testing.T) {
	dir := t.TempDir()
	var mu sync.Mutex
	inside, most, done := 0, 0, 0
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for {
				h, err := LockHost(dir, holder(string(rune('a'+i))))
				if errors.Is(err, ErrInUse) {
					continue
				}
				if err != nil || h.Note != "" {
					t.Errorf("%+v, %v", h, err)
					return
				}
				mu.Lock()
				inside++
				most, done = max(most, inside), done+1
				mu.Unlock()
				mu.Lock()
				inside--
				mu.Unlock()
				h.Release()
				return
			}
		})
	}
	wg.Wait()
	if most != 1 || done != 8 {
		t.Errorf("%d held it at once, %d of 8 in the end", most, done)
	}
}

// Where the directory cannot be written the user's own runs are kept apart;
// where nothing can be, the run goes on and says so.
func TestLockWithoutPermission(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	own := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", own)
	h, err := LockHost(filepath.Join(file, "sub"), holder("one"))
	if err != nil || !strings.HasPrefix(h.Note, "runs of other users are not kept off") {
		t.Fatalf("%+v, %v", h, err)
	}
	if _, err := LockHost(filepath.Join(file, "sub"), holder("two")); !errors.Is(err, ErrInUse) {
		t.Errorf("a second run of the same user: %v", err)
	}
	h.Release()
	t.Setenv("XDG_RUNTIME_DIR", filepath.Join(file, "sub"))
	h, err = LockHost(filepath.Join(file, "sub"), holder("one"))
	if err != nil || !strings.HasPrefix(h.Note, "other runs are not kept off") {
		t.Errorf("%+v, %v", h, err)
	}
	h.Release()
}
