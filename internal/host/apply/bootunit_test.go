package apply

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBootUnit has systemd's own parser read the unit.
func TestBootUnit(t *testing.T) {
	text := bootText("/bin/true", "/var/lib/linerate/journal")
	if !strings.Contains(text, "ExecStart=/bin/true recover --boot --dir /var/lib/linerate/journal\n") {
		t.Error(text)
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze here")
	}
	file := filepath.Join(t.TempDir(), filepath.Base(BootUnit))
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	// What it says of this file, not of those that the machine has.
	out, err := exec.Command(analyze, "verify", "--man=no", "--recursive-errors=no", file).CombinedOutput()
	if err != nil || strings.Contains(string(out), "linerate-recover") {
		t.Errorf("systemd-analyze verify: %v: %s", err, out)
	}
}

func TestFleeting(t *testing.T) {
	for path, want := range map[string]bool{
		"/tmp/x/linerate": true, "/run/linerate": true, "/dev/shm/a": true, "/proc/self/fd/3": true,
		"/usr/local/bin/linerate": false, "/root/linerate": false, "/tmpx/linerate": false, "/var/lib/linerate/journal": false,
	} {
		if got := isFleeting(path); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}
