package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/agentapi"
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
		fmt.Fprintf(app.Stdout, "%s: %d steps put back\n", reply.Journal, reply.Undone)
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
		for j := len(e.Steps) - 1; j >= 0; j-- {
			if s := e.Steps[j]; s.Progress == "done" || s.Progress == "begun" {
				undo = append(undo, s.Step.Undo().Change())
			}
		}
		if a.json {
			return a.printJSON(map[string]any{"journal": e.ID, "state": e.State, "undo": undo, "files": orEmpty(e.Files)})
		}
		fmt.Fprintf(a.Stdout, "%s would be put back:\n", e.ID)
		for _, line := range undo {
			fmt.Fprint(a.Stdout, wrapped("    ", line, a.width()))
		}
		return nil
	}
	return usage("rollback: no such change is journalled here", "`linerate journal` lists them")
}

func newJournal(app *App) *cobra.Command {
	var flags journalFlags
	c := &cobra.Command{
		Use: "journal", Short: "changes made on a host, and whether they hold", Args: none,
		Long:    "Lists the changes journalled on a host, oldest first.\n\n" + exitHelp,
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
		words := []string{}
		if e.Reason != "" {
			words = append(words, e.Reason)
		}
		if e.Pending {
			words = append(words, "is put back at "+e.Deadline.Local().Format(time.DateTime)+" unless confirmed")
		}
		fmt.Fprint(a.Stdout, wrapped(fmt.Sprintf("%s  %-11s ", e.ID, e.State), strings.Join(words, "; "), a.width()))
		for _, s := range e.Steps {
			mark := ""
			if s.Progress != "done" {
				mark = " (" + s.Progress + ")"
			}
			fmt.Fprint(a.Stdout, wrapped("    ", s.Step.Change()+mark, a.width()))
			if s.Note != "" {
				fmt.Fprint(a.Stdout, wrapped("      ", s.Note, a.width()))
			}
		}
		for _, f := range e.Files {
			fmt.Fprintln(a.Stdout, "    file "+f)
		}
	}
	if len(reply.Entries) == 0 {
		fmt.Fprintln(a.Stdout, "no changes are journalled here")
	}
}
