// Package lab is `linerate lab`: networks of scenarios on real kernels.
package lab

import (
	"context"
	"encoding/json"
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
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/measure"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/internal/lab/labreport"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/report"
	"github.com/linerate/linerate/unit"
)

// New is `linerate lab`.
func New(con *console.Console) *cobra.Command {
	return console.Group("lab", "scenarios on real kernels", newList(con), newRun(con), newUp(con), newExec(con), newDown(con), newShow(con), newReport(),
		newKeep(), newStand(con), newEnter())
}

// resultContent is what lab run -o writes: the record of a lab that is built by
// hand, the rows of a scenario.
func resultContent(name string) console.Content {
	if slices.ContainsFunc(lab.Scenarios(), func(s lab.Scenario) bool { return s.Name == name }) {
		return console.RecordFile
	}
	return console.OtherText
}

func newList(con *console.Console) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "the scenarios there are, and the labs that stand", Args: console.NoArgs,
		Long: "Lists the lab's scenarios, and your labs that `linerate lab up` left standing.\n\n" + console.ExitHelp,
		RunE: func(*cobra.Command, []string) error {
			rows := []listedScenario{}
			for _, s := range lab.Scenarios() {
				rows = append(rows, listedScenario{s.Name, s.Title})
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
				rows = append(rows, listedScenario{s.Name, s.Title})
			}
			if con.JSON {
				return listDocument.Print(con, listedLabs{rows, standingRows(labs)})
			}
			for _, r := range rows {
				fmt.Fprint(con.Stdout, console.Wrapped(fmt.Sprintf("%-16s ", r.Name), r.Title, con.Width()))
			}
			printStanding(con, labs)
			return nil
		},
	}
}

// With builds the scenario, runs f and takes everything down again, also
// after an interrupt.
func With(ctx context.Context, b lab.Blueprint, f func() error) (err error) {
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
		err := os.RemoveAll(console.LabJournal)
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

func newRun(con *console.Console) *cobra.Command {
	var place Place
	var out console.Output
	var duration string
	var how scenarioOf
	var labs int
	c := &cobra.Command{
		Use: "run SCENARIO|all|FILE.yaml", Short: "build a scenario, measure it, say what limits it", Args: console.Exactly(1, "one SCENARIO (`linerate lab list` names them), all, or a FILE.yaml"),
		Long: `Builds a scenario on a real kernel, measures it, compares each result with the
prediction and with what was published, and takes everything down again. A
FILE.yaml is a fabric file: its network is built as it declares it, scaled down
as its scenario says, and its steps are carried out; without a scenario it is
measured as its measure says. docs/scenarios.md describes the format.

all runs every scenario of the program's own that is a file, those in lab
kernels side by side with a core each (--labs), and prints one page; it goes on
when one fails. Then, and when a row is
not as published, the exit status is 1; without --json the page is printed all
the same. One that takes more than four minutes is measured in parts, side by
side as well.

` + console.ExitHelp,
		Example: "  linerate lab run two-links\n  linerate lab run ip-alias --json\n  linerate lab run my-network.yaml --what-if mtu=9000,policy=layer3+4",
		RunE: func(cmd *cobra.Command, args []string) error {
			window, err := measure.ParseWindow(duration)
			if err != nil {
				return err
			}
			if err := out.Check("lab run -o", resultContent(args[0])); err != nil {
				return err
			}
			how.out = out.Path
			if cmd.Flags().Changed("duration") {
				how.window = window
			}
			if args[0] == allScenarios {
				if how.whatIf != "" {
					return console.BadUsage("lab run all: --what-if is for one scenario", "linerate lab run SCENARIO --what-if "+how.whatIf)
				}
				return runAll(cmd.Context(), con, place, how, labs)
			}
			what, err := Find(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			for flag, given := range map[string]bool{"--what-if": how.whatIf != "", "--full": how.full} {
				if what.file == nil && given {
					return console.BadUsage("lab run: "+flag+" is for scenarios of files", "`linerate lab list` names them; FILE.yaml may be your own")
				}
			}
			if err := scenario.CheckChange(how.whatIf); err != nil {
				return console.BadUsage("lab run: --what-if: "+err.Error(), scenario.ChangeHint())
			}
			if what.file != nil {
				if _, _, err := what.file.Changed(how.whatIf); err != nil {
					return console.BadUsage("lab run: --what-if: "+err.Error(), scenario.ChangeHint())
				}
			}
			beside, err := labsBeside(labs)
			if err != nil {
				return err
			}
			if partsOf(what, place, how, beside) > 1 {
				return runParts(cmd.Context(), con, what, place, how, labs)
			}
			again := how.again(con)
			if out.Path != "" {
				again = append(again, "-o", out.Path)
			}
			if out.Force {
				again = append(again, "--force")
			}
			writable, err := Outside(filepath.Dir(out.Path))
			if err != nil {
				return err
			}
			in := guest.Command{Args: append(again, "--", what.argument), Writable: writable, Files: what.files()}
			return Inside(cmd.Context(), con, what.place(place), in, func(choice lab.Choice) error {
				if what.file != nil {
					return runScenario(cmd.Context(), con, *what.file, choice, how)
				}
				return With(cmd.Context(), what.Blueprint(), func() error { return labRun(cmd.Context(), con, *what.Built, choice, window, out.Path) })
			})
		},
	}
	place.AddFlags(c)
	out.Add(c, "also write the record, or the rows, to this file", "json")
	c.Flags().StringVar(&duration, "duration", "3s", "length of each measurement\n(without: as the scenario says, or 3s)")
	c.Flags().BoolVar(&how.full, "full", false, "with the long windows that a scenario has beside its own")
	c.Flags().Var(&how.part, "part", "the part of the rows that is measured")
	_ = c.Flags().MarkHidden("part") // a lab kernel's own
	c.Flags().StringVar(&how.whatIf, "what-if", "", "changes to try in the lab, as predict --what-if takes them")
	c.Flags().IntVar(&labs, "labs", 0, "how many labs may stand side by side\n(default: one for each core, at most 2)")
	return c
}

// flagsAgain are the global flags for a second run of this program.
func FlagsAgain(con *console.Console) []string {
	var out []string
	for flag, set := range map[string]bool{"--json": con.JSON, "--quiet": con.Quiet, "--verbose": con.Verbose} {
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

func labRun(ctx context.Context, con *console.Console, s lab.Scenario, choice lab.Choice, window time.Duration, out string) error {
	p := progress.New(con)
	p.Stage("lab is up (%s: %s)", choice.BackEnd, choice.Why)
	f, err := fabric.Parse(s.Name+".yaml", []byte(s.Net.Fabric(s.Streams, s.Ports)))
	if err != nil {
		return err
	}
	c, err := campaign.Open(ctx, campaign.Config{Fabric: f, Fleet: con.Fleet(console.LabJournal), BackEnd: string(choice.BackEnd), BackEndWhy: choice.Why, Tell: p.Tell, Locking: progress.Locking(con, p, progress.WaitFlag{}, "lab run", s.Name)})
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
		if err := console.WriteJSON(ctx, out, r); err != nil {
			return err
		}
	}
	if !con.JSON {
		fmt.Fprint(con.Stdout, report.Text(r, con.Width()))
	} else if err := pairRunDocument.Print(con, document(s, choice, r, c.Findings())); err != nil {
		return err
	}
	return console.Failures(r)
}

func document(s lab.Scenario, choice lab.Choice, r record.Record, findings []record.Finding) pairDocument {
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
	return pairDocument{s.Name, choice.BackEnd, r.Environment.Kernel, 1, rows, findings}
}

func newShow(con *console.Console) *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "print the file of a scenario, to make another of", Args: console.Exactly(1, "one NAME, as linerate lab list names them"),
		Long: `Prints the file of one of the program's own scenarios: its network, steps and
published numbers. It is a fabric file too, for predict and the others.

` + console.ExitHelp,
		Example: `  linerate lab show 45drives-bond > my-network.yaml
  linerate lab run my-network.yaml
  linerate predict my-network.yaml --buy 25G`,
		RunE: func(cmd *cobra.Command, args []string) error {
			what, err := Find(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if what.text == nil {
				return console.BadUsage(fmt.Sprintf("%s has no file: the program builds it", args[0]), "those with a file are named after it: nfs-lacp, failover, ...")
			}
			return con.PrintSource(what.argument, what.text)
		},
	}
}

func newReport() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "report RUN.json", Aliases: []string{"replicas"}, Short: "write lab-report.md and its charts from the rows of `lab run all`", Args: console.Exactly(1, "one RUN.json, made by `linerate lab run all -o RUN.json`"),
		Long: `Writes lab-report.md and a chart for each scenario from what ` + "`linerate lab run all\n-o RUN.json`" + ` measured: published, reproduced, predicted, linerate's best, ceiling.

` + console.ExitHelp,
		Example: "  linerate lab report run.json -o docs",
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := console.ReadNamed(cmd.Context(), "read rows", args[0], console.MostRecord)
			if err != nil {
				return err
			}
			var doc allDocument
			if err := json.Unmarshal(text, &doc); err != nil {
				return console.BadUsage("read rows of "+args[0]+": "+err.Error(), "linerate lab run all -o RUN.json makes one")
			}
			if len(doc.Scenarios) == 0 {
				return console.BadUsage(args[0]+" has no scenarios", "linerate lab run all -o RUN.json makes one")
			}
			made := labreport.Of(doc.Scenarios)
			made.Charts["lab-report.md"] = made.Text
			if err := console.MkDir("lab report -o", dir); err != nil {
				return err
			}
			for name, text := range made.Charts {
				if err := console.WriteFile(cmd.Context(), filepath.Join(dir, name), []byte(text)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().StringVarP(&dir, "output", "o", "docs", "directory to write to")
	_ = c.MarkFlagDirname("output")
	return c
}
