package act

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// The tests of bonds need a kernel with the bonding driver. Where the running
// one has none they run in user-mode Linux, with this test binary as its init:
// its root is the host's file system, read-only.

// umlModules is where Debian's user-mode-linux keeps its modules.
const umlModules = "/usr/lib/uml/modules"

// passed is what the guest prints last when every test in it passed: a
// kernel's exit status does not say.
const passed = "guest: all tests passed"

func TestMain(m *testing.M) {
	if os.Getpid() != 1 {
		os.Exit(m.Run())
	}
	if err := bootGuest(); err != nil {
		fmt.Println("guest:", err)
	} else if m.Run() == 0 {
		fmt.Println(passed)
	}
	_ = syscall.Reboot(syscall.LINUX_REBOOT_CMD_POWER_OFF)
}

// inGuest runs the calling test in user-mode Linux and reports true when this
// is the host's side of it, so that the test returns.
func inGuest(t *testing.T) bool {
	t.Helper()
	if os.Getpid() == 1 || os.Getuid() == 0 && hasBonding() {
		return false
	}
	kernel, err := exec.LookPath("linux.uml")
	if err != nil {
		t.Skip("this kernel has no bonding driver, or we are not root, and user-mode-linux is not installed")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command(kernel, "mem=256M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", "quiet",
		"uml_dir="+dir, "umid=act", "init="+self, "con=null", "con0=fd:0,fd:1", "--", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "HOME="+dir, "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(90*time.Second, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer timer.Stop()
	waitErr := cmd.Wait()
	if !strings.Contains(out.String(), passed) {
		t.Errorf("tests in the guest did not pass (kernel ended with %v):\n%s", waitErr, out.String())
	}
	return true
}

// hasBonding reports a driver that is loaded or built in.
func hasBonding() bool {
	_, err := os.Stat("/sys/module/bonding")
	return err == nil
}

func bootGuest() error {
	for _, m := range [][2]string{{"proc", "/proc"}, {"sysfs", "/sys"}, {"tmpfs", "/run"}, {"tmpfs", "/tmp"}} {
		if err := syscall.Mount(m[0], m[1], m[0], 0, ""); err != nil {
			return fmt.Errorf("mount %s: %w", m[1], err)
		}
	}
	for _, name := range []string{"veth", "bonding", "8021q"} {
		if err := loadModule(name); err != nil {
			return err
		}
	}
	return nil
}

// loadModule loads a module and what modules.dep says it needs, last first.
func loadModule(name string) error {
	var uts syscall.Utsname
	if err := syscall.Uname(&uts); err != nil {
		return err
	}
	var release []byte
	for _, c := range uts.Release {
		if c != 0 {
			release = append(release, byte(c))
		}
	}
	dir := filepath.Join(umlModules, string(release))
	f, err := os.Open(filepath.Join(dir, "modules.dep"))
	if err != nil {
		return err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		file, needs, _ := strings.Cut(lines.Text(), ":")
		if filepath.Base(file) != name+".ko" {
			continue
		}
		files := append([]string{file}, strings.Fields(needs)...)
		for i := len(files) - 1; i >= 0; i-- {
			if err := initModule(filepath.Join(dir, files[i])); err != nil {
				return fmt.Errorf("load %s: %w", files[i], err)
			}
		}
		return nil
	}
	return fmt.Errorf("no module %s in %s", name, dir)
}

func initModule(file string) error {
	image, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var noParameters byte
	_, _, errno := syscall.Syscall(syscall.SYS_INIT_MODULE, uintptr(unsafe.Pointer(&image[0])), uintptr(len(image)), uintptr(unsafe.Pointer(&noParameters)))
	if errno != 0 && errno != syscall.EEXIST {
		return errno
	}
	return nil
}
