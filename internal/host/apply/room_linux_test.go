package apply

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestFullJournal is the finding: on a small tmpfs a guard that could not write
// its word ended, and nobody said that there was no room. Whatever the size, a
// change is done or refused for want of room, and the host is as it was.
func TestFullJournal(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting a tmpfs takes root")
	}
	done, refused := 0, 0
	for pages := 1; pages <= 24; pages++ {
		dir := t.TempDir()
		if err := syscall.Mount("linerate-test", dir, "tmpfs", 0, fmt.Sprintf("size=%dk,mode=0700", 4*pages)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
		k := &fakeKernel{host: testHost()}
		a := applier(t, dir, k)
		a.cfg.StartGuard = func(_ context.Context, _ Config, id string) error { // what a guard does first
			if err := a.journal.arm(id, a.self); err != nil {
				t.Errorf("%d pages: the guard finds no room: %v", pages, err)
				return errGuardEnded
			}
			return nil
		}
		_, err := a.Apply(context.Background(), testPlans(t)["online"], Options{})
		switch {
		case err == nil:
			done++
		case errors.Is(err, syscall.ENOSPC) && strings.Contains(err.Error(), dir):
			refused++
			sameHost(t, fmt.Sprint(pages, " pages"), testHost(), k.host)
		default:
			t.Errorf("%d pages: %v", pages, err)
		}
	}
	if done == 0 || refused == 0 {
		t.Errorf("%d done, %d refused", done, refused)
	}
}
