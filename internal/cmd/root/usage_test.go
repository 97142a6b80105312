package root

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	fits(t, run(t, "", "measure", "--help", "--all").stdout)
}

// TestBriefHelp: the help of every command answers on one screen, of which the first
// 24 lines say how it is called, by an example; --all has every flag.
func TestBriefHelp(t *testing.T) {
	const screen, most = 24, 45
	eachCommand(New(&console.Console{}), func(c *cobra.Command) {
		if !c.IsAvailableCommand() || !c.HasParent() || strings.HasPrefix(c.CommandPath(), "linerate completion") {
			return
		}
		words := append(strings.Fields(c.CommandPath())[1:], "--help")
		brief, whole := run(t, "", words...).stdout, run(t, "", append(words, "--all")...).stdout
		fits(t, strings.Split(brief, "Usage:")[0])
		lines := strings.Split(brief, "\n")
		if first := strings.Join(lines[:min(screen, len(lines))], "\n"); len(lines) > most || !strings.Contains(first, "Usage:\n  "+c.CommandPath()) || c.HasExample() && !strings.Contains(first, "\nExamples:\n  linerate ") {
			t.Errorf("%s --help: %d lines, at most %d, usage and example in the first %d:\n%s", c.CommandPath(), len(lines), most, screen, brief)
		}
		if names := frequent(c); len(names) > 0 {
			for _, name := range names {
				if c.LocalFlags().Lookup(name) == nil || !strings.Contains(brief, "--"+name) {
					t.Errorf("%s has no --%s, which its help should begin with", c.CommandPath(), name)
				}
			}
			if len(names) != 5 {
				t.Errorf("%s --help: %d flags, want 5", c.CommandPath(), len(names))
			}
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(whole, "--"+f.Name) {
				t.Errorf("%s --help --all has no --%s", c.CommandPath(), f.Name)
			}
		})
		if strings.Contains(brief, console.ExitHelp) != strings.Contains(c.Long, console.ExitHelp) {
			t.Errorf("%s --help does not say what its exit status means:\n%s", c.CommandPath(), brief)
		}
	})
	refused(t, "", console.ExitUsage, "measure: --all goes with --help", "linerate measure --help --all", "measure", "f.yaml", "--all")
	if o := run(t, "", "help", "measure", "--all"); !strings.Contains(o.stdout, "--no-gso") {
		t.Errorf("help measure --all: %s%s", o.stdout, o.stderr)
	}
}

// TestHelpFits: the help of every command that changes or shows hosts is as
// wide as a terminal, and a flag's words do not take another's line.
func TestHelpFits(t *testing.T) {
	for _, c := range []string{"plan", "apply", "confirm", "rollback", "journal", "render", "inspect"} {
		fits(t, run(t, "", c, "--help", "--all").stdout)
	}
	if o := run(t, "", "apply", "--help", "--all"); !strings.Contains(o.stdout, "\n      --no-confirm  ") {
		t.Errorf("apply --help: no line of its own for --no-confirm:\n%s", o.stdout)
	}
}
