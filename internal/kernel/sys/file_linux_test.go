package sys

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestReadAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "value")
	if err := os.WriteFile(file, []byte("4096\t131072\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 64)
	if n, err := ReadAtOnce(file, buf); err != nil || string(buf[:n]) != "4096\t131072\n" {
		t.Errorf("%q, %v", buf[:n], err)
	}
	if n, err := ReadAtOnce(file, buf[:12]); !errors.Is(err, ErrFilled) || n != 12 {
		t.Errorf("a buffer that it just fills: %d, %v", n, err)
	}
	if _, err := ReadAtOnce(file+".none", buf); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such file: %v", err)
	}
	if _, err := ReadAtOnce(filepath.Dir(file), buf); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory: %v", err)
	}
}
