package tune

import (
	"fmt"
	"maps"
	"slices"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/tune"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/unit"
)

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
		return t.con.PrintJSON(map[string]any{"from": traffic.From, "to": traffic.To, "expected_bps": now.Rate, "ceiling_bps": now.Ceiling, "proposals": steps})
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
			fmt.Fprint(t.con.Stdout, p.Text())
		}
	}
	if len(steps) > 0 {
		b := t.options.Budget
		say("", fmt.Sprintf("nothing was sent or changed; without --dry-run each is proven, and put back where it does not pay, with at most %s and %.0f s of traffic", unit.Counted(b.MostWindows, "measurement"), b.MostTraffic.Seconds()))
	}
}
