//go:build unix && !aix

package conffile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/linerate/linerate/render"
)

// TestPipe: a pipe among the files is no file, and nobody waits for who writes it.
func TestPipe(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "etc", "netplan")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "a.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "b.yaml"), []byte("network: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := Read(os.DirFS(filepath.Dir(filepath.Dir(dir))), render.FormatNetplan)
	if err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
}
