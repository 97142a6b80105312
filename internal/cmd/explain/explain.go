// Package explain is `linerate explain`: what limits a result, or the traffic of now.
package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/diagnose/trial/decided"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/declared"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/report"
	"github.com/linerate/linerate/unit"
)

const explainHelp = `Says what limits each result of a record: the cause, the evidence for it and
against it, what to do, what that should gain, and what is next in line. RECORD
is what measure, tune or demo wrote, or what iperf3 -J or iperf -y C did (which
say less, so that less is certain). Only the file is read: nothing is sent, no
host is asked, and anybody may do it.

`

// opts are the flags of explain.
type opts struct {
	con   *console.Console
	probe probeFlags
	live  liveFlags
	paste pasteFlags
}

// New is `linerate explain`.
func New(con *console.Console) *cobra.Command {
	o := opts{con: con}
	c := &cobra.Command{
		Use: "explain RECORD | FILE... | - | --live [HOST]", Short: "what limits a result, a host or a pasted question, with the evidence and the remedy",
		Long: explainHelp + pasteHelp + probeHelp + liveHelp + console.ExitHelp + "\nFindings are no failure: 0 whatever they say.",
		Example: `  linerate measure fabric.yaml -o record.json && linerate explain record.json
  linerate explain record.json --probe --yes -o settled.json
  linerate explain thread.txt
  ssh nas 'cat /proc/net/bonding/*; ip -s -d link' | linerate explain -
  linerate explain client.txt --host nas=nas.txt --markdown
  linerate explain sosreport-nas.tar.xz
  linerate explain --live
  linerate explain --live ssh://root@192.0.2.11 --duration 30s`,
		Args: o.args,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args) },
	}
	o.probe.add(c)
	o.live.add(c)
	o.paste.add(c)
	return c
}

// args refuses flags that do not go together, and what is neither one record nor,
// with --live, one host.
func (o *opts) args(cmd *cobra.Command, args []string) error {
	if o.live.on {
		return o.live.check(cmd, args)
	}
	switch {
	case slices.ContainsFunc([]string{"duration", "flows", "fabric"}, cmd.Flags().Changed):
		return console.BadUsage("explain: --duration, --flows and --fabric are about traffic that is watched", "say --live, or leave them out")
	case o.probe.on && (len(args) != 1 || o.paste.on()):
		return console.BadUsage("explain: --probe is about one RECORD", "`linerate measure FABRIC -o record.json` makes one")
	case len(args)+len(o.paste.Hosts) == 0:
		return console.BadUsage("explain: want a RECORD, or files to read", "`linerate explain -` reads standard input; `linerate measure FABRIC -o record.json` makes a record; `linerate explain --live` needs none: it watches the traffic of now")
	case !o.probe.on && (o.probe.yes || o.probe.out.Path != "" || o.probe.ports != "" || o.probe.out.Force):
		return console.BadUsage("explain: --yes, --ports, --output and --force are about probes", "say --probe, or leave them out")
	}
	return nil
}

func (o *opts) run(ctx context.Context, args []string) error {
	if o.live.on {
		return explainLive(ctx, o.con, append(args, "local:")[0], o.live)
	}
	all, err := o.paste.Read(ctx, o.con, args)
	if err != nil {
		return err
	}
	if !o.paste.isRecord(all) && !o.probe.on {
		return explainPasted(ctx, o.con, all, o.paste)
	}
	r, _, err := console.ParseRecord(args[0], all[0].Bytes)
	if err != nil {
		return err
	}
	if o.probe.on {
		return explainProbe(ctx, o.con, args[0], r, o.probe)
	}
	findings := explain(r)
	if o.con.JSON {
		return recordAnswer.Print(o.con, explained{findings})
	}
	printFindings(o.con, r, findings, o.paste.all)
	return nil
}

// explain judges a record's trials. Those of a run that changed hosts keep
// the finding made in the state they were measured in; only that state knew.
func explain(r record.Record) []record.Finding {
	findings, state := []record.Finding{}, declared.Recorded(r)
	for _, t := range r.Trials {
		if _, _, probe := t.Probe(); !probe {
			findings = append(findings, findingOf(state, r, t))
		}
	}
	return findings
}

// findingOf judges one trial of a record in its state, with the probes that were made
// for it.
func findingOf(state predict.Fabric, r record.Record, t record.Trial) record.Finding {
	if t.Phase != "" && t.Finding != nil {
		return *t.Finding
	}
	return decided.Explained(state, r, t)
}

// worthExpecting is how much more than the rate an expectation must be to be
// said.
const worthExpecting = 1.005

// worthDoubting is how likely another cause must be to be said where one block
// stands for several results.
const worthDoubting = 0.05

// Where many different results are explained, each rests on its weightiest evidence.
const (
	manyBlocks    = 4
	briefEvidence = 3
)

// printFindings writes the findings of a record's results; of several, what
// they come to first. Results that are explained alike are one block, in full that
// of the first; all writes each.
func printFindings(con *console.Console, r record.Record, findings []record.Finding, all bool) {
	for _, f := range r.Failures {
		fmt.Fprint(con.Stdout, console.Wrapped(fmt.Sprintf("%s to %s: no result: ", f.From, f.To), f.Error, con.Width()))
		if hint := console.BarredHint(f.Reason); hint != "" {
			fmt.Fprint(con.Stdout, console.Wrapped("  To do: ", hint+".", con.Width()))
		}
	}
	if len(findings)+len(r.Failures) == 0 {
		fmt.Fprintln(con.Stderr, "the record has no result to explain")
	}
	if len(findings) > 1 {
		fmt.Fprint(con.Stdout, console.Wrapped("", answer(r, findings), con.Width())+"\n")
	}
	blocks, brief := alike(findings), len(findings) > 1 && !all
	switch {
	case all:
		blocks = nil
		for _, f := range findings {
			blocks = append(blocks, []record.Finding{f})
		}
	case tells(findings):
		blocks = slices.DeleteFunc(blocks, func(b []record.Finding) bool { return b[0].Phase == record.PhaseStep })
	}
	shown := map[[2]string]bool{} // phases' causes with their evidence
	inFull := func(block []record.Finding) string {
		var text strings.Builder
		first, into := block[0], &console.Console{Stdout: &text, Columns: con.Width()}
		for _, line := range headlines(block) {
			text.WriteString(console.Wrapped("", line, con.Width()))
		}
		if len(block) > 1 {
			text.WriteString(console.Wrapped("  ", "All alike; of the first:", con.Width()))
		}
		if of := [2]string{string(first.Phase), string(first.Cause)}; brief && shown[of] {
			first.Evidence = nil
		} else {
			shown[of] = true
		}
		if brief && len(blocks) > manyBlocks {
			first.Evidence = first.Evidence[:min(len(first.Evidence), briefEvidence)]
		}
		printFinding(into, first, brief, otherRemedies(block))
		return text.String()
	}
	if brief {
		printFitting(con, blocks, inFull)
	} else {
		for i, block := range blocks {
			if i > 0 {
				fmt.Fprintln(con.Stdout)
			}
			fmt.Fprint(con.Stdout, inFull(block))
		}
	}
	if brief {
		if n := len(steps(findings)); n > 0 && tells(findings) {
			fmt.Fprint(con.Stdout, "\n"+console.Wrapped("", fmt.Sprintf("while changes were tried: %s (%s)", unit.Counted(n, "result"), counted(steps(findings))), con.Width()))
		}
		fmt.Fprint(con.Stdout, console.Wrapped("", "--all explains each result by itself, with all of its evidence.", con.Width()))
	}
}

// answer is a record in a sentence, and how many of its results each cause
// limits, the most frequent first.
func answer(r record.Record, findings []record.Finding) string {
	r.Trials = slices.DeleteFunc(slices.Clone(r.Trials), func(t record.Trial) bool { _, _, probe := t.Probe(); return probe })
	for i, f := range findings {
		if i < len(r.Trials) {
			r.Trials[i].Finding = &f
		}
	}
	return fmt.Sprintf("%s Of %d results: %s.", report.Headline(r), len(findings), counted(findings))
}

// steps are the findings of results between changes.
func steps(findings []record.Finding) (out []record.Finding) {
	for _, f := range findings {
		if f.Phase == record.PhaseStep {
			out = append(out, f)
		}
	}
	return out
}

// tells reports a record whose results before and after the changes say what there is
// to say: those between them are of single changes.
func tells(findings []record.Finding) bool {
	return slices.ContainsFunc(findings, func(f record.Finding) bool { return f.Phase == record.PhaseAfter })
}

// counted is how many findings have each cause, the most frequent first.
func counted(findings []record.Finding) string {
	count, causes := map[record.Cause]int{}, []record.Cause{}
	for _, f := range findings {
		if count[f.Cause]++; count[f.Cause] == 1 {
			causes = append(causes, f.Cause)
		}
	}
	slices.SortStableFunc(causes, func(x, y record.Cause) int { return count[y] - count[x] })
	var each []string
	for _, c := range causes {
		each = append(each, fmt.Sprintf("%d %s", count[c], c))
	}
	return strings.Join(each, ", ")
}

// printFinding writes a finding below its headline: the judgement, then what it
// rests on, what else it may be, what comes next and what to do. A brief one names
// the others and what comes next, and leaves out why.
// others are findings that it stands for and whose remedy is another.
func printFinding(con *console.Console, f record.Finding, brief bool, others []record.Finding) {
	say := func(lead, text string) { fmt.Fprint(con.Stdout, console.Wrapped(lead, text, con.Width())) }
	say("  ", fmt.Sprintf("%s (%s, confidence %.0f %%)", f.Summary, f.Cause, 100*f.Confidence))
	for _, e := range f.Evidence {
		say("    - ", fmt.Sprintf("%s: %s", e.What, e.Value))
	}
	if len(f.Against) > 0 {
		say("  ", "Against it:")
		for _, e := range f.Against {
			say("    - ", fmt.Sprintf("%s: %s", e.What, e.Value))
		}
	}
	switch {
	case brief:
		var also []string
		for _, other := range f.Also {
			if other.Confidence >= worthDoubting {
				also = append(also, fmt.Sprintf("%s, %.0f %%", other.Cause, 100*other.Confidence))
			}
		}
		if len(also) > 0 {
			say("  ", "It may also be: "+strings.Join(also, "; ")+".")
		}
	case len(f.Also) > 0:
		say("  ", "It may also be:")
		for _, other := range f.Also {
			say("    - ", fmt.Sprintf("%s, %.0f %%: %s", other.Cause, 100*other.Confidence, other.Summary))
		}
	}
	printNextSteps(f, brief, others, say)
}

func printNextSteps(f record.Finding, brief bool, others []record.Finding, say func(lead, text string)) {
	if f.Remedy != "" {
		expected := ""
		if f.Expected > f.Rate*worthExpecting {
			expected = fmt.Sprintf(" Expect %v.", f.Expected)
		}
		say("  To do: ", f.Remedy+"."+expected)
	}
	for _, other := range others {
		lead := "  Also: "
		switch other.Direction {
		case flow.Forward:
			lead = "  Forward: "
		case flow.Reverse:
			lead = "  Reverse: "
		}
		say(lead, other.Remedy+".")
	}
	if f.Next != nil && (!brief || f.Next.Cause != record.LineRate) && f.Expected > f.Rate*worthExpecting {
		next := fmt.Sprintf("%s at %v", f.Next.Cause, f.Next.Rate)
		if !brief {
			next += " (" + f.Next.Why + ")"
		}
		say("  Next in line: ", next)
	}
	for i, m := range f.Missing {
		lead := "  Not known: "
		if i > 0 {
			lead = "             "
		}
		say(lead, m)
	}
	if f.Decide.Probe != "" {
		say("  To be sure: ", f.Decide.Text+" (`linerate explain RECORD --probe` does it)")
	}
}

// headline is which result a finding is of.
func headline(f record.Finding) string {
	noun := "streams"
	if f.Streams == 1 {
		noun = "stream"
	}
	return fmt.Sprintf("%s%s to %s, %s, %d %s: %s", phaseOf(f), f.From, f.To, f.Direction, f.Streams, noun, rateOf(f))
}

func phaseOf(f record.Finding) string {
	if f.Phase == "" {
		return ""
	}
	return string(f.Phase) + ": "
}

func rateOf(f record.Finding) string {
	rate := f.Rate.String()
	if f.Ceiling > 0 {
		rate += " of " + f.Ceiling.String()
	}
	return rate
}
