//go:build unix && !aix

package statefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// foreign are files that are not ours alone, by what an error says of them.
func external(t *testing.T) map[string]func(path string) error {
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("root:*:1"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if text, err := os.ReadFile(victim); err != nil || string(text) != "root:*:1" {
			t.Errorf("the other's file has become %q, %v", text, err)
		}
	})
	made := func(path string) error { return os.WriteFile(path, []byte("x"), 0o600) }
	return map[string]func(string) error{
		"symbolic link":         func(path string) error { return os.Symlink(victim, path) },
		"2 names":               func(path string) error { return os.Link(victim, path) },
		"no plain file":         func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"belongs to user 65534": func(path string) error { return errors.Join(made(path), os.Chown(path, 65534, 65534)) },
		"write it (mode 0622)":  func(path string) error { return errors.Join(made(path), os.Chmod(path, 0o622)) },
	}
}

func TestForeignFiles(t *testing.T) {
	for want, make := range external(t) {
		t.Run(want, func(t *testing.T) {
			if strings.HasPrefix(want, "belongs") && os.Geteuid() != 0 {
				t.Skip("giving a file away takes root")
			}
			path := filepath.Join(t.TempDir(), "state")
			if err := make(path); err != nil {
				t.Fatal(err)
			}
			for name, flag := range map[string]int{"read": os.O_RDONLY, "write": os.O_WRONLY | os.O_CREATE, "truncate": os.O_RDWR | os.O_CREATE | os.O_TRUNC} {
				f, err := Open(path, flag, 0o600)
				if err == nil {
					f.Close()
				}
				// A pipe that nobody reads cannot be opened for writing either.
				if pipe := errors.Is(err, syscall.ENXIO) && want == "no plain file"; !pipe && (!errors.Is(err, ErrUntrusted) || !strings.Contains(err.Error(), want)) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if _, err := Read(path, 100); !errors.Is(err, ErrUntrusted) {
				t.Errorf("read: %v", err)
			}
			if err := Replace(path, []byte("new"), 0o600); err != nil {
				t.Fatal(err)
			}
			if text, err := Read(path, 100); err != nil || string(text) != "new" {
				t.Errorf("after a replacement: %q, %v", text, err)
			}
		})
	}
}

func TestOwnFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	if _, err := Read(path, 9); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	f, err := Open(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString("0123456789")
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path, 9); err == nil || !strings.Contains(err.Error(), "more than 9 bytes") {
		t.Errorf("a large file: %v", err)
	}
	if f, err = Open(path, os.O_RDWR|os.O_TRUNC, 0); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() != 0 || info.Mode().Perm() != 0o600 {
		t.Errorf("truncated: %v, %v", info, err)
	}
}

func TestCheckDir(t *testing.T) {
	dir := t.TempDir()
	if err := CheckDir(dir); err != nil {
		t.Error(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if err := CheckDir(link); err != nil {
		t.Errorf("a link to one: %v", err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := CheckDir(dir); !errors.Is(err, ErrUntrusted) || !strings.Contains(err.Error(), "mode 0777") || !strings.Contains(err.Error(), "chmod go-w "+dir) {
		t.Errorf("one that all may write: %v", err)
	}
	if err := CheckDir(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
}
