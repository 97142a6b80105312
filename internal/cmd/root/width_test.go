package root

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/linerate/linerate/internal/cmd/console"
)

// command is a line that is one command in backticks.
var command = regexp.MustCompile("^ *`[^`]+`[^ ]*$")

// What people read fits a terminal of 80 columns, and one of 60: a line is wider only
// where it is a command to paste, or one word; a command is never broken.
func TestWidths(t *testing.T) {
	t.Chdir("../../..")
	sample, other := filepath.Join("report", "testdata", "sample.json"), filepath.Join("record", "testdata", "v1", "measure.json")
	db := filepath.Join(t.TempDir(), "s.db")
	for _, args := range [][]string{
		{"explain", sample}, {"explain", sample, "--all"}, {"explain", other}, {"report", sample}, {"report", other}, {"compare", other, other},
		{"history", "add", sample, "--store", db}, {"history", "--store", db},
		{"predict", "docs/examples/two-hosts-lacp.yaml"}, {"predict", "docs/examples/ibm-interfaces.yaml"}, {"explain", "diagnose/pasted/testdata/T01-lacp-port-dead.txt"},
		{"steer", "pick", "--policy", "layer3+4", "--links", "2", "--src", "10.0.0.1", "--dst", "10.0.0.2", "--streams", "2"},
		{"lab", "list"}, {"version"}, {"help"}, {"predict", "--help"}, {"serve", "--help"}, {"apply", "--help"},
	} {
		for _, width := range []int{80, 60} {
			var out, errs bytes.Buffer
			con := &console.Console{Version: "test", Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: os.Getenv, Columns: width}
			if status := Run(con, args); status != console.ExitDone {
				t.Errorf("%q: exit %d: %s", args, status, errs.String())
			}
			for line := range strings.Lines(out.String()) {
				line = strings.TrimRight(line, "\n")
				if strings.Count(line, "`")%2 == 1 {
					t.Errorf("%q at %d columns breaks a command: %s", args, width, line)
				}
				if utf8.RuneCountInString(line) > width && !strings.HasPrefix(line, "  linerate ") && !command.MatchString(line) && strings.Contains(strings.TrimSpace(line), " ") {
					t.Errorf("%q at %d columns, %d: %s", args, width, utf8.RuneCountInString(line), line)
				}
			}
		}
	}
}
