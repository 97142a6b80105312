package guest

import (
	"fmt"
	"os"
	"path/filepath"
)

// Unpacked is a distribution kernel unpacked into a directory, as Debian's
// linux-image packages come: boot/vmlinuz-RELEASE and lib/modules/RELEASE.
type Unpacked struct {
	Release string
	Image   string // the kernel itself
	Modules string // directory with modules.dep
}

// OpenKernel looks at a directory with an unpacked kernel. The error wraps
// ErrNoEmulator when it holds none, or more than one.
func OpenKernel(dir string) (Unpacked, error) {
	images, err := filepath.Glob(filepath.Join(dir, "boot", "vmlinuz-*"))
	if err != nil {
		return Unpacked{}, fmt.Errorf("look for kernel: %w", err)
	}
	if len(images) != 1 {
		return Unpacked{}, fmt.Errorf("%w: %s has %d files boot/vmlinuz-*, want one", ErrNoEmulator, dir, len(images))
	}
	release := filepath.Base(images[0])[len("vmlinuz-"):]
	k := Unpacked{Release: release, Image: images[0], Modules: filepath.Join(dir, "lib", "modules", release)}
	if _, err := os.Stat(filepath.Join(k.Modules, "modules.dep")); err != nil {
		return Unpacked{}, fmt.Errorf("%w: list of modules: %w", ErrNoEmulator, err)
	}
	return k, nil
}
