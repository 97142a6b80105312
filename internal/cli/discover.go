package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/describe"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/unit"
)

func newDiscover(app *App) *cobra.Command {
	var out output
	var lldp string
	c := &cobra.Command{
		Use: "discover HOST...", Short: "write a fabric from live hosts",
		Long: `Looks at hosts and writes the fabric file that describes them: links, bonds,
addresses, speeds, kernel, buffers, and the round trip between those that share
a subnet. What could not be found out stands in comments, and so does what the
file has no words for, in those of ip(8): rules by interface, port or masked
mark, nexthop objects, routes of daemons. A plan of the file changes nothing,
also with --exact. Nothing is changed.

HOST is local: (this host), netns:NAME, ssh://user@host or nats:NAME. Hosts are
looked at side by side; one that is not reached is named, the others are
written, and the exit status is 1.

` + sshHelp + `
` + exitHelp,
		Example: "  linerate discover ssh://root@192.0.2.11 ssh://root@192.0.2.12 -o fabric.yaml\n  linerate discover local:",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(commandName(cmd)+": want one HOST or more", "write local:, netns:NAME, ssh://user@host or nats:NAME")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			wait, err := parseLLDP(lldp)
			if err != nil {
				return err
			}
			return app.writeDiscovered(cmd.Context(), args, out, wait)
		},
	}
	out.add(c, "fabric file to write (default: standard output)")
	c.Flags().StringVar(&lldp, "lldp", "", "listen that long for what the other ends of the cables say of themselves:\nwhich links are one cable, and which are on one switch; 35s hears most")
	return c
}

func (a *App) writeDiscovered(ctx context.Context, args []string, out output, lldp time.Duration) error {
	if err := out.check("discover:", aFabricFile); err != nil {
		return err
	}
	text, missing, err := a.discover(ctx, args, lldp)
	if err != nil {
		return err
	}
	if out.path != "" {
		if err := writeFile(ctx, out.path, text); err != nil {
			return err
		}
	}
	switch {
	case a.json:
		err = a.printJSON(map[string]any{"file": out.path, "fabric": string(text)})
	case out.path == "":
		_, err = a.Stdout.Write(text)
	case !a.quiet:
		fmt.Fprintf(a.Stderr, "%s is written; `linerate predict %s` comes next\n", out.path, out.path)
	}
	return errors.Join(err, missing.err())
}

// missing are hosts that were named and not reached, when others were.
type missing []error

// err is all of them as one error, which is a failed job and not an unreachable
// host: the others were reached.
func (m missing) err() error {
	if len(m) == 0 {
		return nil
	}
	more := ""
	if n := len(m) - 1; n > 0 {
		more = fmt.Sprintf(" (and %s)", unit.Counted(n, "other host"))
	}
	return errors.New("left out: " + oneLine(m[0].Error()) + more)
}

// discover observes hosts and returns the fabric file that describes them, and
// which of them were not reached; none reached is an error.
func (a *App) discover(ctx context.Context, args []string, lldp time.Duration) ([]byte, missing, error) {
	targets, err := a.targets(args)
	if err != nil {
		return nil, nil, err
	}
	p := newProgress(a)
	var hosts []netstate.Host
	reach := make(map[string]string)
	reached := make(map[string]*fleet.Host)
	defer func() {
		for _, h := range reached {
			h.Close()
		}
	}()
	var left missing
	for _, o := range a.observeAll(ctx, p, targets) {
		if o.host != nil {
			reached[o.name] = o.host
		}
		if o.err != nil {
			left = append(left, o.err)
			continue
		}
		hosts, reach[o.name] = append(hosts, inUse(fabric.Fabric{}, o.target, o.state)), o.reach
	}
	if ctx.Err() != nil || len(hosts) == 0 {
		return nil, nil, errors.Join(ctx.Err(), left[0])
	}
	paths := fabric.PathsBetween(hosts)
	if err := a.roundTrips(ctx, p, hosts, paths, reached); err != nil {
		return nil, nil, err
	}
	cables := a.cables(ctx, p, hosts, reached, lldp)
	return remarked(describe.Write(hosts, paths, reach, fabric.Measure{}), cables), left, ctx.Err()
}

// observed is a host as it was found, or why not.
type observed struct {
	target
	host  *fleet.Host // nil when it was not reached; else the caller's to close
	state netstate.Host
	err   error
}

// observeAll reaches hosts and reads their state, several at a time, and says
// one line of each that fails, or that cannot do everything.
func (a *App) observeAll(ctx context.Context, p *progress, targets []target) []observed {
	out := make([]observed, len(targets))
	for _, t := range targets {
		p.stage("observe %s", t.reach)
	}
	fleet.ForEach(len(targets), func(i int) { out[i] = a.observeOne(ctx, targets[i]) })
	for _, o := range out {
		if o.err != nil {
			if len(out) > 1 && ctx.Err() == nil {
				p.note(fmt.Sprintf("%s is left out: %v", o.name, o.err))
				p.hint(hintFor(o.err))
			}
			continue
		}
		p.notes(o.host)
	}
	return out
}

// observeOne reaches a host and reads its state.
func (a *App) observeOne(ctx context.Context, t target) observed {
	o := observed{target: t}
	if o.host, o.err = a.dial(ctx, t); o.err != nil {
		return o
	}
	reply, err := o.host.Observe(ctx)
	if err != nil {
		o.err = fmt.Errorf("observe %s: %w", o.name, err)
	}
	o.state = reply.Host
	o.state.Name = o.name
	return o
}

// leftOut says which links the hosts are managed over and are left out for it.
func (p *progress) leftOut(hosts ...netstate.Host) {
	for _, line := range fabric.LeftOut(hosts) {
		p.note(line)
	}
}

// notes says what whoever works with a host should know of it.
func (p *progress) notes(h *fleet.Host) {
	for _, note := range h.Notes() {
		p.note(h.Name + ": " + note)
	}
}

// targets reads hosts; no two may have one name, nor be the same.
func (a *App) targets(args []string) ([]target, error) {
	var targets []target
	names := make(map[string]int)
	for _, arg := range args {
		t, err := a.target(arg)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(targets, func(o target) bool { return o.reach == t.reach }) {
			return nil, usage("host "+arg+" is named twice", "")
		}
		names[t.name]++
		if n := names[t.name]; n > 1 {
			t.name = fmt.Sprintf("%s-%d", t.name, n)
		}
		targets = append(targets, t)
	}
	return targets, nil
}

// roundTrips measures every path's round trip. One that does not answer stays
// unknown, and Describe says so; only the end of ctx is an error.
func (a *App) roundTrips(ctx context.Context, p *progress, hosts []netstate.Host, paths []fabric.Path, reached map[string]*fleet.Host) error {
	n := measure.Network{
		Endpoints: make(map[string]measure.Endpoint), Machines: make(map[string]string),
		Fabric: predict.Fabric{Hosts: make(map[string]netstate.Host), Paths: paths},
	}
	for _, h := range hosts {
		n.Fabric.Hosts[h.Name] = h
		n.Endpoints[h.Name], n.Machines[h.Name] = reached[h.Name], reached[h.Name].Hello.Machine
	}
	for i, path := range paths {
		p.stage("measure latency %s to %s", path.From, path.To)
		l, err := measure.Latency(ctx, n, path.From, path.To, measure.Pings{})
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), err)
		}
		switch {
		case l.AvgMS > 0:
			paths[i].RTT = time.Duration(l.AvgMS * float64(time.Millisecond)).Round(time.Microsecond)
			p.say("        %.3f ms (%.3f to %.3f)", l.AvgMS, l.MinMS, l.MaxMS)
		case err != nil:
			p.say("        unknown: %s", oneLine(err.Error()))
		default:
			p.say("        unknown: no answer to %d echoes", l.Sent)
		}
	}
	return nil
}
