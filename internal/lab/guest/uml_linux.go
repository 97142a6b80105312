package guest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/linerate/linerate/internal/kernel/sys"
)

// kernelProgram is Debian's User-Mode Linux: a kernel that runs as an
// ordinary process and needs no privilege.
const kernelProgram = "linux.uml"

// Installed reports whether User-Mode Linux can be started here; otherwise
// the error wraps ErrNoKernel.
func Installed() error {
	if _, err := exec.LookPath(kernelProgram); err != nil {
		return fmt.Errorf("%w: %s is not on the path", ErrNoKernel, kernelProgram)
	}
	return nil
}

// bootUML starts User-Mode Linux with the host's file system as its own,
// read-only.
func bootUML(c Command) (_ *machine, err error) {
	if err := Installed(); err != nil {
		return nil, err
	}
	dir, cleanUp := c.Orders, func() {}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "linerate-lab-"); err != nil {
			return nil, fmt.Errorf("make lab directory: %w", err)
		}
		cleanUp = func() { _ = os.RemoveAll(dir) }
	}
	defer func() {
		if err != nil {
			cleanUp()
		}
	}()
	if err := writeOrders(dir, c); err != nil {
		return nil, err
	}
	var disk []string
	if c.Disk != "" {
		disk = []string{"ubd0=" + c.Disk}
	}
	m, theirs, err := newMachine(c, kernelProgram, append(disk,
		fmt.Sprintf("mem=%dM", c.memory()), "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", "quiet",
		"init="+filepath.Join(dir, "init"), "con=null", "con0=null,fd:1", "ssl0=fd:3,fd:3", "ssl=null",
		"uml_dir="+dir, "umid=guest", envConfig+"="+dir)...)
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	m.core = claimCore()
	m.cleanUp = func() {
		m.core.leave()
		cleanUp()
	}
	m.bootTime = 60 * time.Second // 2 s usually, more on a busy machine
	m.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + roomyDir(uint64(c.memory())<<20)}
	// No signal for our own death: a killed kernel leaves its helper processes
	// behind, while the guest, when the line goes dead, ends all in order.
	if err := m.start(); err != nil {
		m.core.leave()
		return nil, err
	}
	return m, nil
}

func writeOrders(dir string, c Command) error {
	orders := c.orders()
	orders.Line, orders.ModuleDirs = "/dev/ttyS0", "/usr/lib/uml/modules"
	text, err := json.Marshal(orders)
	if err != nil {
		return fmt.Errorf("encode lab orders: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), text, 0o644); err != nil {
		return fmt.Errorf("write lab orders: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own program: %w", err)
	}
	// A link, because the kernel's command line cannot say a path with blanks.
	if err := os.Symlink(self, filepath.Join(dir, "init")); err != nil {
		return fmt.Errorf("link own program: %w", err)
	}
	return nil
}

// roomyDir is where the kernel's memory file goes: memory-backed where there
// is room (a container's /dev/shm often has 64 MB, and the kernel would die
// of it).
func roomyDir(need uint64) string {
	for _, dir := range []string{"/dev/shm", os.TempDir(), "/var/tmp"} {
		if free, err := sys.FreeBytes(dir); err == nil && free > need+need/8 {
			return dir
		}
	}
	return os.TempDir()
}
