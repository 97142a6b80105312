package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/internal/run/change"
	"github.com/linerate/linerate/unit"
)

// applyFlags are the flags of apply.
type applyFlags struct {
	changeFlags
	yes, dryRun, unconfirmed bool
	deadline                 string
	accept                   []string
	waves                    waveFlags
	wait                     progress.WaitFlag
}

// NewApply is `linerate apply`.
func NewApply(con *console.Console) *cobra.Command {
	var flags applyFlags
	c := &cobra.Command{
		Use: "apply FABRIC", Short: "change the hosts as the file wants, prove it, or roll all back", Args: console.Exactly(1, "one FABRIC file"),
		Long: `Shows the plan of every host (as ` + "`linerate plan`" + ` does) and carries it out: the
journal is on each host's disk and a guard armed there before the first step.
Then it is proven that every value reads back, LACP partners are in sync, who
answered before still answers, packets of the wanted size pass both ways, and
bytes are seen on every link that should carry some. What is proven is
confirmed over new connections and then written to the hosts' files. What is
not is rolled back on all hosts: exit status 4. A host that hears nothing for
--deadline rolls itself back, which is exit status 4 too: 5s at least, and 15s
where a host is reached by ssh, as the connection that confirms logs in again
and may have to copy the program again. Where LACP partners have to agree give
it a minute.

A change of this very host alone is not confirmed by itself: nobody on it can
tell whether others still reach it. Log in anew and run ` + "`linerate confirm`" + `.

` + console.ExitHelp,
		Example: "  linerate apply fabric.yaml --dry-run\n  linerate apply fabric.yaml --yes --deadline 3m\n  linerate apply fabric.yaml --yes --accept mtu",
		RunE: func(cmd *cobra.Command, args []string) error {
			if !flags.yes && !flags.dryRun && !con.CanAsk {
				return console.BadUsage("apply: standard input is not a terminal: use --yes", "add --yes to change the hosts, or --dry-run to see what would be done")
			}
			o, err := flags.options()
			if err != nil {
				return err
			}
			if err := flags.waves.check(flags.unconfirmed); err != nil {
				return err
			}
			cfg, err := flags.config(cmd.Context(), con, args[0])
			if err != nil {
				return err
			}
			if err := flags.checkReach(cfg, o.Deadline); err != nil {
				return err
			}
			return applyFile(cmd.Context(), con, cfg, flags, o)
		},
	}
	flags.add(c)
	c.Flags().BoolVar(&flags.yes, "yes", false, "change the hosts without asking")
	c.Flags().BoolVar(&flags.dryRun, "dry-run", false, "show the plans, change nothing")
	c.Flags().BoolVar(&flags.unconfirmed, "no-confirm", false, "leave that to the confirm command; the hosts roll it back at the deadline")
	c.Flags().StringVar(&flags.deadline, "deadline", "", "how long the hosts wait for the confirmation, also --confirm-timeout (default 2m)")
	c.Flags().StringVar(&flags.deadline, "confirm-timeout", "", "as --deadline")
	_ = c.Flags().MarkHidden("confirm-timeout") // it is there
	c.Flags().StringSliceVar(&flags.accept, "accept", nil, "proofs that may fail: state, partner, reach, mtu, traffic")
	flags.waves.add(c)
	flags.wait.Add(c)
	return c
}

// Bounds of --deadline: below, the proofs have no time, and over ssh not the
// new connection that confirms; above, a host that is cut off stays so for longer
// than anybody waits.
const (
	shortestDeadline = 5 * time.Second
	shortestBySSH    = 15 * time.Second
	longestDeadline  = time.Hour
)

// checkReach refuses a deadline that hosts reached by ssh cannot keep.
func (f *applyFlags) checkReach(cfg change.Config, deadline time.Duration) error {
	for _, h := range cfg.Fabric.Hosts {
		changes := cfg.Only == nil || slices.Contains(cfg.Only, h.Name)
		if changes && strings.HasPrefix(h.Reach, "ssh:") && deadline < shortestBySSH {
			return console.BadUsage(fmt.Sprintf("--deadline: want %v to 1h, as %s is reached by ssh", shortestBySSH, h.Name), "the connection that confirms logs in again, and may have to copy the program again")
		}
	}
	return nil
}

func (f *applyFlags) options() (change.Options, error) {
	o := change.Options{Deadline: apply.DefaultDeadline, Unconfirmed: f.unconfirmed}
	if f.deadline != "" {
		var err error
		if o.Deadline, err = unit.ParseDuration(f.deadline); err != nil {
			return o, console.BadUsage("--deadline: "+err.Error(), "a time such as 90s or 3m")
		}
		if o.Deadline < shortestDeadline || o.Deadline > longestDeadline {
			return o, console.BadUsage("--deadline: want "+shortestDeadline.String()+" to 1h", "slow LACP alone takes 90 s to notice a lost partner")
		}
	}
	for _, word := range f.accept {
		var known []string
		for _, p := range change.Proofs() {
			known = append(known, string(p))
		}
		if !slices.Contains(known, word) {
			return o, console.BadUsage("--accept: unknown proof "+word, console.OrMeant(word, known, "", "proofs are "+strings.Join(known, ", ")))
		}
		o.Accept = append(o.Accept, change.Proof(word))
	}
	return o, nil
}

// What journals call the runs of apply: one change of each host, or several waves.
const (
	applyTitle = "apply"
	wavesTitle = "apply in waves:"
)

// applied is the document of `apply --json`.
type applied struct {
	Plans     []plannedHost        `json:"plans"`
	Hosts     []change.HostOutcome `json:"hosts"`
	Proofs    []change.Proved      `json:"proofs"`
	Confirmed bool                 `json:"confirmed"`
	// Waves are there where the hosts changed in several. Group is the run in the
	// hosts' journals, Rollback the command that rolls it back; neither is there
	// where nothing changed.
	Waves    []appliedWave `json:"waves,omitempty"`
	Group    string        `json:"group,omitempty"`
	Rollback string        `json:"rollback,omitempty"`
	// ConfirmBy is there while the change is unconfirmed.
	ConfirmBy *time.Time `json:"confirm_by,omitempty"`
}

func applyFile(ctx context.Context, con *console.Console, cfg change.Config, flags applyFlags, o change.Options) error {
	p := progress.New(con)
	if !flags.dryRun {
		cfg.Locking = progress.Locking(con, p, flags.wait, "apply", cfg.Fabric.File)
		cfg.Recover = true
	}
	cfg.Tell = p.Told
	c, err := openChange(ctx, con, cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	plans := plannedHosts(c)
	if flags.dryRun && con.JSON {
		return applyDocument.Print(con, applied{Plans: plans, Hosts: []change.HostOutcome{}, Proofs: []change.Proved{}})
	}
	if !con.JSON {
		printPlans(con, c)
	} else {
		printPlansAside(con, c)
	}
	waves, err := flags.waves.of(c)
	if err != nil {
		return err
	}
	printWaves(con, waves)
	if flags.dryRun {
		return nil
	}
	q := con.Asker()
	if !c.Empty() && !flags.yes {
		yes, err := q.Ask(ctx, "make these changes?")
		if err != nil {
			return err
		}
		if !yes {
			return errors.New("apply: not agreed to; nothing was changed")
		}
	}
	if len(waves) > 1 {
		return applyWaves(ctx, con, c, plans, waves, o, cfg.Fabric, flags.journal)
	}
	o.Group, o.Title = change.GroupName(time.Now()), console.RunTitle(applyTitle, cfg.Fabric.File)
	undo := rollbackLine(c, cfg.Fabric, flags.journal, o.Group)
	out, err := c.Apply(ctx, o)
	if errors.Is(err, apply.ErrPending) {
		return console.WithHint(err, pendingHint(c, flags.journal))
	}
	if err != nil {
		return console.WithHint(err, rolledBackHint(out))
	}
	if !out.Confirmed && con.CanAsk && !flags.unconfirmed && !flags.yes {
		return askToKeep(ctx, con, q, c, out, undo, flags.journal)
	}
	if con.JSON {
		doc := appliedDocument(plans, out)
		if changedHosts(out) > 0 {
			doc.Group, doc.Rollback = o.Group, undo
		}
		return applyDocument.Print(con, doc)
	}
	printApplied(con, c, out, undo, flags.journal)
	return nil
}

func appliedDocument(plans []plannedHost, out change.Outcome) applied {
	doc := applied{Plans: plans, Hosts: console.OrEmpty(out.Hosts), Proofs: console.OrEmpty(out.Proofs), Confirmed: out.Confirmed}
	if !out.Confirmed {
		by := out.ConfirmBy.UTC()
		doc.ConfirmBy = &by
	}
	return doc
}

// printPlansAside shows the plan where standard output is for a document.
func printPlansAside(con *console.Console, c *change.Change) {
	if con.Quiet {
		return
	}
	aside := *con
	aside.Stdout = con.Stderr
	printPlans(&aside, c)
}

// rolledBackHint names what is left to look at after a change that failed.
func rolledBackHint(out change.Outcome) string {
	for _, h := range out.Hosts {
		if len(h.Left) > 0 {
			return "on " + h.Host + " left as somebody else set it since: " + strings.Join(h.Left, "; ")
		}
	}
	for _, p := range out.Proofs {
		switch {
		case p.Verdict != change.Broken:
		case p.Proof == change.ProofMTU:
			return "what lies between the hosts does not carry frames of that size: raise the MTU of every switch port on the way first"
		case p.Proof == change.ProofReach:
			return "with the change these hosts no longer reach each other: look at the addresses and routes that it leaves"
		case p.Proof == change.ProofPartner:
			return "a port has no LACP partner: set its switch port to LACP (active), in one port channel with the others, first"
		case p.Proof == change.ProofTraffic:
			return "a link of it carries nothing: see its cable and its switch port, and `linerate steer show` for what should take it"
		case p.Proof == change.ProofState:
			return "another program set it back: see what else configures this host's network (netplan, NetworkManager, networkd), or change it there"
		}
	}
	return ""
}

// onHost is a command line for an entry of a host's journal.
func onHost(c *change.Change, command, host, entry, journal string) string {
	line := "linerate " + command
	for _, h := range c.Hosts() {
		if h.Name == host && h.Reach != "local:" {
			line += " --host " + console.AsTyped(h.Reach)
		}
		if h.Name == host && journal != "" && !strings.HasPrefix(h.Reach, "ssh:") && !strings.HasPrefix(h.Reach, "nats:") {
			line += " --journal " + journal
		}
	}
	return line + " " + entry
}

// pendingHint is how to end the change that stands in the way.
func pendingHint(c *change.Change, journal string) string {
	for _, h := range c.Hosts() {
		if h.Pending != nil {
			return fmt.Sprintf("`%s` rolls it back now, `%s` keeps it", onHost(c, "rollback", h.Name, h.Pending.ID, journal), onHost(c, "confirm", h.Name, h.Pending.ID, journal))
		}
	}
	return ""
}

// rollbackLine is the command that rolls a run back on all hosts that it changes.
func rollbackLine(c *change.Change, file fabric.Fabric, journal, group string) string {
	line := "linerate rollback " + file.File
	var changes []string
	for _, h := range c.Hosts() {
		if len(h.Plan.Steps)+len(h.Plan.Files) > 0 {
			changes = append(changes, h.Name)
		}
	}
	if slices.ContainsFunc(file.Hosts, func(h fabric.Host) bool { return h.Reach != "" && !slices.Contains(changes, h.Name) }) {
		line += " --host " + strings.Join(changes, ",") // the others need not be there for it
	}
	if journal != "" {
		line += " --journal " + journal
	}
	return line + " " + group
}

func printApplied(con *console.Console, c *change.Change, out change.Outcome, undo, journal string) {
	steps := 0
	for _, h := range out.Hosts {
		steps += h.Applied
	}
	switch {
	case steps == 0 && out.Confirmed:
		fmt.Fprintln(con.Stdout, "nothing to change: the hosts are as the file wants them")
	case out.Confirmed:
		fmt.Fprintf(con.Stdout, "changed and confirmed: %s on %s\n", unit.Counted(steps, "step"), unit.Counted(changedHosts(out), "host"))
		fmt.Fprintf(con.Stdout, "to roll it back:\n  %s\n", undo)
	default:
		left := time.Until(out.ConfirmBy).Round(time.Second)
		fmt.Fprintf(con.Stdout, "changed, and NOT kept yet: it is rolled back in %v\n", left)
		for _, h := range out.Hosts {
			if h.Journal != "" {
				fmt.Fprintf(con.Stdout, "to keep it, over a new connection, on %s:\n  %s\n", h.Host, onHost(c, "confirm", h.Host, h.Journal, journal))
			}
		}
	}
}

func changedHosts(out change.Outcome) (n int) {
	for _, h := range out.Hosts {
		if h.Journal != "" {
			n++
		}
	}
	return n
}

// askToKeep lets the person who sees the terminal confirm: if they still see
// it, they still reach the host.
func askToKeep(ctx context.Context, con *console.Console, q *console.Asker, c *change.Change, out change.Outcome, undo, journal string) error {
	limited, cancel := context.WithDeadline(ctx, out.ConfirmBy)
	defer cancel()
	keep, err := q.AskNow(limited, fmt.Sprintf("do you still reach this host? keep the change? (%v)", time.Until(out.ConfirmBy).Round(time.Second)))
	switch {
	case ctx.Err() != nil:
		return errors.Join(err, c.PutBack(&out))
	case err != nil:
		return fmt.Errorf("apply: nobody answered in time: %w", c.PutBack(&out))
	case !keep:
		return fmt.Errorf("apply: not kept: %w", c.PutBack(&out))
	}
	if err := c.Keep(&out); err != nil {
		return err
	}
	printApplied(con, c, out, undo, journal)
	return nil
}
