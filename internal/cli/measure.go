package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/campaign"
	"github.com/linerate/linerate/internal/fleet"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/report"
	"github.com/linerate/linerate/unit"
)

// windowFlag is the exact length of a window; zero leaves it to the stop rule.
type windowFlag = time.Duration

// window is a parsed --duration.
type window struct{ Duration windowFlag }

func (w window) String() string { return w.Duration.String() }

// parseWindow reads --duration; "" is the stop rule.
func parseWindow(s string) (window, error) {
	if s == "" {
		return window{}, nil
	}
	d, err := unit.ParseDuration(s)
	if err != nil {
		return window{}, usage("--duration: "+err.Error(), "")
	}
	if d < 100*time.Millisecond || d > time.Hour {
		return window{}, usage("--duration: want 100ms to 1h, not "+s, "")
	}
	return window{d}, nil
}

// matrixFlags are what measure takes over what the file says.
type matrixFlags struct {
	streams, directions, duration, ports, buffer, tool, protocol string
}

func (m *matrixFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&m.streams, "streams", "", "stream counts, such as 1,2,8 (default: the file's, else 1,2,4,8)")
	c.Flags().StringVar(&m.directions, "directions", "", "of forward,reverse,both (default: the file's, else all)")
	c.Flags().StringVar(&m.duration, "duration", "", "exact length of each measurement (default: until the result is sure)")
	c.Flags().StringVar(&m.ports, "ports", "", "chosen (spread over the links) or kernel (default: the file's, else chosen)")
	c.Flags().StringVar(&m.tool, "tool", "linerate", "what makes the traffic: linerate")
	c.Flags().StringVar(&m.protocol, "protocol", "", "tcp (default: the file's, else tcp)")
	c.Flags().StringVar(&m.buffer, "socket-buffer", "", "what each socket asks for, such as 8Mi (default: autotuning)")
}

// over is what the file asks for with the flags laid over it.
func (m *matrixFlags) over(f fabric.Measure) (campaign.Matrix, error) {
	out := campaign.Matrix{Streams: f.Streams, Directions: f.Directions, Ports: f.Ports, Longest: f.Duration, Buffer: f.SocketBuffer}
	if m.streams != "" {
		out.Streams = nil
		for _, s := range strings.Split(m.streams, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(s))
			if err != nil || n < 1 || n > 1024 {
				return out, usage("--streams: want counts from 1 to 1024, such as 1,2,8, not "+m.streams, "")
			}
			out.Streams = append(out.Streams, n)
		}
	}
	if m.directions != "" {
		out.Directions = nil
		for _, s := range strings.Split(m.directions, ",") {
			var d flow.Direction
			if err := d.UnmarshalText([]byte(strings.TrimSpace(s))); err != nil {
				return out, usage("--directions: "+err.Error(), "")
			}
			out.Directions = append(out.Directions, d)
		}
	}
	if m.ports != "" {
		if m.ports != "chosen" && m.ports != "kernel" {
			return out, usage("--ports: want chosen or kernel, not "+m.ports, "")
		}
		out.Ports = m.ports
	}
	if m.buffer != "" {
		b, err := unit.ParseBytes(m.buffer)
		if err != nil {
			return out, usage("--socket-buffer: "+err.Error(), "")
		}
		out.Buffer = b
	}
	w, err := parseWindow(m.duration)
	out.Duration = w.Duration
	if len(out.Streams) == 0 {
		out.Streams = []int{1, 2, 4, 8}
	}
	if len(out.Directions) == 0 {
		out.Directions = flow.Directions()
	}
	if out.Ports == "" {
		out.Ports = "chosen"
	}
	return out, err
}

// measurable refuses traffic that this version cannot make.
func (m *matrixFlags) measurable(f fabric.Measure) error {
	if m.tool != "linerate" && m.tool != "" {
		return usage("--tool: this version measures with linerate's own engine only, not "+m.tool, "leave --tool out")
	}
	return measurableProtocol(cmp.Or(m.protocol, f.Protocol), "add --protocol tcp")
}

func measurableProtocol(protocol, hint string) error {
	if protocol != "" && protocol != "tcp" {
		return usage("measure: this version measures tcp only, not "+protocol, hint)
	}
	return nil
}

func newMeasure(app *App) *cobra.Command {
	var flags matrixFlags
	var out string
	c := &cobra.Command{
		Use: "measure FABRIC | measure HOST HOST...", Short: "latency and throughput between hosts",
		Long: `Measures latency and throughput between the hosts of a fabric file, or between
two or more hosts named directly (local:, netns:NAME, ssh://user@host): all
pairs. All streams of a trial share one window; goodput is counted at the
receiver and checked against the counters of every link.

Hosts reached by ssh need linerate on their path.

` + exitHelp,
		Example: "  linerate measure fabric.yaml\n  linerate measure ssh://root@192.0.2.11 ssh://root@192.0.2.12 --streams 1,4 -o record.json",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usage("measure: want a FABRIC file, or two hosts", "linerate discover HOST HOST -o fabric.yaml writes one")
			case len(args) == 1 && !isFabric(args[0]):
				return usage("measure "+args[0]+": one host alone cannot be measured", "name a second host, or a fabric file whose name ends in .yaml")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := app.fabricOf(cmd.Context(), args)
			if err != nil {
				return err
			}
			matrix, err := flags.over(f.Measure)
			if err == nil {
				err = flags.measurable(f.Measure)
			}
			if err != nil {
				return err
			}
			return app.measure(cmd.Context(), f, matrix, out)
		},
	}
	flags.add(c)
	c.Flags().StringVarP(&out, "output", "o", "", "write the record to this file (JSON)")
	return c
}

func isFabric(arg string) bool {
	return strings.HasSuffix(arg, ".yaml") || strings.HasSuffix(arg, ".yml")
}

// fabricOf reads a fabric file, or makes a fabric from hosts named directly.
func (a *App) fabricOf(ctx context.Context, args []string) (fabric.Fabric, error) {
	if len(args) == 1 {
		return readFabric(args[0])
	}
	text, err := a.discover(ctx, args)
	if err != nil {
		return fabric.Fabric{}, err
	}
	f, err := fabric.Parse("discovered", text)
	if err == nil && len(f.Paths) == 0 {
		err = withHint(fmt.Errorf("find a path: %w: the hosts have no subnet in common", fleet.ErrUnreachable), "write a fabric file and name the path")
	}
	return f, err
}

func (a *App) measure(ctx context.Context, f fabric.Fabric, m campaign.Matrix, out string) error {
	p := newProgress(a)
	p.stage("reach %s", hostNames(f))
	c, err := campaign.Open(ctx, campaign.Config{Fabric: f, Version: a.Version, Logger: a.logger(), Tell: p.tell})
	if err != nil {
		return err
	}
	defer c.Close()
	for _, d := range c.Differences() {
		p.say("        %s %s: the file says %s, the host %s; used: %s", d.Host, d.What, d.File, d.Observed, d.Used)
	}
	p.stage("measure latency")
	err = c.Latency(ctx)
	if err == nil {
		p.stage("measure %d stream counts, %d directions", len(m.Streams), len(m.Directions))
		err = c.Run(ctx, m)
	}
	// What was measured is kept, also after an interrupt.
	r := c.Record()
	if out != "" && len(r.Trials) > 0 {
		if werr := writeJSON(out, r); werr != nil {
			return werr
		}
	}
	if err != nil {
		return err
	}
	if err := failures(r); err != nil && len(r.Trials) == 0 {
		return err
	}
	return a.show(r)
}

// show prints a record the way the caller asked for.
func (a *App) show(r record.Record) error {
	if a.json {
		if err := a.printJSON(r); err != nil {
			return err
		}
	} else {
		fmt.Fprint(a.Stdout, report.Text(r, a.width()))
	}
	return failures(r)
}

func hostNames(f fabric.Fabric) string {
	var names []string
	for _, h := range f.Hosts {
		names = append(names, h.Name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
