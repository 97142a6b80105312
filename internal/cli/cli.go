// Package cli is the commands: each parses its flags, calls one workflow and
// prints. One file a command, each a constructor; nothing registers itself.
package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/agent/nats/link"
)

// App is what every command may use of the world around it.
type App struct {
	Version string
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	// Terminal says whether Stderr is a person's terminal: progress is then
	// redrawn in place, and questions may be asked.
	Terminal bool
	CanAsk   bool // a person can be asked: input and error are terminals
	Width    int  // of the terminal in columns; zero is 80
	Getenv   func(string) string

	misasked error // help that was asked for a command that there is not

	json, quiet, verbose bool
	plain                bool // finished things only, a line each
	live                 *live

	// Of hosts reached by ssh: how linerate becomes root there, and what the
	// connections of a run share.
	become string
	ssh    *fleet.SSH
	natsAt busFlags
	bus    *link.Dialer // to NATS, when a host is reached by it
}

// Main runs one command line and returns its exit status. It prints the
// error, if any, itself.
func Main(app *App, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	root := Root(app)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = app.misasked
	}
	app.live.stop()
	_ = app.ssh.Close() // what is left of it ends by itself
	app.bus.Close()
	if err != nil && ctx.Err() != nil && !errors.Is(err, context.Canceled) {
		err = errors.Join(context.Canceled, err)
	}
	return app.fail(err)
}

// Root is the command tree.
func Root(app *App) *cobra.Command {
	root := &cobra.Command{
		Use:   "linerate",
		Short: "make several links add up: predict, measure, explain, tune, prove",
		Long: `linerate finds out why several links between hosts do not add up, and mends it.

It models hosts and links, predicts what they can carry and what binds,
measures what they do carry, explains the gap with evidence from the kernel,
changes what helps, proves it, and puts back what does not.

Start with:  linerate demo`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE:               func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE:  app.defaults,
		SilenceErrors:      true,
		SilenceUsage:       true,
		DisableSuggestions: true, // cobra's are several lines; ours are the hint
		Version:            app.Version,
	}
	app.Stdout, app.Stderr = app.streamTo(app.Stdout), app.streamTo(app.Stderr)
	root.SetIn(app.Stdin)
	root.SetOut(app.Stdout)
	root.SetErr(app.Stderr)
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(app.usageText)
	root.SetHelpFunc(app.help(root.HelpFunc()))
	flags := root.PersistentFlags()
	flags.BoolVar(&app.json, "json", false, "print one JSON document on standard output")
	flags.BoolVarP(&app.quiet, "quiet", "q", false, "no progress")
	flags.BoolVar(&app.plain, "plain", app.env("NO_COLOR") != "", "on a terminal too: no live view, one line for each thing that is over\n(as with NO_COLOR)")
	flags.BoolVarP(&app.verbose, "verbose", "v", false, "log what is done, on standard error")
	app.ssh = &fleet.SSH{}
	flags.StringVar(&app.become, "become", "", "sudo: run linerate by sudo on hosts named as ssh://USER@HOST")
	flags.StringVar(&app.ssh.Binaries, "binaries", app.env("LINERATE_BINARIES"), "directory with linerate-linux-arm64 and so on, for hosts of other\nsystems (LINERATE_BINARIES)")
	app.natsAt.add(root)
	app.bus = link.NewDialer(app.busConfig)
	root.AddCommand(commands(app)...)
	return root
}

// envJournal is the journal of commands that name none with --journal.
const envJournal = "LINERATE_JOURNAL"

// defaults are flags' values that the environment has.
func (a *App) defaults(cmd *cobra.Command, _ []string) error {
	f, dir := cmd.Flags().Lookup("journal"), a.env(envJournal)
	if f == nil || f.Changed || dir == "" {
		return nil
	}
	return f.Value.Set(dir)
}

// commands lists every command, in the order of `linerate help`.
func commands(app *App) []*cobra.Command {
	return []*cobra.Command{
		newDemo(app), newDiscover(app), newInspect(app), newPredict(app), newSteer(app), newMeasure(app), withLive(app, withProbe(app, newExplain(app))),
		newTune(app), newPlan(app), newApply(app), newConfirm(app), newRollback(app), newJournal(app), newLab(app), newRender(app), newCompare(app), newReport(app), newHistory(app), newListen(app), newAgent(app), newEnroll(app), newServe(app), newSchema(app), newVersion(app), newGuard(app), newRecover(app),
	}
}

// help prints a command's help as usual; `linerate nosuch --help` is no help of
// linerate's: there is no such command.
func (a *App) help(usual func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		if words := cmd.Flags().Args(); cmd.HasAvailableSubCommands() && len(words) > 0 {
			a.misasked = unknownCommand(cmd, words[0])
			return
		}
		usual(cmd, args)
	}
}

func unknownCommand(cmd *cobra.Command, name string) error {
	hint := "`" + cmd.CommandPath() + " --help` lists the commands"
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return usage("unknown command "+name+" for "+cmd.CommandPath(), hint)
}

// logger is where what is done is logged: nowhere, unless asked.
func (a *App) logger() *slog.Logger {
	if !a.verbose {
		return nil
	}
	return slog.New(slog.NewTextHandler(a.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// env is a variable of the environment.
func (a *App) env(name string) string {
	if a.Getenv == nil {
		return ""
	}
	return a.Getenv(name)
}

func (a *App) width() int {
	if a.Width > 0 {
		return a.Width
	}
	return 80
}

// group is a command that only holds others.
func group(use, short string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, DisableSuggestions: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(subs...)
	return c
}

// exactly demands n arguments and names them when they are missing.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usage(commandName(cmd)+": want "+what, "`"+cmd.CommandPath()+" --help` shows how")
		}
		return nil
	}
}

// commandName is the command without the program's own name, which starts
// every error line anyway.
func commandName(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// none demands no arguments.
func none(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(commandName(cmd)+": unexpected argument "+args[0], "`"+cmd.CommandPath()+" --help` shows how")
	}
	return nil
}
