package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/plan"
)

func newRollback(app *App) *cobra.Command {
	var flags journalFlags
	c := &cobra.Command{
		Use: "rollback [ID]", Short: "put back what a change changed", Args: atMostOneID,
		Long: `Puts back what the journal entry changed, its files too: the newest unconfirmed
one, or ID (` + "`linerate journal`" + ` lists them). What somebody else has changed since
is left and named.

` + exitHelp,
		Example: "  linerate rollback\n  linerate rollback --dry-run 20261121T120000.000000Z-abcdef\n  linerate rollback --host ssh://root@192.0.2.11",
	}
	dryRun := c.Flags().Bool("dry-run", false, "show what would be put back, change nothing")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		h, err := flags.dial(cmd.Context(), app)
		if err != nil {
			return err
		}
		defer h.Close()
		var req agentapi.RollbackRequest
		if len(args) == 1 {
			req.Journal = args[0]
		}
		if *dryRun {
			journal, err := h.Journal(cmd.Context())
			if err != nil {
				return err
			}
			return app.showRollback(journal, req.Journal)
		}
		reply, err := h.Rollback(cmd.Context(), req)
		if err != nil {
			return noEntry("rollback", req.Journal, err)
		}
		if app.json {
			return app.printJSON(reply)
		}
		fmt.Fprintf(app.Stdout, "%s: %s put back\n", reply.Journal, counted(reply.Undone, "step"))
		for _, left := range reply.Left {
			fmt.Fprint(app.Stdout, wrapped("left: ", left, app.width()))
		}
		return nil
	}
	flags.add(c)
	return c
}

// showRollback lists what a rollback of the entry would undo, last step first.
func (a *App) showRollback(journal agentapi.JournalReply, id string) error {
	for i := len(journal.Entries) - 1; i >= 0; i-- {
		e := journal.Entries[i]
		if id != "" && e.ID != id || id == "" && !e.Pending {
			continue
		}
		undo := []string{}
		var steps []plan.Step
		for j := len(e.Steps) - 1; j >= 0; j-- {
			if s := e.Steps[j]; s.Progress == "done" || s.Progress == "begun" {
				steps = append(steps, s.Step.Undo())
				undo = append(undo, s.Step.Undo().Change())
			}
		}
		if a.json {
			return a.printJSON(map[string]any{"journal": e.ID, "state": e.State, "undo": undo, "files": orEmpty(e.Files)})
		}
		fmt.Fprintf(a.Stdout, "%s (%s) would be put back:\n", e.ID, e.State)
		for _, group := range plan.Together(steps) {
			fmt.Fprint(a.Stdout, wrapped("    ", plan.ChangeTogether(steps, group), a.width()))
		}
		for _, f := range e.Files {
			fmt.Fprintln(a.Stdout, "    file "+f)
		}
		return nil
	}
	return usage("rollback: no such change is journalled here", "`linerate journal` lists them")
}

func newJournal(app *App) *cobra.Command {
	var flags journalFlags
	c := &cobra.Command{
		Use: "journal", Short: "changes made on a host, and whether they hold", Args: none,
		Long: `Lists the changes journalled on a host, oldest first: open (being made), applied
(made, and put back at its time unless confirmed), confirming (its files are
being written), confirmed, reverting (being put back), rolled-back, or failed
(not all could be put back: the steps say why). A step that did not come as far
as the entry says how far it came in brackets.

` + exitHelp,
		Example: "  linerate journal\n  linerate journal --host ssh://root@192.0.2.11 --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := flags.dial(cmd.Context(), app)
			if err != nil {
				return err
			}
			defer h.Close()
			reply, err := h.Journal(cmd.Context())
			if err != nil {
				return err
			}
			for _, p := range reply.Problems {
				fmt.Fprintln(app.Stderr, "linerate: "+oneLine(p))
			}
			if app.json {
				return app.printJSON(map[string]any{"entries": orEmpty(reply.Entries)})
			}
			app.printJournal(reply)
			return nil
		},
	}
	flags.add(c)
	return c
}

func (a *App) printJournal(reply agentapi.JournalReply) {
	for _, e := range reply.Entries {
		words := []string{counted(len(e.Steps), "step")}
		if e.Reason != "" {
			words = append(words, e.Reason)
		}
		if e.Pending {
			words = append(words, "is put back at "+e.Deadline.Local().Format(time.DateTime)+" unless confirmed")
		}
		fmt.Fprint(a.Stdout, wrapped(fmt.Sprintf("%s  %-11s ", e.ID, e.State), strings.Join(words, "; "), a.width()))
		a.printSteps(e)
		for _, f := range e.Files {
			fmt.Fprintln(a.Stdout, "    file "+f)
		}
	}
	if len(reply.Entries) == 0 {
		fmt.Fprintln(a.Stdout, "no changes are journalled here")
	}
}

// printSteps lists the steps of an entry, those that a person reads as one on
// one line, with how far each came where the entry's state does not say it.
func (a *App) printSteps(e agentapi.JournalEntry) {
	usual := map[string]string{"rolled-back": "undone"}[e.State]
	if usual == "" {
		usual = "done"
	}
	steps := make([]plan.Step, len(e.Steps))
	for i, s := range e.Steps {
		steps[i] = s.Step
	}
	for _, group := range plan.Together(steps) {
		first := e.Steps[group[0]]
		if slices.ContainsFunc(group, func(i int) bool { return e.Steps[i].Progress != first.Progress || e.Steps[i].Note != "" }) {
			for _, i := range group {
				a.printStep(e.Steps[i].Step.Change(), usual, e.Steps[i])
			}
			continue
		}
		a.printStep(plan.ChangeTogether(steps, group), usual, first)
	}
}

func (a *App) printStep(what, usual string, s agentapi.JournalStep) {
	switch {
	case s.Progress == usual:
	case s.Progress == "pending":
		what += " (not done)"
	default:
		what += " (" + s.Progress + ")"
	}
	fmt.Fprint(a.Stdout, wrapped("    ", what, a.width()))
	if s.Note != "" {
		fmt.Fprint(a.Stdout, wrapped("      ", s.Note, a.width()))
	}
}
