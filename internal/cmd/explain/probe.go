package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/diagnose/trial/decided"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/internal/run/probe"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/declared"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// probeFlags say whether to measure what would settle a cause.
type probeFlags struct {
	on, yes bool // --probe, --yes
	out     console.Output
	ports   string
	wait    progress.WaitFlag
}

const probeHelp = `Where the evidence does not settle a cause, the finding names the measurement
that would. With --probe that is made: the hosts of the record are reached again
as measure reaches them, what is to be sent and for how long (some seconds each)
is shown first and asked for, and each cause is judged anew by what came of it.
Nothing is changed on the hosts.

`

func (f *probeFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.on, "probe", false, "measure what would settle the causes that are not")
	c.Flags().BoolVar(&f.yes, "yes", false, "with --probe: send without asking")
	c.Flags().StringVar(&f.ports, "ports", "", "with --probe: the only ports that receivers may listen on, such as\n5201-5216 (default: any)")
	f.out.Add(c, "with --probe: write the record with its probes to this file (JSON)", "json")
	f.wait.Add(c)
}

// unsettled is a trial of a record whose cause a probe would settle.
type unsettled struct {
	trial   int // of the record
	finding record.Finding
	probes  []campaign.Probe
}

// unsettledOf are a record's trials to probe: of those of one pair and
// direction that want the same, the first. Receivers listen within some ports; nil
// is any.
func unsettledOf(r record.Record, within *flow.PortRange) []unsettled {
	type want struct {
		from, to  string
		direction flow.Direction
		probe     record.ProbeKind
	}
	have := make(map[want]bool)
	state := declared.Recorded(r)
	var out []unsettled
	for i, t := range r.Trials {
		if _, _, probe := t.Probe(); probe || t.Phase != "" {
			continue
		}
		f := findingOf(state, r, t)
		w := want{t.From, t.To, t.Direction, f.Decide.Probe}
		probes := campaign.Probes(t, f.Decide)
		if len(probes) == 0 || have[w] {
			continue
		}
		have[w] = true
		for i := range probes {
			probes[i].Spec.Within = within
		}
		out = append(out, unsettled{i, f, probes})
	}
	return out
}

// probed is the document of `explain --probe --json`.
type probed struct {
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
func explainProbe(ctx context.Context, con *console.Console, file string, r record.Record, flags probeFlags) error {
	if err := flags.out.Check("explain -o", console.RecordFile); err != nil {
		return err
	}
	within, err := console.ListenPorts(flags.ports)
	if err != nil {
		return err
	}
	todo := unsettledOf(r, within)
	if len(todo) == 0 {
		fmt.Fprintln(con.Stderr, "nothing to probe: no finding names a measurement that would settle it")
		return showProbed(con, r, explain(r), probed{Probes: []probeMade{}})
	}
	f, err := reachable(r, todo)
	if err != nil {
		return err
	}
	if ok, err := agreeToProbe(ctx, con, todo, flags.yes); err != nil || !ok {
		return err
	}
	p := progress.New(con)
	p.Stage("reach %s", console.HostNames(f))
	c, err := campaign.Open(ctx, campaign.Config{
		Fabric: f, Fleet: con.Fleet(""), Tell: p.Tell, Pings: probePings, Switches: con.Switches(f), Locking: progress.Locking(con, p, flags.wait, "explain", file, "--probe"),
	})
	if err != nil {
		return console.WithHint(err, progress.InUseHint(err))
	}
	defer c.Close()
	saySeparate(p, c.State(), r, todo)
	doc := probed{Probes: []probeMade{}, Record: flags.out.Path}
	failed := makeProbes(ctx, con, c, &r, todo, &doc)
	findings := judgedAgain(r, todo, c)
	if flags.out.Path != "" && len(doc.Probes) > 0 {
		failed = errors.Join(failed, console.WriteJSON(context.WithoutCancel(ctx), flags.out.Path, r))
	}
	if failed != nil && len(doc.Probes) == 0 {
		return failed
	}
	return errors.Join(failed, showProbed(con, r, findings, doc))
}

// saySeparate says of which pairs nothing hashes the flows.
func saySeparate(p *progress.Progress, state predict.Fabric, r record.Record, todo []unsettled) {
	said := map[[2]string]bool{}
	for _, u := range todo {
		t := r.Trials[u.trial]
		lanes, err := predict.Lanes(state, t.From, t.To, "")
		if pair := [2]string{t.From, t.To}; err == nil && !said[pair] && len(lanes) > 1 && probe.Separate(state.Hosts[t.From], state.Hosts[t.To], lanes) {
			said[pair] = true
			p.Note(fmt.Sprintf("%s and %s have separate interfaces, nothing hashes: the probes use the addresses of the trial", t.From, t.To))
		}
	}
}

// probePings are enough to know the round trip.
var probePings = measure.Pings{Count: 5}

// makeProbes makes the probes one trial after the other and lays what came of
// them into the record.
func makeProbes(ctx context.Context, con *console.Console, c *campaign.Campaign, r *record.Record, todo []unsettled, doc *probed) error {
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
		f := decided.By(c.State(), u.finding, *t, r.ProbesOf(*t))
		t.Finding = &f
	}
	var out []record.Finding
	state := declared.Recorded(r)
	for i, t := range r.Trials {
		if _, _, probe := t.Probe(); probe {
			continue
		}
		f := findingOf(state, r, t)
		if slices.ContainsFunc(todo, func(u unsettled) bool { return u.trial == i }) {
			f = *t.Finding
		}
		out = append(out, f)
	}
	return out
}

func showProbed(con *console.Console, r record.Record, findings []record.Finding, doc probed) error {
	if doc.Findings = findings; findings == nil {
		doc.Findings = []record.Finding{}
	}
	if con.JSON {
		return probeAnswer.Print(con, doc)
	}
	printFindings(con, r, doc.Findings, false)
	return nil
}

// reachable is the fabric of a record, no more of it than the hosts and paths
// that are to be probed: nobody else is asked, or pinged. Errors:
// fleet.ErrUnreachable where it does not say how to reach one of them.
func reachable(r record.Record, todo []unsettled) (fabric.Fabric, error) {
	t := r.Trials[todo[0].trial]
	if r.Fabric.Text == "" {
		err := fmt.Errorf("probe %s to %s: %w: the record has no fabric, so nobody knows how to reach them", t.From, t.To, fleet.ErrUnreachable)
		return fabric.Fabric{}, console.WithHint(err, byHand(t))
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
				return f, console.WithHint(err, byHand(t))
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
func agreeToProbe(ctx context.Context, con *console.Console, todo []unsettled, yes bool) (bool, error) {
	var sum time.Duration
	for _, u := range todo {
		for _, p := range u.probes {
			sum += p.Takes
		}
	}
	if !yes && !con.CanAsk {
		return false, console.BadUsage("explain: --probe sends for "+progress.Roughly(sum)+", and standard input is not a terminal: use --yes", "add --yes")
	}
	for _, u := range todo {
		t := u.finding
		fmt.Fprint(con.Stderr, console.Wrapped("", fmt.Sprintf("%s to %s, %s, %s: %s", t.From, t.To, t.Direction, unit.Counted(t.Streams, "stream"), whyProbe(t)), con.Width()))
		for _, p := range u.probes {
			fmt.Fprint(con.Stderr, console.Wrapped("  - ", fmt.Sprintf("%s, %s, %s", p.Says, progress.Roughly(p.Takes), sends(p)), con.Width()))
		}
	}
	if yes {
		return true, nil
	}
	q := con.Asker()
	return q.Ask(ctx, fmt.Sprintf("send this for about %s? Nothing is changed on the hosts.", progress.Roughly(sum)))
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
