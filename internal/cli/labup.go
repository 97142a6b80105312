package cli

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/lab"
)

func newLabUp(app *App) *cobra.Command {
	var place labPlace
	var name string
	var out output
	c := &cobra.Command{
		Use: "up SCENARIO|FILE.yaml", Short: "build a scenario and leave it standing", Args: exactly(1, "one SCENARIO (`linerate lab list` names them) or a FILE.yaml"),
		Long: `Builds a scenario, or the network of a fabric file as lab run does, and leaves
it standing, to play in: lab exec runs commands and shells on its hosts, lab
down ends it. A file's rates and windows are divided by its scale, and its steps
are not carried out. Several stand side by side under names of
their own, each with its own namespaces or its own kernel; a name in use is
refused. What a lab left that was killed, or that a reboot ended, is removed
when its name is used again.

The running kernel is used where it can be (root); User-Mode Linux needs no
privilege, and your labs are yours alone.

` + exitHelp,
		Example: `  linerate lab up two-links
  linerate lab exec two-links alpha -- ping -c 3 10.0.0.2
  linerate lab exec two-links beta            # a shell
  linerate lab down two-links
  linerate lab up my-network.yaml --name play`,
		RunE: func(cmd *cobra.Command, args []string) error {
			what, err := findLab(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if name == "" {
				name = what.name()
			}
			if err := lab.CheckName(name); err != nil {
				return usage(err.Error(), "--name gives it another name")
			}
			if out.path != "" && what.file != nil {
				return usage("lab up: -o writes the fabric of a network of the lab's own", args[0]+" is a fabric file as it is: leave -o out")
			}
			if err := out.check("lab up -o", aFabricFile); err != nil {
				return err
			}
			choice, err := what.place(place).choose()
			if err != nil {
				return err
			}
			if choice.BackEnd == lab.QEMU {
				return usage("lab up: no lab stands on an emulated kernel", "back ends host and uml can; `linerate lab exec "+args[0]+" --kernel ... -- COMMAND` runs one command on it")
			}
			return app.labUp(cmd.Context(), what, choice, name, out)
		},
	}
	place.addFlags(c)
	c.Flags().StringVar(&name, "name", "", "what to call it (without: the scenario's name)")
	out.add(c, "also write the lab's fabric to this file")
	return c
}

func (a *App) labUp(ctx context.Context, what labNetwork, choice lab.Choice, name string, out output) error {
	p := newProgress(a)
	p.stage("starting lab %s (%s: %s)", name, choice.BackEnd, choice.Why)
	stands, err := lab.StandUp(ctx, choice, name, what.name(), what.blueprint(), func(word string) { p.say("%s", word) })
	if errors.Is(err, lab.ErrStands) {
		return withHint(err, "--name gives the new one another name; linerate lab down "+name+" ends the old one")
	}
	if err != nil {
		return err
	}
	if out.path != "" {
		net := what.built.Net
		net.Lab = name
		if err := writeFile(ctx, out.path, []byte(net.Fabric(what.built.Streams, what.built.Ports))); err != nil {
			return withHint(err, "the lab stands; linerate lab down "+name+" ends it")
		}
	}
	if a.json {
		return a.printJSON(standingRows([]lab.Standing{stands})[0])
	}
	fmt.Fprintf(a.Stdout, "lab %s is up (%s, kernel %s)\n", name, stands.BackEnd, stands.Release)
	for _, h := range standingHosts(stands) {
		fmt.Fprintf(a.Stdout, "  %-8s namespace %s  %s\n", h.Host, h.Namespace, prefixes(h.Addresses))
	}
	first := stands.Hosts()[0]
	fmt.Fprintf(a.Stdout, "a shell     linerate lab exec %s %s\n", name, first)
	fmt.Fprintf(a.Stdout, "a command   linerate lab exec %s %s -- ip address\n", name, first)
	fmt.Fprintf(a.Stdout, "the end     linerate lab down %s\n", name)
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

func (a *App) printStanding(labs []lab.Standing) {
	if len(labs) > 0 {
		fmt.Fprintln(a.Stdout, "\nlabs:")
	}
	for _, s := range labs {
		fmt.Fprintf(a.Stdout, "%-16s %s of %s on %s\n", s.Name, s.Condition(), s.Scenario, s.BackEnd)
	}
}

func newLabDown(app *App) *cobra.Command {
	return &cobra.Command{
		Use: "down NAME|all", Short: "end a lab that stands", Args: exactly(1, "the NAME of a lab, or all"),
		Long: `Ends a lab that lab up left standing, and what runs in it: processes, kernel,
namespaces, files. It also removes what is left of one that was killed, or that
a reboot ended. With all: every lab of yours.

` + exitHelp,
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
					why = " (it had fallen: " + oneLine(why) + ")"
				}
				if !app.json {
					fmt.Fprintf(app.Stdout, "lab %s is down%s\n", name, why)
				}
			}
			if err := errors.Join(errs...); err != nil {
				if errors.Is(err, lab.ErrNoLab) {
					return usage(err.Error(), "`linerate lab list` names those that stand")
				}
				return err
			}
			if app.json {
				return app.printJSON(map[string]any{"ended": ended})
			}
			return nil
		},
	}
}

func labsToEnd(word string) ([]string, error) {
	if word != "all" {
		if err := lab.CheckName(word); err != nil {
			return nil, usage(err.Error(), "`linerate lab list` names those that stand")
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

// newLabKeep is the process that holds the line to a standing lab's kernel. It
// is not for people: lab up starts it.
func newLabKeep() *cobra.Command {
	return &cobra.Command{
		Use: "keep NAME ID", Hidden: true, Args: cobra.ExactArgs(2), Short: "keep a lab standing",
		RunE: func(cmd *cobra.Command, args []string) error { return lab.Keep(cmd.Context(), args[0], args[1]) },
	}
}

// newLabStand is the command of a standing lab's kernel. It is not for people:
// the keeper gives it to the kernel.
func newLabStand(app *App) *cobra.Command {
	return &cobra.Command{
		Use: "stand BLUEPRINT", Hidden: true, Args: cobra.ExactArgs(1), Short: "build a blueprint and hold it",
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := lab.DecodeBlueprint(args[0])
			if err != nil {
				return err
			}
			return lab.Stand(cmd.Context(), b, app.Stdout)
		},
	}
}
