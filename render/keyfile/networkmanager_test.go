package keyfile

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/render"
)

// parsers is where packages with the configuration systems' own parsers are
// unpacked; `make deps-config` does it.
func parsers(t *testing.T, program string) string {
	t.Helper()
	dir := os.Getenv("LINERATE_LAB_CONFIG")
	if dir == "" {
		dir, _ = filepath.Abs("../../.lab-config")
	}
	for _, place := range []string{filepath.Join(dir, "networkmanager"), dir} {
		if _, err := os.Stat(filepath.Join(place, program)); err == nil {
			return place
		}
	}
	t.Skipf("%s is not there: make deps-config fetches it", program)
	return ""
}

// networkManager lets the real program read connections: what it says of each
// property by file name, and its complaints.
func networkManager(t *testing.T, files []render.File) (properties map[string]map[string]string, complaints []string) {
	t.Helper()
	programs := parsers(t, "usr/sbin/NetworkManager")
	if os.Geteuid() != 0 {
		t.Skip("NetworkManager reads connections as root only")
	}
	dir, work := t.TempDir(), t.TempDir()
	for _, f := range files {
		if f.Mode != 0o600 {
			t.Errorf("%s has mode %o", f.Path, f.Mode)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(f.Path)), []byte(f.Text), os.FileMode(f.Mode)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, "unshare", "-n", "-m", "testdata/networkmanager", programs, dir, work)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("NetworkManager: %v", err)
	}
	properties = map[string]map[string]string{}
	var now map[string]string
	for _, line := range strings.Split(string(text), "\n") {
		if file, ok := strings.CutPrefix(line, "file "); ok {
			now = map[string]string{}
			properties[filepath.Base(file)] = now
			continue
		}
		if key, value, ok := strings.Cut(line, ":"); ok && now != nil {
			now[key] = strings.TrimSpace(value)
		}
	}
	log, _ := os.ReadFile(filepath.Join(work, "log"))
	for _, m := range complaint.FindAllStringSubmatch(string(log), -1) {
		complaints = append(complaints, m[1])
	}
	return properties, complaints
}

var complaint = regexp.MustCompile(`<(?:warn|error)> +\[[0-9.]+\] ((?:keyfile|settings|BOND|manager).*)`)
