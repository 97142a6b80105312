package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/netstate"
)

// inspected is the document of `inspect --json`.
type inspected struct {
	Host     netstate.Host          `json:"host"`
	Findings []diagnose.HostFinding `json:"findings"`
}

func newInspect(app *App) *cobra.Command {
	return &cobra.Command{
		Use: "inspect [HOST]", Short: "one host's links, bonds, limits, and what is wrong with them",
		Long: `Shows one host's network as far as throughput goes, and what is wrong with it
whatever is measured. Nothing is changed and nothing is sent.

HOST is local: (this host, the default), netns:NAME or ssh://user@host.

` + exitHelp,
		Example: "  linerate inspect\n  linerate inspect ssh://root@192.0.2.11 --json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage(commandName(cmd)+": want one HOST at most", "`linerate discover` looks at several")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			reach := "local:"
			if len(args) > 0 {
				reach = args[0]
			}
			host, err := app.observe(cmd.Context(), reach)
			if err != nil {
				return err
			}
			doc := inspected{host, diagnose.Host(host)}
			if doc.Host.Links == nil {
				doc.Host.Links = []netstate.Link{}
			}
			if app.json {
				return app.printJSON(doc)
			}
			return app.printInspected(doc)
		},
	}
}

// observe reads the state of a host named on the command line.
func (a *App) observe(ctx context.Context, reach string) (netstate.Host, error) {
	t, err := parseTarget(reach)
	if err != nil {
		return netstate.Host{}, err
	}
	h, err := a.dial(ctx, t)
	if err != nil {
		return netstate.Host{}, err
	}
	defer h.Close()
	reply, err := h.Observe(ctx)
	if err != nil {
		return netstate.Host{}, fmt.Errorf("observe %s: %w", t.name, err)
	}
	reply.Host.Name = t.name
	return reply.Host, nil
}
