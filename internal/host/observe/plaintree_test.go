//go:build unix && !aix

package observe

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// rootDir is a directory with a captured host in it.
func rootDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"proc/sys/kernel/osrelease": "6.1.0\n", "proc/sys/kernel/hostname": "db1\n", "sys/class/net/eth0/ifindex": "2\n", "sys/class/net/eth0/mtu": "1500\n",
		"proc/cpuinfo": "processor\t: 0\n",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// instead puts something else in the place of a file.
func instead(t *testing.T, path string, make func(path string) error) {
	t.Helper()
	if err := errors.Join(os.Remove(path), make(path)); err != nil {
		t.Fatal(err)
	}
}

// TestRootOpensPlainFilesOnly is the finding: `mkfifo dd/proc/cpuinfo; inspect
// --root dd` hung. Nothing in a tree is waited for, no device is opened, no file
// is without end, and no link leads out.
func TestRootOpensPlainFilesOnly(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(path string) error{
		"pipe":          func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"socket":        func(path string) error { return syscall.Mknod(path, syscall.S_IFSOCK|0o600, 0) },
		"device":        func(path string) error { return syscall.Mknod(path, syscall.S_IFCHR|0o600, 1<<8|5) }, // zero
		"link outside":  func(path string) error { return os.Symlink(secret, path) },
		"relative link": func(path string) error { return os.Symlink("../../../../../../../../../.."+secret, path) },
		"large":         func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 8<<30)) },
	} {
		t.Run(name, func(t *testing.T) {
			if name == "device" && os.Geteuid() != 0 {
				t.Skip("making a device takes root")
			}
			dir := rootDir(t)
			instead(t, filepath.Join(dir, "proc/cpuinfo"), make)
			instead(t, filepath.Join(dir, "proc/sys/kernel/hostname"), make)
			begin := time.Now()
			host, err := Observe(context.Background(), Config{Root: dir})
			if err != nil || len(host.Links) != 1 {
				t.Fatalf("%+v, %v", host, err)
			}
			if took := time.Since(begin); took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
			if host.Name != "" || host.CPU.Cores != 0 {
				t.Errorf("name %q, %d cores", host.Name, host.CPU.Cores)
			}
			if missing := strings.Join(host.Missing, "\n"); !strings.Contains(missing, "processors: ") {
				t.Errorf("not said: %s", missing)
			}
		})
	}
}

// TestRootIsInterruptible: the work ends with its context, and an archive that is
// a pipe is not waited for beyond it.
func TestRootIsInterruptible(t *testing.T) {
	dir := rootDir(t)
	pipe := filepath.Join(t.TempDir(), "host.tar.gz")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{dir, pipe} {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(20*time.Millisecond, cancel)
		if root == dir {
			cancel()
		}
		if _, err := Observe(ctx, Config{Root: root}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", root, err)
		}
	}
}

// TestPlainTreeIsAFileSystem holds it to io/fs's rules where links do not leave.
func TestPlainTreeIsAFileSystem(t *testing.T) {
	dir := rootDir(t)
	if err := os.Symlink("eth0", filepath.Join(dir, "sys/class/net/eth1")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	tree := plainTree{root.FS().(rootFS), context.Background(), root}
	text, err := fs.ReadFile(tree, "sys/class/net/eth1/ifindex")
	if err != nil || string(text) != "2\n" {
		t.Errorf("through a link inside: %q, %v", text, err)
	}
	if _, err := tree.Open("../x"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a name that leads out: %v", err)
	}
	if _, err := fs.ReadDir(tree, "sys/class/net"); err != nil {
		t.Error(err)
	}
}
