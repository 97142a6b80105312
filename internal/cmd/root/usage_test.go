package root

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/measure"
)

func TestGroupedFlags(t *testing.T) {
	list := "      --alpha string   the first\n  -b, --beta           the second,\n                       in two lines\n      --mode[=fast]    the third\n  -h, --help           help\n"
	want := "One:\n      --mode[=fast]    the third\n      --alpha string   the first\n\nTwo:\n  -b, --beta           the second, in two lines\n\nOther flags:\n  -h, --help           help"
	if diff := cmp.Diff(want, groupedFlags(list, []console.FlagHeading{{Title: "One", Flags: "mode alpha"}, {Title: "None", Flags: "gone"}, {Title: "Two", Flags: "beta"}}, 80)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := groupedFlags(list, nil, 80); got != "Flags:\n"+flagText(list, 80) {
		t.Errorf("without headings:\n%s", got)
	}
}

// TestMeasureHeadings: each flag of measure stands under one heading, and each
// that a heading names is there.
func TestMeasureHeadings(t *testing.T) {
	c := measure.New(&console.Console{})
	var named, want []string
	for _, h := range measure.Headings {
		named = append(named, strings.Fields(h.Flags)...)
	}
	for _, e := range flagEntries(c.LocalFlags().FlagUsages()) {
		want = append(want, e.name)
	}
	slices.Sort(named)
	slices.Sort(want)
	if diff := cmp.Diff(want, named); diff != "" {
		t.Errorf("(-flags +under headings):\n%s", diff)
	}
	fits(t, run(t, "", "measure", "--help").stdout)
}

// TestHelpFits: the help of every command that changes or shows hosts is as
// wide as a terminal, and a flag's words do not take another's line.
func TestHelpFits(t *testing.T) {
	for _, c := range []string{"plan", "apply", "confirm", "rollback", "journal", "render", "inspect"} {
		fits(t, run(t, "", c, "--help").stdout)
	}
	if o := run(t, "", "apply", "--help"); !strings.Contains(o.stdout, "\n      --no-confirm  ") {
		t.Errorf("apply --help: no line of its own for --no-confirm:\n%s", o.stdout)
	}
}
