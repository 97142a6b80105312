// Package measure is `linerate measure`: latency and throughput between hosts.
package measure

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
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/discover"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/predict/declared"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/report"
	"github.com/linerate/linerate/unit"
)

// ParseWindow reads --duration, the exact length of a window; "" is zero, which
// leaves it to the stop rule.
func ParseWindow(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	d, err := unit.ParseDuration(s)
	if err != nil {
		return 0, console.BadUsage("--duration: "+err.Error(), "")
	}
	if d < 100*time.Millisecond || d > time.Hour {
		return 0, console.BadUsage("--duration: want 100ms to 1h, not "+s, "")
	}
	return d, nil
}

// MatrixFlags are what measure takes over what the file says.
type MatrixFlags struct {
	Streams, Directions, duration, Ports, Buffer, tool string
}

func (m *MatrixFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&m.Streams, "streams", "", "stream counts, such as 1,2,8 (default: the file's, else 1,2,4,8)")
	c.Flags().StringVar(&m.Directions, "directions", "", "of forward,reverse,both (default: the file's, else all)")
	c.Flags().StringVar(&m.duration, "duration", "", "exact length of each measurement (default: until the result is sure)")
	c.Flags().StringVar(&m.Ports, "ports", "", "chosen (spread over the links) or kernel, and where receivers listen,\nsuch as 5201-5216 (default: the file's, else chosen)")
	c.Flags().StringVar(&m.tool, "tool", "linerate", "what makes the traffic: linerate, iperf2 (where the hosts have it), or\niperf3 (of a HOST:PORT that listens)")
	c.Flags().StringVar(&m.Buffer, "socket-buffer", "", "what each socket asks for, such as 8Mi (default: autotuning)")
}

// Over is what the file asks for with the flags laid over it.
func (m *MatrixFlags) Over(f fabric.Measure) (campaign.Matrix, error) {
	out := campaign.Matrix{Streams: f.Streams, Directions: f.Directions, Ports: f.Ports, Longest: f.Duration}
	buffer := f.SocketBuffer
	var err error
	if m.Streams != "" {
		out.Streams = nil
		for _, s := range strings.Split(m.Streams, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(s))
			if err != nil || n < 1 || n > 1024 {
				return out, console.BadUsage("--streams: want counts from 1 to 1024, such as 1,2,8, not "+m.Streams, "")
			}
			out.Streams = append(out.Streams, n)
		}
	}
	if m.Directions != "" {
		out.Directions = nil
		for _, s := range strings.Split(m.Directions, ",") {
			var d flow.Direction
			if err := d.UnmarshalText([]byte(strings.TrimSpace(s))); err != nil {
				return out, console.BadUsage("--directions: "+err.Error(), "")
			}
			out.Directions = append(out.Directions, d)
		}
	}
	if m.Ports != "" {
		word, within, err := console.TrialPorts(m.Ports)
		if err != nil {
			return out, err
		}
		out.Ports, out.Base.Within = cmp.Or(word, out.Ports), within
	}
	if m.Buffer != "" {
		if buffer, err = unit.ParseBytes(m.Buffer); err != nil {
			return out, console.BadUsage("--socket-buffer: "+err.Error(), "")
		}
	}
	out.Base.Socket.SndBuf, out.Base.Socket.RcvBuf = buffer, buffer
	out.Duration, err = ParseWindow(m.duration)
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

// New is `linerate measure`.
func New(con *console.Console) *cobra.Command {
	var flags MatrixFlags
	var latency latencyFlags
	var window windowFlags
	var care careFlags
	var run RunFlags
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

` + console.SSHHelp + `
` + console.ExitHelp,
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
				matrix, err := flags.Over(f)
				for _, over := range []func() error{
					func() error { return latency.over(&matrix, cmd.Flags().Changed) },
					func() error { return window.over(&matrix) },
					func() error { return care.over(&matrix) },
					func() error { return protocol.over(&matrix, f) },
					func() error { return socket.over(&matrix) },
					func() error { return chooseTool(&matrix, flags.tool, len(listeners) > 0) },
					func() error { return run.sweeps.over(con, &matrix, cmd.Flags().Changed) },
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
			if !IsFabric(args[0]) {
				if _, err := matrixOver(fabric.Measure{}); err != nil {
					return err
				}
			}
			run.device = socket.device
			f, err := measured(cmd.Context(), con, args, &run)
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
			return measureFabric(cmd.Context(), con, f, matrix, &run)
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

// IsFabric reports an argument that names a fabric file.
func IsFabric(arg string) bool {
	return strings.HasSuffix(arg, ".yaml") || strings.HasSuffix(arg, ".yml")
}

// measured is the fabric that the arguments mean.
func measured(ctx context.Context, con *console.Console, args []string, run *RunFlags) (fabric.Fabric, error) {
	names, _ := splitTargets(args)
	if len(names) == 0 {
		return FabricOf(ctx, con, args, run)
	}
	f, listeners, err := listening(ctx, con, args, run.device, &run.listener)
	run.listeners, run.paths.together = listeners, run.paths.together || len(listeners) > 1
	return f, err
}

// fabricOf reads a fabric file, or makes a fabric from hosts named directly.
func FabricOf(ctx context.Context, con *console.Console, args []string, run *RunFlags) (fabric.Fabric, error) {
	if len(args) == 1 {
		return console.ReadFabric(ctx, args[0])
	}
	text, left, err := discover.Describe(ctx, con, args, nil, 0)
	if err != nil {
		return fabric.Fabric{}, err
	}
	if run.Missing = left; len(left) > 0 && len(args)-len(left) < 2 {
		return fabric.Fabric{}, left[0]
	}
	f, err := fabric.Parse(campaign.Discovered, text)
	if err == nil && len(f.Paths) == 0 {
		err = console.WithHint(fmt.Errorf("find a path: %w: the hosts have no subnet in common", fleet.ErrUnreachable), "write a fabric file and name the path")
	}
	return f, err
}

func measureFabric(ctx context.Context, con *console.Console, f fabric.Fabric, m campaign.Matrix, run *RunFlags) error {
	p := progress.New(con)
	old, err := run.previous(ctx, f, m)
	if strings.HasPrefix(run.resume, console.OnNATS) {
		old, err = resumedFromBus(ctx, con, f, m, run)
	}
	if err != nil {
		return err
	}
	if !run.sweeps.dryRun {
		run.stored = con.Keeper(ctx, run.store)
	}
	p.Stage("reach %s", console.HostNames(f))
	c, err := campaign.Open(ctx, campaign.Config{
		Fabric: f, Fleet: con.Fleet(cmp.Or(run.sweeps.journal, journalFor(m))), Tell: p.Tell, Pings: m.Pings,
		Keep: keeping(ctx, con, f, p, run), Resume: old, Listeners: run.listeners, Switches: con.Switches(f),
		Locking: progress.Locking(con, p, run.wait, append([]string{"measure"}, run.args...)...),
	})
	if err != nil {
		return console.WithHint(err, progress.InUseHint(err))
	}
	defer c.Close()
	if pathless(c, f) {
		return console.BadUsage(f.File+": no path to measure", declared.RemedyFor(declared.ErrNoPath))
	}
	for _, d := range c.Differences() {
		p.Say("        %s %s: the file says %s, the host %s; used: %s", d.Host, d.What, d.File, d.Observed, d.Used)
	}
	if err := run.ofHosts(c, m); err != nil {
		return err
	}
	if old != nil {
		sayResumed(p, *old, c)
	}
	err = trials(ctx, con, c, p, m, run)
	// What was measured is kept and shown, also after an interrupt.
	run.stored.Keep(ctx, c.Record())
	return run.listenerHint(c.Record(), errors.Join(conclude(ctx, con, c.Record(), run, err), run.Missing.Err()))
}

// show prints a record the way the caller asked for.
func show(con *console.Console, r record.Record) error {
	if con.JSON {
		if err := recordDocument.Print(con, r); err != nil {
			return err
		}
	} else {
		fmt.Fprint(con.Stdout, report.Text(r, con.Width()))
	}
	return console.Failures(r)
}

// pathless reports hosts that were all reached, and that nothing joins.
func pathless(c *campaign.Campaign, f fabric.Fabric) bool {
	return len(c.State().Paths) == 0 && !slices.ContainsFunc(f.Hosts, func(h fabric.Host) bool { return !c.Reached(h.Name) })
}
