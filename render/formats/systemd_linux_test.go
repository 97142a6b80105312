package formats

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/networkd"
)

// systemd lets systemd-networkd and udev read files and returns what they say
// of them, with the number of files they say they read of each kind. Generated
// are files for /run/systemd/network, by name.
func systemd(t *testing.T, files []render.File, generated map[string]string) (complaints []string, log string) {
	t.Helper()
	if _, err := os.Stat("/lib/systemd/systemd-networkd"); err != nil || os.Geteuid() != 0 {
		t.Skip("systemd-networkd is not here, or this is not root, who can give it a namespace")
	}
	root := t.TempDir()
	for _, dir := range []string{root, root + "/etc", root + "/run"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range files {
		if name, ok := strings.CutPrefix(f.Path, networkd.Dir); ok {
			place(t, filepath.Join(root, "etc", name), f.Text)
		}
	}
	for name, text := range generated {
		place(t, filepath.Join(root, "run", name), text)
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	text, err := exec.CommandContext(ctx, "unshare", "-n", "-m", "testdata/systemd", root).CombinedOutput()
	if err != nil {
		t.Fatalf("systemd: %v\n%s", err, text)
	}
	for _, line := range strings.Split(string(text), "\n") {
		_, said, _ := strings.Cut(line, ": ")
		if strings.HasPrefix(said, "/etc/systemd/network") || strings.HasPrefix(said, "/run/systemd/network") || strings.Contains(said, "onfiguration is missing") {
			complaints = append(complaints, said)
		}
	}
	return complaints, string(text)
}

func place(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestNetworkdParsed: systemd 252 takes every file without a word, except for
// the keys that a warning says are newer.
func TestNetworkdParsed(t *testing.T) {
	for _, c := range []struct{ fabric string }{{"testdata/full/fabric.yaml"}, {"testdata/settings/fabric.yaml"}} {
		in := input(t, c.fabric, "a")
		out := mustRender(t, render.FormatNetworkd, in)
		complaints, log := systemd(t, out.Files, nil)
		if complaints != nil {
			t.Errorf("%s: systemd complains:\n%s", c.fabric, strings.Join(complaints, "\n"))
		}
		for _, f := range out.Files {
			if strings.HasSuffix(f.Path, ".netdev") && !strings.Contains(log, strings.TrimSuffix(filepath.Base(f.Path)[3:], ".netdev")+": loaded") {
				t.Errorf("%s was not loaded", f.Path)
			}
			if strings.HasSuffix(f.Path, ".link") && !strings.Contains(log, f.Path+"\"") {
				t.Errorf("%s was not read", f.Path)
			}
		}
	}
}

// TestNetplanDropInsRead: systemd reads the drop-ins with the files that
// netplan's generator makes, and takes every key of them. A key that is none
// shows that they are read at all.
func TestNetplanDropInsRead(t *testing.T) {
	in := input(t, "testdata/settings/fabric.yaml", "a")
	out := mustRender(t, render.FormatNetplan, in)
	units, said := generated(t, out.Files)
	if said != "" {
		t.Errorf("netplan complains: %s", said)
	}
	dropIns := 0
	for i, f := range out.Files {
		name, suffix := strings.TrimPrefix(f.Path, networkd.Dir), ".d/90-linerate.conf"
		if !strings.HasSuffix(name, suffix) {
			continue
		}
		dropIns++
		if units[strings.TrimSuffix(name, suffix)] == "" {
			t.Errorf("%s is for a file that netplan does not make", f.Path)
		}
		bad := append([]render.File(nil), out.Files...)
		bad[i].Text += "NoSuchKey=1\n"
		if complaints, log := systemd(t, bad, units); len(complaints) != 1 || !strings.Contains(complaints[0], "NoSuchKey") {
			t.Errorf("%s with a wrong key: systemd says %q of\n%s", f.Path, complaints, log)
		}
	}
	if dropIns < 3 {
		t.Errorf("%d drop-ins, want one of each kind: %v", dropIns, out.Files)
	}
	if complaints, _ := systemd(t, out.Files, units); complaints != nil {
		t.Errorf("systemd complains:\n%s", strings.Join(complaints, "\n"))
	}
}
