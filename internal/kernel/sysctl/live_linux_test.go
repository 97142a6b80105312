package sysctl

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/netstate"
)

// inNewNamespace runs fn on a thread of its own in an empty namespace.
func inNewNamespace(t *testing.T, fn func()) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		err := sys.NewNetNS()
		if err == nil {
			fn()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestKernelWrite(t *testing.T) {
	inNewNamespace(t, func() {
		const key, value = "net.ipv4.tcp_rmem", "4096 65536 1048576"
		if err := Write(key, value, true); err != nil {
			t.Error(err)
		}
		got, err := Read(key, "net.ipv4.no_such_key")
		if err != nil || len(got) != 1 || got[key] != (netstate.Sysctl{Value: value, Scope: netstate.ScopeNamespace}) {
			t.Errorf("read back %v, %v", got, err)
		}
		if err := Write("net.ipv4.no_such_key", "1", true); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("missing key: %v, want fs.ErrNotExist", err)
		}
		if err := Write("net.ipv4.tcp_available_congestion_control", "cubic", true); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("read-only key: %v, want fs.ErrPermission", err)
		}
	})
	outside, err := Read("net.ipv4.tcp_rmem")
	if err != nil || outside["net.ipv4.tcp_rmem"].Value == "4096 65536 1048576" {
		t.Errorf("the write reached the process's own namespace: %v, %v", outside, err)
	}
}

// TestKernelScopes compares the table with the kernel: a key that a new
// namespace lacks is global, one it can write there is the namespace's.
func TestKernelScopes(t *testing.T) {
	known := []string{"net/core", "net/ipv4", "net/ipv6", "net/mptcp", "net/unix", "net/netfilter"}
	list := func() map[string]bool {
		writable := make(map[string]bool)
		for _, dir := range known {
			files, _ := filepath.Glob("/proc/sys/" + dir + "/*")
			for _, f := range files {
				if info, err := os.Stat(f); err == nil && info.Mode().IsRegular() {
					key, err := Canonical(strings.TrimPrefix(f, "/proc/sys/"))
					if err != nil {
						t.Errorf("%s is no key: %v", f, err)
						continue
					}
					writable[key] = info.Mode()&0o200 != 0
				}
			}
		}
		return writable
	}
	outside := list()
	var inside map[string]bool
	inNewNamespace(t, func() { inside = list() })
	compared := 0
	for key, writableOutside := range outside {
		writableInside, there := inside[key]
		scope := ScopeOf(key)
		compared++
		switch {
		case !there && scope != netstate.ScopeGlobal:
			t.Errorf("%s is absent from a namespace and in the table as its own", key)
		case writableInside && scope != netstate.ScopeNamespace && strings.HasPrefix(key, "net.ipv4."):
			t.Errorf("%s is writable in a namespace and in the table as global", key)
		case there && writableOutside && !writableInside && scope != netstate.ScopeGlobal:
			t.Errorf("%s is read-only in a namespace and in the table as its own", key)
		}
	}
	if compared < 100 {
		t.Errorf("compared %d keys only", compared)
	}
}

// TestKernelReadsWhole: one read of a sysctl is all of it, of every one that this
// kernel has for its network.
func TestKernelReadsWhole(t *testing.T) {
	var keys []string
	want := make(map[string]string)
	err := filepath.WalkDir("/proc/sys/net", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil // some may only be written
		}
		key, err := Canonical(strings.TrimPrefix(file, "/proc/sys/"))
		if err != nil {
			return nil
		}
		keys, want[key] = append(keys, key), Fold(string(text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(keys...)
	if err != nil || len(want) < 100 {
		t.Fatalf("%d keys, %v", len(want), err)
	}
	for key, value := range want {
		if got[key].Value != value && !strings.Contains(key, "_count") { // counts go on
			t.Errorf("%s is %.60q, read as %.60q", key, value, got[key].Value)
		}
	}
}
