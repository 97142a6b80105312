package process

import (
	"os"
	"runtime"
	"testing"
)

// TestNamePrints: a program calls itself what it likes, and who lists programs
// prints it on a terminal.
func TestNamePrints(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const comm = "/proc/self/comm"
	was, err := os.ReadFile(comm)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(comm, []byte("\x1b[2Ja\nb \xff"), 0o644); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := os.WriteFile(comm, was, 0o644); err != nil {
			t.Error(err)
		}
	}()
	if got, want := name(os.Getpid()), "?[2Ja?b ?"; got != want {
		t.Errorf("name %q, want %q", got, want)
	}
}
