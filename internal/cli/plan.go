package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
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
	c.Flags().StringVar(&f.persist, "persist", change.PersistAuto, "files that keep it over a reboot: auto, always (also what holds already), none, netplan, networkd, nmkeyfile or ifcfg")
	c.Flags().BoolVar(&f.despiteOwner, "despite-owner", false, "also change links that another program manages and would set back")
	c.Flags().StringVar(&f.journal, "journal", "", "journal directory on hosts of this machine")
}

// config is the flags as package change wants them.
func (f *changeFlags) config(ctx context.Context, app *App, path string) (change.Config, error) {
	cfg := change.Config{Only: f.hosts, Exact: f.exact, Persist: f.persist, DespiteOwner: f.despiteOwner, Fleet: app.fleet(f.journal)}
	formats := []string{change.PersistAuto, change.PersistAlways, change.PersistNone, string(render.FormatNetplan), string(render.FormatNetworkd), string(render.FormatKeyfile), string(render.FormatIfcfg)}
	if !slices.Contains(formats, f.persist) {
		return cfg, usage("--persist: unknown word "+f.persist, orMeant(f.persist, formats, "", "want one of "+strings.Join(formats, ", ")))
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
				return cfg, usage("--profiles: unknown profile "+name, orMeant(name, known, "", "profiles are "+strings.Join(known, ", ")+", or none"))
			}
		}
	}
	file, err := readFabric(ctx, path)
	if err != nil {
		return cfg, err
	}
	cfg.Fabric = file
	for _, name := range f.hosts {
		if _, err := chosenHost("--host", file, name); err != nil {
			return cfg, err
		}
	}
	return cfg, nil
}

func newPlan(app *App) *cobra.Command {
	var flags changeFlags
	c := &cobra.Command{
		Use: "plan FABRIC", Short: "what would change on the hosts, step by step; changes nothing", Args: exactly(1, "one FABRIC file"),
		Long: `Looks at every host that the file says how to reach and shows the steps from
what it is to what the file wants: what each does, what traffic feels of it,
who wants it and why, and the command that would do the same. Addresses,
routes and rules that the file does not name stay, unless --exact; what is
left as it is, is named. What no file can say stays also with --exact. Nothing
is changed.

` + exitHelp,
		Example: "  linerate plan fabric.yaml\n  linerate plan fabric.yaml --host rbx --profiles none --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := flags.config(cmd.Context(), app, args[0])
			if err != nil {
				return err
			}
			c, err := app.openChange(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			defer c.Close()
			if app.json {
				return app.printJSON(map[string]any{"plans": plannedHosts(c)})
			}
			app.printPlans(c)
			return nil
		},
	}
	flags.add(c)
	return c
}

// openChange plans, and says in its errors what to do about them.
func (a *App) openChange(ctx context.Context, cfg change.Config) (*change.Change, error) {
	c, err := change.Open(ctx, cfg)
	var owner *change.OwnerError
	var refused *plan.RuleError
	switch {
	case err == nil:
		return c, nil
	case errors.Is(err, change.ErrNoHosts):
		return nil, usage(err.Error(), "add `reach: ssh://root@HOST` (or local:, netns:NAME), or write files: `linerate render`")
	case errors.Is(err, change.ErrNoFiles):
		return nil, usage(err.Error(), "leave out --persist: what changes there lasts until the namespace goes")
	case errors.As(err, &owner):
		return nil, usage(err.Error(), "--persist writes its files and hands the change over; `linerate render` writes them for you")
	case errors.As(err, &refused):
		return nil, usage(err.Error(), "nothing was changed")
	}
	return nil, withHint(err, heldHint(err))
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
			Host: h.Name, Disruption: string(h.Plan.Worst()), Steps: orEmpty(h.Plan.Steps), Files: orEmpty(h.Plan.Files),
			Left: orEmpty(h.Plan.Left), Warnings: orEmpty(h.Warnings), Persist: string(h.Persist),
		})
	}
	return out
}

// orEmpty is a list that JSON prints as [] where there is none.
func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func (a *App) printPlans(c *change.Change) {
	for i, h := range c.Hosts() {
		if i > 0 {
			fmt.Fprintln(a.Stdout)
		}
		fmt.Fprint(a.Stdout, h.Plan.Text())
		if len(h.Plan.Steps) > 0 && len(h.Plan.Files) == 0 && h.PersistWhy != "" {
			fmt.Fprint(a.Stdout, outdented("not kept over a reboot: ", h.PersistWhy, a.width()))
		}
		if h.Pending != "" {
			fmt.Fprint(a.Stdout, outdented("in the way: ", h.Pending+" is neither confirmed nor rolled back yet", a.width()))
		}
		for _, w := range h.Warnings {
			fmt.Fprint(a.Stdout, outdented("note: ", w, a.width()))
		}
	}
}
