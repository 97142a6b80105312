package root

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
)

// Code 4.7: asking for the help of a command that there is not is bad usage, as
// asking for the command is.
func TestHelpOfNothing(t *testing.T) {
	for _, args := range [][]string{{"nosuch", "--help"}, {"--help", "nosuch"}, {"nosuch", "-h"}, {"nosuch"}, {"steer", "shwo", "--help"}, {"serve", "nosuch", "--help"}, {"login", "--help"}, {"help", "nosuch"}, {"help", "steer", "shwo"}} {
		o := run(t, "", args...)
		if o.status != console.ExitUsage || o.stdout != "" || !strings.Contains(o.stderr, "unknown command ") || !strings.Contains(o.stderr, "\nhint: ") {
			t.Errorf("%v: status %d, %.200s%s", args, o.status, o.stdout, o.stderr)
		}
	}
	for _, args := range [][]string{{"--help"}, {"measure", "--help"}, {"measure", "a", "--help"}, {"steer", "--help"}, {"steer", "show", "x", "--help"}, {"help"}, {"help", "measure"}, {"help", "serve", "token"}, {"serve", "token", "--help"}} {
		if o := run(t, "", args...); o.status != console.ExitDone || !strings.Contains(o.stdout, "Usage") && !strings.Contains(strings.ToLower(o.stdout), "usage") {
			t.Errorf("%v: status %d, %.200s%s", args, o.status, o.stdout, o.stderr)
		}
	}
}
