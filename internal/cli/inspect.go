package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	diagnosehost "github.com/linerate/linerate/diagnose/host"
	"github.com/linerate/linerate/internal/host/observe"
	"github.com/linerate/linerate/netstate"
)

// inspected is the document of `inspect --json`.
type inspected struct {
	Host     netstate.Host          `json:"host"`
	Findings []diagnosehost.Finding `json:"findings"`
	// Calibration is there only where it was asked for.
	Calibration *calibration `json:"calibration,omitempty"`
}

// inspectFlags say what to look at and how much to show.
type inspectFlags struct {
	rate    coreRateFlags
	root    string
	all     bool
	capture captureFlags
}

func newInspect(app *App) *cobra.Command {
	var flags inspectFlags
	c := &cobra.Command{
		Use: "inspect [HOST... | FABRIC]", Short: "one host's links, bonds, limits, and what is wrong with them",
		Long: `Shows one host's network as far as throughput goes, and what is wrong with it
whatever is measured. Nothing is changed and nothing is sent.

HOST is local: (this host, the default), netns:NAME, ssh://user@host or
nats:NAME.

` + pairHelp + `
--capture writes what was read into an archive, for somebody else to look at:
linerate/host.json, which is what --root shows, and the files of /proc and /sys
that it was read from. There are no keys, no passwords, no wireless networks
and no configuration files in it. There are the host's name, its addresses,
hardware addresses and routes; --anonymous replaces them, each by the same
wherever it stands, so that findings stay what they are.

--root shows a captured host: such an archive, on any system, or a directory
into which somebody copied a host's /proc and /sys.

--calibrate measures in addition, for about 3 seconds, what one of the host's
cores sends and receives, and prints it as a line for the fabric file. Two
cores are busy meanwhile; no packet leaves the host: as root the traffic runs
between two network namespaces without names, which end with the program, else
over loopback.

` + exitHelp,
		Example: "  linerate inspect\n  linerate inspect ssh://root@192.0.2.11 --json\n  linerate inspect ssh://root@192.0.2.11 --capture host.tar.gz --anonymous\n  linerate inspect --root host.tar.gz --all\n  linerate inspect ssh://root@192.0.2.11 --calibrate",
		Args: func(cmd *cobra.Command, args []string) error {
			if several(args) && (flags.root != "" || flags.capture.file != "" || flags.rate.calibrate) {
				return usage(commandName(cmd)+": --root, --capture and --calibrate are about one HOST", "leave them out, or name one HOST")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.check(args); err != nil {
				return err
			}
			if several(args) {
				return app.inspectSeveral(cmd.Context(), args, flags.all)
			}
			reach := "local:"
			if len(args) > 0 {
				reach = args[0]
			}
			if flags.capture.file != "" {
				return app.capture(cmd.Context(), reach, flags.capture)
			}
			host, measured, err := app.inspectFrom(cmd.Context(), reach, flags)
			if err != nil {
				return err
			}
			doc := inspected{Host: host, Findings: diagnosehost.Judge(host), Calibration: measured}
			if doc.Host.Links == nil {
				doc.Host.Links = []netstate.Link{}
			}
			if app.json {
				return app.printJSON(doc)
			}
			return app.printInspected(doc, flags.all)
		},
	}
	c.Flags().StringVar(&flags.root, "root", "", "show what was captured: a directory or an archive")
	c.Flags().BoolVar(&flags.all, "all", false, "show everything that was read")
	flags.capture.add(c)
	flags.rate.add(c)
	return c
}

func (f inspectFlags) check(args []string) error {
	switch {
	case f.root != "" && len(args) > 0:
		return usage("inspect: --root and "+args[0]+": a captured host needs no HOST", "leave one of them out")
	case f.root != "" && (f.capture.file != "" || f.rate.calibrate):
		return usage("inspect: --root: nothing can be captured or measured on a captured host", "leave --capture and --calibrate out")
	case f.capture.file != "" && f.rate.calibrate:
		return usage("inspect: --capture and --calibrate: an archive holds no measurements", "measure on its own")
	}
	if err := f.capture.check(); err != nil {
		return err
	}
	return f.rate.check()
}

// inspectFrom reads a captured host, or a live one.
func (a *App) inspectFrom(ctx context.Context, reach string, flags inspectFlags) (netstate.Host, *calibration, error) {
	if flags.root == "" {
		return a.inspect(ctx, reach, flags.rate)
	}
	host, err := observe.Observe(ctx, observe.Config{Root: flags.root, Logger: a.logger()})
	switch {
	case errors.Is(err, observe.ErrArchive):
		err = usage(err.Error(), "`linerate inspect --capture FILE.tar.gz` makes one")
	case errors.Is(err, fs.ErrNotExist):
		err = usage(err.Error(), "--root takes an archive of `inspect --capture`, or a directory with a host's proc and sys in it")
	}
	return host, nil, err
}

// observe reads the state of a host named on the command line.
func (a *App) observe(ctx context.Context, reach string) (netstate.Host, error) {
	host, _, err := a.inspect(ctx, reach, coreRateFlags{})
	return host, err
}

// inspect is observe, and measures what one core moves where that was asked
// for.
func (a *App) inspect(ctx context.Context, reach string, rate coreRateFlags) (netstate.Host, *calibration, error) {
	t, err := a.target(reach)
	if err != nil {
		return netstate.Host{}, nil, err
	}
	h, err := a.dial(ctx, t)
	if err != nil {
		return netstate.Host{}, nil, err
	}
	defer h.Close()
	newProgress(a).notes(h)
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
