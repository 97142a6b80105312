// Package inspect is `linerate inspect`: the state of hosts and what is wrong with it.
package inspect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	diagnosehost "github.com/linerate/linerate/diagnose/host"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/internal/cmd/texts"
	"github.com/linerate/linerate/internal/host/observe"
	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// inspected is the document of `inspect --json`.
type inspected struct {
	Host     netstate.Host          `json:"host"`
	Findings []diagnosehost.Finding `json:"findings"`
	// Calibration is there only where it was asked for.
	Calibration *calibration `json:"calibration,omitempty"`
}

// opts say what to look at and how much to show.
type opts struct {
	rate    coreRateFlags
	root    string
	all     bool
	capture captureFlags
	whose   texts.Flags
}

// New is `linerate inspect`.
func New(con *console.Console) *cobra.Command {
	var flags opts
	c := &cobra.Command{
		Use: "inspect [HOST... | FABRIC | FILE...]", Short: "one host's links, bonds, limits, and what is wrong with them",
		Long: `Shows one host's network as far as throughput goes, and what is wrong with it
whatever is measured. Nothing is changed and nothing is sent.

HOST is local: (this host, the default), netns:NAME, ssh://user@host or
nats:NAME.

` + pairHelp + `
Of a FILE, or - for standard input, the hosts are shown that the outputs of
commands in it tell of, as far as they do. What limits a load test in it is
explain's to say.
` + texts.Help + `--capture writes what was read into an archive, for somebody else to look at:
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

` + console.ExitHelp,
		Example: "  linerate inspect\n  linerate inspect ssh://root@192.0.2.11 --json\n  linerate inspect ssh://root@192.0.2.11 --capture host.tar.gz --anonymous\n  linerate inspect --root host.tar.gz --all\n  linerate inspect thread.txt\n  linerate inspect sosreport-nas.tar.xz\n  linerate inspect ssh://root@192.0.2.11 --calibrate",
		Args: func(cmd *cobra.Command, args []string) error {
			if several(args) && (flags.root != "" || flags.capture.file != "" || flags.rate.calibrate) {
				return console.BadUsage(console.CommandName(cmd)+": --root, --capture and --calibrate are about one HOST", "leave them out, or name one HOST")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.check(args); err != nil {
				return err
			}
			if len(flags.whose.Hosts) > 0 || isFiles(args) {
				return inspectFiles(cmd.Context(), con, args, flags)
			}
			if several(args) {
				return inspectSeveral(cmd.Context(), con, args, flags.all)
			}
			reach := "local:"
			if len(args) > 0 {
				reach = args[0]
			}
			if flags.capture.file != "" {
				return capture(cmd.Context(), con, reach, flags.capture)
			}
			host, measured, err := inspectFrom(cmd.Context(), con, reach, flags)
			if err != nil {
				return err
			}
			doc := inspected{Host: host, Findings: diagnosehost.Judge(host), Calibration: measured}
			if doc.Host.Links == nil {
				doc.Host.Links = []netstate.Link{}
			}
			if con.JSON {
				return hostDocument.Print(con, doc)
			}
			return printInspected(con, doc, flags.all)
		},
	}
	c.Flags().StringVar(&flags.root, "root", "", "show what was captured: a directory or an archive")
	c.Flags().BoolVar(&flags.all, "all", false, "show everything that was read")
	flags.whose.Add(c)
	flags.capture.add(c)
	flags.rate.add(c)
	return c
}

func (f opts) check(args []string) error {
	switch {
	case f.root != "" && len(args) > 0:
		return console.BadUsage("inspect: --root and "+args[0]+": a captured host needs no HOST", "leave one of them out")
	case f.root != "" && (f.capture.file != "" || f.rate.calibrate):
		return console.BadUsage("inspect: --root: nothing can be captured or measured on a captured host", "leave --capture and --calibrate out")
	case f.capture.file != "" && f.rate.calibrate:
		return console.BadUsage("inspect: --capture and --calibrate: an archive holds no measurements", "measure on its own")
	}
	if err := f.capture.check(); err != nil {
		return err
	}
	return f.rate.check()
}

// inspectFrom reads a captured host, or a live one.
func inspectFrom(ctx context.Context, con *console.Console, reach string, flags opts) (netstate.Host, *calibration, error) {
	if flags.root == "" {
		return inspect(ctx, con, reach, flags.rate)
	}
	host, err := observe.Observe(ctx, observe.Config{Root: flags.root, Logger: con.Logger()})
	switch {
	case errors.Is(err, observe.ErrArchive):
		err = console.BadUsage(err.Error(), "`linerate inspect --capture FILE.tar.gz` makes one")
	case errors.Is(err, fs.ErrNotExist):
		err = console.BadUsage(err.Error(), "--root takes an archive of `inspect --capture`, or a directory with a host's proc and sys in it")
	}
	return host, nil, err
}

// inspect reads the state of a host, and measures what one core moves where that
// was asked for.
func inspect(ctx context.Context, con *console.Console, reach string, rate coreRateFlags) (netstate.Host, *calibration, error) {
	t, h, err := con.Open(ctx, reach)
	if err != nil {
		return netstate.Host{}, nil, err
	}
	defer h.Close()
	progress.New(con).Notes(h)
	reply, err := h.Observe(ctx)
	if err != nil {
		return netstate.Host{}, nil, fmt.Errorf("observe %s: %w", t.Name, err)
	}
	reply.Host.Name = t.Name
	if !rate.calibrate {
		return reply.Host, nil, nil
	}
	measured, err := coreRate(ctx, con, h, &reply.Host, rate)
	return reply.Host, measured, err
}

// captureFlags ask for an archive of a host.
type captureFlags struct {
	file      string
	anonymous bool
	force     bool
}

func (f *captureFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.file, "capture", "", "write what was read into this archive (.tar.gz)")
	_ = c.MarkFlagFilename("capture", "gz", "tgz")
	c.Flags().BoolVar(&f.anonymous, "anonymous", false, "with --capture: replace addresses and the host's name")
	c.Flags().BoolVar(&f.force, "force", false, "with --capture: replace a file that is there, whatever it contains")
}

func (f captureFlags) check() error {
	switch {
	case f.file == "" && (f.anonymous || f.force):
		return console.BadUsage("inspect: --anonymous and --force say how to capture", "add --capture FILE.tar.gz")
	case f.file == "":
		return nil
	case !strings.HasSuffix(f.file, ".tar.gz") && !strings.HasSuffix(f.file, ".tgz"):
		return console.BadUsage("inspect: --capture "+f.file+": an archive's name ends in .tar.gz", "--capture host.tar.gz")
	}
	return console.Output{Path: f.file, Force: f.force}.Check("inspect: --capture", console.Archive)
}

// capturedDocument is the document of `inspect --capture --json`.
type capturedDocument struct {
	Host      string     `json:"host"`
	Archive   string     `json:"archive"`
	Size      unit.Bytes `json:"archive_bytes"`
	Files     int        `json:"files_count"`
	Anonymous bool       `json:"anonymous"`
	Missing   []string   `json:"missing"`
}

// capture writes the archive of a host.
func capture(ctx context.Context, con *console.Console, reach string, flags captureFlags) error {
	t, h, err := con.Open(ctx, reach)
	if err != nil {
		return err
	}
	defer h.Close()
	reply, err := ask.Call(ctx, h, agentapi.Capture, agentapi.CaptureRequest{Anonymous: flags.anonymous})
	if errors.Is(err, errors.ErrUnsupported) {
		return console.WithHint(fmt.Errorf("capture %s: %w", t.Name, err), "it takes a linerate on the host that is as new as this one")
	}
	if err != nil {
		return fmt.Errorf("capture %s: %w", t.Name, err)
	}
	if err := console.WriteFile(ctx, flags.file, reply.Archive); err != nil {
		return err
	}
	doc := capturedDocument{Host: t.Name, Archive: flags.file, Size: unit.Bytes(len(reply.Archive)), Files: reply.Files, Anonymous: flags.anonymous, Missing: reply.Missing}
	if doc.Missing == nil {
		doc.Missing = []string{}
	}
	if con.JSON {
		return captureDocument.Print(con, doc)
	}
	printCaptured(con, doc)
	return nil
}

func printCaptured(con *console.Console, doc capturedDocument) {
	fmt.Fprint(con.Stdout, console.Wrapped("", fmt.Sprintf("%s: %s captured in %d files, %s", doc.Archive, doc.Host, doc.Files, doc.Size), con.Width()))
	what := "It contains the host's name, addresses, hardware addresses and routes. It contains no keys, passwords or configuration files. --anonymous replaces names and addresses."
	if doc.Anonymous {
		what = "Names and addresses in it are made up; the names of links and the kernel's release are the host's own."
	}
	fmt.Fprint(con.Stdout, console.Wrapped("", what, con.Width()))
	fmt.Fprint(con.Stdout, console.Wrapped("", "To look at it, anywhere: `linerate inspect --root "+plaintext.ShellWord(doc.Archive)+"`", con.Width()))
	for _, m := range doc.Missing {
		fmt.Fprint(con.Stdout, console.Wrapped("not in it: ", m, con.Width()))
	}
}
