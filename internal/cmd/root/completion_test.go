package root

import (
	"strings"
	"testing"
)

// TestFileCompletion: the shell offers files of the kind that is wanted.
func TestFileCompletion(t *testing.T) {
	for _, c := range []struct {
		line, want string
	}{
		{"predict ", "yaml yml :8"}, {"report ", "json yaml yml :8"}, {"tune ", "yaml yml :8"}, {"apply ", "yaml yml :8"}, {"compare ", "json :8"},
		{"lab up ", "two-links :0"}, {"lab report ", "json :8"}, {"explain ", ":0"}, {"history add ", "json :8"},
		{"predict -o ", "html svg md :8"}, {"report -o ", "html md csv svg :8"}, {"measure -o ", "json :8"}, {"discover -o ", "yaml yml :8"},
		{"predict --calibrate ", "json :8"}, {"report --plots ", ":16"}, {"inspect --capture ", "gz tgz :8"},
	} {
		args := append([]string{"__complete"}, strings.Split(c.line, " ")...)
		o := run(t, "", args...)
		got := strings.Join(strings.Fields(o.stdout), " ")
		for _, word := range strings.Fields(c.want) {
			if !strings.Contains(" "+got+" ", " "+word+" ") {
				t.Errorf("%q completes with %q, want %q", c.line, got, c.want)
			}
		}
	}
}
