package console

import (
	"strings"
	"testing"
)

// Whatever a file is called, journals take the title.
func TestRunTitle(t *testing.T) {
	for file, want := range map[string]string{
		"two.yaml":                           "tune two.yaml",
		"a\nb.yaml":                          "tune a?b.yaml",
		strings.Repeat("é", 300) + "/f.yaml": "tune ..." + strings.Repeat("é", 35) + "/f.yaml",
	} {
		if got := RunTitle("tune", file); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
