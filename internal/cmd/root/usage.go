package root

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/measure"
	"github.com/linerate/linerate/internal/cmd/predict"
	"github.com/linerate/linerate/internal/textlayout"
)

// headings are those of a command that has very many flags; others have none.
func headings(c *cobra.Command) []console.FlagHeading {
	switch console.CommandName(c) {
	case "measure":
		return measure.Headings
	case "predict":
		return predict.Headings
	}
	return nil
}

// narrower is a text with each paragraph set anew that has a line too wide for the
// terminal. What is indented, such as an example, stays as it is.
func narrower(text string, width int) string {
	parts := strings.Split(text, "\n\n")
	for i, part := range parts {
		wide := slices.ContainsFunc(strings.Split(part, "\n"), func(line string) bool { return utf8.RuneCountInString(line) > width })
		if wide && !strings.HasPrefix(part, " ") && !strings.Contains(part, "\n ") {
			parts[i] = strings.Join(textlayout.Wrap("", "", part, width), "\n")
		}
	}
	return strings.Join(parts, "\n\n")
}

// usageHead writes how a command is called, its examples and its commands.
func usageHead(w io.Writer, c *cobra.Command, width int) {
	fmt.Fprint(w, "Usage:")
	if c.Runnable() {
		fmt.Fprint(w, "\n  "+c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprint(w, "\n  "+c.CommandPath()+" [command]")
	}
	if c.HasExample() {
		fmt.Fprint(w, "\n\nExamples:\n"+c.Example)
	}
	if !c.HasAvailableSubCommands() {
		return
	}
	fmt.Fprint(w, "\n\nAvailable Commands:")
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			lead := fmt.Sprintf("  %-*s ", sub.NamePadding(), sub.Name())
			fmt.Fprint(w, "\n"+strings.TrimRight(console.Wrapped(lead, sub.Short, width), "\n"))
		}
	}
}

// usageText prints how a command is called, with every flag, within the terminal's width.
func usageText(c *cobra.Command, width int) error {
	w := c.OutOrStderr()
	usageHead(w, c, width)
	if c.HasAvailableLocalFlags() {
		fmt.Fprint(w, "\n\n"+groupedFlags(c.LocalFlags().FlagUsages(), headings(c), width))
	}
	if c.HasAvailableInheritedFlags() {
		fmt.Fprint(w, "\n\nGlobal Flags:\n"+flagText(c.InheritedFlags().FlagUsages(), width))
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprint(w, "\n\n"+strings.TrimRight(console.Wrapped("", fmt.Sprintf("Use %q for more information about a command.", c.CommandPath()+" [command] --help"), width), "\n"))
	}
	fmt.Fprintln(w)
	return nil
}

// flagLine is a flag in a list of them: its names, blanks, its description.
var flagLine = regexp.MustCompile(`^( +(?:-., )?--\S+(?: \S+)? {2,})(.*)$`)

// flagEntry is a flag in a list of them.
type flagEntry struct{ name, lead, text string }

// flagEntries reads a list of flags as pflag prints it.
func flagEntries(list string) []flagEntry {
	var out []flagEntry
	for line := range strings.Lines(list) {
		line = strings.TrimRight(line, "\n")
		if m := flagLine.FindStringSubmatch(line); m != nil {
			_, name, _ := strings.Cut(m[1], "--")
			name = strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '[' })[0]
			out = append(out, flagEntry{name, m[1], m[2]})
		} else if n := len(out); n > 0 {
			out[n-1].text += " " + strings.TrimSpace(line)
		}
	}
	return out
}

// flagText breaks the descriptions of a list of flags anew.
func flagText(list string, width int) string {
	var out strings.Builder
	for _, e := range flagEntries(list) {
		out.WriteString(console.Wrapped(e.lead, e.text, width))
	}
	return strings.TrimRight(out.String(), "\n")
}

// groupedFlags is a list of flags under headings, each flag in the order of its
// heading's; those that stand under none come last, under "Flags" where there
// are no others and "Other flags" where there are.
func groupedFlags(list string, under []console.FlagHeading, width int) string {
	entries := flagEntries(list)
	var parts []string
	add := func(title, text string) {
		if text != "" {
			parts = append(parts, title+":\n"+strings.TrimRight(text, "\n"))
		}
	}
	for _, h := range under {
		text := ""
		for _, name := range strings.Fields(h.Flags) {
			i := slices.IndexFunc(entries, func(e flagEntry) bool { return e.name == name })
			if i >= 0 {
				text += console.Wrapped(entries[i].lead, entries[i].text, width)
				entries = slices.Delete(entries, i, i+1)
			}
		}
		add(h.Title, text)
	}
	text := ""
	for _, e := range entries {
		text += console.Wrapped(e.lead, e.text, width)
	}
	if len(parts) > 0 {
		add("Other flags", text)
	} else {
		add("Flags", text)
	}
	return strings.Join(parts, "\n\n")
}
