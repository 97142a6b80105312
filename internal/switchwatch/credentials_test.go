package switchwatch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric/topology"
)

// TestCredentials: a file that others may read is refused, and no error or print has a
// secret of it.
func TestCredentials(t *testing.T) {
	dir := t.TempDir()
	write := func(text string, mode os.FileMode) {
		path := filepath.Join(dir, "c.yaml")
		_ = os.Remove(path)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	cfg := Config{Dir: dir}
	s := topology.Switch{Name: "leaf", Credentials: "c.yaml"}
	for text, want := range map[string]string{
		"community: s3cret\n": "", "user: w\nauth: sha256\nauth_password: s3cret-s3cret\n": "",
		"community: [s3cret]\n": "line 1", "comunity: s3cret\n": "line 1", "s3cret\n": "want lines", "a: {s3cret": "want lines", "": "want lines",
	} {
		write(text, 0o600)
		got, err := cfg.read(t.Context(), s)
		said := fmt.Sprint(err)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(said, want) || strings.Contains(said+fmt.Sprintf("%v %+v %#v", got, got, got), "s3cret") {
			t.Errorf("%q: %v", text, err)
		}
	}
	write("community: s3cret\n", 0o644)
	if _, err := cfg.read(t.Context(), s); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("others may read it: %v", err)
	}
	if _, err := cfg.read(t.Context(), topology.Switch{Name: "leaf"}); err == nil || !strings.Contains(err.Error(), EnvCredentials) {
		t.Errorf("none: %v", err)
	}
	if _, err := (credentials{"community": "s3cret", "user": "w"}).access(topology.Reach{}); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("two versions at once: %v", err)
	}
}
