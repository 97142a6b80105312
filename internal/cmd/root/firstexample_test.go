package root

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/docpage"
)

// mostBefore is how many words a page has before its first example.
const mostBefore = 160

// elsewhere are pages whose first example needs hosts, a lab or minutes, with the
// test, as FILE NAME, that runs its commands, or the target that does.
var elsewhere = map[string]string{
	"README.md":                 "make demo",
	"docs/accuracy.md":          "make prove-explain",
	"docs/benchmarks.md":        "make bench",
	"docs/scale.md":             "make prove-scale",
	"docs/tuning-compared.md":   "make prove-tune",
	"docs/lab-report.md":        "make prove-scenarios",
	"docs/scenarios.md":         "make prove-scenarios",
	"docs/tutorial.md":          "internal/lab/labtest/standing/tutorial_linux_test.go TestTutorial",
	"docs/lab.md":               "internal/lab/labtest/standing/standing_linux_test.go TestStanding",
	"docs/start.md":             "internal/lab/labtest/overssh/newcomer_linux_test.go TestNewcomerBySSH",
	"docs/ssh.md":               "internal/lab/labtest/overssh/measure_linux_test.go TestMatrix",
	"docs/measuring.md":         "internal/lab/labtest/overssh/measure_linux_test.go TestMatrix",
	"docs/explained/sums.md":    "internal/lab/labtest/tuning/scenario_test.go TestScenarios",
	"docs/links.md":             "internal/lab/labtest/overssh/named_linux_test.go TestA2SSHLinkIsLeftOut",
	"docs/changing.md":          "internal/cmd/root/script_test.go TestScript",
	"docs/tuning.md":            "internal/lab/labtest/tuning/tuning_linux_test.go TestTuning",
	"docs/fleet.md":             "internal/lab/labtest/overssh/newcomer_linux_test.go TestNewcomerWithAFleet",
	"docs/howto/rack.md":        "internal/cmd/root/measurebus_linux_test.go TestMeasureOverCluster",
	"docs/history.md":           "internal/cmd/root/historypage_test.go TestHistoryPage",
	"docs/metrics.md":           "internal/cmd/root/metrics_linux_test.go TestMetricsByPrometheus",
	"docs/files.md":             "internal/cmd/root/output_test.go TestOutputObeysUmaskAndMode",
	"docs/pasted.md":            "internal/cmd/root/script_test.go TestScript",
	"docs/steering.md":          "internal/cmd/root/readme_test.go TestSamples",
	"docs/explained/unknown.md": "internal/cmd/root/steerprobe_linux_test.go TestKernelA5SeparateInterfacesHashNothing",
	"docs/web.md":               "internal/cmd/root/serveweb_linux_test.go TestServeWeb",
}

// TestFirstExamples: a page begins with an example, and that works.
func TestFirstExamples(t *testing.T) {
	t.Chdir("../../..")
	makefile, err := os.ReadFile("Makefile")
	if more, moreErr := os.ReadFile("docs/proofs/proofs.mk"); err == nil {
		makefile, err = append(makefile, more...), moreErr
	}
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for page, text := range pages(t) {
		if page == "docs/README.md" {
			continue // it leads to the others
		}
		example, before := firstExample(text)
		if n := countWords(before); n > mostBefore || len(example) == 0 {
			t.Errorf("%s: %d words before the first example (%d lines), at most %d", page, n, len(example), mostBefore)
		}
		where := elsewhere[page]
		if target, is := strings.CutPrefix(where, "make "); is {
			if !strings.Contains(string(makefile), "\n"+target+":") || !strings.Contains(text, target) && page != "docs/lab-report.md" {
				t.Errorf("%s: make has no target %s, or the page does not name it", page, target)
			}
			continue
		} else if where != "" {
			testIsThere(t, ".", where)
			continue
		}
		commands := docpage.Commands("    " + strings.Join(example, "\n    ") + "\n")
		if len(commands) == 0 || !pure(commands[0]) {
			t.Errorf("%s: its first example is run by no test: %q", page, example)
			continue
		}
		ran++
		if o := run(t, "", commands[0]...); o.status != console.ExitDone || o.stdout == "" {
			t.Errorf("%s: linerate %s: exit %d: %s", page, strings.Join(commands[0], " "), o.status, o.stderr)
		}
	}
	if ran < 12 {
		t.Errorf("only %d were run", ran)
	}
}

// pure reports a command that only computes: no host is asked and nothing is sent.
func pure(words []string) bool {
	if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "://") || w == "--live" || w == "probe" }) {
		return false
	}
	return slices.Contains([]string{"predict", "steer", "explain", "report", "compare", "render", "inspect", "schema", "version"}, words[0])
}

// firstExample is a page's first block of code, and what stands before it.
func firstExample(text string) (example []string, before string) {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		fenced := strings.HasPrefix(line, "```")
		if !fenced && !strings.HasPrefix(line, "    ") {
			continue
		}
		before = strings.Join(lines[:i], "\n")
		for _, l := range lines[i:] {
			switch {
			case fenced && strings.HasPrefix(l, "```"):
				if len(example) > 0 {
					return example, before
				}
			case fenced:
				example = append(example, l)
			case !strings.HasPrefix(l, "    "):
				return example, before
			default:
				example = append(example, strings.TrimPrefix(l, "    "))
			}
		}
		return example, before
	}
	return nil, text
}

// countWords counts what has a letter or a digit.
func countWords(text string) (n int) {
	for _, w := range strings.Fields(text) {
		if strings.ContainsFunc(w, func(r rune) bool { return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }) {
			n++
		}
	}
	return n
}

// Bounds of words, counted as `wc -w` does: the bars of tables are words too.
const (
	mostReadme = 1200
	mostDocs   = 40000
)

// TestWordCount: what a person may have to read stays short. The reference, which is
// made from the code, is not counted.
func TestWordCount(t *testing.T) {
	t.Chdir("../../..")
	docs := 0
	for page, text := range pages(t) {
		if filepath.Dir(page) != "." {
			docs += len(strings.Fields(text))
		} else if n := len(strings.Fields(text)); n > mostReadme {
			t.Errorf("%s: %d words, at most %d", page, n, mostReadme)
		}
	}
	if docs > mostDocs {
		t.Errorf("docs: %d words, at most %d", docs, mostDocs)
	}
}
