package root

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
)

// TestLiveUsage refuses what makes no sense before a host is asked.
func TestLiveUsage(t *testing.T) {
	for _, args := range [][]string{
		{"--live", "--duration", "10ms"}, {"--live", "--flows", "0"}, {"--live", "local:", "local:"}, {"--live", "bareword"},
		{"record.json", "--duration", "2s"}, {"record.json", "--flows", "2"}, {}, {"--live", "--duration", "5"},
		{"--live", "--probe"}, {"--live", "--yes"}, {"--live", "-o", "x.json"}, {"--live", "--wait"}, {"--live", "explainlive_test.go"},
	} {
		var out, said strings.Builder
		con := &console.Console{Stdout: &out, Stderr: &said, Stdin: strings.NewReader(""), Getenv: func(string) string { return "" }}
		if status := Run(con, append([]string{"explain"}, args...)); status != 2 || out.Len() > 0 {
			t.Errorf("%v: exit %d, %q, %q", args, status, out.String(), said.String())
		}
	}
}
