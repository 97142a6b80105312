package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/unit"
)

func newExec(con *console.Console) *cobra.Command {
	var place Place
	c := &cobra.Command{
		Use: "exec [NAME|SCENARIO|FILE.yaml] [HOST] [-- COMMAND [ARG...]]", Short: "run a command in a lab that stands, or in one made for it",
		Long: `Runs a command in the lab of that name when one stands (see lab up); the name
may be left out when only one does. With HOST it runs on that host, else where
the hosts are network namespaces. Without a command, on a terminal, it is a
shell.

Else builds the scenario, or a fabric file's network, for the time of the
command: the hosts are the network namespaces linerate-HOST, and
linerate-switch.

The command sees the host's files read-only in User-Mode Linux, and in an
emulated kernel the usual tools (ip, tc, ss, sh ...), the command itself and the
files that it is given. What it writes in the working directory stays. linerate
as the command is this program.
On a kernel of the lab's own changes are journalled in /run/journal, which goes
with it. Ctrl-C is the command's, and its exit status is passed on: 128 and the
signal's number when one ended it.

` + console.ExitHelp,
		Example: `  linerate lab exec two-links -- ip netns exec linerate-alpha cat /proc/net/bonding/bond0
  linerate lab exec two-links alpha -- ping -c 3 10.0.0.2
  linerate lab exec two-links --kernel 5.10 -- uname -r`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			what, err := parseCommand(args, cmd.ArgsLenAtDash())
			if err != nil {
				return err
			}
			stands, found, err := what.find()
			if err != nil {
				return err
			}
			if found {
				what.divide(stands.Hosts())
				if cmd.Flags().Changed("back-end") || cmd.Flags().Changed("kernel") {
					return console.BadUsage("lab exec: lab "+stands.Name+" stands on "+string(stands.BackEnd), "leave --back-end and --kernel out, or take it down first: linerate lab down "+stands.Name)
				}
				return execStanding(con, stands, what)
			}
			return execOnce(cmd.Context(), con, place, what)
		},
	}
	place.AddFlags(c)
	return c
}

// labCommand is what is to run in which lab.
type labCommand struct {
	lab, host string // "" is the only lab there is, or no host
	command   []string
	// undivided says that there was no --: the command may begin with a host.
	undivided bool
}

const execHint = "linerate lab exec two-links alpha -- ip address"

// parseCommand reads the arguments; dash is how many stand before --, or -1
// without one: then the first names the lab and the rest is the command.
func parseCommand(args []string, dash int) (w labCommand, err error) {
	before := args
	if dash < 0 && len(args) > 1 {
		dash, w.undivided = 1, true
	}
	if dash >= 0 {
		before, w.command = args[:dash], args[dash:]
	}
	switch len(before) {
	case 0:
	case 1:
		w.lab = before[0]
	case 2:
		w.lab, w.host = before[0], before[1]
	default:
		return w, console.BadUsage("lab exec: want NAME, HOST and, after --, a COMMAND", execHint)
	}
	if dash >= 0 && len(w.command) == 0 {
		return w, console.BadUsage("lab exec: want a COMMAND after --", execHint)
	}
	return w, nil
}

// divide takes the host off the front of a command that no -- sets apart.
func (w *labCommand) divide(hosts []string) {
	if w.undivided && slices.Contains(hosts, w.command[0]) {
		w.host, w.command = w.command[0], w.command[1:]
	}
}

// find is the standing lab that is meant; found is false when the command
// names none that stands.
func (w *labCommand) find() (s lab.Standing, found bool, err error) {
	if os.Getenv(guest.EnvGuest) != "" && w.lab != "" {
		return s, false, nil // a lab's kernel has no labs of its own
	}
	if w.lab == "" {
		all, err := lab.List()
		if err != nil {
			return s, false, err
		}
		if len(all) != 1 {
			return s, false, console.BadUsage("lab exec: want the NAME of a lab: "+unit.Counted(len(all), "lab")+" run here", "`linerate lab list` names them, `linerate lab up SCENARIO` starts one")
		}
		w.lab = all[0].Name
	}
	s, err = lab.Find(w.lab)
	switch {
	case errors.Is(err, lab.ErrNoLab), errors.Is(err, lab.ErrLabName):
		return s, false, nil
	case err != nil:
		return s, false, fallen(s.Name, err.Error())
	}
	if why := s.Ruin(); why != "" {
		return s, false, fallen(s.Name, why)
	}
	if !s.Up {
		return s, false, console.WithHint(fmt.Errorf("run in lab %s: %w: it is being started", s.Name, lab.ErrUnstable), "`linerate lab list` says when it is up")
	}
	return s, true, nil
}

func fallen(name, why string) error {
	return console.WithHint(fmt.Errorf("run in lab %s: %w: %s", name, lab.ErrUnstable, why), "linerate lab down "+name+" removes what it left")
}

// execStanding runs the command in a lab that stands.
func execStanding(con *console.Console, s lab.Standing, w labCommand) error {
	space := ""
	if w.host != "" {
		var err error
		if space, err = s.Namespace(w.host); err != nil {
			return console.BadUsage(err.Error(), "")
		}
	}
	in, onTerminal := terminals(con)
	if len(w.command) == 0 {
		if !onTerminal {
			return console.BadUsage("lab exec: want a COMMAND after --", "a shell needs a terminal: "+execHint)
		}
		w.command = ownShell()
	}
	if s.BackEnd == lab.Local {
		return become(space, w.command)
	}
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find working directory: %w", err)
	}
	args := []string{"lab", "enter"}
	if space != "" {
		args = append(args, "--netns", space)
	}
	request := guest.Request{Args: append(append(args, "--"), w.command...), Dir: dir, Terminal: onTerminal, Together: sameFile(console.Bare(con.Stdout), console.Bare(con.Stderr))}
	for _, key := range []string{"TERM", "LANG", "LC_ALL", "COLUMNS"} {
		if value := con.Getenv(key); value != "" {
			request.Env = append(request.Env, key+"="+value)
		}
	}
	code, err := s.Run(request, guest.Streams{In: in, Out: console.Bare(con.Stdout), Err: console.Bare(con.Stderr)})
	if err != nil {
		return err
	}
	if code != 0 {
		return console.StatusError(code)
	}
	return nil
}

// terminals is the input, and whether a person sits at it and at the output.
func terminals(con *console.Console) (io.Reader, bool) {
	in, ok := con.Stdin.(*os.File)
	if !ok {
		return con.Stdin, false
	}
	out, ok := console.Bare(con.Stdout).(*os.File)
	return in, ok && console.Terminal(in) && console.Terminal(out)
}

// sameFile reports output and errors that go to one place, such as a terminal or a
// pipe behind 2>&1: by two ways to there they would lose their order.
func sameFile(a, b io.Writer) bool {
	out, isOut := a.(*os.File)
	errs, isErrs := b.(*os.File)
	if !isOut || !isErrs {
		return false
	}
	to, err := out.Stat()
	too, err2 := errs.Stat()
	return err == nil && err2 == nil && os.SameFile(to, too)
}

// ownShell is what people get who name no command.
func ownShell() []string {
	if path, err := exec.LookPath("bash"); err == nil {
		return []string{path, "--norc"} // the user's own start files are for the user's machine
	}
	return []string{"sh"}
}

// become turns this process into the command, in a namespace or, with "", where
// it is. It returns only on an error.
func become(space string, command []string) error {
	path, err := programAt(command[0])
	if err != nil {
		return fmt.Errorf("run %s: %w", command[0], err)
	}
	err = netns.Named(space).DoWithSysfs(func() error { return syscall.Exec(path, command, os.Environ()) })
	return fmt.Errorf("run %s: %w", command[0], err)
}

// programAt is where a command's program is: linerate is this one, so that what a
// lab was built with is what measures in it.
func programAt(name string) (string, error) {
	if name == "linerate" {
		return os.Executable()
	}
	return exec.LookPath(name)
}

// execOnce builds a network for the time of the command.
func execOnce(ctx context.Context, con *console.Console, place Place, w labCommand) error {
	what, err := Find(ctx, w.lab)
	if err != nil {
		return err
	}
	members, err := what.Blueprint().Members()
	if err != nil {
		return err
	}
	would := lab.Standing{Name: what.name(), Members: members}
	w.divide(would.Hosts())
	if len(w.command) == 0 {
		return console.BadUsage("lab exec: want SCENARIO and a COMMAND after --", "a shell is for a lab that stands: `linerate lab up` makes one")
	}
	command := w.command
	again := append(append([]string{"lab", "exec"}, FlagsAgain(con)...), what.argument)
	if w.host != "" {
		space, err := would.Namespace(w.host)
		if err != nil {
			return console.BadUsage(err.Error(), "")
		}
		command = append([]string{"/proc/self/exe", "lab", "enter", "--netns", space, "--"}, command...)
		again = append(again, w.host)
	}
	again = append(append(again, "--"), w.command...)
	in := guest.Command{Args: again, Files: append(what.files(), filesOf(w.command)...)}
	return Inside(ctx, con, what.place(place), in, func(lab.Choice) error {
		return With(ctx, what.Blueprint(), func() error { return execute(ctx, con, command) })
	})
}

func execute(ctx context.Context, con *console.Console, args []string) error {
	program, err := programAt(args[0])
	if err != nil {
		return fmt.Errorf("run %s: %w", args[0], err)
	}
	c := exec.CommandContext(ctx, program, args[1:]...)
	c.Stdin, c.Stdout, c.Stderr = con.Stdin, console.Bare(con.Stdout), console.Bare(con.Stderr)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	err = c.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() > 0 {
		return console.StatusError(exit.ExitCode())
	}
	if err != nil {
		return fmt.Errorf("run %s: %w", args[0], err)
	}
	return nil
}

// newEnter runs a command on a lab's host. It is not for people: lab exec
// runs it where the host is.
func newEnter() *cobra.Command {
	var space string
	c := &cobra.Command{
		Use: "enter [--netns NAME] -- COMMAND [ARG...]", Hidden: true, Args: cobra.MinimumNArgs(1), Short: "become a command on a lab's host",
		RunE: func(_ *cobra.Command, args []string) error { return become(space, args) },
	}
	c.Flags().StringVar(&space, "netns", "", "network namespace")
	return c
}
