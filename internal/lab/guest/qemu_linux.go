package guest

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// emulator runs a distribution's kernel. It emulates the processor as well:
// where there is a /dev/kvm, it need not be able to boot a stock kernel.
const emulator = "qemu-system-x86_64"

// processor is all that the emulator knows but two things. CMPXCHG16B under
// qemu 7.2 can leave rubbish in EFLAGS, of which Linux 6.12 dies in its slab
// allocator; without it the kernel does what it needs by other means. And five
// levels of page tables cost time.
const processor = "max,-cx16,-la57"

// Emulator reports whether a distribution kernel can be emulated here, given
// one; otherwise the error wraps ErrNoEmulator.
func Emulator() error {
	if runtime.GOARCH != "amd64" {
		return fmt.Errorf("%w: this program is for %s, and the emulated machine is amd64", ErrNoEmulator, runtime.GOARCH)
	}
	if _, err := exec.LookPath(emulator); err != nil {
		return fmt.Errorf("%w: %s is not on the path", ErrNoEmulator, emulator)
	}
	return nil
}

// bootEmulated starts a distribution kernel with a file system in memory.
func bootEmulated(c Command) (*machine, error) {
	if err := Emulator(); err != nil {
		return nil, err
	}
	kernel, err := OpenKernel(c.Kernel)
	if err != nil {
		return nil, err
	}
	disk, err := namelessFile()
	if err != nil {
		return nil, err
	}
	defer disk.Close()
	if err := writeRAMDisk(disk, c, kernel); err != nil {
		return nil, err
	}
	m, theirs, err := newMachine(c, emulator,
		"-M", "q35", "-accel", "tcg,thread=multi", "-cpu", processor, "-smp", "2", "-m", fmt.Sprintf("%dM", c.memory()),
		"-nodefaults", "-no-user-config", "-nic", "none", "-display", "none", "-no-reboot",
		"-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console",
		"-chardev", "socket,id=line,fd=3", "-serial", "chardev:line",
		"-kernel", kernel.Image, "-initrd", "/proc/self/fd/4",
		"-append", "console=ttyS0 quiet panic=-1 mitigations=off random.trust_cpu=on "+envConfig+"=/")
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	m.cmd.ExtraFiles = append(m.cmd.ExtraFiles, disk)
	// The emulator has no helpers and nothing to clean up, so it can go with us.
	m.cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	m.bootTime = 180 * time.Second // 5 s usually; it shares the processors with what it emulates for
	return m, m.start()
}

// namelessFile is a file that goes with its last holder.
func namelessFile() (*os.File, error) {
	f, err := os.CreateTemp("", "linerate-lab-")
	if err != nil {
		return nil, fmt.Errorf("make guest file system: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, fmt.Errorf("make guest file system: %w", err)
	}
	return f, nil
}
