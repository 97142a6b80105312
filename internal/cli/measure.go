package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/run/campaign"
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
	streams, directions, duration, ports, buffer, tool string
}

func (m *matrixFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&m.streams, "streams", "", "stream counts, such as 1,2,8 (default: the file's, else 1,2,4,8)")
	c.Flags().StringVar(&m.directions, "directions", "", "of forward,reverse,both (default: the file's, else all)")
	c.Flags().StringVar(&m.duration, "duration", "", "exact length of each measurement (default: until the result is sure)")
	c.Flags().StringVar(&m.ports, "ports", "", "chosen (spread over the links) or kernel, and where receivers listen,\nsuch as 5201-5216 (default: the file's, else chosen)")
	c.Flags().StringVar(&m.tool, "tool", "linerate", "what makes the traffic: linerate, iperf2 (where the hosts have it), or\niperf3 (of a HOST:PORT that listens)")
	c.Flags().StringVar(&m.buffer, "socket-buffer", "", "what each socket asks for, such as 8Mi (default: autotuning)")
}

// over is what the file asks for with the flags laid over it.
func (m *matrixFlags) over(f fabric.Measure) (campaign.Matrix, error) {
	out := campaign.Matrix{Streams: f.Streams, Directions: f.Directions, Ports: f.Ports, Longest: f.Duration}
	buffer := f.SocketBuffer
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
		word, within, err := parseTrialPorts(m.ports)
		if err != nil {
			return out, err
		}
		out.Ports, out.Base.Within = cmp.Or(word, out.Ports), within
	}
	if m.buffer != "" {
		var err error
		if buffer, err = unit.ParseBytes(m.buffer); err != nil {
			return out, usage("--socket-buffer: "+err.Error(), "")
		}
	}
	out.Base.Socket.SndBuf, out.Base.Socket.RcvBuf = buffer, buffer
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

func newMeasure(app *App) *cobra.Command {
	var flags matrixFlags
	var latency latencyFlags
	var window windowFlags
	var care careFlags
	var run runFlags
	var protocol protocolFlags
	var socket socketFlags
	c := &cobra.Command{
		Use: "measure FABRIC | HOST HOST... | [HOST] LISTENER[:PORT]...", Short: "latency and throughput between hosts",
		Long: `Measures latency and throughput between the hosts of a fabric file, or between
two or more hosts named directly (local:, netns:NAME, ssh://user@host): all
pairs. HOST[:PORT] is an iperf3 server or a linerate listener, measured from
this host, or from one host named before it; several are measured at once. All
streams of a trial share one window; goodput is counted at the receiver and
checked against the counters of every link.

Hosts that do not answer are left out, tried once more at the end and reported;
the exit status is 1 then.

` + sshHelp + `
` + exitHelp,
		Example: "  linerate measure fabric.yaml\n  linerate measure ssh://root@192.0.2.11 local: --streams 1,4 -o record.json\n  linerate measure 192.0.2.9:5201 --streams 2",
		Args: func(cmd *cobra.Command, args []string) error {
			if err := checkTargets(args); err != nil {
				return err
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			listeners, _ := splitTargets(args)
			matrixOver := func(f fabric.Measure) (campaign.Matrix, error) {
				matrix, err := flags.over(f)
				for _, over := range []func() error{
					func() error { return latency.over(&matrix, cmd.Flags().Changed) },
					func() error { return window.over(&matrix) },
					func() error { return care.over(&matrix) },
					func() error { return protocol.over(&matrix, f) },
					func() error { return socket.over(&matrix) },
					func() error { return chooseTool(&matrix, flags.tool, len(listeners) > 0) },
					func() error { return run.sweeps.over(app, &matrix, cmd.Flags().Changed) },
					func() error { return run.paths.over(&matrix) },
					func() error { return run.paths.check(&run, matrix) },
				} {
					if err == nil {
						err = over()
					}
				}
				return matrix, err
			}
			// What no host makes right is refused before one is reached.
			if err := run.early(args, cmd.Flags().Changed); err != nil {
				return err
			}
			if !isFabric(args[0]) {
				if _, err := matrixOver(fabric.Measure{}); err != nil {
					return err
				}
			}
			run.device = socket.device
			f, err := app.measured(cmd.Context(), args, &run)
			if err != nil {
				return err
			}
			matrix, err := matrixOver(f.Measure)
			if err == nil {
				err = care.hosts(&matrix, f)
			}
			if err != nil {
				return err
			}
			run.args = args
			return app.measure(cmd.Context(), f, matrix, &run)
		},
	}
	flags.add(c)
	latency.add(c)
	window.add(c)
	care.add(c)
	protocol.add(c)
	socket.add(c)
	run.add(c)
	return c
}

func isFabric(arg string) bool {
	return strings.HasSuffix(arg, ".yaml") || strings.HasSuffix(arg, ".yml")
}

// measured is the fabric that the arguments mean.
func (a *App) measured(ctx context.Context, args []string, run *runFlags) (fabric.Fabric, error) {
	names, _ := splitTargets(args)
	if len(names) == 0 {
		return a.fabricOf(ctx, args, run)
	}
	f, listeners, err := a.listening(ctx, args, run.device, &run.listener)
	run.listeners, run.paths.together = listeners, run.paths.together || len(listeners) > 1
	return f, err
}

// fabricOf reads a fabric file, or makes a fabric from hosts named directly.
func (a *App) fabricOf(ctx context.Context, args []string, run *runFlags) (fabric.Fabric, error) {
	if len(args) == 1 {
		return readFabric(ctx, args[0])
	}
	text, left, err := a.discover(ctx, args, 0)
	if err != nil {
		return fabric.Fabric{}, err
	}
	if run.missing = left; len(left) > 0 && len(args)-len(left) < 2 {
		return fabric.Fabric{}, left[0]
	}
	f, err := fabric.Parse(campaign.Discovered, text)
	if err == nil && len(f.Paths) == 0 {
		err = withHint(fmt.Errorf("find a path: %w: the hosts have no subnet in common", fleet.ErrUnreachable), "write a fabric file and name the path")
	}
	return f, err
}

func (a *App) measure(ctx context.Context, f fabric.Fabric, m campaign.Matrix, run *runFlags) error {
	p := newProgress(a)
	old, err := run.previous(ctx, f, m)
	if strings.HasPrefix(run.resume, onBus) {
		old, err = a.resumedFromBus(ctx, f, m, run)
	}
	if err != nil {
		return err
	}
	if !run.sweeps.dryRun {
		run.stored = a.keeper(ctx, run.store)
	}
	p.stage("reach %s", hostNames(f))
	c, err := campaign.Open(ctx, campaign.Config{
		Fabric: f, Fleet: a.fleet(cmp.Or(run.sweeps.journal, journalFor(m))), Tell: p.tell, Pings: m.Pings,
		Keep: a.keeping(ctx, f, p, run), Resume: old, Listeners: run.listeners,
		Holding: a.holding(p, run.wait, append([]string{"measure"}, run.args...)...),
	})
	if err != nil {
		return withHint(err, heldHint(err))
	}
	defer c.Close()
	for _, d := range c.Differences() {
		p.say("        %s %s: the file says %s, the host %s; used: %s", d.Host, d.What, d.File, d.Observed, d.Used)
	}
	if err := run.ofHosts(c, m); err != nil {
		return err
	}
	if old != nil {
		sayResumed(p, *old, c)
	}
	err = a.trials(ctx, c, p, m, run)
	// What was measured is kept and shown, also after an interrupt.
	run.stored.keep(ctx, c.Record())
	return run.listenerHint(c.Record(), errors.Join(a.conclude(ctx, c.Record(), run, err), run.missing.err()))
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
