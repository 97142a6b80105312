package guest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// unpackedKernel makes the directory of a kernel with three modules, of which
// one needs the other two.
func unpackedKernel(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "boot", "vmlinuz-9.9-x"), "kernel")
	modules := filepath.Join(dir, "lib", "modules", "9.9-x")
	write(t, filepath.Join(modules, "modules.dep"), "net/top-one.ko: net/mid.ko net/low.ko\nnet/mid.ko: net/low.ko\nnet/low.ko:\nnet/packed.ko.xz:\n")
	for _, m := range []string{"top-one", "mid", "low"} {
		write(t, filepath.Join(modules, "net", m+".ko"), m)
	}
	return dir
}

func TestRAMDisk(t *testing.T) {
	kernel, err := OpenKernel(unpackedKernel(t))
	if err != nil {
		t.Fatal(err)
	}
	host := t.TempDir()
	write(t, filepath.Join(host, "data", "a"), "content of a")
	write(t, filepath.Join(host, "work", "secret"), "not asked for")
	for link, target := range map[string]string{"way": "data", "data/again": "a", "data/nowhere": "missing"} {
		if err := os.Symlink(target, filepath.Join(host, link)); err != nil {
			t.Fatal(err)
		}
	}
	disk, err := os.Create(filepath.Join(t.TempDir(), "disk"))
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	c := Command{Args: []string{"x"}, Dir: filepath.Join(host, "work"), Files: []string{filepath.Join(host, "way")}, Modules: []string{"top_one", "builtin"}}
	if err := writeRAMDisk(disk, c, kernel); err != nil {
		t.Fatal(err)
	}
	archive, err := os.ReadFile(disk.Name())
	if err != nil {
		t.Fatal(err)
	}
	entries, err := readCPIO(archive)
	if err != nil {
		t.Fatal(err)
	}
	content := make(map[string]string)
	var modules []string
	for _, e := range entries {
		name := "/" + e.Name
		if _, twice := content[name]; twice {
			t.Errorf("%s is there twice", name)
		}
		if _, ok := content[filepath.Dir(name)]; !ok && filepath.Dir(name) != "/" {
			t.Errorf("%s comes before its directory", name)
		}
		content[name] = e.Content
		if strings.HasSuffix(name, ".ko") {
			modules = append(modules, filepath.Base(name))
		}
	}
	if diff := cmp.Diff([]string{"low.ko", "mid.ko", "top-one.ko"}, modules); diff != "" {
		t.Errorf("modules, in the order to load them:\n%s", diff)
	}
	for name, want := range map[string]string{"way": "data", "data/a": "content of a", "data/again": "a", "work": ""} {
		if got, ok := content[filepath.Join(host, name)]; !ok || got != want {
			t.Errorf("%s holds %q (%v), want %q", name, got, ok, want)
		}
	}
	if _, ok := content[filepath.Join(host, "work", "secret")]; ok {
		t.Error("a file nobody asked for was taken along")
	}
	if len(content["/init"]) < 1<<20 || !strings.Contains(content["/config.json"], `"send_home":true`) {
		t.Errorf("init of %d bytes, orders %s", len(content["/init"]), content["/config.json"])
	}
}

func TestRAMDiskRefuses(t *testing.T) {
	kernel, err := OpenKernel(unpackedKernel(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		c    Command
		want string
	}{
		{"packed module", Command{Modules: []string{"packed"}}, "is packed"},
		{"missing file", Command{Files: []string{"/no/such/file"}}, "no such file"},
		{"relative path", Command{Files: []string{"here"}}, "not absolute"},
		{"small memory", Command{MemoryMiB: 64}, "of memory"},
	} {
		disk, err := namelessFile()
		if err != nil {
			t.Fatal(err)
		}
		if err := writeRAMDisk(disk, test.c, kernel); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
		disk.Close()
	}
}

func TestOpenKernel(t *testing.T) {
	dir := unpackedKernel(t)
	k, err := OpenKernel(dir)
	if want := (Unpacked{"9.9-x", filepath.Join(dir, "boot", "vmlinuz-9.9-x"), filepath.Join(dir, "lib", "modules", "9.9-x")}); k != want || err != nil {
		t.Errorf("OpenKernel = %+v, %v", k, err)
	}
	write(t, filepath.Join(dir, "boot", "vmlinuz-10"), "another")
	if _, err := OpenKernel(dir); !errors.Is(err, ErrNoEmulator) {
		t.Errorf("two kernels: %v", err)
	}
	if _, err := OpenKernel(t.TempDir()); !errors.Is(err, ErrNoEmulator) {
		t.Errorf("no kernel: %v", err)
	}
}
