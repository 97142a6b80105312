package root

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/internal/docpage"
)

// TestSamples: what the pages show is what the program prints.
func TestSamples(t *testing.T) {
	t.Chdir("../../..") // samples name files of the project
	var text string
	for _, page := range []string{"docs/predicting.md", "docs/steering.md"} {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text += string(b)
	}
	seen := make(map[string]int)
	for _, s := range docpage.Samples(text) {
		args := strings.Fields(strings.TrimPrefix(s.Command, "linerate "))
		seen[args[0]]++
		if args[0] == "steer" {
			args = append(args, "--byte-order", "little")
		}
		o := run(t, "", args...)
		if printed := docpage.Lines(o.stdout); !slices.Equal(s.Output, printed) {
			t.Errorf("%v: %s%s", args, cmp.Diff(s.Output, printed), o.stderr)
		}
	}
	if seen["steer"] == 0 || seen["predict"] == 0 {
		t.Errorf("the pages show %v", seen)
	}
}
