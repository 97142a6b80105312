//go:build unix && !aix

package userfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/userfile"
)

// TestTree: links of an image lead where they lead on its host, never to this machine's.
func TestTree(t *testing.T) {
	above := t.TempDir()
	root := filepath.Join(above, "image")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(root, "etc"), 0o755), os.MkdirAll(filepath.Join(root, "data/netplan"), 0o755),
		os.WriteFile(filepath.Join(above, "secret"), []byte("this machine's"), 0o644),
		os.WriteFile(filepath.Join(root, "secret"), []byte("the image's"), 0o644),
		os.WriteFile(filepath.Join(root, "data/netplan/one.yaml"), []byte("network:"), 0o644),
		os.Symlink("/data/netplan", filepath.Join(root, "etc/netplan")),
		os.Symlink("../../../../secret", filepath.Join(root, "data/netplan/up.yaml")),
		os.Symlink(filepath.Join(above, "secret"), filepath.Join(root, "data/netplan/out.yaml")),
		os.Symlink("loop.yaml", filepath.Join(root, "data/netplan/loop.yaml")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	tree := userfile.Tree(root)
	names, err := fs.Glob(tree, "etc/netplan/*.yaml")
	if want := []string{"etc/netplan/loop.yaml", "etc/netplan/one.yaml", "etc/netplan/out.yaml", "etc/netplan/up.yaml"}; err != nil || !slices.Equal(names, want) {
		t.Fatalf("%q, %v; want %q", names, err, want)
	}
	for name, want := range map[string]string{"one": "network:", "up": "the image's"} {
		if text, err := fs.ReadFile(tree, "etc/netplan/"+name+".yaml"); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v; want %q", name, text, err, want)
		}
	}
	for _, name := range []string{"etc/netplan/out.yaml", "etc/netplan/loop.yaml"} {
		if text, err := fs.ReadFile(tree, name); err == nil {
			t.Errorf("%s: %q", name, text)
		}
	}
	if _, err := fs.Stat(tree, "etc/netplan/out.yaml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a link out: %v", err)
	}
	if _, err := tree.Open("../secret"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a name out: %v", err)
	}
}

// TestTreeTakesNoPipe: what has become a pipe since it was looked at is not waited for.
func TestTreeTakesNoPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := userfile.Tree(dir).Open("pipe")
		ended <- err
	}()
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "no plain file") {
			t.Errorf("a pipe: %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("the writer of a pipe is waited for")
	}
}
