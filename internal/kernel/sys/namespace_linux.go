package sys

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Gettid is the calling thread's id.
func Gettid() int { return unix.Gettid() }

// EnterNetNS moves the calling thread into the network namespace that the
// open file names. Needs CAP_SYS_ADMIN. The caller must have locked the
// thread and must never unlock it.
func EnterNetNS(f *os.File) error {
	if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("setns %s: %w", f.Name(), err)
	}
	return nil
}

// NewNetNS moves the calling thread into a new, empty network namespace. Same
// conditions as EnterNetNS.
func NewNetNS() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("unshare network namespace: %w", err)
	}
	return nil
}

// PrivateSysfs gives the calling thread a mount namespace of its own whose
// /sys shows the thread's network namespace: sysfs shows the namespace of
// whoever mounted it. Needs CAP_SYS_ADMIN; the thread must be locked for good.
func PrivateSysfs() error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("unshare mount namespace: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("detach mounts: %w", err)
	}
	if err := unix.Mount("sysfs", "/sys", "sysfs", 0, ""); err != nil {
		return fmt.Errorf("mount sysfs: %w", err)
	}
	return nil
}

// BindMount shows the file from at to.
func BindMount(from, to string) error {
	if err := unix.Mount(from, to, "none", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind %s to %s: %w", from, to, err)
	}
	return nil
}

// ShareMounts makes what is mounted in a directory the same in all mount
// namespaces that come of this one, as `ip netns` wants its directory: the
// directory becomes a mount point of its own, with what is mounted below it,
// where it is none yet. Needs CAP_SYS_ADMIN.
func ShareMounts(dir string) error {
	err := unix.Mount("", dir, "none", unix.MS_SHARED|unix.MS_REC, "")
	if errors.Is(err, unix.EINVAL) { // no mount point
		if err := unix.Mount(dir, dir, "none", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("bind %s: %w", dir, err)
		}
		err = unix.Mount("", dir, "none", unix.MS_SHARED|unix.MS_REC, "")
	}
	if err != nil {
		return fmt.Errorf("share %s: %w", dir, err)
	}
	return nil
}

// Mount is mount(2) without flags.
func Mount(source, target, fstype, data string) error {
	if err := unix.Mount(source, target, fstype, 0, data); err != nil {
		return fmt.Errorf("mount %s on %s: %w", fstype, target, err)
	}
	return nil
}

// Unmount detaches a mount point even while it is in use.
func Unmount(target string) error {
	if err := unix.Unmount(target, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount %s: %w", target, err)
	}
	return nil
}
