package paste

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/evidence/paste/switchfacts"
	"github.com/linerate/linerate/internal/evidence/switchstate"
	"go.yaml.in/yaml/v3"
)

// corpora is where real outputs of switches lie with the fields that others' readers
// find in them: beside the project, or where LINERATE_CORPORA says.
var corpora = cmp.Or(os.Getenv("LINERATE_CORPORA"), "../../../../shared/corpora")

// tally is what became of one command's samples of a platform.
type tally struct {
	samples, right, wrong, absent, unread int
	empty                                 int             // samples that say there is nothing
	outside                               map[string]bool // fields that are not compared
}

// TestCorporaSwitches reads every sample and compares the switch that comes out with
// the fields beside it, one by one. A wrong field, or a line that nobody read, fails.
func TestCorporaSwitches(t *testing.T) {
	ntc, _ := filepath.Glob(filepath.Join(corpora, "ntc-templates/*/*/*.raw"))
	genie, _ := filepath.Glob(filepath.Join(corpora, "genieparser/*/tests/*/cli/*/*_output.txt"))
	more, _ := filepath.Glob(filepath.Join(corpora, "genieparser/*/*/tests/*/cli/*/*_output.txt"))
	files := slices.Concat(ntc, genie, more)
	if len(files) == 0 {
		t.Skip("real outputs are missing: ../shared/corpora/ntc-templates and genieparser, or where LINERATE_CORPORA says")
	}
	all := make(map[string]*tally)
	for _, file := range files {
		name, _ := filepath.Rel(corpora, file)
		parts := strings.Split(name, string(filepath.Separator))
		platform, command := parts[1], parts[2]
		if command == "rv1" || command == "tests" {
			command = parts[slices.Index(parts, "tests")+1]
		}
		kind := parts[0] + ": " + platform + " " + command
		if all[kind] == nil {
			all[kind] = &tally{outside: make(map[string]bool)}
		}
		one := all[kind]
		one.samples++
		output, want := sample(t, file)
		c := Parse([]piece.Text{{Bytes: output}})
		for _, n := range c.NotRead {
			if notOutput(output, n) {
				continue
			}
			one.unread += max(n.Count(), 1)
			t.Logf("%s: not read: %v: %q", name, n.Source, lineOf(output, n.From))
		}
		sw := stateOf(&c)
		all := claims(command, want, one.outside)
		if len(all) == 0 && len(one.outside) == 0 {
			one.empty++
		}
		for _, cl := range all {
			got, known := cl.found(sw)
			switch {
			case got == cl.want, cl.field == "name" && len(cl.want) >= 16 && strings.HasPrefix(got, cl.want): // a name that goes on in the next line
				one.right++
			case !known || got == "" || got == "0":
				one.absent++
				t.Logf("%s: %s: not said, want %q", name, cl, cl.want)
			default:
				one.wrong++
				t.Errorf("%s: %s is %q, want %q", name, cl, got, cl.want)
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		one := all[kind]
		line := fmt.Sprintf("row: %s: samples %d, fields right %d, wrong %d, not said %d, lines not read %d", kind, one.samples, one.right, one.wrong, one.absent, one.unread)
		if one.empty > 0 {
			line += fmt.Sprintf("; samples without a field %d", one.empty)
		}
		if len(one.outside) > 0 {
			line += "; not compared: " + strings.Join(slices.Sorted(maps.Keys(one.outside)), " ")
		}
		t.Log(line)
		if one.absent > 0 || one.unread > 0 {
			t.Fail()
		}
	}
}

// sample is a file's text, and the fields beside it; nil none.
func sample(t *testing.T, file string) ([]byte, any) {
	t.Helper()
	output, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if raw, ok := strings.CutSuffix(file, ".raw"); ok {
		b, err := os.ReadFile(raw + ".yml")
		if err != nil {
			return output, nil
		}
		var want struct {
			Parsed []any `yaml:"parsed_sample"`
		}
		if err := yaml.Unmarshal(b, &want); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		return output, want.Parsed
	}
	b, err := os.ReadFile(strings.TrimSuffix(file, "_output.txt") + "_expected.py")
	if err != nil {
		return output, nil
	}
	want, err := literal(string(b))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return output, want
}

func lineOf(text []byte, n int) string {
	lines := strings.Split(string(text), "\n")
	if n < 1 || n > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[n-1])
}

// notOutput reports lines that are the terminal's: a prompt's echo, a clock.
func notOutput(text []byte, n piece.NotRead) bool {
	for i := n.From; i <= n.To; i++ {
		line := lineOf(text, i)
		if line != "" && !strings.HasSuffix(strings.Fields(line)[0], "#") && !terminal.MatchString(line) {
			return false
		}
	}
	return true
}

// stateOf is the one switch of a case.
func stateOf(c *piece.Case) switchstate.Switch {
	for _, h := range c.Hosts {
		if h.Switch {
			return switchfacts.State(h)
		}
	}
	return switchstate.Switch{}
}

var terminal = piece.Compile(`^(?:[\w.-]+[#>]\s*\S|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3}\s+\d|RP/\d|--More|show |sh |\*{3,}|Router[#>]|[\w.-]+[#>]$|\{master(?::\d)?\}$)`)
