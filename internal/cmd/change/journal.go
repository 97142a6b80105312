package change

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/unit"
)

// NewJournal is `linerate journal`.
func NewJournal(con *console.Console) *cobra.Command {
	var flags journalFlags
	c := &cobra.Command{
		Use: "journal [HOST|FABRIC]", Short: "changes made on hosts, and whether they are active",
		Long: `Lists the changes journalled on a host, the newest first: open (being made),
applied (made, and rolled back at its time unless confirmed), confirming (its
files are being written), confirmed, reverting (being rolled back), rolled back,
or failed (not all could be rolled back: the steps say why). Brackets say how
far a step came that did not come as far as its entry. What one run of apply or
tune changed is listed below the run's ID: ` + "`linerate rollback FABRIC ID`" + `
rolls all of it back.

` + console.ExitHelp,
		Example: "  linerate journal\n  linerate journal fabric.yaml\n  linerate journal ssh://root@192.0.2.11 --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			place, err := flags.place(cmd.Context(), "journal", args)
			if err != nil {
				return err
			}
			if place.id != "" {
				return console.BadUsage("journal: "+place.id+" is neither a fabric file nor a host", "write a host as ssh://root@"+place.id+", netns:"+place.id+" or local:")
			}
			hosts, err := place.open(cmd.Context(), con)
			if err != nil {
				return err
			}
			defer closeAll(hosts)
			for _, k := range hosts {
				for _, p := range k.journal.Problems {
					fmt.Fprintln(con.Stderr, "linerate: "+console.OneLine(p))
				}
			}
			if con.JSON {
				return printJournalJSON(con, place, hosts)
			}
			for _, k := range hosts {
				if place.fabric != nil {
					fmt.Fprintln(con.Stdout, k.host.Name+":")
				}
				printJournal(con, k.journal)
			}
			return nil
		},
	}
	flags.add(c)
	return c
}

// hostEntries is one host of `journal FABRIC --json`.
type hostEntries struct {
	Host    string                  `json:"host"`
	Entries []agentapi.JournalEntry `json:"entries"`
}

func printJournalJSON(con *console.Console, place journalPlace, hosts []kept) error {
	if place.fabric == nil {
		return journalDocument.Print(con, hostJournal{console.OrEmpty(hosts[0].journal.Entries)})
	}
	out := []hostEntries{}
	for _, k := range hosts {
		out = append(out, hostEntries{k.host.Name, console.OrEmpty(k.journal.Entries)})
	}
	return journalsDocument.Print(con, hostJournals{out})
}

// printJournal lists entries, those of a run below a line of its own.
func printJournal(con *console.Console, reply agentapi.JournalReply) {
	shown := map[string]bool{}
	for _, e := range slices.Backward(reply.Entries) {
		switch {
		case e.Group == "":
			printEntry(con, "", e)
		case !shown[e.Group]:
			shown[e.Group] = true
			printRun(con, e.Group, reply.Entries)
		}
	}
	if len(reply.Entries) == 0 {
		fmt.Fprintln(con.Stdout, "no changes are journalled here")
	}
}

// printRun lists what one run changed.
func printRun(con *console.Console, group string, entries []agentapi.JournalEntry) {
	entries = slices.DeleteFunc(slices.Clone(entries), func(e agentapi.JournalEntry) bool { return e.Group != group })
	states := map[agentapi.ChangeState]int{}
	for _, e := range entries {
		states[e.State]++
	}
	var words []string
	for _, state := range slices.Sorted(maps.Keys(states)) {
		words = append(words, fmt.Sprintf("%d %s", states[state], stateWords(state)))
	}
	fmt.Fprint(con.Stdout, console.Wrapped(group+"  ", fmt.Sprintf("%s: %s: %s", console.OneLine(runTitle(entries[0].Title)), unit.Counted(len(entries), "change"), strings.Join(words, ", ")), con.Width()))
	for _, e := range slices.Backward(entries) {
		printEntry(con, "  ", e)
	}
}

// runTitle is what a run is called.
func runTitle(title string) string {
	if title == "" {
		return "a run"
	}
	return title
}

// stateWords is a state for people.
func stateWords(s agentapi.ChangeState) string { return strings.ReplaceAll(string(s), "-", " ") }

func printEntry(con *console.Console, indent string, e agentapi.JournalEntry) {
	words := []string{unit.Counted(len(e.Steps), "step")}
	if e.Reason != "" {
		words = append(words, "why: "+console.OneLine(e.Reason))
	}
	if e.Pending {
		words = append(words, "is rolled back at "+e.Deadline.Local().Format(time.DateTime)+" unless confirmed")
	}
	fmt.Fprint(con.Stdout, console.Wrapped(indent, e.ID+"  "+stateWords(e.State)+", "+words[0], con.Width()))
	for _, more := range words[1:] {
		fmt.Fprint(con.Stdout, console.Wrapped(indent+"    ", more, con.Width()))
	}
	printSteps(con, indent, e)
	for _, f := range e.Files {
		fmt.Fprintln(con.Stdout, indent+"    file "+f)
	}
}

// printSteps lists the steps of an entry, those that a person reads as one on
// one line, with how far each came where the entry's state does not say it.
func printSteps(con *console.Console, indent string, e agentapi.JournalEntry) {
	usual := agentapi.StepDone
	if e.State == agentapi.ChangeRolledBack {
		usual = agentapi.StepRolledBack
	}
	steps := make([]plan.Step, len(e.Steps))
	for i, s := range e.Steps {
		steps[i] = s.Step
	}
	for _, group := range plan.Together(steps) {
		first := e.Steps[group[0]]
		if slices.ContainsFunc(group, func(i int) bool { return e.Steps[i].Progress != first.Progress || e.Steps[i].Note != "" }) {
			for _, i := range group {
				printStep(con, indent, e.Steps[i].Step.Change(), usual, e.Steps[i])
			}
			continue
		}
		printStep(con, indent, plan.ChangeTogether(steps, group), usual, first)
	}
}

func printStep(con *console.Console, indent, what string, usual agentapi.StepProgress, s agentapi.JournalStep) {
	switch {
	case s.Progress == usual:
	case s.Progress == agentapi.StepPending:
		what += " (not done)"
	default:
		what += " (" + string(s.Progress) + ")"
	}
	fmt.Fprint(con.Stdout, console.Wrapped(indent+"    ", what, con.Width()))
	if s.Note != "" {
		fmt.Fprint(con.Stdout, console.Wrapped(indent+"      ", s.Note, con.Width()))
	}
}
