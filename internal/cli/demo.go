package cli

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

// demoScenario is the lab network of the demo.
const demoScenario = "two-links"

// Lengths of the demo's windows: long enough for a share to be sure within
// 1 %, short enough for the whole story to fit into three minutes.
const (
	demoBefore = 1200 * time.Millisecond
	demoProof  = 2 * time.Second
	demoAfter  = 1500 * time.Millisecond
	// demoFinal is the window of the streams that the story ends with.
	demoFinal = 3 * time.Second
)

func newDemo(app *App) *cobra.Command {
	var place labPlace
	var out output
	var stored string
	c := &cobra.Command{
		Use: "demo", Short: "the main job in a built-in lab: find out why two links do not add up, mend it, prove it", Args: none,
		Long: `Builds two hosts, each with a two-port LACP bond through a switch, on a real
kernel: the running one where it has bonding, else a kernel of its own that
needs no privilege. Measures that two links carry no more than one, says why,
changes what helps, measures again, and writes OUT/record.json and
OUT/report.html. Nothing outside the lab is touched.

` + exitHelp,
		Example: "  linerate demo\n  linerate demo --json --quiet",
		RunE: func(cmd *cobra.Command, _ []string) error {
			again := append([]string{"demo", "--out", out.path}, app.flagsAgain()...)
			if out.force {
				again = append(again, "--force")
			}
			there := isDir(out.path)
			if err := checkDemo(out); err != nil {
				return err
			}
			if !there {
				defer os.Remove(out.path) // where nothing was written into it
			}
			writable, err := outside(out.path)
			if err != nil {
				return err
			}
			return app.keeper(cmd.Context(), stored).keepFile(cmd.Context(), filepath.Join(out.path, demoRecord), func() error {
				return app.inLab(cmd.Context(), place, guest.Command{Args: again, Writable: writable}, func(choice lab.Choice) error { return app.demo(cmd.Context(), choice, out.path) })
			})
		},
	}
	place.addFlags(c)
	addStoreFlag(c, &stored)
	out.addForce(c)
	c.Flags().StringVar(&out.path, "out", "linerate-demo", "directory for record.json and report.html")
	return c
}

// demoDocument is what `demo --json` prints.
type demoDocument struct {
	BackEnd    lab.BackEnd     `json:"back_end"`
	Why        string          `json:"back_end_reason"`
	Kernel     string          `json:"kernel"`
	Directions []demoDirection `json:"directions"`
	Steps      []tunedStep     `json:"steps"`
	Record     string          `json:"record"`
	Report     string          `json:"report"`
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

func (a *App) demo(ctx context.Context, choice lab.Choice, out string) error {
	what, err := findLab(ctx, demoScenario)
	if err != nil {
		return err
	}
	s := *what.built
	p := newProgress(a)
	p.stage("build the lab on back end %s (%s)", choice.BackEnd, choice.Why)
	var r record.Record
	var streams int
	err = withLab(ctx, what.blueprint(), func() error {
		c, err := a.openDemo(ctx, s, choice, p)
		if err != nil {
			return err
		}
		defer c.Close()
		streams, err = a.demoStory(ctx, c, p)
		c.Finish()
		r = c.Record()
		return err
	})
	// What was measured is kept, also after an interrupt.
	recordFile, reportFile := filepath.Join(out, demoRecord), filepath.Join(out, demoReport)
	if kept := context.WithoutCancel(ctx); len(r.Trials) > 0 {
		err = errors.Join(err, writeJSON(kept, recordFile, r), writeReport(kept, reportFile, r))
	}
	if err != nil {
		return err
	}
	if err := failures(r); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(demoDocument{
			BackEnd: choice.BackEnd, Why: choice.Why, Kernel: r.Environment.Kernel, Directions: demoDirections(r, streams), Steps: stepsOf(r),
			Record: recordFile, Report: reportFile,
		})
	}
	fmt.Fprintf(a.Stdout, "%s\n%s and %s are written.\n", report.Text(r, a.width()), recordFile, reportFile)
	return nil
}

// checkDemo makes the demo's directory, or says why its files cannot be there.
func checkDemo(out output) error {
	err := mkDir("demo --out", out.path)
	for name, writes := range map[string]content{demoRecord: aRecordFile, demoReport: otherText} {
		if err == nil {
			err = output{filepath.Join(out.path, name), out.force}.check("demo --out", writes)
		}
	}
	return err
}

func writeReport(ctx context.Context, path string, r record.Record) error {
	page, err := report.HTML(r, report.Options{RecordFile: demoRecord})
	if err != nil {
		return err
	}
	return writeFile(ctx, path, page)
}

func (a *App) openDemo(ctx context.Context, s lab.Scenario, choice lab.Choice, p *progress) (*campaign.Campaign, error) {
	f, err := fabric.Parse("demo.yaml", []byte(s.Net.Fabric(s.Streams, s.Ports)))
	if err != nil {
		return nil, err
	}
	p.stage("observe %s over netlink, sysfs and /proc", hostNames(f))
	return campaign.Open(ctx, campaign.Config{
		Fabric: f, Fleet: a.fleet(labJournal), BackEnd: string(choice.BackEnd), BackEndWhy: choice.Why, Tell: p.tell,
		Holding: a.holding(p, waitFlag{}, "demo"),
	})
}

// demoStory is the demo's loop; it returns the stream count that tuning ended
// with.
func (a *App) demoStory(ctx context.Context, c *campaign.Campaign, p *progress) (int, error) {
	path := c.State().Paths[0]
	counts := []int{1, 2, 4, 8}
	mtu := tune.LargestMTU(c.State(), path.From, path.To)
	if err := a.showPrediction(c, p, counts, "kernel"); err != nil {
		return 0, err
	}
	p.stage("measure latency")
	if err := c.Latency(ctx); err != nil {
		return 0, err
	}
	p.stage("measure what the hosts carry as they are")
	before := campaign.Matrix{Phase: record.PhaseBefore, Streams: counts, Directions: flow.Directions(), Ports: "kernel", Duration: demoBefore, CeilingMTU: mtu}
	if err := c.Run(ctx, before); err != nil {
		return 0, err
	}
	a.explainPhase(c, p, record.PhaseBefore)
	p.stage("tune: one proven step at a time")
	tuned, err := c.Tune(ctx, campaign.Tuning{Path: path, Direction: flow.Both, Duration: demoProof, Thorough: true, Bare: true, CeilingMTU: mtu})
	if err != nil {
		return 0, err
	}
	traffic := tuned.Traffic
	if err := a.showPrediction(c, p, counts, traffic.Ports); err != nil {
		return 0, err
	}
	p.stage("measure again")
	after := campaign.Matrix{
		Phase: record.PhaseAfter, Streams: counts, Directions: flow.Directions(), Ports: traffic.Ports, CeilingMTU: mtu,
		Duration: demoAfter, DurationAt: map[int]time.Duration{traffic.Streams: demoFinal},
	}
	if err := c.Run(ctx, after); err != nil {
		return 0, err
	}
	a.explainPhase(c, p, record.PhaseAfter)
	return traffic.Streams, nil
}

// showPrediction says what to expect, and which limit binds, in one line a
// stream count.
func (a *App) showPrediction(c *campaign.Campaign, p *progress, counts []int, ports string) error {
	p.stage("predict, with ports of the %s", map[string]string{"kernel": "kernel's choice", "chosen": "bond's own hash"}[ports])
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
		p.say("%s", line)
	}
	return nil
}

// explainPhase prints each cause of a phase once, in words: the finding with
// the fewest streams above one, since a single stream explains little.
func (a *App) explainPhase(c *campaign.Campaign, p *progress, phase record.Phase) {
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
		p.say("%s", trimEnd(wrapped("        why: ", fmt.Sprintf("%s (%s)", f.Summary, f.Cause), a.width())))
		p.say("%s", trimEnd(wrapped("        do:  ", f.Remedy, a.width())))
	}
}

func trimEnd(s string) string {
	for len(s) > 0 && s[len(s)-1] == '\n' {
		s = s[:len(s)-1]
	}
	return s
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
