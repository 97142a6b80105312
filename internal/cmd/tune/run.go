package tune

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/tune"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// run tunes, and hands over what came of it, also when it was cut short.
func (t *tuneRun) run(ctx context.Context) error {
	begin := time.Now()
	p := progress.New(t.con)
	from, to := t.options.Path.From, t.options.Path.To
	which := ""
	if n := len(t.file.Paths); n > 1 && t.flags.path == "" {
		which = fmt.Sprintf(", the first of %d paths (--path chooses)", n)
	}
	p.Told(fmt.Sprintf("reach %s and %s%s", from, to, which))
	cfg := campaign.Config{Fabric: t.narrowed(), Fleet: t.con.Fleet(t.flags.journal), Tell: p.Tell, Switches: t.con.Switches(t.file)}
	if !t.flags.dryRun {
		t.stored = t.con.Keeper(ctx, t.flags.store)
		cfg.Locking = progress.Locking(t.con, p, t.flags.wait, "tune", t.file.File)
	}
	c, err := campaign.Open(ctx, cfg)
	if err != nil {
		return console.WithHint(err, progress.InUseHint(err))
	}
	defer c.Close()
	t.options.CeilingMTU = tune.LargestMTU(c.State(), from, to)
	if t.flags.dryRun {
		return t.dryRun(c)
	}
	t.options.Approve = t.con.Approver(ctx, t.flags.yes)
	t.options.Bounce = t.flags.bounce || !t.flags.yes // asked at the terminal, step by step
	t.options.Title = console.RunTitle("tune", t.file.File)
	if err := c.Changeable(ctx); err != nil {
		err = fmt.Errorf("tune: %w", err)
		if errors.Is(err, agentapi.ErrBusy) {
			err = console.WithHint(err, fmt.Sprintf("`linerate journal %s` says what it is, `linerate rollback %[1]s` rolls it back now", t.path))
		}
		return err
	}
	err = c.Latency(ctx)
	if err == nil {
		_, err = c.Tune(ctx, t.options)
	}
	c.Finish()
	return t.handOver(ctx, c.Record(), err, time.Since(begin))
}

// handOver writes the record and the files, persists, and says what came of
// it; cause is what cut the tune short, nil nothing. What was kept by then is
// said all the same.
func (t *tuneRun) handOver(ctx context.Context, r record.Record, cause error, elapsed time.Duration) error {
	out := outcomeOf(r, t)
	out.doc.Elapsed = elapsed.Seconds()
	problems := []error{cause}
	t.stored.Keep(ctx, r)
	if t.flags.out.Path != "" && len(r.Trials) > 0 {
		problems = append(problems, console.WriteJSON(context.WithoutCancel(ctx), t.flags.out.Path, r))
	}
	if cause == nil {
		problems = append(problems, t.writeFiles(ctx, &out))
	}
	if err := errors.Join(problems...); cause != nil || err != nil && t.con.JSON {
		if errors.Is(cause, campaign.ErrNotPutBack) {
			return console.WithHint(err, t.wayBack(r))
		}
		if out.kept() > 0 {
			fmt.Fprintf(t.con.Stderr, "linerate: kept so far: %s; `%s` rolls it back\n", unit.Counted(out.kept(), "setting"), out.doc.Rollback)
		} else if len(out.steps) > 0 {
			fmt.Fprintf(t.con.Stderr, "linerate: no setting is kept; `linerate journal %s` lists what was rolled back\n", t.path)
		}
		return err
	}
	if err := t.say(out); err != nil {
		return err
	}
	problems = append(problems, console.Failures(r), t.required(out.doc))
	return errors.Join(problems...)
}

// wayBack is what to do about a host that is neither as it was found nor as it
// was wanted.
func (t *tuneRun) wayBack(r record.Record) string {
	group := r.ID
	if r.Tuning != nil {
		group = r.Tuning.Group
	}
	return fmt.Sprintf("`%s` rolls back this tune; `linerate journal %s` shows what is active", t.rollback(group), t.path)
}

// required is the error of a result below --require.
func (t *tuneRun) required(doc tuned) error {
	if t.flags.require > 0 && float64(doc.After) < t.flags.require*float64(doc.Ceiling) {
		return fmt.Errorf("tune: %.1f %% of the ceiling is below the %.1f %% required", 100*float64(doc.After/doc.Ceiling), 100*t.flags.require)
	}
	return nil
}

// proposed is one step of `tune --dry-run --json`.
type proposed struct {
	Change   string       `json:"change"`
	Why      string       `json:"why"`
	Expected unit.BitRate `json:"expected_bps"`
	Gain     float64      `json:"gain_ratio"`
	Plans    []plan.Plan  `json:"plans"`
}

// dryRun shows where the prediction sees the path now, and the way that it
// would take from there: nothing is sent and nothing changed. What a
// measurement would ask for besides is not known yet.
func (t *tuneRun) dryRun(c *campaign.Campaign) error {
	traffic := predict.Between(t.options.Path.From, t.options.Path.To, t.direction(), 1)
	traffic.Protocol, traffic.Ports = "tcp", predict.PortsKernel
	now, err := predict.Predict(c.State(), traffic)
	if err != nil {
		return fmt.Errorf("predict %s to %s: %w", traffic.From, traffic.To, err)
	}
	steps, err := t.proposals(c, traffic)
	if err != nil {
		return err
	}
	if t.con.JSON {
		return dryRunDocument.Print(t.con, foreseen{traffic.From, traffic.To, now.Rate, now.Ceiling, steps})
	}
	t.showDryRun(now, steps)
	return nil
}

// proposals are the steps, each with its plans from where the ones before it
// lead.
func (t *tuneRun) proposals(c *campaign.Campaign, traffic predict.Traffic) ([]proposed, error) {
	state := c.State()
	all := tune.Propose(tune.State{
		Fabric: state, Load: tune.Load{Traffic: traffic}, Tried: map[tune.Name]bool{}, Thorough: t.flags.thorough, Target: t.options.Target,
		CeilingMTU: t.options.CeilingMTU, Objective: t.options.Objective, Bound: t.options.LatencyBound,
	})
	hosts := maps.Clone(state.Hosts)
	steps := []proposed{}
	for _, p := range all {
		plans, err := plansBetween(hosts, p.Hosts)
		if err != nil {
			return nil, fmt.Errorf("plan %s: %w", p.Name, err)
		}
		maps.Copy(hosts, p.Hosts)
		steps = append(steps, proposed{p.Change, p.Why, p.Expected, p.Gain, plans})
	}
	return steps, nil
}

func plansBetween(now, wanted map[string]netstate.Host) ([]plan.Plan, error) {
	out := []plan.Plan{}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		p, err := plan.Between(now[name], wanted[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if p.Host = name; len(p.Steps) > 0 {
			out = append(out, p)
		}
	}
	return out, nil
}

func (t *tuneRun) showDryRun(now predict.Prediction, steps []proposed) {
	say := func(lead, text string) { fmt.Fprint(t.con.Stdout, console.Wrapped(lead, text, t.con.Width())) }
	why := ""
	if len(now.Limits) > 0 {
		why = ": " + now.Limits[0].Why
	}
	ways := ""
	if t.direction() == flow.Both {
		ways = " in both directions together"
	}
	say("expected now: ", fmt.Sprintf("%v of %v%s, with 1 stream (%s)%s", now.Rate, now.Ceiling, ways, now.Limit, why))
	if len(steps) == 0 {
		say("", "nothing to try: the prediction sees no gain; a measurement may")
	}
	for i, s := range steps {
		say(fmt.Sprintf("%d. ", i+1), fmt.Sprintf("%s (%s); expected %v, %+.0f %%", s.Change, s.Why, s.Expected, 100*s.Gain))
		for _, p := range s.Plans {
			fmt.Fprint(t.con.Stdout, p.Text(t.con.Width()))
		}
	}
	if len(steps) > 0 {
		b := t.options.Budget
		say("", fmt.Sprintf("dry run: nothing was sent or changed. A real run tests each step and rolls back what does not help, with at most %s and %.0f s of traffic", unit.Counted(b.MostWindows, "measurement"), b.MostTraffic.Seconds()))
	}
}
