package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/campaign"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/tune"
	"github.com/linerate/linerate/unit"
)

// tuneFlags are the flags of tune.
type tuneFlags struct {
	yes, dryRun, thorough bool
	require               float64
	direction, duration   string
	out                   string
	wait                  waitFlag
}

func newTune(app *App) *cobra.Command {
	var flags tuneFlags
	c := &cobra.Command{
		Use: "tune FABRIC", Short: "measure, explain, change, prove; keep what helps, put back what does not", Args: exactly(1, "one FABRIC file"),
		Long: `Tunes the first path of a fabric: one change after the other, each shown before
it is made, journalled on the host, proven by a measurement before and after
it, and put back when it does not help. Changes hold until the next reboot.

A change that nobody confirms (because this program, the network or the host
died) is put back by the host itself after three minutes.

` + exitHelp,
		Example: "  linerate tune fabric.yaml --dry-run\n  linerate tune fabric.yaml --yes --require 0.97",
		RunE: func(cmd *cobra.Command, args []string) error {
			if !flags.yes && !flags.dryRun && !app.CanAsk {
				return usage("tune: nobody is here to ask", "add --yes to change the hosts, or --dry-run to see what would be done")
			}
			f, err := readFabric(args[0])
			if err != nil {
				return err
			}
			return app.tune(cmd.Context(), f, flags)
		},
	}
	c.Flags().BoolVar(&flags.yes, "yes", false, "make the changes without asking")
	c.Flags().BoolVar(&flags.dryRun, "dry-run", false, "show what would be tried and the plans for it, change nothing")
	c.Flags().BoolVar(&flags.thorough, "thorough", false, "also try what the load of the links already rules out")
	c.Flags().Float64Var(&flags.require, "require", 0, "exit 1 unless this share of the ceiling is reached, such as 0.97")
	c.Flags().StringVar(&flags.direction, "direction", "both", "of the proofs: forward, reverse or both")
	c.Flags().StringVar(&flags.duration, "duration", "", "exact length of each measurement (default: until the result is sure)")
	c.Flags().StringVarP(&flags.out, "output", "o", "", "write the record to this file (JSON)")
	flags.wait.add(c)
	return c
}

// tuned is the document of `tune --json`.
type tuned struct {
	Before       unit.BitRate `json:"before_bps"`
	After        unit.BitRate `json:"after_bps"`
	Ceiling      unit.BitRate `json:"ceiling_bps"`
	Steps        []tunedStep  `json:"steps"`
	Measurements int          `json:"measurements_count"`
	Elapsed      float64      `json:"elapsed_s"`
	Record       string       `json:"record"`
}

type tunedStep struct {
	Change string       `json:"change"`
	Why    string       `json:"why"`
	Before unit.BitRate `json:"before_bps"`
	After  unit.BitRate `json:"after_bps"`
	Kept   bool         `json:"kept"`
}

func stepsOf(r record.Record) []tunedStep {
	out := []tunedStep{}
	for _, s := range r.Steps {
		out = append(out, tunedStep{s.Change, s.Why, s.Before, s.After, s.Kept})
	}
	return out
}

func (a *App) tune(ctx context.Context, f fabric.Fabric, flags tuneFlags) error {
	begin := time.Now()
	var direction flow.Direction
	if err := direction.UnmarshalText([]byte(flags.direction)); err != nil {
		return usage("--direction: "+err.Error(), "")
	}
	w, err := parseWindow(flags.duration)
	if err != nil {
		return err
	}
	if w.Duration > campaign.LongestProof {
		return usage(fmt.Sprintf("--duration: want at most %v", campaign.LongestProof), "a host puts an unconfirmed change back after three minutes: a proof must be shorter")
	}
	if err := tunable(f.Measure.Protocol); err != nil {
		return err
	}
	if len(f.Paths) == 0 {
		return usage(f.File+": no path to tune", "name one in paths:, or give two hosts addresses in one subnet")
	}
	p := newProgress(a)
	p.stage("reach %s", hostNames(f))
	cfg := campaign.Config{Fabric: f, Version: a.Version, Logger: a.logger(), Tell: p.tell}
	if !flags.dryRun {
		cfg.Holding = a.holding(p, flags.wait, "tune", f.File)
	}
	c, err := campaign.Open(ctx, cfg)
	if err != nil {
		return withHint(err, heldHint(err))
	}
	defer c.Close()
	path := f.Paths[0]
	if flags.dryRun {
		return a.tuneDryRun(c, path, direction)
	}
	mtu := tune.LargestMTU(c.State(), path.From, path.To)
	run := func() error {
		if err := c.Latency(ctx); err != nil {
			return err
		}
		one := campaign.Matrix{Streams: []int{1}, Directions: []flow.Direction{direction}, Duration: w.Duration, CeilingMTU: mtu}
		one.Phase, one.Ports = record.PhaseBefore, "kernel"
		if err := c.Run(ctx, one); err != nil {
			return err
		}
		if err := failures(c.Record()); err != nil {
			return err
		}
		traffic, err := c.Tune(ctx, campaign.Tuning{Path: path, Direction: direction, Duration: w.Duration, Thorough: flags.thorough, CeilingMTU: mtu, Approve: a.approver(ctx, flags.yes)})
		if err != nil {
			return err
		}
		one.Phase, one.Ports, one.Streams = record.PhaseAfter, traffic.Ports, []int{traffic.Streams}
		return c.Run(ctx, one)
	}
	err = run()
	c.Finish()
	r := c.Record()
	if flags.out != "" && len(r.Trials) > 0 {
		err = errors.Join(err, writeJSON(flags.out, r))
	}
	if err != nil {
		return err
	}
	return a.showTuned(r, flags, time.Since(begin))
}

func (a *App) showTuned(r record.Record, flags tuneFlags, elapsed time.Duration) error {
	doc := tuned{Steps: stepsOf(r), Measurements: len(r.Trials), Elapsed: elapsed.Seconds(), Record: flags.out}
	for _, t := range r.Trials {
		switch t.Phase {
		case record.PhaseBefore:
			doc.Before = t.Goodput
		case record.PhaseAfter:
			doc.After, doc.Ceiling = t.Goodput, t.Ceiling
		}
	}
	if a.json {
		if err := a.printJSON(doc); err != nil {
			return err
		}
	} else {
		a.printTuned(doc)
	}
	if err := failures(r); err != nil {
		return err
	}
	if flags.require > 0 && float64(doc.After) < flags.require*float64(doc.Ceiling) {
		return fmt.Errorf("tune: %.1f %% of the ceiling is below the %.1f %% required", 100*float64(doc.After/doc.Ceiling), 100*flags.require)
	}
	return nil
}

func (a *App) printTuned(doc tuned) {
	for _, s := range doc.Steps {
		word := "put back"
		if s.Kept {
			word = "kept"
		}
		fmt.Fprint(a.Stdout, wrapped(fmt.Sprintf("%-9s ", word), fmt.Sprintf("%s: %v, then %v", s.Change, s.Before, s.After), a.width()))
	}
	share := ""
	if doc.Ceiling > 0 {
		share = fmt.Sprintf(", %.1f %% of the ceiling of %v", 100*float64(doc.After/doc.Ceiling), doc.Ceiling)
	}
	fmt.Fprintf(a.Stdout, "before %v, after %v%s\n", doc.Before, doc.After, share)
}

// tuneDryRun shows what the prediction alone would have tried first.
func (a *App) tuneDryRun(c *campaign.Campaign, path fabric.Path, d flow.Direction) error {
	proposals := tune.Propose(tune.State{Fabric: c.State(), Tried: map[tune.Name]bool{}, Traffic: predict.Traffic{
		From: path.From, To: path.To, Direction: d, Streams: 1, Protocol: "tcp", Ports: "kernel",
	}})
	type step struct {
		Change   string       `json:"change"`
		Why      string       `json:"why"`
		Expected unit.BitRate `json:"expected_bps"`
		Gain     float64      `json:"gain_ratio"`
		Plans    []plan.Plan  `json:"plans"`
	}
	steps := []step{}
	for _, p := range proposals {
		plans, err := c.Plans(p)
		if err != nil {
			return err
		}
		steps = append(steps, step{p.Change, p.Why, p.Expected, p.Gain, plans})
	}
	if a.json {
		return a.printJSON(map[string]any{"proposals": steps})
	}
	if len(steps) == 0 {
		fmt.Fprintln(a.Stdout, "nothing to try: the prediction sees no gain")
	}
	for _, s := range steps {
		fmt.Fprint(a.Stdout, wrapped("would try: ", fmt.Sprintf("%s (%s); expected %v, %+.0f %%", s.Change, s.Why, s.Expected, 100*s.Gain), a.width()))
		for _, p := range s.Plans {
			fmt.Fprintln(a.Stdout, p.Text())
		}
	}
	return nil
}

// approver asks before each step, or approves all. An interrupt ends the
// question.
func (a *App) approver(ctx context.Context, yes bool) func(record.Step, []plan.Plan) (bool, error) {
	if yes {
		return nil
	}
	answers := make(chan string)
	go func() { // ends with the program: nothing can end a read of a terminal
		in := bufio.NewScanner(a.Stdin)
		for in.Scan() {
			answers <- in.Text()
		}
		close(answers)
	}()
	return func(s record.Step, plans []plan.Plan) (bool, error) {
		fmt.Fprintf(a.Stderr, "\n%s\n", s.Change)
		for _, p := range plans {
			fmt.Fprintln(a.Stderr, p.Text())
		}
		fmt.Fprint(a.Stderr, "make this change? [y/N] ")
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case answer := <-answers:
			answer = strings.ToLower(strings.TrimSpace(answer))
			return answer == "y" || answer == "yes", nil
		}
	}
}
