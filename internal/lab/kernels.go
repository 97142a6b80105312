package lab

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/lab/guest"
)

// EnvKernels names the directory that holds unpacked kernels, a directory a
// series (6.12); without it, it is .lab-kernels in the working directory or
// the nearest above that has one.
const EnvKernels = "LINERATE_LAB_KERNELS"

const kernelsName = ".lab-kernels"

// Kernels returns the directory that holds unpacked kernels, and the series
// in it that can be booted, oldest first. No such directory is an empty
// answer.
func Kernels() (dir string, series []string) {
	dir = kernelsDir()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return dir, nil
	}
	for _, e := range entries {
		if _, err := guest.OpenKernel(filepath.Join(dir, e.Name())); err == nil {
			series = append(series, e.Name())
		}
	}
	slices.SortFunc(series, compareSeries)
	return dir, series
}

func kernelsDir() string {
	if dir := os.Getenv(EnvKernels); dir != "" {
		return dir
	}
	here, err := os.Getwd()
	if err != nil {
		return kernelsName
	}
	for dir := here; ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, kernelsName)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return path
		}
		if dir == filepath.Dir(dir) {
			return filepath.Join(here, kernelsName)
		}
	}
}

// compareSeries orders 6.1 before 6.12.
func compareSeries(a, b string) int {
	number := func(s string) (n int) {
		n, _ = strconv.Atoi(s)
		return n
	}
	return cmp.Or(slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(x, y string) int { return cmp.Compare(number(x), number(y)) }), cmp.Compare(a, b))
}

// ChooseKernel chooses the back end qemu with a kernel of the series, such as
// 5.10; empty is the newest there is. The error wraps guest.ErrNoEmulator
// when it is not there or cannot be emulated.
func ChooseKernel(series string) (Choice, error) {
	if os.Getenv(guest.EnvGuest) != "" {
		return Choose(QEMU)
	}
	if err := guest.Emulator(); err != nil {
		return Choice{}, fmt.Errorf("use back end qemu: %w", err)
	}
	dir, all := Kernels()
	switch {
	case len(all) == 0:
		return Choice{}, fmt.Errorf("use back end qemu: %w: no unpacked kernel in %s", guest.ErrNoEmulator, dir)
	case series == "":
		series = all[len(all)-1]
	case !slices.Contains(all, series):
		return Choice{}, fmt.Errorf("use back end qemu: %w: no kernel %s in %s, which has %s", guest.ErrNoEmulator, series, dir, strings.Join(all, ", "))
	}
	return Choice{BackEnd: QEMU, Why: "asked for", Kernel: filepath.Join(dir, series)}, nil
}

// toolbox is what an emulated kernel's guest can run beside this program:
// those of the usual tools that are installed here.
func toolbox() []string {
	files := []string{}
	for _, tool := range []string{"sh", "ip", "tc", "ss", "bridge", "ethtool", "ping", "iperf3", "iperf", "cat", "ls", "grep", "sleep", "timeout", "uname", "sysctl"} {
		if path, err := exec.LookPath(tool); err == nil && filepath.IsAbs(path) {
			files = append(files, path)
		}
	}
	for _, path := range []string{"/etc/ld.so.cache", "/etc/iproute2", "/usr/share/iproute2", "/etc/passwd", "/etc/group", "/etc/hosts"} {
		if _, err := os.Stat(path); err == nil {
			files = append(files, path)
		}
	}
	return files
}
