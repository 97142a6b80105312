package apply

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// TestGuardWithoutJournal takes the journal's directory away from a guard that is
// armed, in every way in which one goes: a disk that the kernel made read-only after
// an error, one unmounted, a directory moved, removed, given away or opened to
// others. The host is rolled back at the deadline all the same, also by steps that
// were made after the guard last read the entry, and so it is when a person asks
// while the disk is read-only.
func TestGuardWithoutJournal(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting a tmpfs takes root")
	}
	for name, take := range journalLosses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mount := ownDisk(t)
			k := &fakeKernel{host: testHost()}
			a := applier(t, filepath.Join(mount, "journal"), k)
			ended := make(chan error, 1)
			a.cfg.StartGuard = func(_ context.Context, c Config, id string) error {
				c.StartGuard = nil
				go func() { ended <- Guard(context.Background(), c, id) }()
				waitFor(t, "the guard to be armed", func() bool {
					_, err := a.journal.readArmed(id)
					return err == nil
				})
				return nil
			}
			// The guard reads every guardPause: none of these steps is known to it.
			if _, err := a.Apply(context.Background(), testPlans(t)["online"], Options{Deadline: time.Second}); err != nil {
				t.Fatal(err)
			}
			if err := take(a.cfg.Dir); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-ended:
				t.Logf("the guard says: %v", err)
			case <-time.After(20 * time.Second):
				t.Fatal("the guard does not end")
			}
			sameHost(t, name, testHost(), k.host)
			if !strings.HasPrefix(name, "its entry") {
				return
			}
			if all, problems, err := a.journal.List(); err != nil || len(problems) > 0 || len(all) != 1 || all[0].State != agentapi.ChangeRolledBack {
				t.Errorf("the journal does not say so: %+v, %v, %v", all, problems, err)
			}
		})
	}
	t.Run("rollback, read-only", func(t *testing.T) {
		mount := ownDisk(t)
		k := &fakeKernel{host: testHost()}
		a := applier(t, filepath.Join(mount, "journal"), k)
		r, err := a.Apply(context.Background(), testPlans(t)["online"], Options{Deadline: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if err := journalLosses["read-only"](a.cfg.Dir); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Rollback(context.Background(), r.ID); !errors.Is(err, syscall.EROFS) {
			t.Errorf("the journal could not be written, and it says: %v", err)
		}
		sameHost(t, "rolled back", testHost(), k.host)
	})
}

// journalLosses are the ways in which a journal's directory, on a disk of its own, goes.
var journalLosses = map[string]func(dir string) error{
	// The kernel refuses while a file of it is written, as the guard may just do.
	"read-only": func(dir string) (err error) {
		for range 200 {
			err = syscall.Mount("", filepath.Dir(dir), "", syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
			if !errors.Is(err, syscall.EBUSY) {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		return err
	},
	"unmounted":           func(dir string) error { return syscall.Unmount(filepath.Dir(dir), syscall.MNT_DETACH) },
	"moved":               func(dir string) error { return os.Rename(dir, dir+".old") },
	"removed":             os.RemoveAll,
	"given away":          func(dir string) error { return os.Chown(dir, 65534, 65534) },
	"writable by others":  func(dir string) error { return os.Chmod(dir, 0o777) },
	"a file in its place": func(dir string) error { return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)) },
	"a link in its place": func(dir string) error {
		return errors.Join(os.Rename(dir, dir+".old"), os.Symlink("/nowhere/at/all", dir))
	},
	"its entry a pipe": func(dir string) error {
		return replaceEntry(dir, func(path string) error { return syscall.Mkfifo(path, 0o600) })
	},
	"its entry a directory": func(dir string) error {
		return replaceEntry(dir, func(path string) error { return os.Mkdir(path, 0o700) })
	},
	"its entry another's": func(dir string) error {
		return replaceEntry(dir, func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Chown(path, 65534, 65534))
		})
	},
	"its lock a link": func(dir string) error {
		return errors.Join(os.Remove(dir+"/lock"), os.Symlink("/nowhere/at/all", dir+"/lock"))
	},
	"its lock a directory": func(dir string) error { return errors.Join(os.Remove(dir+"/lock"), os.Mkdir(dir+"/lock", 0o700)) },
}

// replaceEntry puts something else in the place of the only entry.
func replaceEntry(dir string, with func(path string) error) error {
	entries, err := filepath.Glob(filepath.Join(dir, "*"+entrySuffix))
	if err != nil || len(entries) != 1 {
		return errors.Join(err, fmt.Errorf("entries: %v", entries))
	}
	return errors.Join(os.Remove(entries[0]), with(entries[0]))
}

// ownDisk is a small disk of the test's own, of memory.
func ownDisk(t *testing.T) string {
	t.Helper()
	mount := t.TempDir()
	if err := syscall.Mount("linerate-test", mount, "tmpfs", 0, "size=1m,mode=0700"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(mount, syscall.MNT_DETACH) })
	return mount
}
