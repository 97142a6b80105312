//go:build unix && !aix

package userfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/statefile"
)

// masked sets the process's umask for a test.
func masked(t *testing.T, mask int) {
	t.Helper()
	old := syscall.Umask(mask)
	t.Cleanup(func() { syscall.Umask(old) })
}

func holds(t *testing.T, path, want string) fs.FileInfo {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || string(text) != want {
		t.Errorf("%s holds %q, %v, want %q", path, text, err, want)
	}
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func write1(t *testing.T, path, text string) {
	t.Helper()
	if err := Write(context.Background(), path, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// TestUmask: a new file has what the umask leaves.
func TestUmask(t *testing.T) {
	for mask, want := range map[int]fs.FileMode{0o022: 0o644, 0o077: 0o600, 0o002: 0o664, 0: 0o666} {
		masked(t, mask)
		path := filepath.Join(t.TempDir(), "f")
		write1(t, path, "text")
		if mode := holds(t, path, "text").Mode(); mode != want {
			t.Errorf("umask %04o: mode %v, want %v", mask, mode, want)
		}
		if err := WriteMode(context.Background(), path+"2", []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
		if mode := holds(t, path+"2", "text").Mode(); mode != 0o600&^fs.FileMode(mask) {
			t.Errorf("umask %04o, mode 0600: mode %v", mask, mode)
		}
	}
}

// TestModeAndOwnerStay: an existing file keeps them, and another file takes its
// name in one step.
func TestModeAndOwnerStay(t *testing.T) {
	masked(t, 0o022)
	path := filepath.Join(t.TempDir(), "f")
	if err := errors.Join(os.WriteFile(path, []byte("a long old text"), 0o600), os.Chmod(path, 0o640)); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(path, 65534, 65533); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	write1(t, path, "new")
	after := holds(t, path, "new")
	u1, g1 := statefile.Owner(before)
	if u2, g2 := statefile.Owner(after); after.Mode() != before.Mode() || u1 != u2 || g1 != g2 {
		t.Errorf("was %v of %d:%d, is %v of %d:%d", before.Mode(), u1, g1, after.Mode(), u2, g2)
	}
	if os.SameFile(before, after) {
		t.Error("it was written in place: a reader may have seen a part")
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestThroughLinks(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "real")
	if err := errors.Join(os.WriteFile(real, []byte("old"), 0o600), os.Mkdir(filepath.Join(dir, "sub"), 0o755),
		os.Symlink("../real", filepath.Join(dir, "sub", "two")), os.Symlink("sub/two", filepath.Join(dir, "one")),
		os.Symlink("none", filepath.Join(dir, "dangling")), os.Symlink("loop", filepath.Join(dir, "loop"))); err != nil {
		t.Fatal(err)
	}
	write1(t, filepath.Join(dir, "one"), "new")
	holds(t, real, "new")
	write1(t, filepath.Join(dir, "dangling"), "made")
	holds(t, filepath.Join(dir, "none"), "made")
	for _, link := range []string{"one", "sub/two", "dangling"} {
		if info, err := os.Lstat(filepath.Join(dir, link)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is %v, %v", link, info, err)
		}
	}
	if err := Write(context.Background(), filepath.Join(dir, "loop"), nil); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a link to itself: %v", err)
	}
	// Of two names of one file both hold the new text.
	if err := os.Link(real, filepath.Join(dir, "hard")); err != nil {
		t.Fatal(err)
	}
	write1(t, filepath.Join(dir, "hard"), "both")
	holds(t, real, "both")
}

func TestThroughPipesAndDevices(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan string, 1)
	go func() {
		time.Sleep(3 * pipePause) // the writer is there first
		text, _ := os.ReadFile(path)
		read <- string(text)
	}()
	long := strings.Repeat("0123456789", 20000) // more than a pipe holds
	write1(t, path, long)
	if got := <-read; got != long {
		t.Errorf("%d bytes came through", len(got))
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		t.Errorf("the pipe is %v, %v", info, err)
	}
	write1(t, os.DevNull, "text")
	if info, err := os.Lstat(os.DevNull); err != nil || info.Mode()&fs.ModeDevice == 0 {
		t.Errorf("the null device is %v, %v", info, err)
	}
	// A descriptor is written where it stands.
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("before "); err != nil {
		t.Fatal(err)
	}
	write1(t, fmt.Sprintf("/dev/fd/%d", f.Fd()), "text")
	if _, err := f.WriteString(" after"); err != nil {
		t.Fatal(err)
	}
	holds(t, f.Name(), "before text after")
}

// TestPipeWithoutReader: waiting for one ends with the context, and after it has
// ended nobody is waited for.
func TestPipeWithoutReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	begin := time.Now()
	for range 2 {
		if err := Write(ctx, path, []byte("x")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	}
	// One that reads nothing stops no interrupt either.
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx, cancel = context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := Write(ctx, path, make([]byte, 1<<20)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a full pipe: %v", err)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestWriteRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := Write(context.Background(), dir, nil); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("a directory: %v", err)
	}
	if err := Write(context.Background(), filepath.Join(dir, "none", "f"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the directory was made")
	}
}

func TestRead(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := Read(ctx, path, 10); err != nil || string(text) != "0123456789" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := Read(ctx, path, 9); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), path) {
		t.Errorf("too large: %v", err)
	}
	if _, err := Read(ctx, "/dev/zero", 1<<20); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a device without end: %v", err)
	}
	if _, err := Read(ctx, filepath.Dir(path), 9); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("a directory: %v", err)
	}
	if _, err := Read(ctx, path+"none", 9); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	if _, err := os.Stat("/proc/self/stat"); err == nil {
		if text, err := Read(ctx, "/proc/self/stat", 1<<20); err != nil || len(text) == 0 {
			t.Errorf("a file of /proc: %q, %v", text, err)
		}
	}
	if f, err := os.Open("/proc/kmsg"); err == nil { // root's; it never ends
		f.Close()
		short, stop := context.WithTimeout(ctx, 200*time.Millisecond)
		defer stop()
		if _, err := Read(short, "/proc/kmsg", 1<<30); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a file of /proc without end: %v", err)
		}
	}
	if _, err := ReadStream(ctx, "standard input", strings.NewReader("0123456789"), 9); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "standard input") {
		t.Errorf("a stream: %v", err)
	}
}

// TestReadPipe: a pipe that a user named works, also one whose writer comes
// late, and one that nobody writes ends with the context.
func TestReadPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		time.Sleep(50 * time.Millisecond)
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			_, _ = io.WriteString(f, "late")
			f.Close()
		}
	}()
	if text, err := Read(context.Background(), path, 10); err != nil || string(text) != "late" {
		t.Errorf("%q, %v", text, err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.WriteString(w, "substituted"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if text, err := Read(context.Background(), fmt.Sprintf("/dev/fd/%d", r.Fd()), 100); err != nil || string(text) != "substituted" {
		t.Errorf("a process substitution: %q, %v", text, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if _, err := Read(ctx, path, 10); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 5*time.Second {
		t.Errorf("nobody writes: %v after %v", err, time.Since(begin))
	}
}
