package formats

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/render"
)

// TestGolden holds the formats whose parser is not to be had here against
// files that were checked by hand against the documented syntax.
func TestGolden(t *testing.T) {
	for _, format := range append(render.Switches(), render.FormatNmstate, render.FormatFreeBSD, render.FormatTrueNAS, render.FormatAIX) {
		out := mustRender(t, format, input(t, "testdata/ovh.yaml", "rbx"))
		var b strings.Builder
		for _, f := range out.Files {
			b.WriteString("==> " + f.Path + "\n" + f.Text)
		}
		for _, w := range out.Warnings {
			b.WriteString("warning: " + w.String() + "\n")
		}
		name := filepath.Join("testdata", "others", string(format)+".txt")
		if *update {
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(string(read(t, name)), b.String()); diff != "" {
			t.Errorf("%s (-golden +rendered):\n%s", format, diff)
		}
	}
}
