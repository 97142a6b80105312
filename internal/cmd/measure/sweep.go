package measure

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// sweepFlags make measure compare the values of one setting.
type sweepFlags struct {
	setting, aliases, subnet, journal string
	repeats                           int
	yes, dryRun                       bool

	sweep  campaign.Sweep
	counts []int
	within netip.Prefix
}

func (f *sweepFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.setting, "sweep", "", "SETTING=VALUE,VALUE...: measure each value by turns and compare;\nof "+strings.Join(settingNames(), ", ")+" (default: one stream, forward)")
	c.Flags().IntVar(&f.repeats, "repeats", 3, "how often a sweep measures each value")
	c.Flags().StringVar(&f.aliases, "aliases", "", "counts such as 1,2,64,254: one stream from each of so many addresses,\nadded to the sender for it; what clients claim beside what arrives")
	c.Flags().StringVar(&f.subnet, "alias-subnet", "", "where those addresses are taken from (default: the interface's own)")
	c.Flags().BoolVar(&f.yes, "yes", false, "change the hosts for --aliases or --sweep mtu without asking")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what --aliases or --sweep mtu would change, and end")
	c.Flags().StringVar(&f.journal, "journal", "", "journal directory for those changes (default "+apply.DefaultDir+")")
}

// any reports whether something is swept.
func (f *sweepFlags) any() bool { return f.setting != "" || f.aliases != "" }

// changes reports whether hosts are changed.
func (f *sweepFlags) changes() bool { return f.aliases != "" || f.sweep.Setting == mtuSetting }

// over checks the flags and lays them over a matrix whose stream counts and
// directions were given or not.
func (f *sweepFlags) over(con *console.Console, m *campaign.Matrix, given func(flag string) bool) error {
	if !f.any() {
		for _, name := range []string{"repeats", "alias-subnet", "yes", "dry-run"} {
			if given(name) {
				return console.BadUsage("--"+name+": there is nothing to sweep", "it goes with --sweep SETTING=VALUE,VALUE or --aliases 1,2,64")
			}
		}
		return nil
	}
	if !given("streams") {
		m.Streams = []int{1}
	}
	if !given("directions") {
		m.Directions = []flow.Direction{flow.Forward}
	}
	err := f.parseSweep()
	if f.aliases != "" {
		err = errors.Join(err, f.parseAliases(m, given))
	}
	switch {
	case err != nil:
		return err
	case f.setting != "" && f.aliases != "":
		return console.BadUsage("measure: want --sweep or --aliases, not both", "")
	case f.aliases == "" && f.subnet != "":
		return console.BadUsage("--alias-subnet: goes with --aliases", "")
	case f.changes() && !f.yes && !f.dryRun && !con.CanAsk:
		return console.BadUsage("measure: standard input is not a terminal, and hosts would be changed: use --yes", "add --yes to change them for the time of the run, or --dry-run to see what would be done")
	case !f.changes() && f.dryRun:
		return console.BadUsage("--dry-run: this sweep changes no host", "leave it out")
	}
	return nil
}

// parseAliases reads --aliases and --alias-subnet.
func (f *sweepFlags) parseAliases(m *campaign.Matrix, given func(string) bool) error {
	wrong := func() error {
		return console.BadUsage(fmt.Sprintf("--aliases: want counts from 1 to %d, such as 1,2,64,254, not %s", campaign.MostAliases, f.aliases), "")
	}
	for _, s := range strings.Split(f.aliases, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < 1 || n > campaign.MostAliases {
			return wrong()
		}
		if !slices.Contains(f.counts, n) {
			f.counts = append(f.counts, n)
		}
	}
	if given("streams") {
		return console.BadUsage("--aliases: sends one stream from each address", "leave --streams out")
	}
	if len(m.Directions) != 1 || m.Directions[0] == flow.Both {
		return console.BadUsage("--aliases: want --directions forward or reverse, one of them", "")
	}
	if f.subnet == "" {
		return nil
	}
	p, err := netip.ParsePrefix(f.subnet)
	if err != nil {
		return console.BadUsage("--alias-subnet: want a subnet such as 10.9.0.0/23, not "+f.subnet, "")
	}
	f.within = p.Masked()
	return nil
}

// run carries the sweep out.
func (f *sweepFlags) run(ctx context.Context, con *console.Console, c *campaign.Campaign, m campaign.Matrix) error {
	var err error
	if f.aliases != "" {
		err = c.AliasSweep(ctx, m, campaign.Aliases{Counts: f.counts, Subnet: f.within, Direction: m.Directions[0], Approve: f.approve(ctx, con, "add addresses for the time of this run")})
	} else {
		ask := f.approve(ctx, con, "change MTUs for the time of this run, by turns")
		f.sweep.Approve = func(plans []plan.Plan) (bool, error) { return ask(plans, mtuNotes(plans)) }
		err = c.Sweep(ctx, m, f.sweep)
	}
	switch {
	case errors.Is(err, errShown):
		return nil
	case errors.Is(err, campaign.ErrNoAddresses):
		return console.WithHint(&console.UsageError{What: "--aliases: " + err.Error()}, "--alias-subnet 10.9.0.0/23 names a subnet with room, that nobody else uses")
	case errors.Is(err, campaign.ErrRouted):
		return console.WithHint(&console.UsageError{What: "--aliases: " + err.Error()}, "--alias-subnet must name a subnet on the link of the sender, or one to which it has no route")
	}
	return err
}

// mtuNotes say what becomes of a sweep's changes.
func mtuNotes(plans []plan.Plan) []string {
	if len(plans) == 0 {
		return nil
	}
	return []string{"Each MTU stands while it is measured. At the end, and when the run fails or is interrupted, the hosts are rolled back to the MTUs they have now."}
}

// errShown ends a dry run: the plan was shown.
var errShown = errors.New("shown")

// approve shows what would be done, always, and asks unless told not to.
func (f *sweepFlags) approve(ctx context.Context, con *console.Console, what string) func([]plan.Plan, []string) (bool, error) {
	return func(plans []plan.Plan, notes []string) (bool, error) {
		if f.dryRun && con.JSON {
			if err := sweepDocument.Print(con, sweepPlans{plans}); err != nil {
				return false, err
			}
			return false, errShown
		}
		out := con.Stderr
		if f.dryRun {
			out = con.Stdout
		}
		for _, p := range plans {
			fmt.Fprint(out, foldedPlan(p, con.Width()))
		}
		for _, n := range notes {
			fmt.Fprint(out, console.Wrapped("", n, con.Width()))
		}
		switch {
		case f.dryRun:
			return false, errShown
		case f.yes:
			return true, nil
		}
		return con.Approver(ctx, false)(record.Step{Change: what}, nil)
	}
}

// foldedPlan is a plan's text; of very many steps that are alike the first and
// the last.
func foldedPlan(p plan.Plan, width int) string {
	const most, head = 8, 2
	if len(p.Steps) <= most {
		return p.Text(width)
	}
	alike := func(s plan.Step) bool { return s.Kind == p.Steps[0].Kind && s.Link == p.Steps[0].Link }
	if slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return !alike(s) }) {
		return p.Text(width)
	}
	lines := strings.Split(strings.TrimSuffix(p.Text(width), "\n"), "\n")
	each := (len(lines) - 1) / len(p.Steps)
	shown := slices.Clone(lines[:1+head*each])
	shown = append(shown, fmt.Sprintf("  ... and %d more like these, the last:", len(p.Steps)-head))
	return strings.Join(append(shown, lines[len(lines)-each:]...), "\n") + "\n"
}

// mtuSetting is the one setting of a sweep that changes hosts.
const mtuSetting = "mtu"

// setting is something that --sweep sweeps.
type setting struct {
	name, example string
	// variant makes the variant of a value; an error says what is wanted.
	variant func(value string) (campaign.Variant, error)
}

// settings is the one table of what --sweep knows.
var settings = [...]setting{
	{"mss", "536,1448,8948", func(v string) (campaign.Variant, error) {
		n, err := whole(v, 88, 32767, "bytes") // TCP_MIN_MSS, MAX_TCP_WINDOW
		return campaign.Variant{Lay: func(s *measure.Spec) { s.Socket.MSS = n }}, err
	}},
	{"no-delay", "off,on", func(v string) (campaign.Variant, error) {
		if v != "on" && v != "off" {
			return campaign.Variant{}, fmt.Errorf("want off or on, not %s", v)
		}
		return campaign.Variant{Lay: func(s *measure.Spec) { s.Socket.NoDelay = v == "on" }}, nil
	}},
	{"socket-buffer", "default,1Mi,8Mi", func(v string) (campaign.Variant, error) {
		var size unit.Bytes
		if v != "default" {
			var err error
			if size, err = unit.ParseBytes(v); err != nil || size < 4096 || size > 1<<30 {
				return campaign.Variant{}, fmt.Errorf("want default or a size from 4Ki to 1Gi, such as 8Mi, not %s", v)
			}
		}
		return campaign.Variant{Lay: func(s *measure.Spec) { s.Socket.SndBuf, s.Socket.RcvBuf = size, size }}, nil
	}},
	{"congestion", "cubic,bbr", func(v string) (campaign.Variant, error) {
		if strings.ContainsFunc(v, func(r rune) bool { return r != '_' && r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
			return campaign.Variant{}, fmt.Errorf("want the kernel's name of a congestion control, not %s", v)
		}
		return campaign.Variant{Lay: func(s *measure.Spec) { s.Socket.Congestion = v }}, nil
	}},
	{campaign.StreamsSetting, "1,2,4,8", func(v string) (campaign.Variant, error) {
		n, err := whole(v, 1, 1024, "streams")
		return campaign.Variant{Lay: func(s *measure.Spec) { s.Streams = n }}, err
	}},
	{mtuSetting, "1500,9000", func(v string) (campaign.Variant, error) {
		n, err := whole(v, 68, 65535, "bytes")
		return campaign.Variant{MTU: n}, err
	}},
}

func settingNames() []string {
	var names []string
	for _, s := range settings {
		names = append(names, s.name)
	}
	return names
}

func whole(s string, least, most int, what string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("want %d to %d %s, not %s", least, most, what, s)
	}
	return n, nil
}

const mostRepeats = 50

// parseSweep reads --sweep and --repeats.
func (f *sweepFlags) parseSweep() error {
	if f.repeats < 1 || f.repeats > mostRepeats {
		return console.BadUsage(fmt.Sprintf("--repeats: want 1 to %d, not %d", mostRepeats, f.repeats), "")
	}
	if f.setting == "" {
		return nil
	}
	name, values, ok := strings.Cut(f.setting, "=")
	i := slices.Index(settingNames(), name)
	if i < 0 {
		return console.BadUsage("--sweep: unknown setting "+name, "one of "+strings.Join(settingNames(), ", "))
	}
	known := settings[i]
	hint := "such as --sweep " + name + "=" + known.example
	f.sweep = campaign.Sweep{Setting: name, Repeats: f.repeats}
	for _, v := range strings.Split(values, ",") {
		v = strings.TrimSpace(v)
		if !ok || v == "" {
			return console.BadUsage("--sweep "+name+": want values", hint)
		}
		variant, err := known.variant(v)
		if err != nil {
			return console.BadUsage("--sweep "+name+": "+err.Error(), hint)
		}
		variant.Value = v
		if slices.ContainsFunc(f.sweep.Variants, func(o campaign.Variant) bool { return o.Value == v }) {
			return console.BadUsage("--sweep "+name+": "+v+" is listed twice", hint)
		}
		f.sweep.Variants = append(f.sweep.Variants, variant)
	}
	if len(f.sweep.Variants) < 2 {
		return console.BadUsage("--sweep "+name+": want two values or more to compare", hint)
	}
	return nil
}
