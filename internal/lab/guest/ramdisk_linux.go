package guest

import (
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// guestModules is where the modules are in an emulated kernel's guest: out of
// the way of the host's /lib, which may be a link.
const guestModules = "/modules"

// ramDisk builds the guest's file system. Paths of the host keep their place,
// and the links on the way to them, since /lib and /bin are links on many.
type ramDisk struct {
	archive *cpioWriter
	seen    map[string]bool
}

// writeRAMDisk writes the file system of an emulated kernel's guest: this
// program as init, its orders, the modules and the files asked for.
func writeRAMDisk(out *os.File, c Command, k Unpacked) error {
	d := &ramDisk{newCPIOWriter(out), make(map[string]bool)}
	for _, step := range []func() error{
		d.skeleton,
		d.program,
		func() error { return d.orders(c) },
		func() error { return d.modules(c.Modules, k) },
		func() error { return d.shared(c.shared()) },
		func() error { return d.files(c.Files) },
		d.archive.close,
	} {
		if err := step(); err != nil {
			return fmt.Errorf("build guest file system: %w", err)
		}
	}
	// It is in memory twice while the kernel unpacks it.
	if need := int(d.archive.size>>20)*2 + 192; need > c.memory() {
		return fmt.Errorf("build guest file system: %d MiB of files need %d MiB of memory, the guest has %d", d.archive.size>>20, need, c.memory())
	}
	return nil
}

// skeleton is what every Linux program expects; the rest is mounted.
func (d *ramDisk) skeleton() error {
	for _, dir := range []string{"/dev", "/proc", "/sys", "/run", "/etc", "/root", "/var"} {
		if err := d.directory(dir, 0o755); err != nil {
			return err
		}
	}
	d.seen["/var/run"] = true
	return errors.Join(
		d.directory("/tmp", 0o777),
		d.archive.symlink("var/run", "/run"),
		d.archive.device("dev/console", 0o600, 5, 1),
		d.archive.device("dev/null", 0o666, 1, 3),
	)
}

func (d *ramDisk) directory(path string, perm fs.FileMode) error {
	if d.seen[path] {
		return nil
	}
	d.seen[path] = true
	return d.archive.directory(path[1:], perm)
}

// program puts this program and the libraries it needs, if any, in place.
func (d *ramDisk) program() error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own program: %w", err)
	}
	if err := d.copyAs("/init", self, 0o755); err != nil {
		return err
	}
	return d.libraries(self)
}

func (d *ramDisk) orders(c Command) error {
	orders := c.orders()
	orders.Line, orders.ModuleDirs, orders.SendHome = "/dev/ttyS1", guestModules, true
	text, err := json.Marshal(orders)
	if err != nil {
		return fmt.Errorf("encode lab orders: %w", err)
	}
	return d.archive.file("config.json", 0o644, int64(len(text)), strings.NewReader(string(text)))
}

// modules puts those named in place, those they need, and the list of what
// needs what.
func (d *ramDisk) modules(names []string, k Unpacked) error {
	files, err := moduleFiles(k.Modules, names)
	if err != nil {
		return err
	}
	for _, f := range append([]string{"modules.dep"}, files...) {
		if !strings.HasSuffix(f, ".ko") && f != "modules.dep" {
			return fmt.Errorf("module %s of kernel %s is packed: unpack it and run depmod", f, k.Release)
		}
		to := filepath.Join(guestModules, k.Release, f)
		if err := d.parents(to); err != nil {
			return err
		}
		if err := d.copyAs(to, filepath.Join(k.Modules, f), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// parents makes the directories above a path of the guest's own.
func (d *ramDisk) parents(path string) error {
	dir := filepath.Dir(path)
	if dir == "/" || d.seen[dir] {
		return nil
	}
	if err := d.parents(dir); err != nil {
		return err
	}
	return d.directory(dir, 0o755)
}

// shared makes the directories that the host gets back.
func (d *ramDisk) shared(dirs []string) error {
	for _, dir := range dirs {
		if _, err := d.way(dir); err != nil {
			return err
		}
	}
	return nil
}

func (d *ramDisk) files(paths []string) error {
	for _, p := range paths {
		if err := d.host(p); err != nil {
			return err
		}
	}
	return nil
}

// host puts a file or directory of the host where it is there.
func (d *ramDisk) host(path string) error {
	real, err := d.way(path)
	if err != nil || d.seen[real+"/..."] {
		return err
	}
	info, err := os.Stat(real)
	if err != nil {
		return err
	}
	switch {
	case info.IsDir():
		d.seen[real+"/..."] = true
		entries, err := os.ReadDir(real)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !exists(filepath.Join(real, e.Name())) {
				continue // a link that leads nowhere
			}
			if err := d.host(filepath.Join(real, e.Name())); err != nil {
				return err
			}
		}
	case info.Mode().IsRegular() && !d.seen[real]:
		if err := d.copyAs(real, real, info.Mode()); err != nil {
			return err
		}
		if info.Mode()&0o111 != 0 {
			return d.libraries(real)
		}
	}
	return nil
}

// way makes every directory and link on the way to a path of the host, the
// path included unless it is a file, and returns the path without links.
func (d *ramDisk) way(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("path %s is not absolute", path)
	}
	path = filepath.Clean(path)
	if path == "/" {
		return path, nil
	}
	parent, err := d.way(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	path = filepath.Join(parent, filepath.Base(path))
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return "", err
	case info.IsDir():
		return path, d.directory(path, info.Mode())
	case info.Mode()&fs.ModeSymlink == 0:
		return path, nil
	}
	target, err := os.Readlink(path)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err != nil { // leads nowhere, or in circles
		return "", err
	}
	if !d.seen[path] {
		d.seen[path] = true
		if err := d.archive.symlink(path[1:], target); err != nil {
			return "", err
		}
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(parent, target)
	}
	return d.way(target)
}

func (d *ramDisk) copyAs(to, from string, perm fs.FileMode) error {
	d.seen[to] = true
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return d.archive.file(to[1:], perm, info.Size(), f)
}

// libraries puts the shared libraries that a program needs in place, as the
// system's own loader finds them.
func (d *ramDisk) libraries(program string) error {
	if !dynamic(program) {
		return nil
	}
	out, err := exec.Command("ldd", program).Output()
	if err != nil {
		return fmt.Errorf("find libraries of %s: %w", program, err)
	}
	for line := range strings.Lines(string(out)) {
		for _, word := range strings.Fields(line) {
			if !filepath.IsAbs(word) {
				continue
			}
			if err := d.host(word); err != nil {
				return err
			}
			// The C library opens this one when a thread is cancelled, unannounced.
			if unwinder := filepath.Join(filepath.Dir(word), "libgcc_s.so.1"); strings.HasPrefix(filepath.Base(word), "libc.so.") && exists(unwinder) {
				if err := d.host(unwinder); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// dynamic reports whether a file is a program that needs a loader.
func dynamic(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false // a script, or data
	}
	defer f.Close()
	return slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
}
