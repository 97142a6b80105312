package nfs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// moduleDirs is where the lab kernel's modules are (Debian's user-mode-linux).
const moduleDirs = "/usr/lib/uml/modules"

// loadModules loads modules and what modules.dep says they need.
func loadModules(t *testing.T, names ...string) {
	t.Helper()
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	floor.Must(t, err)
	dir := filepath.Join(moduleDirs, strings.TrimSpace(string(release)))
	text, err := os.ReadFile(filepath.Join(dir, "modules.dep"))
	floor.Must(t, err)
	for _, name := range names {
		found := false
		for line := range strings.Lines(string(text)) {
			file, needs, _ := strings.Cut(line, ":")
			if filepath.Base(file) != name+".ko" {
				continue
			}
			found = true
			all := strings.Fields(needs)
			for i := len(all) - 1; i >= 0; i-- {
				floor.Must(t, sys.LoadModule(filepath.Join(dir, all[i])))
			}
			floor.Must(t, sys.LoadModule(filepath.Join(dir, file)))
		}
		if !found {
			t.Fatalf("the lab kernel has no module %s", name)
		}
	}
}

// command runs a program inside a namespace and fails the test with what it
// said.
func command(t *testing.T, in floor.Space, name string, args ...string) {
	t.Helper()
	floor.Must(t, in.NS.Do(func() error {
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, out)
		}
		return nil
	}))
}

// serve exports a directory in memory by NFS 4 from a namespace, as the root
// of what clients see, with a directory for each lane.
func serve(t *testing.T, host floor.Space, subnet string, lanes int) {
	t.Helper()
	for _, program := range []string{"exportfs", "rpc.mountd", "rpc.nfsd", "mount.nfs"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%v: install nfs-kernel-server and nfs-common", err)
		}
	}
	dir := t.TempDir()
	floor.Must(t, sys.Mount("tmpfs", dir, "tmpfs", "size=256m"))
	t.Cleanup(func() { unmount(t, host, dir) })
	for i := range lanes {
		floor.Must(t, os.Mkdir(filepath.Join(dir, fmt.Sprintf("lane%d", i)), 0o777))
	}
	floor.Must(t, sys.Mount("tmpfs", "/var/lib/nfs", "tmpfs", ""))
	for _, name := range []string{"etab", "rmtab"} {
		floor.Must(t, os.WriteFile("/var/lib/nfs/"+name, nil, 0o600))
	}
	for _, name := range []string{"sm", "v4recovery"} {
		floor.Must(t, os.Mkdir("/var/lib/nfs/"+name, 0o700))
	}
	floor.Must(t, host.NS.Do(func() error { return sys.Mount("nfsd", "/proc/fs/nfsd", "nfsd", "") }))
	command(t, host, "exportfs", "-o", "rw,no_root_squash,fsid=0,insecure,no_subtree_check", subnet+":"+dir)
	command(t, host, "rpc.mountd", "-N", "2", "-N", "3")
	// The shortest time to wait for clients that had locks before.
	for _, name := range []string{"nfsv4leasetime", "nfsv4gracetime"} {
		floor.Must(t, host.NS.Do(func() error { return os.WriteFile("/proc/fs/nfsd/"+name, []byte("10"), 0o600) }))
	}
	command(t, host, "rpc.nfsd", "-N", "3", "-V", "4", "8")
	t.Cleanup(func() {
		command(t, host, "rpc.nfsd", "0")
		command(t, host, "exportfs", "-ua")
		unmount(t, host, "/proc/fs/nfsd")
		unmount(t, host, "/var/lib/nfs")
	})
}

func unmount(t *testing.T, in floor.Space, dir string) {
	t.Helper()
	floor.Must(t, in.NS.Do(func() error {
		out, err := exec.Command("umount", "-l", dir).CombinedOutput()
		if err != nil {
			return fmt.Errorf("umount %s: %w: %s", dir, err, out)
		}
		return nil
	}))
}
