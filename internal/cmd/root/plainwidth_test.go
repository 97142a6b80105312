package root

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/cmd/console"
)

// everyCommand are the words of every command, those of commands below others too.
func everyCommand(c *cobra.Command, before []string) [][]string {
	var out [][]string
	for _, sub := range c.Commands() {
		if sub.Hidden {
			continue
		}
		words := append(append([]string(nil), before...), sub.Name())
		out = append(out, words)
		out = append(out, everyCommand(sub, words)...)
	}
	return out
}

// TestEveryOutputPlain: whatever a command says - its help, its answer, or why it cannot -
// is ASCII where the locale has no UTF-8, and fits 80 and 60 columns; only a command to
// paste, a path, an address or one word may be wider.
func TestEveryOutputPlain(t *testing.T) {
	t.Chdir("../../..")
	t.Setenv("HOME", t.TempDir())
	t.Setenv("LINERATE_JOURNAL", t.TempDir())
	sample, measured := filepath.Join("report", "testdata", "sample.json"), filepath.Join("record", "testdata", "v1", "measure.json")
	lacp, none := filepath.Join("docs", "examples", "two-hosts-lacp.yaml"), filepath.Join("docs", "examples", "none.yaml")
	lines := [][]string{
		{"explain", sample}, {"explain", sample, "--all"}, {"explain", measured}, {"explain", "diagnose/pasted/testdata/T01-lacp-port-dead.txt"},
		{"report", sample}, {"report", measured}, {"report", lacp}, {"compare", sample, sample}, {"predict", lacp}, {"predict", lacp, "--limits"},
		{"predict", lacp, "--what-if", "links=4"}, {"journal"}, {"rollback"}, {"confirm"}, {"version"}, {"lab", "list"},
		{"steer", "pick", "--policy", "layer3+4", "--links", "2", "--src", "10.0.0.1", "--dst", "10.0.0.2", "--streams", "2"},
		{"steer", "show", "--policy", "layer2", "--links", "2", "--src", "10.0.0.1", "--dst", "10.0.0.2", "--sport", "40000-40003"},
		{"render", lacp, "--to", "networkd"}, {"plan", none}, {"apply", none}, {"tune", none}, {"measure", none}, {"predict", sample}, {"explain", lacp},
		{"tune", lacp, "--streams", "none"}, {"measure", "ssh://"}, {"predict", lacp, "--what-if", "linkz=4"}, {"nothing"}, {"explian", sample}, {"predict", lacp, "--limit"},
	}
	all := everyCommand(New(&console.Console{Version: "test", Getenv: os.Getenv}), nil)
	if len(all) < 20 {
		t.Fatalf("only %d commands", len(all))
	}
	for _, words := range all {
		lines = append(lines, append(append([]string(nil), words...), "--help"), append(append([]string(nil), words...), "--no-such-flag"))
	}
	for _, args := range lines {
		for _, width := range []int{80, 60} {
			var out, errs bytes.Buffer
			con := &console.Console{Version: "test", Stdin: strings.NewReader(""), Getenv: os.Getenv, Columns: width, Terminal: true}
			con.Stdout, con.Stderr = console.ASCII(con, &out), console.ASCII(con, &errs)
			Run(con, args)
			if out.Len()+errs.Len() == 0 {
				t.Errorf("%q says nothing", args)
			}
			for line := range strings.Lines(out.String() + errs.String()) {
				line = strings.TrimRight(line, "\n")
				if i := strings.IndexFunc(line, func(r rune) bool { return r > 127 }); i >= 0 {
					t.Errorf("%q at %d columns is not ASCII at %d: %s", args, width, i, line)
				}
				if len([]rune(line)) > width && !pasted(line) {
					t.Errorf("%q at %d columns, %d: %s", args, width, len([]rune(line)), line)
				}
			}
		}
	}
}

// pasted reports a line that may be as wide as it is: a command, a line of a file, or one word.
func pasted(line string) bool {
	text := strings.TrimSpace(line)
	for _, mark := range []string{"linerate ", "ip ", "ssh ", "#", "echo "} {
		if strings.HasPrefix(line, "  ") && strings.HasPrefix(text, mark) {
			return true
		}
	}
	return command.MatchString(line) || !strings.Contains(text, " ")
}
