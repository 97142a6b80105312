package cli

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// usageText prints how a command is called, within the terminal's width.
func (a *App) usageText(c *cobra.Command) error {
	w := c.OutOrStderr()
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
	if c.HasAvailableSubCommands() {
		fmt.Fprint(w, "\n\nAvailable Commands:")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				lead := fmt.Sprintf("  %-*s ", sub.NamePadding(), sub.Name())
				fmt.Fprint(w, "\n"+strings.TrimRight(wrapped(lead, sub.Short, a.width()), "\n"))
			}
		}
	}
	if c.HasAvailableLocalFlags() {
		fmt.Fprint(w, "\n\nFlags:\n"+flagText(c.LocalFlags().FlagUsages(), a.width()))
	}
	if c.HasAvailableInheritedFlags() {
		fmt.Fprint(w, "\n\nGlobal Flags:\n"+flagText(c.InheritedFlags().FlagUsages(), a.width()))
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprint(w, "\n\n"+strings.TrimRight(wrapped("", fmt.Sprintf("Use %q for more information about a command.", c.CommandPath()+" [command] --help"), a.width()), "\n"))
	}
	fmt.Fprintln(w)
	return nil
}

// flagLine is a flag in a list of them: its names, blanks, its description.
var flagLine = regexp.MustCompile(`^( +(?:-., )?--\S+(?: \S+)? {2,})(.*)$`)

// flagText breaks the descriptions of a list of flags anew.
func flagText(list string, width int) string {
	var out strings.Builder
	lead, text := "", ""
	flush := func() {
		if lead != "" {
			out.WriteString(wrapped(lead, text, width))
		}
	}
	for line := range strings.Lines(list) {
		line = strings.TrimRight(line, "\n")
		if m := flagLine.FindStringSubmatch(line); m != nil {
			flush()
			lead, text = m[1], m[2]
			continue
		}
		text += " " + strings.TrimSpace(line)
	}
	flush()
	return strings.TrimRight(out.String(), "\n")
}
