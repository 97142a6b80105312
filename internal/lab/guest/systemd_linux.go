package guest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/linerate/linerate/internal/kernel/sys"
)

// The guest's machinery when systemd is its first process.
const (
	systemdProgram = "/lib/systemd/systemd"
	// envService is set in the service that runs the orders then.
	envService = "LINERATE_GUEST_SERVICE"
	unitDir    = "run/systemd/system"
	labTarget  = "linerate-lab.target"
	labService = "linerate-lab.service"
	diskDevice = "/dev/ubda"
	// diskDir is where the disk is mounted, newRoot what becomes the root.
	diskDir = "/run/disk"
	newRoot = "/run/root"
)

// unwanted are units of the machine's own that cost time and do nothing for a
// guest without hardware, terminals and users.
var unwanted = []string{
	"systemd-udevd.service", "systemd-udev-trigger.service", "systemd-udevd-control.socket", "systemd-udevd-kernel.socket",
	"systemd-hwdb-update.service", "systemd-random-seed.service", "systemd-journal-flush.service", "systemd-journal-catalog-update.service",
	"systemd-update-utmp.service", "systemd-machine-id-commit.service", "systemd-firstboot.service", "systemd-remount-fs.service",
	"systemd-timesyncd.service", "systemd-pstore.service", "keyboard-setup.service", "apparmor.service", "ldconfig.service",
	"systemd-binfmt.service", "proc-sys-fs-binfmt_misc.automount", "dev-hugepages.mount", "dev-mqueue.mount", "sys-kernel-debug.mount",
	"sys-kernel-tracing.mount", "sys-kernel-config.mount", "sys-fs-fuse-connections.mount", "kmod-static-nodes.service",
	"systemd-tmpfiles-setup.service", "systemd-tmpfiles-setup-dev.service", "systemd-sysusers.service",
	"systemd-modules-load.service", "tmp.mount", "systemd-ask-password-console.path", "systemd-ask-password-wall.path",
}

// becomeSystemd puts the disk over the host's file system, so that what is
// written is kept from one boot of the disk to the next, and becomes systemd in
// it. The orders are a service's then. It returns only with an error.
func becomeSystemd(orders config, ordersDir string) error {
	// The kernel mounts /dev itself (CONFIG_DEVTMPFS_MOUNT), or leaves it to us.
	mounts := [][2]string{{"proc", "/proc"}, {"sysfs", "/sys"}, {"tmpfs", "/run"}}
	if _, err := os.Stat(diskDevice); err != nil {
		mounts = append(mounts, [2]string{"devtmpfs", "/dev"})
	}
	for _, m := range mounts {
		if err := sys.Mount(m[0], m[1], m[0], ""); err != nil {
			return err
		}
	}
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return fmt.Errorf("read kernel release: %w", err)
	}
	if err := loadModules(filepath.Join(orders.ModuleDirs, string(bytes.TrimSpace(release))), []string{"overlay"}); err != nil {
		return err
	}
	if err := mountRoot(); err != nil {
		return err
	}
	if err := writeUnits(orders, ordersDir); err != nil {
		return fmt.Errorf("write units: %w", err)
	}
	if err := syscall.Chroot(newRoot); err != nil {
		return fmt.Errorf("change root: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	err = syscall.Exec(systemdProgram, []string{systemdProgram, "--unit=" + labTarget, "--log-level=warning", "--log-target=console", "--show-status=no"}, []string{"TERM=dumb"})
	return fmt.Errorf("run %s: %w", systemdProgram, err)
}

func mountRoot() error {
	for _, dir := range []string{diskDir, newRoot} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := sys.Mount(diskDevice, diskDir, "ext4", ""); err != nil {
		return err
	}
	upper, work := filepath.Join(diskDir, "upper"), filepath.Join(diskDir, "work")
	for _, dir := range []string{upper, work} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := sys.Mount("overlay", newRoot, "overlay", "lowerdir=/,upperdir="+upper+",workdir="+work); err != nil {
		return err
	}
	for _, m := range [][2]string{{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}, {"tmpfs", "/run"}} {
		if err := sys.Mount(m[0], newRoot+m[1], m[0], ""); err != nil {
			return err
		}
	}
	return nil
}

// writeUnits writes the target to boot into and the service that runs the
// orders, where they are gone with the boot, and masks what is unwanted.
func writeUnits(orders config, ordersDir string) error {
	dir := filepath.Join(newRoot, unitDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, u := range unwanted {
		if err := os.Symlink("/dev/null", filepath.Join(dir, u)); err != nil {
			return err
		}
	}
	target := "[Unit]\nRequires=sysinit.target " + labService + "\n"
	if len(orders.Units) > 0 {
		target += "Wants=" + strings.Join(orders.Units, " ") + "\n"
	}
	service := fmt.Sprintf("[Unit]\nDefaultDependencies=no\nAfter=sysinit.target network-pre.target %s\n[Service]\nType=exec\nExecStart=%s\nEnvironment=%s=%s %s=1\nKillMode=process\nStandardOutput=null\nStandardError=tty\nTTYPath=/dev/console\n",
		strings.Join(orders.Units, " "), filepath.Join(ordersDir, "init"), envConfig, ordersDir, envService)
	for name, text := range map[string]string{labTarget: target, labService: service} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
