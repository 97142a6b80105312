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
	// Calibration is there only where it was asked for.
	Calibration *calibration `json:"calibration,omitempty"`
}

func newInspect(app *App) *cobra.Command {
	var rate coreRateFlags
	c := &cobra.Command{
		Use: "inspect [HOST]", Short: "one host's links, bonds, limits, and what is wrong with them",
		Long: `Shows one host's network as far as throughput goes, and what is wrong with it
whatever is measured. Nothing is changed and nothing is sent.

HOST is local: (this host, the default), netns:NAME or ssh://user@host.

--calibrate measures in addition, for about 3 seconds, what one of the host's
cores sends and receives, and prints it as a line for the fabric file. Two
cores are busy meanwhile; no packet leaves the host: as root the traffic runs
between two network namespaces without names, which end with the program, else
over loopback.

` + exitHelp,
		Example: "  linerate inspect\n  linerate inspect ssh://root@192.0.2.11 --json\n  linerate inspect ssh://root@192.0.2.11 --calibrate",
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
			if err := rate.check(); err != nil {
				return err
			}
			host, measured, err := app.inspect(cmd.Context(), reach, rate)
			if err != nil {
				return err
			}
			doc := inspected{Host: host, Findings: diagnose.Host(host), Calibration: measured}
			if doc.Host.Links == nil {
				doc.Host.Links = []netstate.Link{}
			}
			if app.json {
				return app.printJSON(doc)
			}
			return app.printInspected(doc)
		},
	}
	rate.add(c)
	return c
}

// observe reads the state of a host named on the command line.
func (a *App) observe(ctx context.Context, reach string) (netstate.Host, error) {
	host, _, err := a.inspect(ctx, reach, coreRateFlags{})
	return host, err
}

// inspect is observe, and measures what one core moves where that was asked
// for.
func (a *App) inspect(ctx context.Context, reach string, rate coreRateFlags) (netstate.Host, *calibration, error) {
	t, err := parseTarget(reach)
	if err != nil {
		return netstate.Host{}, nil, err
	}
	h, err := a.dial(ctx, t)
	if err != nil {
		return netstate.Host{}, nil, err
	}
	defer h.Close()
	reply, err := h.Observe(ctx)
	if err != nil {
		return netstate.Host{}, nil, fmt.Errorf("observe %s: %w", t.name, err)
	}
	reply.Host.Name = t.name
	if !rate.calibrate {
		return reply.Host, nil, nil
	}
	measured, err := a.coreRate(ctx, h, &reply.Host, rate)
	return reply.Host, measured, err
}
