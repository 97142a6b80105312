// Package tune is `linerate tune`: change, measure, keep or roll back.
package tune

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/tune"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/measure"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/internal/cmd/render"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/predict/declared"
	"github.com/linerate/linerate/unit"
)

// opts are the flags of tune.
type opts struct {
	yes, dryRun, thorough, bounce, persist bool
	target, require, seconds               float64
	windows                                int
	objective, bound                       string
	path, direction, duration, ports       string
	fabricOut, render, renderTo            string
	out                                    console.Output
	journal, store                         string
	wait                                   progress.WaitFlag
}

// New is `linerate tune`.
func New(con *console.Console) *cobra.Command {
	var flags opts
	c := &cobra.Command{
		Use: "tune FABRIC", Short: "improve one path step by step: measure, change one setting, measure again; roll back what does not help", Args: console.Exactly(1, "one FABRIC file"),
		Long: `Brings one path of a fabric to its ceiling at the lowest cost: what limits it
picks the change, each is journalled on the hosts and proven by a measurement
before and after it, and rolled back when it does not help. The outcome is the few
settings that are kept, with the gain of each, and a fabric file that has them.

The hosts of the path are reached as the file says and need linerate, and root.
Between them it sends as much as the links carry, for a minute in all at the
most (--max-seconds); with what lies between it takes one to five minutes.
--dry-run sends nothing and changes nothing: it shows what the prediction would
try.

Changes last until the next reboot; --persist writes them to the hosts' files,
or apply the fabric file that is written. ` + "`linerate rollback FABRIC`" + ` rolls
back all changes of the tune, however it ended. A change that nobody confirms (because this
program, the network or the host died) the host rolls back by itself after three
minutes. Links are taken down for seconds only with --allow-bounce, or a yes at
the terminal.

` + console.ExitHelp,
		Example: "  linerate tune fabric.yaml --dry-run\n  linerate tune fabric.yaml --yes --require 0.97\n  linerate tune fabric.yaml --objective latency --latency-bound 5ms",
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := flags.options()
			if err != nil {
				return err
			}
			f, err := console.ReadFabric(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			t := &tuneRun{con: con, flags: flags, options: o, file: f, path: args[0]}
			if err := t.choose(); err != nil {
				return err
			}
			if err := t.checkOutputs(cmd.Flags().Changed); err != nil {
				return err
			}
			if !flags.yes && !flags.dryRun && !con.CanAsk {
				return console.BadUsage("tune: standard input is not a terminal: use --yes", "add --yes to change the hosts, or --dry-run to see what would be done")
			}
			return t.run(cmd.Context())
		},
	}
	flags.add(c)
	return c
}

func (f *opts) add(c *cobra.Command) {
	s := c.Flags()
	s.BoolVar(&f.yes, "yes", false, "make the changes without asking")
	s.BoolVar(&f.dryRun, "dry-run", false, "show what would be tried and the plans for it, change nothing")
	s.BoolVar(&f.thorough, "thorough", false, "prove each change by itself, also what the load of the links already rules out")
	s.BoolVar(&f.bounce, "allow-bounce", false, "also make changes that take a port, link or bond down for seconds; they come last")
	s.Float64Var(&f.target, "target", tune.DefaultTarget, "share of the ceiling to reach")
	s.Float64Var(&f.require, "require", 0, "exit 1 unless this share of the ceiling is reached, such as 0.97")
	console.WordVar(c, &f.objective, "objective", string(tune.Throughput), "throughput, or latency: the highest rate that keeps --latency-bound")
	s.StringVar(&f.bound, "latency-bound", "", "longest latency under load (p99), such as 5ms")
	s.Float64Var(&f.seconds, "max-seconds", tune.DefaultTraffic.Seconds(), "most seconds of traffic in all")
	s.IntVar(&f.windows, "max-windows", tune.DefaultWindows, "most measurements in all")
	s.StringVar(&f.path, "path", "", "path to tune, as FROM,TO (default: the file's first)")
	s.StringVar(&f.direction, "direction", "both", "of the proofs: forward, reverse or both")
	s.StringVar(&f.duration, "duration", "", "exact length of each measurement (default: until the result is sure)")
	s.StringVar(&f.ports, "ports", "", "the only ports that receivers may listen on, such as 5201-5216, where a\nfirewall is between (default: any)")
	console.AddPath(s, &f.out.Path, "output", "o", "write the record to this file (JSON)")
	_ = c.MarkFlagFilename("output", "json")
	s.BoolVar(&f.out.Force, "force", false, "replace files that are there, whatever they contain")
	console.AddPath(s, &f.fabricOut, "fabric-out", "", "where the tuned fabric file goes, none for nowhere (default: FABRIC.tuned.yaml)")
	_ = c.MarkFlagFilename("fabric-out", "yaml", "yml")
	s.StringVar(&f.render, "render", "", "also write each host's files in this format (as the render command has them)")
	s.StringVar(&f.renderTo, "render-to", "tuned", "directory for --render, with one below it for each host")
	_ = c.MarkFlagDirname("render-to")
	s.BoolVar(&f.persist, "persist", false, "write what is kept to the hosts' own files, when all is proven")
	s.StringVar(&f.journal, "journal", "", "journal directory on hosts of this machine")
	console.AddStoreFlag(c, &f.store)
	f.wait.Add(c)
}

// options are the flags as the campaign wants them, but the path.
func (f *opts) options() (campaign.Tuning, error) {
	o := campaign.Tuning{
		Target: f.target, Objective: tune.Objective(f.objective), Thorough: f.thorough, Bounce: f.bounce,
		Budget: tune.Budget{MostWindows: f.windows, MostTraffic: time.Duration(f.seconds * float64(time.Second))},
	}
	if err := o.Direction.UnmarshalText([]byte(f.direction)); err != nil {
		return o, console.BadUsage("--direction: "+err.Error(), "")
	}
	w, err := measure.ParseWindow(f.duration)
	if err != nil {
		return o, err
	}
	o.Duration = w
	if o.Within, err = console.ListenPorts(f.ports); err != nil {
		return o, err
	}
	objectives := []string{string(tune.Throughput), string(tune.Latency)}
	formats := render.HostFormatWords()
	switch {
	case w > campaign.LongestProof:
		return o, console.BadUsage(fmt.Sprintf("--duration: want at most %v", campaign.LongestProof), "a host rolls an unconfirmed change back after three minutes: a proof must be shorter")
	case f.target <= 0 || f.target > 1:
		return o, console.BadUsage(fmt.Sprintf("--target: want a share above 0 and at most 1, not %g", f.target), "0.97 is 97 % of the ceiling")
	case f.require < 0 || f.require > 1:
		return o, console.BadUsage(fmt.Sprintf("--require: want a share from 0 to 1, not %g", f.require), "0.97 is 97 % of the ceiling")
	case f.windows < leastWindows:
		return o, console.BadUsage(fmt.Sprintf("--max-windows: want at least %d, not %d", leastWindows, f.windows), "before, after, and one change between")
	case f.seconds <= 0 || f.seconds > mostSeconds:
		return o, console.BadUsage(fmt.Sprintf("--max-seconds: want more than 0 and at most %d, not %g", mostSeconds, f.seconds), "")
	case !slices.Contains(objectives, f.objective):
		return o, console.BadUsage("--objective: unknown word "+f.objective, console.OrMeant(f.objective, objectives, "", "want throughput or latency"))
	case f.render != "" && !slices.Contains(formats, f.render):
		return o, console.BadUsage("--render: unknown format "+f.render, console.OrMeant(f.render, formats, "", "formats are "+strings.Join(formats, ", ")))
	case o.Objective == tune.Latency && f.bound == "":
		return o, console.BadUsage("--objective latency: want --latency-bound", "the longest p99 under load that will do, such as --latency-bound 5ms")
	case o.Objective != tune.Latency && f.bound != "":
		return o, console.BadUsage("--latency-bound: goes with --objective latency", "")
	}
	if f.bound != "" {
		if o.LatencyBound, err = unit.ParseDuration(f.bound); err != nil || o.LatencyBound <= 0 {
			return o, console.BadUsage("--latency-bound: want a time such as 5ms, not "+f.bound, "")
		}
	}
	return o, nil
}

// Bounds of a budget: three windows are one step with its result, and nobody
// means to send for more than an hour.
const (
	leastWindows = 3
	mostSeconds  = 3600
)

// tuneRun is one `linerate tune`.
type tuneRun struct {
	con     *console.Console
	flags   opts
	options campaign.Tuning
	// file is the user's fabric; path where it was read from.
	file fabric.Fabric
	path string
	// roots and format are change.Config's, for tests: in a namespace there are
	// no files.
	roots  map[string]string
	format string
	stored console.Keeper
}

// choose settles the path, and that both its hosts can be reached.
func (t *tuneRun) choose() error {
	f := t.file
	if err := measure.Tunable(f.Measure.Protocol); err != nil {
		return err
	}
	if len(f.Paths) == 0 {
		return console.BadUsage(f.File+": no path to tune", declared.RemedyFor(declared.ErrNoPath))
	}
	t.options.Path = f.Paths[0]
	if t.flags.path != "" {
		chosen, err := pathNamed(f, t.flags.path)
		if err != nil {
			return err
		}
		t.options.Path = chosen
	}
	for _, name := range []string{t.options.Path.From, t.options.Path.To} {
		h, _ := f.Host(name)
		if bondopt.Foreign(h.System) {
			return console.OtherSystem(f, h)
		}
		if h.Reach == "" {
			return console.BadUsage(fmt.Sprintf("%s: host %s: the file does not say how to reach it", f.File, name), "add hosts."+name+".reach: ssh://root@HOST (or local:, netns:NAME)")
		}
	}
	return nil
}

// pathNamed is the path between two hosts, as --path names them; what one way
// alone is declared for must be named that way.
func pathNamed(f fabric.Fabric, words string) (fabric.Path, error) {
	var known []string
	from, to, two := strings.Cut(words, ",")
	from, to = strings.TrimSpace(from), strings.TrimSpace(to)
	for _, p := range f.Paths {
		if p.Leads(from, to) {
			return p, nil
		}
		known = append(known, p.From+","+p.To)
	}
	what := "--path: " + f.File + " has no path between " + from + " and " + to
	if !two {
		what = "--path: want two hosts, as FROM,TO, not " + words
	}
	return fabric.Path{}, console.BadUsage(what, console.OrMeant(words, known, "", "its paths are "+strings.Join(known, "; ")))
}

// narrowed is the fabric with the path and its two hosts alone: the others are
// neither reached nor held.
func (t *tuneRun) narrowed() fabric.Fabric {
	f, p := t.file, t.options.Path
	f.Paths = []fabric.Path{p}
	f.Hosts = slices.DeleteFunc(slices.Clone(f.Hosts), func(h fabric.Host) bool { return h.Name != p.From && h.Name != p.To })
	return f
}

// direction is the way that the result counts for.
func (t *tuneRun) direction() flow.Direction { return t.options.Direction }
