package netns

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/kernel/sys"
)

func needRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
}

func TestKernelNamespaceLife(t *testing.T) {
	needRoot(t)
	const name = "linerate-test-netns"
	n, err := Create(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = Delete(name) })
	if _, err := Create(name); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second Create: %v, want fs.ErrExist", err)
	}
	outside, err := os.Readlink("/proc/thread-self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	var inside string
	var links []fs.DirEntry
	err = n.DoWithSysfs(func() (err error) {
		if inside, err = os.Readlink("/proc/thread-self/ns/net"); err != nil {
			return err
		}
		links, err = os.ReadDir("/sys/class/net")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if inside == outside {
		t.Errorf("Do ran in %s, the process's own namespace", inside)
	}
	for _, l := range links {
		if l.Name() != "lo" {
			t.Errorf("sysfs of an empty namespace shows %s", l.Name())
		}
	}
	if names, err := List(); err != nil || !slices.Contains(names, name) {
		t.Errorf("List = %v, %v; want %s in it", names, err, name)
	}
	if err := Delete(name); err != nil {
		t.Fatal(err)
	}
	if err := n.Do(func() error { return nil }); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Do in a deleted namespace: %v, want fs.ErrNotExist", err)
	}
	if err := Named("../x").Enter(); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a name with a path: %v, want fs.ErrInvalid", err)
	}
}

// TestKernelUnnamed: a namespace without a name is another one, is the same at
// each visit, and is no more once it is let go of.
func TestKernelUnnamed(t *testing.T) {
	needRoot(t)
	before, err := List()
	if err != nil {
		t.Fatal(err)
	}
	n, letGo, err := Unnamed()
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for range 2 {
		err := n.Do(func() error {
			at, err := os.Readlink("/proc/thread-self/ns/net")
			seen = append(seen, at)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	outside, err := os.Readlink("/proc/thread-self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	if seen[0] != seen[1] || seen[0] == outside {
		t.Errorf("visits were in %v, the process is in %s", seen, outside)
	}
	after, err := List()
	if err != nil || !slices.Equal(before, after) {
		t.Errorf("named namespaces: %v before, %v now, %v", before, after, err)
	}
	letGo()
	if err := n.Do(func() error { return nil }); err == nil {
		t.Error("it can be entered after it was let go of")
	}
}

// TestKernelBesideIP: where nobody has made a namespace since the system was
// started, `ip netns add` comes between a creation and its end.
func TestKernelBesideIP(t *testing.T) {
	needRoot(t)
	const inside = "LINERATE_TEST_BESIDE_IP"
	if os.Getenv(inside) == "" {
		c := exec.Command("unshare", "--mount", "--propagation", "private", os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
		c.Env = append(os.Environ(), inside+"=1")
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	if err := sys.Mount("none", "/run", "tmpfs", ""); err != nil {
		t.Fatal(err)
	}
	const name, other = "linerate-test-beside", "linerate-test-by-ip"
	n, err := Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("ip", "netns", "add", other).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := n.Do(func() error { return nil }); err != nil {
		t.Error(err)
	}
	for _, each := range []string{name, other} {
		if err := Delete(each); err != nil {
			t.Error(err)
		}
	}
	if left, err := List(); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
