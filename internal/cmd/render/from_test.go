package render

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/formats"
)

// A copy of netplan's files is read wherever it is: one file, its directory, and the root
// that both are below.
func TestFromAnyDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"rr/etc/netplan", "copies"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "01.yaml"), []byte("network:\n  version: 2\n  ethernets:\n    eth7: {mtu: 9000}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, from := range []string{"rr/etc/netplan/01.yaml", "rr/etc/netplan", "rr", "copies/01.yaml", "copies"} {
		files, err := configFiles(t.Context(), nil, []string{from}, "")
		if err != nil {
			t.Fatal(err)
		}
		format := formats.Guess(files)
		found, err := formats.Read(format, files)
		if err != nil || format != render.FormatNetplan || !strings.Contains(string(found.FabricFile("host")), "eth7") {
			t.Errorf("%s: of the format %q: %v\n%s", from, format, err, found.FabricFile("host"))
		}
	}
}
