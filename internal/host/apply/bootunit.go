package apply

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/statefile"
)

// BootUnit is the unit that, while a change is pending, ends it at the next
// boot before the network is configured: it finishes files that a crash left
// between old and new. It is enabled as `systemctl enable` would do it.
const (
	BootUnit = "/etc/systemd/system/linerate-recover.service"
	bootWant = "/etc/systemd/system/sysinit.target.wants/linerate-recover.service"
)

// bootProgram is the copy of a program that is where a reboot clears it away.
const bootProgram = "/var/lib/linerate/bin/linerate"

// fleeting are directories that a reboot clears, or may clear.
var fleeting = []string{"/tmp/", "/var/tmp/", "/run/", "/dev/", "/var/run/", "/proc/"}

// bootLock is a lock of its own: namespaces have theirs, and share the unit.
const bootLock = "lock-boot"

// armBoot installs the boot unit before a change begins. Where no systemd runs
// there is nothing to install, and in a namespace nothing to recover: it ends
// with the boot. A unit that cannot be installed is no reason to refuse, as a
// change writes nothing that outlives a boot until it is confirmed: it is
// logged.
func (a *Applier) armBoot(e *Entry) {
	if !a.ownBoot() {
		return
	}
	unlock, err := a.lockBoot()
	if err == nil {
		err = installBoot(a.cfg.Dir)
		unlock()
	}
	if err != nil {
		a.cfg.Log.Warn("boot unit not installed: should the machine crash while the change is confirmed, the next command finishes its files",
			"journal", e.ID, "err", err)
	}
}

// ownBoot reports whether the boot unit is this applier's to see to.
func (a *Applier) ownBoot() bool {
	if a.cfg.StartGuard == nil || a.cfg.Namespace != "" || a.cfg.Root != "" || netns.Inside() || isFleeting(a.cfg.Dir) {
		return false
	}
	info, err := os.Stat(systemdDir)
	return err == nil && info.IsDir()
}

func isFleeting(path string) bool {
	abs, err := filepath.Abs(path)
	if err != nil {
		return true
	}
	return slices.ContainsFunc(fleeting, func(dir string) bool { return strings.HasPrefix(abs+"/", dir) })
}

// disarmBoot removes the boot unit when nothing is pending any more.
func (a *Applier) disarmBoot() {
	if a.cfg.Namespace != "" || a.cfg.Root != "" || isFleeting(a.cfg.Dir) {
		return
	}
	if _, err := os.Lstat(BootUnit); err != nil {
		return
	}
	unlock, err := a.lockBoot()
	if err != nil {
		return
	}
	defer unlock()
	entries, problems, err := a.journal.List()
	if err != nil || len(problems) > 0 {
		return
	}
	for _, e := range entries {
		if e.State.Pending() && e.Namespace == "" {
			return
		}
	}
	for _, path := range []string{bootWant, BootUnit, bootProgram} {
		_ = os.Remove(path)
	}
	_ = syncDir(filepath.Dir(BootUnit))
}

func (a *Applier) lockBoot() (unlock func(), err error) {
	f, err := statefile.Open(filepath.Join(a.cfg.Dir, bootLock), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for range 100 {
		held, err := tryLock(f)
		if held {
			return func() { f.Close() }, nil
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		time.Sleep(lockPause)
	}
	f.Close()
	return nil, ErrLocked
}

// installBoot writes the unit and the link that enables it, both on the disk.
func installBoot(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	program, err := lastingProgram()
	if err != nil {
		return err
	}
	if strings.ContainsAny(program+dir, " \t\n\"'\\%$;") {
		return errors.New("a systemd unit cannot name a path with blanks or quotes")
	}
	want := bootText(program, dir)
	if now, err := statefile.Read(BootUnit, maxText); err != nil || string(now) != want {
		if err := putFile(BootUnit, []byte(want), 0o644); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(bootWant), 0o755); err != nil {
		return err
	}
	if err := os.Symlink(BootUnit, bootWant); err != nil && !os.IsExist(err) {
		return err
	}
	return syncDir(filepath.Dir(bootWant))
}

// bootText is the unit. It comes before everything that configures the
// network; netplan's own files were made from its old ones before any unit ran
// (systemd.generator(7)), so they are made again.
func bootText(program, dir string) string {
	return fmt.Sprintf(`# Made by linerate while a change of the network is pending; it goes with it.
[Unit]
Description=linerate: finish or close network changes that a reboot interrupted
DefaultDependencies=no
RequiresMountsFor=%[2]s %[1]s
After=systemd-remount-fs.service
Wants=network-pre.target
Before=network-pre.target systemd-sysctl.service systemd-networkd.service NetworkManager.service networking.service network.service wicked.service shutdown.target
Conflicts=shutdown.target
ConditionFileIsExecutable=%[1]s

[Service]
Type=oneshot
ExecStart=%[1]s recover --boot --dir %[2]s
ExecStartPost=-/usr/sbin/netplan generate
TimeoutStartSec=60

[Install]
WantedBy=sysinit.target
`, program, dir)
}

// errOtherFile: the program's file has been replaced or removed since it was
// started.
var errOtherFile = errors.New("find own program: its file is another one now")

// ownFile is the file of the running program, or errOtherFile.
func ownFile() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find own program: %w", err)
	}
	running, err := os.Stat("/proc/self/exe")
	if err != nil {
		return "", fmt.Errorf("find own program: %w", err)
	}
	if named, err := os.Stat(self); err != nil || !os.SameFile(named, running) {
		return "", errOtherFile
	}
	return self, nil
}

// lastingProgram is this program where the next boot finds it: its own file, or
// a copy when that is on its way out, or another one by now.
func lastingProgram() (string, error) {
	self, err := ownFile()
	switch {
	case err == nil && !isFleeting(self) && !isTransient(self):
		return self, nil
	case err != nil && !errors.Is(err, errOtherFile):
		return "", err
	}
	if err := copyProgram(); err != nil {
		return "", fmt.Errorf("copy own program: %w", err)
	}
	return bootProgram, nil
}

// copyProgram copies the running program, unless an equal one is there.
func copyProgram() error {
	b, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return err
	}
	if there, err := statefile.Read(bootProgram, int64(len(b))); err == nil && bytes.Equal(there, b) {
		return nil
	}
	return putFile(bootProgram, b, 0o755)
}

// putFile writes a file whole, and on the disk, with its directory.
func putFile(path string, b []byte, mode os.FileMode) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := statefile.Replace(path, b, mode); err != nil {
		return err
	}
	return syncDir(dir)
}
