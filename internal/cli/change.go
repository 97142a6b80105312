package cli

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/internal/apply"
	"github.com/linerate/linerate/internal/fleet"
)

func newRollback(app *App) *cobra.Command {
	var host, dir string
	c := &cobra.Command{
		Use: "rollback [ID]", Short: "put back what a change changed",
		Long:    "Puts back what the journal entry changed: the newest unconfirmed one, or ID\n(`linerate journal` lists them). What somebody else has changed since is left\nand named.\n\n" + exitHelp,
		Example: "  linerate rollback\n  linerate rollback --host ssh://root@192.0.2.11",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("rollback: want one ID at most", "`linerate journal` lists them")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := fleet.Dial(cmd.Context(), "host", host, fleet.Config{Version: app.Version, JournalDir: dir, Logger: app.logger()})
			if err != nil {
				return err
			}
			defer h.Close()
			var req agentapi.RollbackRequest
			if len(args) == 1 {
				req.Journal = args[0]
			}
			reply, err := h.Rollback(cmd.Context(), req)
			if errors.Is(err, fs.ErrNotExist) && req.Journal == "" {
				return usage("rollback: no unconfirmed change is journalled here", "name a confirmed one: `linerate journal` lists them")
			}
			if errors.Is(err, fs.ErrNotExist) {
				return usage("rollback: no journal entry "+req.Journal, "`linerate journal` lists them")
			}
			if err != nil {
				return err
			}
			if app.json {
				return app.printJSON(reply)
			}
			fmt.Fprintf(app.Stdout, "%s: %d steps put back\n", reply.Journal, reply.Undone)
			for _, left := range reply.Left {
				fmt.Fprintln(app.Stdout, "left: "+left)
			}
			return nil
		},
	}
	c.Flags().StringVar(&host, "host", "local:", "local:, netns:NAME or ssh://user@host")
	c.Flags().StringVar(&dir, "journal", "", "journal directory (default "+apply.DefaultDir+")")
	return c
}

func newJournal(app *App) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "journal", Short: "changes made on this host, and whether they hold", Args: none,
		Long: "Lists the changes journalled on this host, oldest first.\n\n" + exitHelp,
		RunE: func(*cobra.Command, []string) error {
			if dir == "" {
				dir = apply.DefaultDir
			}
			entries, problems, err := apply.OpenJournal(dir).List()
			if err != nil {
				return err
			}
			for _, p := range problems {
				fmt.Fprintln(app.Stderr, "linerate: "+oneLine(p.Error()))
			}
			if app.json {
				if entries == nil {
					entries = []apply.Entry{}
				}
				return app.printJSON(map[string]any{"entries": entries})
			}
			for _, e := range entries {
				fmt.Fprintf(app.Stdout, "%s  %-11s %s\n", e.ID, e.State, e.Reason)
				for _, s := range e.Plan.Steps {
					fmt.Fprintf(app.Stdout, "    %s\n", s.Change())
				}
			}
			if len(entries) == 0 {
				fmt.Fprintln(app.Stdout, "no changes are journalled here")
			}
			return nil
		},
	}
	c.Flags().StringVar(&dir, "journal", "", "journal directory (default "+apply.DefaultDir+")")
	return c
}
