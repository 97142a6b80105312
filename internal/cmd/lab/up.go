package lab

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/internal/lab"
)

func newUp(con *console.Console) *cobra.Command {
	var place Place
	var name string
	var out console.Output
	c := &cobra.Command{
		Use: "up SCENARIO|FILE.yaml", Short: "build a scenario and leave it standing", Args: console.Exactly(1, "one SCENARIO (`linerate lab list` names them) or a FILE.yaml"),
		Long: `Builds a scenario, or the network of a fabric file as lab run does, and leaves
it standing, to play in: lab exec runs commands and shells on its hosts, lab
down ends it. A file's rates and windows are divided by its scale, and its steps
are not carried out. Several stand side by side under names of
their own, each with its own namespaces or its own kernel; a name in use is
refused. What a lab left that was killed, or that a reboot ended, is removed
when its name is used again.

The running kernel is used where it can be (root); User-Mode Linux needs no
privilege, and your labs are yours alone.

` + console.ExitHelp,
		Example: `  linerate lab up two-links
  linerate lab exec two-links alpha -- ping -c 3 10.0.0.2
  linerate lab exec two-links beta            # a shell
  linerate lab down two-links
  linerate lab up my-network.yaml --name play`,
		RunE: func(cmd *cobra.Command, args []string) error {
			what, err := Find(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if name == "" {
				name = what.name()
			}
			if err := lab.CheckName(name); err != nil {
				return console.BadUsage(err.Error(), "--name gives it another name")
			}
			if out.Path != "" && what.file != nil {
				return console.BadUsage("lab up: -o writes the fabric of a network of the lab's own", args[0]+" is a fabric file as it is: leave -o out")
			}
			if err := out.Check("lab up -o", console.FabricFile); err != nil {
				return err
			}
			choice, err := what.place(place).choose()
			if err != nil {
				return err
			}
			if choice.BackEnd == lab.QEMU {
				return console.BadUsage("lab up: no lab stands on an emulated kernel", "back ends host and uml can; `linerate lab exec "+args[0]+" --kernel ... -- COMMAND` runs one command on it")
			}
			return labUp(cmd.Context(), con, what, choice, name, out)
		},
	}
	place.AddFlags(c)
	c.Flags().StringVar(&name, "name", "", "what to call it (without: the scenario's name)")
	out.Add(c, "also write the lab's fabric to this file", "yaml", "yml")
	return c
}

func labUp(ctx context.Context, con *console.Console, what labNetwork, choice lab.Choice, name string, out console.Output) error {
	p := progress.New(con)
	p.Stage("starting lab %s (%s: %s)", name, choice.BackEnd, choice.Why)
	stands, err := lab.StandUp(ctx, choice, name, what.name(), what.Blueprint(), func(word string) { p.Say("%s", word) })
	if errors.Is(err, lab.ErrStands) {
		return console.WithHint(err, "--name gives the new one another name; linerate lab down "+name+" ends the old one")
	}
	if err != nil {
		return err
	}
	if out.Path != "" {
		net := what.Built.Net
		net.Lab = name
		if err := console.WriteFile(ctx, out.Path, []byte(net.Fabric(what.Built.Streams, what.Built.Ports))); err != nil {
			return console.WithHint(err, "the lab stands; linerate lab down "+name+" ends it")
		}
	}
	if con.JSON {
		return upDocument.Print(con, standingRows([]lab.Standing{stands})[0])
	}
	fmt.Fprintf(con.Stdout, "lab %s is up (%s, kernel %s)\n", name, stands.BackEnd, stands.Release)
	for _, h := range standingHosts(stands) {
		fmt.Fprintf(con.Stdout, "  %-8s namespace %s  %s\n", h.Host, h.Namespace, prefixes(h.Addresses))
	}
	first := stands.Hosts()[0]
	fmt.Fprintf(con.Stdout, "a shell     linerate lab exec %s %s\n", name, first)
	fmt.Fprintf(con.Stdout, "a command   linerate lab exec %s %s -- ip address\n", name, first)
	fmt.Fprintf(con.Stdout, "the end     linerate lab down %s\n", name)
	return nil
}

// standingRow is a lab that stands, in JSON.
type standingRow struct {
	Name      string         `json:"name"`
	Scenario  string         `json:"scenario"`
	BackEnd   lab.BackEnd    `json:"back_end"`
	Kernel    string         `json:"kernel"`
	Condition string         `json:"condition"`
	Began     time.Time      `json:"began"`
	Hosts     []standingHost `json:"hosts"`
}

type standingHost struct {
	Host      string         `json:"host"`
	Namespace string         `json:"namespace"`
	Addresses []netip.Prefix `json:"addresses"`
}

func standingRows(labs []lab.Standing) []standingRow {
	rows := []standingRow{}
	for _, s := range labs {
		rows = append(rows, standingRow{s.Name, s.Scenario, s.BackEnd, s.Release, s.Condition(), s.Began, standingHosts(s)})
	}
	return rows
}

func standingHosts(s lab.Standing) []standingHost {
	hosts := []standingHost{}
	for _, m := range s.Members {
		hosts = append(hosts, standingHost{m.Host, m.Namespace, listed(m.Addresses)})
	}
	return hosts
}

// prefixes are addresses on one line: the first of many.
func prefixes(all []netip.Prefix) string {
	const most = 3
	var words []string
	for _, p := range all[:min(len(all), most)] {
		words = append(words, p.String())
	}
	if more := len(all) - most; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, ", ")
}

func printStanding(con *console.Console, labs []lab.Standing) {
	if len(labs) > 0 {
		fmt.Fprintln(con.Stdout, "\nlabs:")
	}
	for _, s := range labs {
		fmt.Fprintf(con.Stdout, "%-16s %s of %s on %s\n", s.Name, s.Condition(), s.Scenario, s.BackEnd)
	}
}

func newDown(con *console.Console) *cobra.Command {
	return &cobra.Command{
		Use: "down NAME|all", Short: "end a lab that stands", Args: console.Exactly(1, "the NAME of a lab, or all"),
		Long: `Ends a lab that lab up left standing, and what runs in it: processes, kernel,
namespaces, files. It also removes what is left of one that was killed, or that
a reboot ended. With all: every lab of yours.

` + console.ExitHelp,
		Example: "  linerate lab down two-links\n  linerate lab down all",
		RunE: func(cmd *cobra.Command, args []string) error {
			names, err := labsToEnd(args[0])
			if err != nil {
				return err
			}
			ended := []string{}
			var errs []error
			for _, name := range names {
				found, err := lab.Find(name)
				why := found.Ruin()
				if err != nil {
					why = err.Error()
				}
				if err := lab.TakeDown(cmd.Context(), name); errors.Is(err, lab.ErrNoLab) && args[0] == "all" {
					continue // somebody else ended it
				} else if err != nil {
					errs = append(errs, err)
					continue
				}
				ended = append(ended, name)
				if why != "" {
					why = " (it had fallen: " + console.OneLine(why) + ")"
				}
				if !con.JSON {
					fmt.Fprintf(con.Stdout, "lab %s is down%s\n", name, why)
				}
			}
			if err := errors.Join(errs...); err != nil {
				if errors.Is(err, lab.ErrNoLab) {
					return console.BadUsage(err.Error(), "`linerate lab list` names those that stand")
				}
				return err
			}
			if con.JSON {
				return downDocument.Print(con, endedLabs{ended})
			}
			return nil
		},
	}
}

func labsToEnd(word string) ([]string, error) {
	if word != "all" {
		if err := lab.CheckName(word); err != nil {
			return nil, console.BadUsage(err.Error(), "`linerate lab list` names those that stand")
		}
		return []string{word}, nil
	}
	all, err := lab.List()
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	return names, err
}

// newKeep is the process that holds the line to a standing lab's kernel. It
// is not for people: lab up starts it.
func newKeep() *cobra.Command {
	return &cobra.Command{
		Use: "keep NAME ID", Hidden: true, Args: cobra.ExactArgs(2), Short: "keep a lab standing",
		RunE: func(cmd *cobra.Command, args []string) error { return lab.Keep(cmd.Context(), args[0], args[1]) },
	}
}

// newStand is the command of a standing lab's kernel. It is not for people:
// the keeper gives it to the kernel.
func newStand(con *console.Console) *cobra.Command {
	return &cobra.Command{
		Use: "stand BLUEPRINT", Hidden: true, Args: cobra.ExactArgs(1), Short: "build a lab and keep it running",
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := lab.DecodeBlueprint(args[0])
			if err != nil {
				return err
			}
			return lab.Stand(cmd.Context(), b, con.Stdout)
		},
	}
}
