package root

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/internal/docpage"
)

// TestReadmeSamples run README's samples: what the file shows is what the
// program prints.
func TestReadmeSamples(t *testing.T) {
	text, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../../..") // samples name files of the project
	seen := make(map[string]int)
	for _, s := range docpage.Samples(string(text)) {
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
		t.Errorf("README.md shows %v", seen)
	}
}
