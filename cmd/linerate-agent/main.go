// Command linerate-agent is what linerate copies to a host that it reaches by ssh: an
// agent on standard input and output, the guard of each change, and what boot runs.
// It has the commands of linerate that are for those alone, with their flags.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/linerate/linerate/internal/agent"
	"github.com/linerate/linerate/internal/agent/pipe"
	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/internal/kernel/netns"
)

// version is set by the build.
var version = "dev"

const usage = `linerate-agent answers linerate on a host: it is copied there, and goes again.

  linerate-agent agent --stdio    answer on standard input and output
  linerate-agent --version        what it is

Its other commands are for its own use. linerate has all that is for people.
`

// Exit statuses, those of linerate.
const (
	failed    = 1
	badUsage  = 2
	cancelled = 130
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run runs one command line and returns its exit status.
func run(args []string, in io.Reader, out, said io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	do, err := parse(args, in, out)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(out, usage)
		return 0
	}
	if err != nil {
		fmt.Fprintf(said, "linerate: %v\nhint: `linerate-agent --help`\n", err)
		return badUsage
	}
	if err := do(ctx); err != nil {
		fmt.Fprintf(said, "linerate: %v\n", err)
		if errors.Is(err, context.Canceled) {
			return cancelled
		}
		return failed
	}
	return 0
}

// command is one of the program's: it defines its flags, and gives what they then do.
type command func(flags *flag.FlagSet, in io.Reader, out io.Writer) func(context.Context) error

// parse is the command that the arguments name; flag.ErrHelp for none.
func parse(args []string, in io.Reader, out io.Writer) (func(context.Context) error, error) {
	word := ""
	if len(args) > 0 {
		word, args = args[0], args[1:]
	}
	if word == "" || word == "help" || word == "--help" || word == "-h" {
		return nil, flag.ErrHelp
	}
	define := map[string]command{"version": sayVersion, "--version": sayVersion, "agent": answer, "guard": guard, "recover": recoverBoot}[word]
	if define == nil {
		return nil, fmt.Errorf("unknown command %q: it is one of linerate's", word)
	}
	flags := flag.NewFlagSet(word, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	do := define(flags, in, out)
	if err := flags.Parse(args); err != nil {
		return nil, fmt.Errorf("%s: %w", word, err)
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("%s: takes no arguments, got %q", word, flags.Arg(0))
	}
	return do, nil
}

func sayVersion(_ *flag.FlagSet, _ io.Reader, out io.Writer) func(context.Context) error {
	return func(context.Context) error {
		_, err := fmt.Fprintf(out, "linerate version %s\n", version)
		return err
	}
}

func answer(flags *flag.FlagSet, in io.Reader, out io.Writer) func(context.Context) error {
	cfg := agent.Config{Version: version, StartGuard: apply.StartGuard}
	stdio := flags.Bool("stdio", false, "")
	flags.DurationVar(&cfg.Silence, "silence", 0, "")
	as := flags.String("remove-self", "", "")
	flags.StringVar(&cfg.JournalDir, "journal", "", "")
	space := flags.String("netns", "", "")
	return func(ctx context.Context) error {
		if !*stdio {
			return errors.New("agent: this program answers by --stdio alone; `linerate agent` is the one of NATS")
		}
		if *space != "" {
			cfg.Namespace = netns.Named(*space)
		}
		return pipe.Answer(ctx, cfg, *as, in, out)
	}
}

func guard(flags *flag.FlagSet, _ io.Reader, out io.Writer) func(context.Context) error {
	var g pipe.Guard
	flags.StringVar(&g.Dir, "dir", "", "")
	flags.StringVar(&g.ID, "id", "", "")
	flags.StringVar(&g.Namespace, "netns", "", "")
	flags.BoolVar(&g.Detach, "detach", false, "")
	return func(ctx context.Context) error { return g.Run(ctx, out) }
}

func recoverBoot(flags *flag.FlagSet, _ io.Reader, out io.Writer) func(context.Context) error {
	dir, boot := flags.String("dir", "", ""), flags.Bool("boot", false, "")
	return func(ctx context.Context) error {
		if !*boot {
			return errors.New("recover: want --boot: the boot unit runs it")
		}
		return pipe.Recover(ctx, *dir, nil, out)
	}
}
