package apply

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTransient(t *testing.T) {
	dir, err := os.MkdirTemp(t.TempDir(), "linerate.")
	if err != nil {
		t.Fatal(err)
	}
	ten := filepath.Join(filepath.Dir(dir), "linerate.0123456789")
	if err := os.Rename(dir, ten); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(ten, "linerate")
	if err := os.WriteFile(program, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if !isTransient(program) {
		t.Fatal("it is not taken for one")
	}
	for _, other := range []string{filepath.Join(ten, "other"), "/usr/bin/linerate", filepath.Join(filepath.Dir(ten), "linerate.012345678", "linerate")} {
		if isTransient(other) {
			t.Errorf("%s is taken for one", other)
		}
	}
	run := Transient(ten)
	for _, user := range []string{"agent", "guard.a", "guard.b"} {
		if err := run.Use(user); err != nil {
			t.Fatal(err)
		}
	}
	run.Leave("agent")
	run.Leave("guard.b")
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("a guard still uses it: %v", err)
	}
	run.Leave("guard.a")
	if _, err := os.Stat(ten); !os.IsNotExist(err) {
		t.Errorf("nobody uses it, and it is there: %v", err)
	}
	run.Leave("guard.a")
}

// What somebody else put there is not removed.
func TestTransientKeepsWhatItDoesNotKnow(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "thesis.txt")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	Transient(dir).Leave("agent")
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}

func TestNoTransient(t *testing.T) {
	if OwnTransient() != "" {
		t.Error("a test program is taken for a copy")
	}
	if err := Transient("").Use("agent"); err != nil {
		t.Error(err)
	}
	Transient("").Leave("agent")
}
