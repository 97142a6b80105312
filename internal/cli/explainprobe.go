package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	diagnosetrial "github.com/linerate/linerate/diagnose/trial"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/internal/run/probe"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// explainProbeFlags say whether to measure what would settle a cause.
type explainProbeFlags struct {
	probe, yes bool
	out        output
	wait       waitFlag
}

const explainProbeHelp = `Where the evidence does not settle a cause, the finding names the measurement
that would. With --probe that is made: the hosts of the record are reached again
as measure reaches them, what is to be sent and for how long (some seconds each)
is shown first and asked for, and each cause is judged anew by what came of it.
Nothing is changed on the hosts.

`

// withProbe gives explain its --probe.
func withProbe(app *App, c *cobra.Command) *cobra.Command {
	var flags explainProbeFlags
	c.Example += "\n  linerate explain record.json --probe --yes -o settled.json"
	c.Flags().BoolVar(&flags.probe, "probe", false, "measure what would settle the causes that are not")
	c.Flags().BoolVar(&flags.yes, "yes", false, "with --probe: send without asking")
	flags.out.add(c, "with --probe: write the record with its probes to this file (JSON)")
	flags.wait.add(c)
	run := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if !flags.probe {
			if flags.yes || flags.out.path != "" || flags.out.force {
				return usage("explain: --yes, --output and --force are about probes", "say --probe, or leave them out")
			}
			return run(cmd, args)
		}
		r, err := readRecord(cmd.Context(), args[0])
		if err == nil {
			err = flags.out.check("explain -o", aRecordFile)
		}
		if err != nil {
			return err
		}
		return app.explainProbe(cmd.Context(), args[0], r, flags)
	}
	return c
}

// unsettled is a trial of a record whose cause a probe would settle.
type unsettled struct {
	trial   int // of the record
	finding record.Finding
	probes  []campaign.Probe
}

// unsettledOf are a record's trials to probe: of those of one pair and
// direction that want the same, the first.
func unsettledOf(r record.Record) []unsettled {
	type want struct {
		from, to  string
		direction flow.Direction
		probe     record.ProbeKind
	}
	have := make(map[want]bool)
	var out []unsettled
	for i, t := range r.Trials {
		if _, _, probe := t.Probe(); probe || t.Phase != "" {
			continue
		}
		f := findingOf(r, t)
		w := want{t.From, t.To, t.Direction, f.Decide.Probe}
		probes := campaign.Probes(t, f.Decide)
		if len(probes) == 0 || have[w] {
			continue
		}
		have[w] = true
		out = append(out, unsettled{i, f, probes})
	}
	return out
}

// explainProbed is the document of `explain --probe --json`.
type explainProbed struct {
	Findings []record.Finding `json:"findings"`
	Probes   []probeMade      `json:"probes"`
	Record   string           `json:"record,omitempty"`
}

type probeMade struct {
	From      string           `json:"from"`
	To        string           `json:"to"`
	Direction flow.Direction   `json:"direction"`
	Streams   int              `json:"streams"`
	Probe     record.ProbeKind `json:"probe"`
	Value     float64          `json:"value,omitempty"`
	Goodput   unit.BitRate     `json:"goodput_bps"`
}

// explainProbe makes the probes that a record's findings name, and says what
// limits each result with what they showed.
func (a *App) explainProbe(ctx context.Context, file string, r record.Record, flags explainProbeFlags) error {
	todo := unsettledOf(r)
	if len(todo) == 0 {
		fmt.Fprintln(a.Stderr, "nothing to probe: no finding names a measurement that would settle it")
		return a.showProbed(r, explain(r), explainProbed{Probes: []probeMade{}})
	}
	f, err := reachable(r, todo)
	if err != nil {
		return err
	}
	if ok, err := a.agreeToProbe(ctx, todo, flags.yes); err != nil || !ok {
		return err
	}
	p := newProgress(a)
	p.stage("reach %s", hostNames(f))
	c, err := campaign.Open(ctx, campaign.Config{
		Fabric: f, Version: a.Version, SSH: a.ssh, Bus: a.bus, Logger: a.logger(), Tell: p.tell, Pings: probePings, Holding: a.holding(p, flags.wait, "explain", file, "--probe"),
	})
	if err != nil {
		return withHint(err, heldHint(err))
	}
	defer c.Close()
	saySeparate(p, c, r, todo)
	doc := explainProbed{Probes: []probeMade{}, Record: flags.out.path}
	failed := a.makeProbes(ctx, c, &r, todo, &doc)
	findings := judgedAgain(r, todo, c)
	if flags.out.path != "" && len(doc.Probes) > 0 {
		failed = errors.Join(failed, writeJSON(context.WithoutCancel(ctx), flags.out.path, r))
	}
	if failed != nil && len(doc.Probes) == 0 {
		return failed
	}
	return errors.Join(failed, a.showProbed(r, findings, doc))
}

// saySeparate says of which pairs nothing hashes the flows.
func saySeparate(p *progress, c *campaign.Campaign, r record.Record, todo []unsettled) {
	said := map[[2]string]bool{}
	for _, u := range todo {
		t := r.Trials[u.trial]
		lanes, err := predict.Lanes(c.State(), t.From, t.To, "")
		if pair := [2]string{t.From, t.To}; err == nil && !said[pair] && len(lanes) > 1 && probe.Separate(c.State().Hosts[t.From], c.State().Hosts[t.To], lanes) {
			said[pair] = true
			p.note(fmt.Sprintf("%s and %s have separate interfaces, nothing hashes: the probes use the addresses of the trial", t.From, t.To))
		}
	}
}

// probePings are enough to know the round trip.
var probePings = measure.Pings{Count: 5}

// makeProbes makes the probes one trial after the other and lays what came of
// them into the record.
func (a *App) makeProbes(ctx context.Context, c *campaign.Campaign, r *record.Record, todo []unsettled, doc *explainProbed) error {
	if err := c.Latency(ctx); err != nil {
		return err
	}
	for _, u := range todo {
		trials, err := c.Probe(ctx, r.Trials[u.trial], u.probes)
		for _, t := range trials {
			kind, value, _ := t.Probe()
			doc.Probes = append(doc.Probes, probeMade{t.From, t.To, t.Direction, t.Streams, kind, value, t.Goodput})
			if kind == record.ProbePacketSize {
				r.Trials[u.trial].Sizes = t.Sizes
			}
			r.Trials = append(r.Trials, t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// judgedAgain are the record's findings, those that were probed in the state that
// the hosts are in now, and laid into their trials.
func judgedAgain(r record.Record, todo []unsettled, c *campaign.Campaign) []record.Finding {
	for _, u := range todo {
		t := &r.Trials[u.trial]
		f := diagnosetrial.Decide(c.State(), u.finding, *t, r.ProbesOf(*t))
		t.Finding = &f
	}
	var out []record.Finding
	for i, t := range r.Trials {
		if _, _, probe := t.Probe(); probe {
			continue
		}
		f := findingOf(r, t)
		if slices.ContainsFunc(todo, func(u unsettled) bool { return u.trial == i }) {
			f = *t.Finding
		}
		out = append(out, f)
	}
	return out
}

func (a *App) showProbed(r record.Record, findings []record.Finding, doc explainProbed) error {
	if doc.Findings = findings; findings == nil {
		doc.Findings = []record.Finding{}
	}
	if a.json {
		return a.printJSON(doc)
	}
	a.printFindings(r, doc.Findings)
	return nil
}

// reachable is the fabric of a record, no more of it than the hosts and paths
// that are to be probed: nobody else is asked, or pinged. Errors:
// fleet.ErrUnreachable where it does not say how to reach one of them.
func reachable(r record.Record, todo []unsettled) (fabric.Fabric, error) {
	t := r.Trials[todo[0].trial]
	if r.Fabric.Text == "" {
		err := fmt.Errorf("probe %s to %s: %w: the record has no fabric, so nobody knows how to reach them", t.From, t.To, fleet.ErrUnreachable)
		return fabric.Fabric{}, withHint(err, byHand(t))
	}
	f, err := fabric.Parse(r.Fabric.File, []byte(r.Fabric.Text))
	if err != nil {
		return f, err
	}
	for _, u := range todo {
		t := r.Trials[u.trial]
		for _, name := range []string{t.From, t.To} {
			h, ok := f.Host(name)
			if !ok || h.Reach == "" {
				err := fmt.Errorf("probe %s to %s: %w: hosts.%s.reach is not set in the record's fabric", t.From, t.To, fleet.ErrUnreachable, name)
				return f, withHint(err, byHand(t))
			}
		}
	}
	return narrowedTo(f, todo), nil
}

func narrowedTo(f fabric.Fabric, todo []unsettled) fabric.Fabric {
	takesPart := func(names ...string) bool {
		return slices.ContainsFunc(todo, func(u unsettled) bool {
			ends := []string{u.finding.From, u.finding.To}
			return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(ends, name) })
		})
	}
	f.Hosts = slices.DeleteFunc(slices.Clone(f.Hosts), func(h fabric.Host) bool { return !takesPart(h.Name) })
	f.Paths = slices.DeleteFunc(slices.Clone(f.Paths), func(p fabric.Path) bool { return !takesPart(p.From, p.To) })
	return f
}

// byHand is what to run where the hosts cannot be reached from here.
func byHand(t record.Trial) string {
	return fmt.Sprintf("`linerate discover HOST HOST -o fabric.yaml` and `linerate measure fabric.yaml -o record.json` make a record with hosts in it; "+
		"where only one can be logged in to, `linerate listen` on %s and `linerate measure %s` on %s", t.To, t.To, t.From)
}

// agreeToProbe shows what is to be sent, and asks unless yes was said before.
func (a *App) agreeToProbe(ctx context.Context, todo []unsettled, yes bool) (bool, error) {
	var sum time.Duration
	for _, u := range todo {
		for _, p := range u.probes {
			sum += p.Takes
		}
	}
	if !yes && !a.CanAsk {
		return false, usage("explain: --probe sends for "+roughly(sum)+", and nobody is here to ask", "add --yes")
	}
	for _, u := range todo {
		t := u.finding
		fmt.Fprint(a.Stderr, wrapped("", fmt.Sprintf("%s to %s, %s, %s: %s", t.From, t.To, t.Direction, unit.Counted(t.Streams, "stream"), whyProbe(t)), a.width()))
		for _, p := range u.probes {
			fmt.Fprint(a.Stderr, wrapped("  - ", fmt.Sprintf("%s, %s, %s", p.Says, roughly(p.Takes), sends(p)), a.width()))
		}
	}
	if yes {
		return true, nil
	}
	q := &asker{app: a}
	return q.ask(ctx, fmt.Sprintf("send this for about %s? Nothing is changed on the hosts.", roughly(sum)))
}

// whyProbe is what a probe is to settle.
func whyProbe(f record.Finding) string {
	if f.Decide.Text != "" {
		return f.Decide.Text
	}
	return "the cause is not settled (" + string(f.Cause) + ")"
}

// sends is how much a probe puts on the network.
func sends(p campaign.Probe) string {
	switch {
	case p.Decision.Probe == record.ProbePacketSize:
		return "a few dozen packets"
	case p.Spec.Idle:
		return "nothing"
	case p.Rate > 0:
		return "at most " + p.Rate.String()
	}
	return "as much as passes"
}
