package packages

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// top is the repository.
const top = "../../../.."

// TestPackage: a clean Debian, made by debootstrap, gets the .deb, runs the demo from
// it, and has nothing of it left when it is purged.
func TestPackage(t *testing.T) {
	if os.Getenv("PROVE_RUN") == "" {
		t.Skip("it makes a Debian, some minutes: make prove-package")
	}
	if os.Geteuid() != 0 {
		t.Skip("making a Debian needs root")
	}
	bootstrap, err := exec.LookPath("debootstrap")
	if err != nil {
		t.Skip("no debootstrap here: make deps-package")
	}
	deb := release(t)
	root := filepath.Join(t.TempDir(), "debian")
	must(t, exec.Command(bootstrap, "--variant=minbase", "--include=ca-certificates", "bookworm", root))
	c := clean{root}
	// What the demo needs is there before, so that what the package leaves is all.
	c.run(t, "apt-get install -qq -y --no-install-recommends user-mode-linux man-db")
	before := c.files(t)
	must(t, exec.Command("cp", deb, filepath.Join(root, "linerate.deb")))
	c.run(t, "apt-get install -qq -y --no-install-recommends /linerate.deb && rm /linerate.deb")
	version := c.run(t, "linerate version")
	if !strings.HasPrefix(version, "linerate ") || strings.HasPrefix(version, "linerate dev") {
		t.Errorf("it does not say which it is: %s", version)
	}
	t.Logf("scenarios: installed %s", strings.SplitN(version, "\n", 2)[0])
	if page := c.run(t, "man -P cat linerate-measure"); !strings.Contains(page, "latency and throughput between hosts") {
		t.Errorf("no page:\n%.300s", page)
	}
	c.run(t, "bash -c '. /usr/share/bash-completion/completions/linerate && complete -p linerate'")
	c.run(t, "test -x /usr/lib/systemd/system && grep -q 'ExecStart=/usr/bin/linerate agent' /usr/lib/systemd/system/linerate-agent.service")
	demo := c.run(t, "mkdir /tmp/demo && cd /tmp/demo && COLUMNS=80 linerate demo 2>&1; status=$?; cd / && rm -r /tmp/demo; exit $status")
	t.Logf("scenarios: the demo ran in a clean Debian: %s", last(demo))
	c.run(t, "dpkg --verify linerate && apt-get purge -qq -y linerate")
	after := c.files(t)
	for name := range after {
		if !before[name] {
			t.Errorf("left behind: %s", name)
		}
	}
	for name := range before {
		if !after[name] {
			t.Errorf("gone with it: %s", name)
		}
	}
	t.Logf("scenarios: purged, %d files as before", len(after))
}

// release makes this machine's package and returns it.
func release(t *testing.T) string {
	t.Helper()
	c := exec.Command("deploy/package/release")
	c.Dir = top
	c.Env = append(os.Environ(), "TARGETS=linux/amd64")
	must(t, c)
	made, err := filepath.Glob(filepath.Join(top, "dist", "*-amd64.deb"))
	if err != nil || len(made) != 1 {
		t.Fatal(made, err)
	}
	return made[0]
}

// clean is a Debian in a directory.
type clean struct{ root string }

// run runs a command line in it, with mounts and processes of its own, and returns
// what it said.
func (c clean) run(t *testing.T, line string) string {
	t.Helper()
	prepare := "mount -t proc proc " + c.root + "/proc && mount -t sysfs sysfs " + c.root + "/sys && mount --rbind /dev " + c.root + "/dev && mount -t tmpfs -o mode=1777 tmpfs " + c.root + "/dev/shm"
	in := exec.Command("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", prepare+` && exec chroot "$0" sh -c "$1"`, c.root, line)
	in.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive"}
	out, err := in.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// files are all that a package could leave: not what dpkg, apt and man's index keep
// of their own.
func (c clean) files(t *testing.T) map[string]bool {
	t.Helper()
	out := make(map[string]bool)
	for name := range strings.Lines(c.run(t, "find / -xdev -not -path '/proc*' -not -path '/sys*' -not -path '/dev*'")) {
		name = strings.TrimSpace(name)
		own := false
		for _, dir := range []string{"/var/lib/dpkg/", "/var/lib/apt/", "/var/cache/", "/var/log/", "/tmp/"} {
			own = own || strings.HasPrefix(name, dir)
		}
		if !own {
			out[name] = true
		}
	}
	if len(out) < 1000 {
		t.Fatal(fmt.Sprint(len(out), " files only"))
	}
	return out
}

func must(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", c.Args, err, out)
	}
}

func last(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
