package root

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/netstate"
)

func TestInspectCapture(t *testing.T) {
	dir := t.TempDir()
	archive := filepath.Join(dir, "host.tar.gz")
	o := run(t, "", "inspect", "--capture", archive)
	if o.status != console.ExitDone || !strings.Contains(o.stdout, "host.tar.gz") || !strings.Contains(o.stdout, "--anonymous") {
		t.Fatalf("exit %d:\n%s%s", o.status, o.stdout, o.stderr)
	}
	fits(t, strings.ReplaceAll(o.stdout, archive, "host.tar.gz"))
	refused(t, "", console.ExitUsage, "inspect: --capture "+archive+": it is there already", "--force", "inspect", "--capture", archive)
	doc := document(t, run(t, "", "inspect", "--capture", archive, "--force", "--anonymous", "--json"))
	wantKeys(t, "document", doc, "host archive archive_bytes files_count anonymous missing")
	if doc["anonymous"] != true || doc["archive"] != archive {
		t.Errorf("%v", doc)
	}
	live := document(t, run(t, "", "inspect", "--json"))["host"].(map[string]any)
	shown := document(t, run(t, "", "inspect", "--root", archive, "--json"))
	host := shown["host"].(map[string]any)
	if host["name"] != "host" || len(host["links"].([]any)) != len(live["links"].([]any)) || len(host["sysctls"].(map[string]any)) < len(live["sysctls"].(map[string]any))-1 {
		t.Errorf("the archive shows %v", host["name"])
	}
	if _, ok := shown["findings"].([]any); !ok {
		t.Errorf("findings are %v", shown["findings"])
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestInspectRoot(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.tar.gz")
	if err := os.WriteFile(broken, []byte("no archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	tree := filepath.Join(dir, "tree")
	for name, text := range map[string]string{"proc/sys/kernel/hostname": "far\n", "sys/class/net/eth0/ifindex": "2\n", "sys/class/net/eth0/flags": "0x1003\n", "sys/class/net/eth0/mtu": "1500\n", "linerate/README": "no host.json here\n"} {
		file := filepath.Join(tree, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if o := run(t, "", "inspect", "--root", tree); o.status != console.ExitDone || !strings.HasPrefix(o.stdout, "far: linux") {
		t.Errorf("exit %d:\n%s%s", o.status, o.stdout, o.stderr)
	}
	// With the host as it was read beside it, that is what counts.
	text, err := json.Marshal(netstate.Host{Name: "rbx", Kernel: netstate.Kernel{OS: "linux", Release: "6.1.0"}, Links: []netstate.Link{{Name: "eth0", MTU: 1500}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tree, "linerate", "host.json"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	if o := run(t, "", "inspect", "--root", tree); o.status != console.ExitDone || !strings.HasPrefix(o.stdout, "rbx: linux 6.1.0") {
		t.Errorf("exit %d:\n%s%s", o.status, o.stdout, o.stderr)
	}
	for _, c := range []struct {
		line, hint string
		args       []string
	}{
		{"read archive " + broken + ": not a usable archive", "--capture", []string{"--root", broken}},
		{"open captured tree: ", "--root takes", []string{"--root", filepath.Join(dir, "absent")}},
		{"read captured tree: ", "--root takes", []string{"--root", t.TempDir()}},
		{"inspect: --root and local:: a captured host needs no HOST", "leave one", []string{"--root", tree, "local:"}},
		{"inspect: --root: nothing can be captured", "leave --capture", []string{"--root", tree, "--capture", filepath.Join(dir, "x.tar.gz")}},
		{"inspect: --capture " + filepath.Join(dir, "x.zip") + ": an archive's name ends in .tar.gz", "host.tar.gz", []string{"--capture", filepath.Join(dir, "x.zip")}},
		{"inspect: --anonymous and --force say how to capture", "--capture", []string{"--anonymous"}},
		{"inspect: --capture and --calibrate: an archive holds no measurements", "on its own", []string{"--capture", filepath.Join(dir, "x.tar.gz"), "--calibrate"}},
	} {
		refused(t, "", console.ExitUsage, c.line, c.hint, append([]string{"inspect"}, c.args...)...)
	}
}
