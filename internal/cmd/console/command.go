package console

import (
	"strings"

	"github.com/spf13/cobra"
)

// UnknownCommand is the bad usage of a command that there is not, with those that
// may be meant.
func UnknownCommand(cmd *cobra.Command, name string) error {
	hint := "`" + cmd.CommandPath() + " --help` lists the commands"
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return BadUsage("unknown command "+name+" for "+cmd.CommandPath(), hint)
}

// Group is a command that only holds others.
func Group(use, short string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, DisableSuggestions: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return UnknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(subs...)
	return c
}

// Exactly demands n arguments and names them when they are missing.
func Exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return BadUsage(CommandName(cmd)+": want "+what, "`"+cmd.CommandPath()+" --help` shows how")
		}
		return nil
	}
}

// CommandName is the command without the program's own name, which starts
// every error line anyway.
func CommandName(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// NoArgs demands no arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return BadUsage(CommandName(cmd)+": unexpected argument "+args[0], "`"+cmd.CommandPath()+" --help` shows how")
	}
	return nil
}

// ExitHelp is the last paragraph of every command's help.
const ExitHelp = `Exit status: 0 done, 1 the job failed, 2 bad usage or input, 3 unreachable or
not permitted, 4 a change was rolled back, 130 interrupted.`

// FlagHeading is a title in a command's list of flags, and the flags under it.
type FlagHeading struct{ Title, Flags string }
