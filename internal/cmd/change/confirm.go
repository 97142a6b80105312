package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/host/apply"
)

// defaultHost is where the journal is that no flag names.
const defaultHost = "local:"

// journalFlags name a host and its journal.
type journalFlags struct{ host, dir string }

func (f *journalFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.host, "host", defaultHost, "local:, netns:NAME, ssh://user@host or nats:NAME")
	c.Flags().StringVar(&f.dir, "journal", "", "journal directory (default "+apply.DefaultDir+")")
}

// dial reaches the host over a connection of its own.
func (f *journalFlags) dial(ctx context.Context, con *console.Console) (*fleet.Host, error) {
	t, err := con.Target(f.host)
	if err != nil {
		return nil, err
	}
	cfg := con.Fleet(f.dir)
	cfg.Fresh = true
	return fleet.Dial(ctx, t.Name, t.Reach, cfg)
}

// atMostOneID is the argument of confirm and rollback.
func atMostOneID(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return console.BadUsage(console.CommandName(cmd)+": want one ID at most", "`linerate journal` lists them")
	}
	return nil
}

// noEntry turns a journal entry that is not there into words.
func noEntry(command, id string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist) && id == "":
		return console.BadUsage(command+": no change on this machine waits to be confirmed", "`linerate journal` says what became of each; --host says on which host")
	case errors.Is(err, fs.ErrNotExist):
		return console.BadUsage(command+": no journal entry "+id, "`linerate journal` lists them; --host says on which host")
	case errors.Is(err, agentapi.ErrState):
		return console.WithHint(err, "`linerate journal` says what became of it")
	}
	return err
}

// waiting is the newest entry of a host's journal that can be confirmed, or
// fs.ErrNotExist.
func waiting(ctx context.Context, h *fleet.Host) (string, error) {
	reply, err := ask.Call(ctx, h, agentapi.Journal, agentapi.Empty{})
	if err != nil {
		return "", err
	}
	for _, e := range slices.Backward(reply.Entries) {
		if e.State == agentapi.ChangeApplied || e.State == agentapi.ChangeConfirming {
			return e.ID, nil
		}
	}
	return "", fmt.Errorf("unconfirmed change: %w", fs.ErrNotExist)
}

// NewConfirm is `linerate confirm`.
func NewConfirm(con *console.Console) *cobra.Command {
	var flags journalFlags
	c := &cobra.Command{
		Use: "confirm [ID]", Short: "keep a change, over a connection made after it", Args: atMostOneID,
		Long: `Keeps a change that waits to be confirmed: the newest, or ID. Run it over a
connection made after the change, best from the host's far end: that it gets
through is the proof that the host can still be reached. Files that make the
change last are written now. Without it the host rolls itself back in time.

` + console.ExitHelp,
		Example: "  linerate confirm\n  linerate confirm --host ssh://root@192.0.2.11",
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := flags.dial(cmd.Context(), con)
			if err != nil {
				return err
			}
			defer h.Close()
			var req agentapi.ConfirmRequest
			if len(args) == 1 {
				req.Journal = args[0]
			}
			if req.Journal == "" {
				if req.Journal, err = waiting(cmd.Context(), h); err != nil {
					return noEntry("confirm", "", err)
				}
			}
			if _, err := ask.Call(cmd.Context(), h, agentapi.Confirm, req); err != nil {
				return noEntry("confirm", req.Journal, err)
			}
			if con.JSON {
				return confirmDocument.Print(con, confirmedChange{h.Name, req.Journal, true})
			}
			fmt.Fprintf(con.Stdout, "%s: confirmed\n", req.Journal)
			return nil
		},
	}
	flags.add(c)
	return c
}
