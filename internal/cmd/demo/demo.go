// Package demo is `linerate demo`: a lab with a fault, found and mended.
package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/tune"
	"github.com/linerate/linerate/internal/cmd/console"
	labcmd "github.com/linerate/linerate/internal/cmd/lab"
	"github.com/linerate/linerate/internal/cmd/progress"
	tunecmd "github.com/linerate/linerate/internal/cmd/tune"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/report"
	"github.com/linerate/linerate/unit"
)

// The files that a demo writes.
const (
	demoRecord = "record.json"
	demoReport = "report.html"
)

// scenario is the lab network of the demo.
const scenario = "two-links"

// Lengths of the demo's windows: long enough for a share to be sure within
// 1 %, short enough for the whole story to fit into three minutes.
const (
	demoBefore = 1200 * time.Millisecond
	proof      = 2 * time.Second
	demoAfter  = 1500 * time.Millisecond
	// final is the window of the streams that the story ends with.
	final = 3 * time.Second
)

// New is `linerate demo`.
func New(con *console.Console) *cobra.Command {
	var place labcmd.Place
	var out console.Output
	var stored string
	c := &cobra.Command{
		Use: "demo", Short: "in a built-in lab, find out why two links do not add up, repair it, prove it", Args: console.NoArgs,
		Long: `Builds two hosts, each with a two-port LACP bond through a switch, on a real
kernel: the running one where it has bonding, else a kernel of its own that
needs no privilege. Measures that two links carry no more than one, says why,
changes what helps, measures again, and writes OUT/record.json and
OUT/report.html. Nothing outside the lab is touched.

` + console.ExitHelp,
		Example: "  linerate demo\n  linerate demo --json --quiet",
		RunE: func(cmd *cobra.Command, _ []string) error {
			again := append([]string{"demo", "--out", out.Path}, labcmd.FlagsAgain(con)...)
			if out.Force {
				again = append(again, "--force")
			}
			there := console.IsDir(out.Path)
			if err := checkDemo(out); err != nil {
				return err
			}
			if !there {
				defer os.Remove(out.Path) // where nothing was written into it
			}
			writable, err := labcmd.Outside(out.Path)
			if err != nil {
				return err
			}
			return con.Keeper(cmd.Context(), stored).KeepFile(cmd.Context(), filepath.Join(out.Path, demoRecord), func() error {
				return labcmd.Inside(cmd.Context(), con, place, guest.Command{Args: again, Writable: writable}, func(choice lab.Choice) error { return demo(cmd.Context(), con, choice, out.Path) })
			})
		},
	}
	place.AddFlags(c)
	console.AddStoreFlag(c, &stored)
	out.AddForce(c)
	c.Flags().StringVar(&out.Path, "out", "linerate-demo", "directory for record.json and report.html")
	_ = c.MarkFlagDirname("out")
	return c
}

// document is what `demo --json` prints.
type document struct {
	BackEnd    lab.BackEnd         `json:"back_end"`
	Why        string              `json:"back_end_reason"`
	Kernel     string              `json:"kernel"`
	Directions []demoDirection     `json:"directions"`
	Steps      []tunecmd.TunedStep `json:"steps"`
	Record     string              `json:"record"`
	Report     string              `json:"report"`
}

type demoDirection struct {
	Direction   flow.Direction `json:"direction"`
	Streams     int            `json:"streams"`
	Before      unit.BitRate   `json:"before_bps"`
	After       unit.BitRate   `json:"after_bps"`
	Ceiling     unit.BitRate   `json:"ceiling_bps"`
	CauseBefore record.Cause   `json:"cause_before"`
	CauseAfter  record.Cause   `json:"cause_after"`
}

func demo(ctx context.Context, con *console.Console, choice lab.Choice, out string) error {
	what, err := labcmd.Find(ctx, scenario)
	if err != nil {
		return err
	}
	s := *what.Built
	p := progress.New(con)
	p.Stage("build the lab on back end %s (%s)", choice.BackEnd, choice.Why)
	var r record.Record
	var streams int
	err = labcmd.With(ctx, what.Blueprint(), func() error {
		c, err := openDemo(ctx, con, s, choice, p)
		if err != nil {
			return err
		}
		defer c.Close()
		streams, err = story(ctx, con, c, p)
		c.Finish()
		r = c.Record()
		return err
	})
	// What was measured is kept, also after an interrupt.
	recordFile, reportFile := filepath.Join(out, demoRecord), filepath.Join(out, demoReport)
	if kept := context.WithoutCancel(ctx); len(r.Trials) > 0 {
		err = errors.Join(err, console.WriteJSON(kept, recordFile, r), writeReport(kept, reportFile, r))
	}
	if err != nil {
		return err
	}
	if err := console.Failures(r); err != nil {
		return err
	}
	if con.JSON {
		return demoDocument.Print(con, document{
			BackEnd: choice.BackEnd, Why: choice.Why, Kernel: r.Environment.Kernel, Directions: demoDirections(r, streams), Steps: tunecmd.StepsOf(r),
			Record: recordFile, Report: reportFile,
		})
	}
	fmt.Fprintf(con.Stdout, "%s\n%s and %s are written.\n", report.Text(r, con.Width()), recordFile, reportFile)
	return nil
}

// checkDemo makes the demo's directory, or says why its files cannot be there.
func checkDemo(out console.Output) error {
	err := console.MkDir("demo --out", out.Path)
	for name, writes := range map[string]console.Content{demoRecord: console.RecordFile, demoReport: console.OtherText} {
		if err == nil {
			err = console.Output{Path: filepath.Join(out.Path, name), Force: out.Force}.Check("demo --out", writes)
		}
	}
	return err
}

func writeReport(ctx context.Context, path string, r record.Record) error {
	page, err := report.HTML(r, report.Options{RecordFile: demoRecord})
	if err != nil {
		return err
	}
	return console.WriteFile(ctx, path, page)
}

func openDemo(ctx context.Context, con *console.Console, s lab.Scenario, choice lab.Choice, p *progress.Progress) (*campaign.Campaign, error) {
	f, err := fabric.Parse("demo.yaml", []byte(s.Net.Fabric(s.Streams, s.Ports)))
	if err != nil {
		return nil, err
	}
	p.Stage("observe %s over netlink, sysfs and /proc", console.HostNames(f))
	return campaign.Open(ctx, campaign.Config{
		Fabric: f, Fleet: con.Fleet(console.LabJournal), BackEnd: string(choice.BackEnd), BackEndWhy: choice.Why, Tell: p.Tell,
		Locking: progress.Locking(con, p, progress.WaitFlag{}, "demo"),
	})
}

// story is the demo's loop; it returns the stream count that tuning ended
// with.
func story(ctx context.Context, con *console.Console, c *campaign.Campaign, p *progress.Progress) (int, error) {
	path := c.State().Paths[0]
	counts := []int{1, 2, 4, 8}
	mtu := tune.LargestMTU(c.State(), path.From, path.To)
	if err := showPrediction(con, c, p, counts, "kernel"); err != nil {
		return 0, err
	}
	p.Stage("measure latency")
	if err := c.Latency(ctx); err != nil {
		return 0, err
	}
	p.Stage("measure what the hosts carry as they are")
	before := campaign.Matrix{Phase: record.PhaseBefore, Streams: counts, Directions: flow.Directions(), Ports: "kernel", Duration: demoBefore, CeilingMTU: mtu}
	if err := c.Run(ctx, before); err != nil {
		return 0, err
	}
	explainPhase(con, c, p, record.PhaseBefore)
	p.Stage("tune: one proven step at a time")
	tuned, err := c.Tune(ctx, campaign.Tuning{Path: path, Direction: flow.Both, Duration: proof, Thorough: true, Bare: true, CeilingMTU: mtu})
	if err != nil {
		return 0, err
	}
	traffic := tuned.Traffic
	if err := showPrediction(con, c, p, counts, traffic.Ports); err != nil {
		return 0, err
	}
	p.Stage("measure again")
	after := campaign.Matrix{
		Phase: record.PhaseAfter, Streams: counts, Directions: flow.Directions(), Ports: traffic.Ports, CeilingMTU: mtu,
		Duration: demoAfter, DurationAt: map[int]time.Duration{traffic.Streams: final},
	}
	if err := c.Run(ctx, after); err != nil {
		return 0, err
	}
	explainPhase(con, c, p, record.PhaseAfter)
	return traffic.Streams, nil
}

// showPrediction says what to expect, and which limit binds, in one line a
// stream count.
func showPrediction(con *console.Console, c *campaign.Campaign, p *progress.Progress, counts []int, ports string) error {
	p.Stage("predict, with ports of the %s", map[string]string{"kernel": "kernel's choice", "chosen": "bond's own hash"}[ports])
	path := c.State().Paths[0]
	for _, n := range counts {
		line := fmt.Sprintf("        %d streams:", n)
		if n == 1 {
			line = "        1 stream: "
		}
		for _, d := range flow.Directions() {
			traffic := predict.Between(path.From, path.To, d, n)
			traffic.Protocol, traffic.Ports = "tcp", ports
			q, err := predict.Predict(c.State(), traffic)
			if err != nil {
				return err
			}
			line += fmt.Sprintf("  %s %v (%s)", d, q.Rate, q.Limit)
		}
		p.Say("%s", line)
	}
	return nil
}

// explainPhase prints each cause of a phase once, in words: the finding with
// the fewest streams above one, since a single stream explains little.
func explainPhase(con *console.Console, c *campaign.Campaign, p *progress.Progress, phase record.Phase) {
	var order []record.Cause
	chosen := make(map[record.Cause]record.Finding)
	for _, f := range c.Findings() {
		if f.Phase != phase {
			continue
		}
		old, told := chosen[f.Cause]
		if !told {
			order = append(order, f.Cause)
		}
		if !told || old.Streams < 2 && f.Streams >= 2 {
			chosen[f.Cause] = f
		}
	}
	for _, cause := range order {
		f := chosen[cause]
		p.Say("%s", console.TrimEnd(console.Wrapped("        why: ", fmt.Sprintf("%s (%s)", f.Summary, f.Cause), con.Width())))
		p.Say("%s", console.TrimEnd(console.Wrapped("        do:  ", f.Remedy, con.Width())))
	}
}

// demoDirections pairs before and after at the stream count tuning chose.
func demoDirections(r record.Record, streams int) []demoDirection {
	out := []demoDirection{}
	for _, d := range flow.Directions() {
		row := demoDirection{Direction: d, Streams: streams}
		for _, t := range r.Trials {
			if t.Direction != d || t.Streams != streams || t.Finding == nil {
				continue
			}
			switch t.Phase {
			case record.PhaseBefore:
				row.Before, row.CauseBefore = t.Goodput, t.Finding.Cause
			case record.PhaseAfter:
				row.After, row.CauseAfter, row.Ceiling = t.Goodput, t.Finding.Cause, t.Ceiling
			}
		}
		out = append(out, row)
	}
	return out
}
