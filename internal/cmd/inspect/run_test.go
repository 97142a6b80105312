package inspect

import (
	"strings"
	"testing"
)

// fits demands lines of at most 80 columns.
func fits(t *testing.T, text string) {
	t.Helper()
	for l := range strings.Lines(text) {
		if n := len([]rune(strings.TrimSuffix(l, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, l)
		}
	}
}
