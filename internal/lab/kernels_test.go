package lab

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/internal/lab/guest"
)

// unpack makes what looks like unpacked kernels.
func unpack(t *testing.T, dir string, series ...string) {
	t.Helper()
	for _, s := range series {
		for _, path := range []string{"boot/vmlinuz-" + s + ".0", "lib/modules/" + s + ".0/modules.dep"} {
			path = filepath.Join(dir, s, path)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestKernels(t *testing.T) {
	dir := t.TempDir()
	unpack(t, dir, "6.12", "5.10", "6.1", "10.2")
	if err := os.Mkdir(filepath.Join(dir, "half"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv(EnvKernels, dir)
	at, series := Kernels()
	if diff := cmp.Diff([]string{"5.10", "6.1", "6.12", "10.2"}, series); diff != "" || at != dir {
		t.Errorf("kernels in %s:\n%s", at, diff)
	}
}

func TestKernelsAbove(t *testing.T) {
	top := t.TempDir()
	below := filepath.Join(top, "a", "b")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv(EnvKernels, "")
	t.Chdir(below)
	if dir, series := Kernels(); len(series) > 0 || dir != filepath.Join(below, kernelsName) {
		t.Errorf("without kernels: %s has %v", dir, series)
	}
	unpack(t, filepath.Join(top, kernelsName), "6.1")
	if dir, series := Kernels(); len(series) != 1 || dir != filepath.Join(top, kernelsName) {
		t.Errorf("kernels above: %s has %v", dir, series)
	}
}

func TestChooseKernel(t *testing.T) {
	t.Setenv(guest.EnvGuest, "")
	t.Setenv(EnvKernels, t.TempDir())
	if _, err := ChooseKernel(""); !errors.Is(err, guest.ErrNoEmulator) {
		t.Errorf("no kernel: %v", err)
	}
	if err := guest.Emulator(); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	unpack(t, dir, "6.12", "5.10")
	t.Setenv(EnvKernels, dir)
	for series, want := range map[string]string{"": "6.12", "5.10": "5.10"} {
		c, err := ChooseKernel(series)
		if err != nil || c.BackEnd != QEMU || c.Kernel != filepath.Join(dir, want) {
			t.Errorf("ChooseKernel(%q) = %+v, %v", series, c, err)
		}
	}
	if _, err := ChooseKernel("4.4"); !errors.Is(err, guest.ErrNoEmulator) || !strings.Contains(err.Error(), "5.10, 6.12") {
		t.Errorf("kernel that is not there: %v", err)
	}
	t.Setenv(guest.EnvGuest, "6.12.0")
	t.Setenv(envBackEnd, string(QEMU))
	if c, err := ChooseKernel("5.10"); err != nil || c.BackEnd != QEMU || c.Kernel != "" {
		t.Errorf("in the guest: %+v, %v", c, err)
	}
}
