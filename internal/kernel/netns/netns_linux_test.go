package netns

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"testing"
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
