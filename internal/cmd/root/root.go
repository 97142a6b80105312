// Package root puts the commands together to one program: commands lists them.
// A command is a package beside this one: its flags, one workflow, printing.
package root

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/cmd/agent"
	"github.com/linerate/linerate/internal/cmd/change"
	"github.com/linerate/linerate/internal/cmd/compare"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/demo"
	"github.com/linerate/linerate/internal/cmd/discover"
	"github.com/linerate/linerate/internal/cmd/enroll"
	"github.com/linerate/linerate/internal/cmd/explain"
	"github.com/linerate/linerate/internal/cmd/history"
	"github.com/linerate/linerate/internal/cmd/inspect"
	"github.com/linerate/linerate/internal/cmd/lab"
	"github.com/linerate/linerate/internal/cmd/listen"
	"github.com/linerate/linerate/internal/cmd/measure"
	"github.com/linerate/linerate/internal/cmd/predict"
	"github.com/linerate/linerate/internal/cmd/render"
	"github.com/linerate/linerate/internal/cmd/report"
	"github.com/linerate/linerate/internal/cmd/schema"
	"github.com/linerate/linerate/internal/cmd/serve"
	"github.com/linerate/linerate/internal/cmd/steer"
	"github.com/linerate/linerate/internal/cmd/tune"
	"github.com/linerate/linerate/internal/cmd/version"
)

// Run runs one command line and returns its exit status. It prints the
// error, if any, itself.
func Run(con *console.Console, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	root, misasked := tree(con)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = *misasked
	}
	if err == nil {
		err = console.Lost(con.Stdout)
	}
	con.Live.Stop()
	_ = con.SSH.Close() // what is left of it ends by itself
	con.Bus.Close()
	if err != nil && ctx.Err() != nil && !errors.Is(err, context.Canceled) {
		err = errors.Join(context.Canceled, err)
	}
	return con.Fail(err)
}

// New is the command tree.
func New(con *console.Console) *cobra.Command {
	root, _ := tree(con)
	return root
}

// tree is the command tree, and the error of a help that was asked for a command
// that there is not.
func tree(con *console.Console) (*cobra.Command, *error) {
	var misasked error
	root := &cobra.Command{
		Use:   "linerate",
		Short: "make several links add up: predict, measure, explain, tune, prove",
		Long: `linerate finds out why several links between hosts do not add up, and repairs
it.

It models hosts and links, predicts what they can carry and what binds,
measures what they do carry, explains the gap with evidence from the kernel,
changes what helps, proves it, and rolls back what does not.

Start with:  linerate demo`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return console.UnknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := misplacedAll(cmd.Root(), cmd); err != nil {
				return err
			}
			return journalOf(cmd, con.Env(console.EnvJournal))
		},
		SilenceErrors:      true,
		SilenceUsage:       true,
		DisableSuggestions: true, // cobra's are several lines; ours are the hint
		Version:            con.Version,
	}
	con.Stdout, con.Stderr = con.StreamTo(con.Stdout), con.StreamTo(con.Stderr)
	root.SetIn(con.Stdin)
	root.SetOut(con.Stdout)
	root.SetErr(con.Stderr)
	root.SetFlagErrorFunc(console.FlagError)
	root.SetUsageFunc(func(c *cobra.Command) error { return usageText(c, con.Width()) })
	root.SetHelpFunc(help(con, root.HelpFunc(), &misasked))
	flags := root.PersistentFlags()
	flags.BoolVar(&con.JSON, "json", false, "print one JSON document on standard output")
	flags.BoolVarP(&con.Quiet, "quiet", "q", false, "no progress")
	flags.BoolVar(&con.Plain, "plain", con.Env("NO_COLOR") != "", "on a terminal too: no live view, one line for each thing that is over\n(as with NO_COLOR)")
	flags.BoolVarP(&con.Verbose, "verbose", "v", false, "log what is done, on standard error")
	con.SSH = &fleet.SSH{Agents: con.Agents}
	flags.StringVar(&con.Become, "become", "", "sudo: run linerate by sudo on hosts named as ssh://USER@HOST")
	flags.StringVar(&con.SSH.Binaries, "binaries", con.Env("LINERATE_BINARIES"), "directory with linerate-agent-linux-arm64.gz and so on, or with\nlinerate-linux-arm64, for hosts of other systems (LINERATE_BINARIES)")
	con.NATS.Add(root)
	allFlag(root)
	con.Bus = link.NewDialer(con.BusConfig)
	root.AddCommand(commands(con)...)
	helpOf(root)
	complete(root)
	completeFiles(root)
	return root, &misasked
}

// journalOf is --journal of a command where only the environment has it.
func journalOf(cmd *cobra.Command, dir string) error {
	f := cmd.Flags().Lookup("journal")
	if f == nil || f.Changed || dir == "" {
		return nil
	}
	return f.Value.Set(dir)
}

// commands lists every command, in the order of `linerate help`.
func commands(con *console.Console) []*cobra.Command {
	return []*cobra.Command{
		demo.New(con), discover.New(con), inspect.New(con), predict.New(con), steer.New(con), measure.New(con), explain.New(con),
		tune.New(con), change.NewPlan(con), change.NewApply(con), change.NewConfirm(con), change.NewRollback(con), change.NewJournal(con), lab.New(con), render.New(con), compare.New(con), report.New(con), history.New(con), listen.New(con), agent.New(con), enroll.New(con), serve.New(con), schema.New(con, Documents()), version.New(con), change.NewGuard(con), change.NewRecover(con),
	}
}

// helpOf makes `linerate help NOSUCH` bad usage, as `linerate NOSUCH` is.
func helpOf(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if usual := c.Run; c.Name() == "help" {
			c.Short, c.Run = "print the help of a command", nil
			c.RunE = func(cmd *cobra.Command, args []string) error {
				if found, rest, err := root.Find(args); err != nil || len(rest) > 0 && found.HasAvailableSubCommands() {
					return console.UnknownCommand(found, rest[0])
				}
				usual(cmd, args)
				return nil
			}
		}
	}
}

// help prints a command's help, on one screen unless all of it is asked for; `linerate nosuch --help` is no help of
// linerate's: there is no such command.
func help(con *console.Console, usual func(*cobra.Command, []string), misasked *error) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		if words := cmd.Flags().Args(); cmd.HasAvailableSubCommands() && len(words) > 0 {
			*misasked = console.UnknownCommand(cmd, words[0])
			return
		}
		if !wholeHelp(cmd) && cmd.HasParent() {
			fmt.Fprint(con.Stdout, briefHelp(cmd, con.Width()))
			return
		}
		cmd.Long = narrower(cmd.Long, con.Width())
		usual(cmd, args)
	}
}
