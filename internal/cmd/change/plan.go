// Package change is plan, apply, confirm, rollback and journal: changes of hosts, and
// the guard that takes back what nobody confirms.
package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/internal/run/change"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/render"
)

// changeFlags are what plan and apply share.
type changeFlags struct {
	hosts        []string
	exact        bool
	profiles     string
	persist      string
	despiteOwner bool
	journal      string
}

func (f *changeFlags) add(c *cobra.Command) {
	c.Flags().StringSliceVar(&f.hosts, "host", nil, "only these hosts of the file (repeat, or with commas)")
	c.Flags().BoolVar(&f.exact, "exact", false, "also remove addresses, routes and rules that the file does not name")
	c.Flags().StringVar(&f.profiles, "profiles", "", "sets of sysctls instead of those in the file, with commas, or none")
	c.Flags().StringVar(&f.persist, "persist", change.PersistAuto, "files that keep it over a reboot: auto, always (also what is active already), none, netplan, networkd, nmkeyfile, ifcfg or ifupdown")
	c.Flags().BoolVar(&f.despiteOwner, "despite-owner", false, "also change links that another program manages and would set back")
	c.Flags().StringVar(&f.journal, "journal", "", "journal directory on hosts of this machine")
}

// persistFormats are those whose files --persist writes.
func persistFormats() []render.Format {
	return []render.Format{render.FormatNetplan, render.FormatNetworkd, render.FormatKeyfile, render.FormatIfcfg, render.FormatIfupdown}
}

// config is the flags as package change wants them.
func (f *changeFlags) config(ctx context.Context, con *console.Console, path string) (change.Config, error) {
	cfg := change.Config{Only: f.hosts, Exact: f.exact, Persist: f.persist, DespiteOwner: f.despiteOwner, Fleet: con.Fleet(f.journal)}
	formats := []string{change.PersistAuto, change.PersistAlways, change.PersistNone}
	for _, f := range persistFormats() {
		formats = append(formats, string(f))
	}
	if !slices.Contains(formats, f.persist) {
		return cfg, console.BadUsage("--persist: unknown word "+f.persist, console.OrMeant(f.persist, formats, "", "want one of "+strings.Join(formats, ", ")))
	}
	switch f.profiles {
	case "":
	case "none":
		cfg.Profiles = []string{}
	default:
		cfg.Profiles = strings.Split(f.profiles, ",")
		known := fabric.ProfileNames()
		for _, name := range cfg.Profiles {
			if !slices.Contains(known, name) {
				return cfg, console.BadUsage("--profiles: unknown profile "+name, console.OrMeant(name, known, "", "profiles are "+strings.Join(known, ", ")+", or none"))
			}
		}
	}
	file, err := console.ReadFabric(ctx, path)
	if err != nil {
		return cfg, err
	}
	cfg.Fabric = file
	for _, name := range f.hosts {
		if _, err := console.ChosenHost("--host", file, name); err != nil {
			return cfg, err
		}
	}
	return cfg, otherSystems(con, file, f.hosts)
}

// otherSystems refuses a host that does not run Linux where it is named, or where the
// file has no other; beside hosts that do, it is left out with a note.
func otherSystems(con *console.Console, file fabric.Fabric, only []string) error {
	var others []fabric.Host
	linux := false
	for _, h := range file.Hosts {
		switch foreign := bondopt.Foreign(h.System); {
		case foreign && slices.Contains(only, h.Name):
			return console.OtherSystem(file, h)
		case foreign && only == nil:
			others = append(others, h)
		default:
			linux = linux || h.Reach != ""
		}
	}
	if !linux && len(others) > 0 {
		return console.OtherSystem(file, others[0])
	}
	for _, h := range others {
		if !con.Quiet {
			note := fmt.Sprintf("host %s runs %s and is left out, for linerate changes Linux hosts only; %s", h.Name, bondopt.SystemTitle(h.System), console.NotChanged(file, h))
			fmt.Fprint(con.Stderr, console.Wrapped("note: ", note, con.Width()))
		}
	}
	return nil
}

// NewPlan is `linerate plan`.
func NewPlan(con *console.Console) *cobra.Command {
	var flags changeFlags
	c := &cobra.Command{
		Use: "plan FABRIC", Short: "what would change on the hosts, step by step; changes nothing", Args: console.Exactly(1, "one FABRIC file"),
		Long: `Reads every host that the file says how to reach and shows the steps from
what it is to what the file wants: what each does, what traffic feels of it,
who wants it and why, and the command that would do the same. Addresses,
routes and rules that the file does not name stay, unless --exact; what is
left as it is, is named. What no file can represent stays also with --exact.
Nothing is changed.

` + console.ExitHelp,
		Example: "  linerate plan fabric.yaml\n  linerate plan fabric.yaml --host rbx --profiles none --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := flags.config(cmd.Context(), con, args[0])
			if err != nil {
				return err
			}
			c, err := openChange(cmd.Context(), con, cfg)
			if err != nil {
				return err
			}
			defer c.Close()
			if con.JSON {
				return planDocument.Print(con, plannedChanges{plannedHosts(c)})
			}
			printPlans(con, c)
			return nil
		},
	}
	flags.add(c)
	return c
}

// openChange plans, and says in its errors what to do about them.
func openChange(ctx context.Context, con *console.Console, cfg change.Config) (*change.Change, error) {
	c, err := change.Open(ctx, cfg)
	var owner *change.OwnerError
	var refused *plan.RuleError
	switch {
	case err == nil:
		return c, nil
	case errors.Is(err, change.ErrNoHosts):
		return nil, console.BadUsage(err.Error(), "add `reach: ssh://root@HOST` (or local:, netns:NAME), or write files: `linerate render`")
	case errors.Is(err, change.ErrNoFiles):
		return nil, console.BadUsage(err.Error(), "leave out --persist: what changes there lasts until the namespace goes")
	case errors.As(err, &owner):
		return nil, console.BadUsage(err.Error(), "--persist writes its files and hands the change over; `linerate render` writes them for you")
	case errors.As(err, &refused):
		return nil, console.BadUsage(err.Error(), "nothing was changed")
	}
	return nil, console.WithHint(err, progress.InUseHint(err))
}

// plannedHost is one host of `plan --json`.
type plannedHost struct {
	Host       string      `json:"host"`
	Disruption string      `json:"disruption"`
	Steps      []plan.Step `json:"steps"`
	Files      []plan.File `json:"files"`
	Left       []string    `json:"left"`
	Warnings   []string    `json:"warnings"`
	Persist    string      `json:"persist"`
}

func plannedHosts(c *change.Change) []plannedHost {
	out := []plannedHost{}
	for _, h := range c.Hosts() {
		out = append(out, plannedHost{
			Host: h.Name, Disruption: string(h.Plan.Worst()), Steps: console.OrEmpty(h.Plan.Steps), Files: console.OrEmpty(h.Plan.Files),
			Left: console.OrEmpty(h.Plan.Left), Warnings: console.OrEmpty(h.Warnings), Persist: string(h.Persist),
		})
	}
	return out
}

func printPlans(con *console.Console, c *change.Change) {
	for i, h := range c.Hosts() {
		if i > 0 {
			fmt.Fprintln(con.Stdout)
		}
		fmt.Fprint(con.Stdout, h.Plan.Text(con.Width()))
		if len(h.Plan.Steps) > 0 && len(h.Plan.Files) == 0 && h.PersistWhy != "" {
			fmt.Fprint(con.Stdout, console.Outdented("not kept over a reboot: ", h.PersistWhy, con.Width()))
		}
		if h.Pending != nil {
			fmt.Fprint(con.Stdout, console.Outdented("in the way: ", "an earlier change: "+console.OneLine(h.Pending.Waiting()), con.Width()))
		}
		for _, w := range h.Warnings {
			fmt.Fprint(con.Stdout, console.Outdented("note: ", w, con.Width()))
		}
	}
}
