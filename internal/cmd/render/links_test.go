package render

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A directory of files may be somebody else's: who renders from it as root reads none
// of this machine's by a link in it.
func TestLinksOfDirectory(t *testing.T) {
	dir, secret := t.TempDir(), filepath.Join(t.TempDir(), "shadow")
	for name, text := range map[string]string{secret: "root:x", filepath.Join(dir, "real.network"): "[Match]"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"in.network": "real.network", "whole.network": filepath.Join(dir, "real.network"), "masked.link": os.DevNull, "nowhere.link": "none"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	files := map[string]string{}
	if err := addFiles(t.Context(), dir, files); err != nil || len(files) != 3 {
		t.Errorf("files %q, %v; want real.network and two links to it", files, err)
	}
	for dir, own := range map[string]bool{"/etc/systemd/network": true, "/etc": true, "/run/systemd/network": true, "/run/user/1000": false, "/etcetera": false, dir: false, "/home/me/etc": false} {
		if ownPlace(dir) != own {
			t.Errorf("%s as a place of the host's own: %v", dir, !own)
		}
	}
	if err := os.Symlink(secret, filepath.Join(dir, "out.network")); err != nil {
		t.Fatal(err)
	}
	files = map[string]string{}
	if err := addFiles(t.Context(), dir, files); err == nil || !strings.Contains(err.Error(), "out.network") || !strings.Contains(err.Error(), "leads out of") {
		t.Errorf("a link that leads out: %v, files %q", err, files)
	}
}
