package guest

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o640)); err != nil {
		t.Fatal(err)
	}
}

func TestParcel(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "kept"), "as it was")
	write(t, filepath.Join(dir, "changed"), "before")
	before, err := fileStates([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "changed"), "afterwards")
	write(t, filepath.Join(dir, "sub", "deep", "new"), "made")
	var parcel bytes.Buffer
	if err := packParcel(&parcel, []string{dir}, before); err != nil {
		t.Fatal(err)
	}
	// The host's directory, which holds things of its own.
	for _, name := range []string{"kept", "changed", "sub"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "own"), "the host's")
	if err := unpackParcel(&parcel, []string{t.TempDir(), dir}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"changed": "afterwards", "sub/deep/new": "made", "own": "the host's"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "kept")); err == nil {
		t.Error("an unchanged file was sent")
	}
}

// TestParcelStaysInside: a guest writes nothing that it was not asked for.
func TestParcelStaysInside(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	if err := os.Symlink(other, filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{filepath.Join(other, "x"), dir + "/../x", "x", "/etc/x", filepath.Join(dir, "out", "x")} {
		var parcel bytes.Buffer
		w := tar.NewWriter(&parcel)
		if err := errors.Join(w.WriteHeader(&tar.Header{Name: name, Mode: 0o644}), w.Close()); err != nil {
			t.Fatal(err)
		}
		if err := unpackParcel(&parcel, []string{dir}); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	if left, _ := os.ReadDir(other); len(left) > 0 {
		t.Errorf("written outside: %v", left)
	}
	if err := unpackParcel(bytes.NewReader(nil), nil); err != nil {
		t.Errorf("no parcel: %v", err)
	}
	if err := unpackParcel(bytes.NewReader(bytes.Repeat([]byte("rubbish"), 200)), []string{dir}); err == nil {
		t.Error("rubbish was taken for a parcel")
	}
}
