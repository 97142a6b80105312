package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/report"
	"github.com/linerate/linerate/unit"
)

// labJournal is where changes to lab hosts are journalled: it goes when the
// machine goes, as they do.
const labJournal = "/run/linerate-lab-journal"

func newLab(app *App) *cobra.Command {
	return group("lab", "scenarios on real kernels", newLabList(app), newLabRun(app), newLabUp(app), newLabExec(app), newLabDown(app), newLabShow(app), newLabReplicas(),
		newLabKeep(), newLabStand(app), newLabEnter())
}

// resultContent is what lab run -o writes: the record of a lab that is built by
// hand, the rows of a scenario.
func resultContent(name string) content {
	if slices.ContainsFunc(lab.Scenarios(), func(s lab.Scenario) bool { return s.Name == name }) {
		return aRecordFile
	}
	return otherText
}

func newLabList(app *App) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "the scenarios there are, and the labs that stand", Args: none,
		Long: "Lists the lab's scenarios, and your labs that `linerate lab up` left standing.\n\n" + exitHelp,
		RunE: func(*cobra.Command, []string) error {
			type row struct {
				Name  string `json:"name"`
				Title string `json:"title"`
			}
			rows := []row{}
			for _, s := range lab.Scenarios() {
				rows = append(rows, row{s.Name, s.Title})
			}
			labs, err := lab.List()
			if err != nil {
				return err
			}
			files, err := scenario.Builtin()
			if err != nil {
				return err
			}
			for _, s := range files {
				rows = append(rows, row{s.Name, s.Title})
			}
			if app.json {
				return app.printJSON(map[string]any{"scenarios": rows, "labs": standingRows(labs)})
			}
			for _, r := range rows {
				fmt.Fprintf(app.Stdout, "%-16s %s\n", r.Name, r.Title)
			}
			app.printStanding(labs)
			return nil
		},
	}
}

// withLab builds the scenario, runs f and takes everything down again, also
// after an interrupt.
func withLab(ctx context.Context, b lab.Blueprint, f func() error) (err error) {
	down, err := b.Up(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, down(), removeJournal()) }()
	if err := removeJournal(); err != nil { // a killed run's
		return err
	}
	return f()
}

func removeJournal() error {
	for begin := time.Now(); ; time.Sleep(journalPause) {
		err := os.RemoveAll(labJournal)
		if err == nil || !errors.Is(err, syscall.ENOTEMPTY) || time.Since(begin) > journalWait {
			return err
		}
	}
}

// A guard of a change that was just taken back may still write its last word.
const (
	journalWait  = 3 * time.Second
	journalPause = 50 * time.Millisecond
)

func newLabRun(app *App) *cobra.Command {
	var place labPlace
	var out output
	var duration, whatIf string
	var labs int
	c := &cobra.Command{
		Use: "run SCENARIO|all|FILE.yaml", Short: "build a scenario, measure it, say what limits it", Args: exactly(1, "one SCENARIO (`linerate lab list` names them), all, or a FILE.yaml"),
		Long: `Builds a scenario on a real kernel, measures it, compares each result with the
prediction and with what was published, and takes everything down again. A
FILE.yaml is a fabric file: its network is built as it declares it, scaled down
as its scenario says, and its steps are carried out; without a scenario it is
measured as its measure says. docs/scenarios.md describes the format.

all runs every scenario of the program's own that is a file, those in lab
kernels side by side with a core each (--labs), and prints one page; it goes on
when one fails. Then, and when a row is
not as published, the exit status is 1; without --json the page is printed all
the same.

` + exitHelp,
		Example: "  linerate lab run two-links\n  linerate lab run ip-alias --json\n  linerate lab run my-network.yaml --what-if mtu=9000,policy=layer3+4",
		RunE: func(cmd *cobra.Command, args []string) error {
			window, err := parseWindow(duration)
			if err != nil {
				return err
			}
			if err := out.check("lab run -o", resultContent(args[0])); err != nil {
				return err
			}
			if args[0] == allScenarios {
				if whatIf != "" {
					return usage("lab run all: --what-if is for one scenario", "linerate lab run SCENARIO --what-if "+whatIf)
				}
				how := rehearsalOf{out: out.path}
				if cmd.Flags().Changed("duration") {
					how.window = window.Duration
				}
				return app.labRunAll(cmd.Context(), place, how, labs)
			}
			what, err := findLab(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			again := append([]string{"lab", "run"}, app.flagsAgain()...)
			asked := time.Duration(0)
			if cmd.Flags().Changed("duration") {
				asked = window.Duration
				again = append(again, "--duration", asked.String())
			}
			if out.path != "" {
				again = append(again, "-o", out.path)
			}
			if out.force {
				again = append(again, "--force")
			}
			if whatIf != "" {
				again = append(again, "--what-if", whatIf)
			}
			writable, err := outside(filepath.Dir(out.path))
			if err != nil {
				return err
			}
			if what.file == nil && whatIf != "" {
				return usage("lab run: --what-if is for scenarios of files", "`linerate lab list` names them; FILE.yaml may be your own")
			}
			if err := scenario.CheckChange(whatIf); err != nil {
				return usage("lab run: --what-if: "+err.Error(), scenario.ChangeHint())
			}
			if what.file != nil {
				if _, _, err := what.file.Changed(whatIf); err != nil {
					return usage("lab run: --what-if: "+err.Error(), scenario.ChangeHint())
				}
			}
			in := guest.Command{Args: append(again, "--", what.argument), Writable: writable, Files: what.files()}
			return app.inLab(cmd.Context(), what.place(place), in, func(choice lab.Choice) error {
				if what.file != nil {
					return app.rehearse(cmd.Context(), *what.file, choice, rehearsalOf{whatIf: whatIf, window: asked, out: out.path})
				}
				return withLab(cmd.Context(), what.blueprint(), func() error { return app.labRun(cmd.Context(), *what.built, choice, window.Duration, out.path) })
			})
		},
	}
	place.addFlags(c)
	out.add(c, "also write the record, or the rows, to this file")
	c.Flags().StringVar(&duration, "duration", "3s", "length of each measurement\n(without: as the scenario says, or 3s)")
	c.Flags().StringVar(&whatIf, "what-if", "", "changes to rehearse, as predict --what-if takes them")
	c.Flags().IntVar(&labs, "labs", 0, "of all: how many labs stand side by side\n(default: one for each core, at most 2)")
	return c
}

// flagsAgain are the global flags for a second run of this program.
func (a *App) flagsAgain() []string {
	var out []string
	for flag, set := range map[string]bool{"--json": a.json, "--quiet": a.quiet, "--verbose": a.verbose} {
		if set {
			out = append(out, flag)
		}
	}
	return out
}

// labRow is one row of `lab run --json`.
type labRow struct {
	Step          string         `json:"step"`
	From          string         `json:"from"`
	To            string         `json:"to"`
	Streams       int            `json:"streams"`
	Direction     flow.Direction `json:"direction"`
	Measured      unit.BitRate   `json:"measured_bps"`
	Predicted     unit.BitRate   `json:"predicted_bps"`
	Published     *unit.BitRate  `json:"published_bps"` // null: nobody published this
	PublishedOver *float64       `json:"published_ratio"`
	MeasuredOver  *float64       `json:"measured_ratio"`
	Ceiling       unit.BitRate   `json:"ceiling_bps"`
	Tool          string         `json:"tool"`
	Kind          string         `json:"kind"`
	CPUBound      bool           `json:"cpu_bound"`
}

func (a *App) labRun(ctx context.Context, s lab.Scenario, choice lab.Choice, window windowFlag, out string) error {
	p := newProgress(a)
	p.stage("lab is up (%s: %s)", choice.BackEnd, choice.Why)
	f, err := fabric.Parse(s.Name+".yaml", []byte(s.Net.Fabric(s.Streams, s.Ports)))
	if err != nil {
		return err
	}
	c, err := campaign.Open(ctx, campaign.Config{Fabric: f, Fleet: a.fleet(labJournal), BackEnd: string(choice.BackEnd), BackEndWhy: choice.Why, Tell: p.tell, Holding: a.holding(p, waitFlag{}, "lab run", s.Name)})
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Latency(ctx); err != nil {
		return err
	}
	if err := c.Run(ctx, campaign.Matrix{Streams: f.Measure.Streams, Directions: f.Measure.Directions, Ports: f.Measure.Ports, Duration: window}); err != nil {
		return err
	}
	r := c.Record()
	if out != "" {
		if err := writeJSON(ctx, out, r); err != nil {
			return err
		}
	}
	if !a.json {
		fmt.Fprint(a.Stdout, report.Text(r, a.width()))
	} else if err := a.printJSON(labDocument(s, choice, r, c.Findings())); err != nil {
		return err
	}
	return failures(r)
}

func labDocument(s lab.Scenario, choice lab.Choice, r record.Record, findings []record.Finding) map[string]any {
	rows := []labRow{}
	for _, t := range r.Trials {
		rows = append(rows, labRow{
			Step: s.Name, From: t.From, To: t.To, Streams: t.Streams, Direction: t.Direction, Measured: t.Goodput, Predicted: t.Predicted,
			Ceiling: t.Ceiling, Tool: t.Tool, Kind: "rate", CPUBound: t.CPUBound(),
		})
	}
	if findings == nil {
		findings = []record.Finding{}
	}
	return map[string]any{"scenario": s.Name, "back_end": choice.BackEnd, "kernel": r.Environment.Kernel, "scale": 1, "rows": rows, "findings": findings}
}

// failures is an error when some pairs were not measured.
func failures(r record.Record) error {
	if len(r.Failures) == 0 {
		return nil
	}
	f := r.Failures[0]
	return withHint(fmt.Errorf("measure %s to %s: %s (%d of %d trials failed)", f.From, f.To, f.Error, len(r.Failures), len(r.Failures)+len(r.Trials)), barredHint(f.Reason))
}
