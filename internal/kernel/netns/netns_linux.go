package netns

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"

	"github.com/linerate/linerate/internal/kernel/sys"
)

// runDir is where iproute2 keeps named namespaces.
const runDir = "/run/netns"

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func (n Namespace) path() string {
	if n.file != "" {
		return n.file
	}
	return filepath.Join(runDir, n.Name)
}

// Do runs fn inside the namespace, on a locked thread of its own, and returns
// its error. For the process's own namespace fn runs on the calling
// goroutine. Goroutines that fn starts are not inside. A namespace that does
// not exist is fs.ErrNotExist; without CAP_SYS_ADMIN it is fs.ErrPermission.
func (n Namespace) Do(fn func() error) error {
	if n.own() {
		return fn()
	}
	return n.onThread(fn, false)
}

// DoWithSysfs is Do with a private /sys that shows this namespace's links.
func (n Namespace) DoWithSysfs(fn func() error) error {
	if n.own() {
		return fn()
	}
	return n.onThread(fn, true)
}

// Enter moves the calling thread into the namespace for good: the goroutine
// must have locked its thread and must end without unlocking it.
func (n Namespace) Enter() error {
	if n.own() {
		return nil
	}
	if n.file == "" && !validName.MatchString(n.Name) {
		return fmt.Errorf("enter namespace %q: %w", n.Name, fs.ErrInvalid)
	}
	f, err := os.Open(n.path())
	if err != nil {
		return fmt.Errorf("open namespace: %w", err)
	}
	defer f.Close()
	return sys.EnterNetNS(f)
}

func (n Namespace) onThread(fn func() error, sysfs bool) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the runtime ends the thread
		if err := n.Enter(); err != nil {
			result <- err
			return
		}
		if sysfs {
			if err := sys.PrivateSysfs(); err != nil {
				result <- err
				return
			}
		}
		result <- fn()
	}()
	return <-result
}

// Create makes a named namespace, as `ip netns add` does. One that exists is
// fs.ErrExist. Needs CAP_SYS_ADMIN.
func Create(name string) (Namespace, error) {
	n := Named(name)
	if !validName.MatchString(name) {
		return n, fmt.Errorf("create namespace %q: %w", name, fs.ErrInvalid)
	}
	if err := prepare(runDir); err != nil {
		return n, err
	}
	f, err := os.OpenFile(n.path(), os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return n, fmt.Errorf("create namespace: %w", err)
	}
	f.Close()
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if err := sys.NewNetNS(); err != nil {
			result <- err
			return
		}
		result <- sys.BindMount(fmt.Sprintf("/proc/self/task/%d/ns/net", sys.Gettid()), n.path())
	}()
	if err := <-result; err != nil {
		return n, errors.Join(err, os.Remove(n.path()))
	}
	return n, nil
}

// prepare makes the directory of namespaces what `ip netns add` makes of it
// (iproute2 6.1, ip/ipnetns.c, netns_add), under the same lock. Else the first
// `ip netns add` would bind the directory over itself later, and a namespace
// that was made before could be deleted no more: its own mount would lie
// below, out of reach.
func prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("create %s: %w", dir, err)
	}
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("open %s: %w", dir, err)
	}
	defer f.Close()
	if err := sys.Lock(f); err != nil {
		return err
	}
	return sys.ShareMounts(dir)
}

// Delete removes a named namespace; links in it go with it once nothing uses
// it. One that does not exist is no error.
func Delete(name string) error {
	n := Named(name)
	if !validName.MatchString(name) {
		return fmt.Errorf("delete namespace %q: %w", name, fs.ErrInvalid)
	}
	if _, err := os.Lstat(n.path()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	// A file that is no mount point is a creation cut short: removing it is
	// all there is to do.
	unmountErr := sys.Unmount(n.path())
	if err := os.Remove(n.path()); err != nil {
		return fmt.Errorf("delete namespace %s: %w", name, errors.Join(unmountErr, err))
	}
	return nil
}

// List names the namespaces under /run/netns; none when there is no such
// directory.
func List() ([]string, error) {
	entries, err := os.ReadDir(runDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list namespaces: %w", err)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

// InFirst reports whether the calling thread is in the network namespace of
// the machine's first process. The error is that of looking there, which needs
// ptrace access to it, as root has.
func InFirst() (bool, error) {
	first, err := os.Readlink("/proc/1/ns/net")
	if err != nil {
		return false, err
	}
	own, err := os.Readlink("/proc/thread-self/ns/net")
	return own == first, err
}

// Inside reports whether the calling thread is in another network namespace
// than the machine's first process. Who may not look there is taken to be
// outside, where the process started.
func Inside() bool {
	first, err := InFirst()
	return err == nil && !first
}

// Processes are those that are in a named namespace with all, or their first,
// of their threads, as far as the caller may look. A namespace that does not
// exist has none.
func Processes(name string) ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var inside []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if holds, err := Holds(name, pid); err == nil && holds {
			inside = append(inside, pid)
		}
	}
	return inside, nil
}

// Holds reports whether a process is in a named namespace.
func Holds(name string, pid int) (bool, error) {
	if !validName.MatchString(name) {
		return false, fmt.Errorf("look into namespace %q: %w", name, fs.ErrInvalid)
	}
	space, err := os.Stat(Named(name).path())
	if err != nil {
		return false, err
	}
	theirs, err := os.Stat(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return false, err
	}
	return os.SameFile(space, theirs), nil
}
