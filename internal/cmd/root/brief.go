package root

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/cmd/console"
)

// frequent are the flags that most people want of a command whose help is longer than
// a screen, in the order in which they are shown; "" for commands whose flags are few.
func frequent(c *cobra.Command) []string {
	return strings.Fields(map[string]string{
		"apply":           "dry-run yes host canary persist",
		"compare":         "since store fail-on-regression min-effect min-runs",
		"discover":        "output from host lldp force",
		"explain":         "live all host probe output",
		"history":         "from to since store limit",
		"inspect":         "all root capture calibrate host",
		"listen":          "port bind allow token-file one-off",
		"measure":         "streams directions duration rate-limit output",
		"predict":         "what-if streams workload limits output",
		"render":          "host to output from stdout",
		"serve":           "listen web store address state",
		"steer addresses": "src dst lanes nfs check",
		"steer mptcp":     "src dst subflows dev host",
		"steer pick":      "streams src dst host for",
		"steer probe":     "streams fabric learn budget output",
		"steer show":      "src dst sport policy links",
		"tune":            "dry-run yes path output persist",
	}[console.CommandName(c)])
}

// allFlag adds --all to every command: with --help it lists every flag.
func allFlag(root *cobra.Command) {
	root.PersistentFlags().Bool("all", false, "with --help: the whole help, with every flag")
	root.PersistentFlags().Lookup("all").Hidden = true
}

// misplacedAll refuses --all where nothing is helped with; of commands with a flag of
// that name it is theirs.
func misplacedAll(root, cmd *cobra.Command) error {
	if all := root.PersistentFlags().Lookup("all"); all.Changed && cmd.Name() != "help" {
		return console.BadUsage(console.CommandName(cmd)+": --all goes with --help", "`"+cmd.CommandPath()+" --help --all` lists every flag")
	}
	return nil
}

// wholeHelp reports --all beside --help.
func wholeHelp(cmd *cobra.Command) bool {
	own, every := cmd.Flags().Lookup("all"), cmd.Root().PersistentFlags().Lookup("all")
	return every.Changed || own != nil && own.Changed
}

// briefHelp answers on one screen: what the command does, how it is called, examples,
// the flags that most people want, and where the rest is.
func briefHelp(c *cobra.Command, width int) string {
	var b strings.Builder
	b.WriteString(narrower(opening(cmp.Or(c.Long, c.Short)), width) + "\n\n")
	usageHead(&b, c, width)
	entries := flagEntries(c.LocalFlags().FlagUsages())
	if names := frequent(c); len(names) > 0 {
		b.WriteString("\n\nMost used flags:")
		for _, name := range names {
			if i := slices.IndexFunc(entries, func(e flagEntry) bool { return e.name == name }); i >= 0 {
				b.WriteString("\n" + strings.TrimRight(console.Wrapped(entries[i].lead, entries[i].text, width), "\n"))
			}
		}
	} else if len(entries) > 0 {
		b.WriteString("\n\n" + groupedFlags(c.LocalFlags().FlagUsages(), headings(c), width))
	}
	b.WriteString("\n\n" + console.Wrapped("", "`"+c.CommandPath()+" --help --all` has the rest: every flag, and how they go together.", width))
	if strings.Contains(c.Long, console.ExitHelp) {
		b.WriteString("\n" + narrower(console.ExitHelp, width) + "\n")
	}
	return b.String()
}

// mostOpening is about how long the first words of a help may be: four lines.
const mostOpening = 320

// opening is the first paragraph of a text, up to the sentence that makes it long.
func opening(text string) string {
	first, _, _ := strings.Cut(text, "\n\n")
	out := ""
	for _, sentence := range strings.SplitAfter(strings.Join(strings.Fields(first), " "), ". ") {
		if out != "" && len(out)+len(sentence) > mostOpening {
			break
		}
		out += sentence
	}
	return strings.TrimSuffix(strings.TrimSpace(out), ":")
}
