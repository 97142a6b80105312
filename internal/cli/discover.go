package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/fleet"
	"github.com/linerate/linerate/internal/measure"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
)

func newDiscover(app *App) *cobra.Command {
	var out string
	var force bool
	c := &cobra.Command{
		Use: "discover HOST...", Short: "write a fabric from live hosts",
		Long: `Looks at hosts and writes the fabric file that describes them: links, bonds,
addresses, speeds, kernel, buffers, and the round trip between those that share
a subnet. What could not be found out stands in comments. Nothing is changed.

HOST is local: (this host), netns:NAME, ssh://user@host or nats:NAME.

` + exitHelp,
		Example: "  linerate discover ssh://root@192.0.2.11 ssh://root@192.0.2.12 -o fabric.yaml\n  linerate discover local:",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(commandName(cmd)+": want one HOST or more", "write local:, netns:NAME, ssh://user@host or nats:NAME")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return app.writeDiscovered(cmd.Context(), args, out, force)
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "fabric file to write (default: standard output)")
	c.Flags().BoolVar(&force, "force", false, "overwrite the file if it exists")
	return c
}

func (a *App) writeDiscovered(ctx context.Context, args []string, out string, force bool) error {
	if out != "" && !force {
		if _, err := os.Lstat(out); err == nil {
			return usage("discover: "+out+" exists", "add --force to overwrite it, or name another file")
		}
	}
	text, err := a.discover(ctx, args)
	if err != nil {
		return err
	}
	if out != "" {
		if err := writeFile(out, text); err != nil {
			return err
		}
	}
	switch {
	case a.json:
		return a.printJSON(map[string]any{"file": out, "fabric": string(text)})
	case out == "":
		_, err = a.Stdout.Write(text)
		return err
	case !a.quiet:
		fmt.Fprintf(a.Stderr, "%s is written; `linerate predict %s` comes next\n", out, out)
	}
	return nil
}

// discover observes hosts and returns the fabric file that describes them.
func (a *App) discover(ctx context.Context, args []string) ([]byte, error) {
	targets, err := parseTargets(args)
	if err != nil {
		return nil, err
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
	for _, t := range targets {
		p.stage("observe %s", t.reach)
		h, err := a.dial(ctx, t)
		if err != nil {
			return nil, err
		}
		reached[t.name] = h
		reply, err := h.Observe(ctx)
		if err != nil {
			return nil, fmt.Errorf("observe %s: %w", t.name, err)
		}
		reply.Host.Name = t.name
		hosts, reach[t.name] = append(hosts, reply.Host), t.reach
	}
	paths := fabric.PathsBetween(hosts)
	if err := a.roundTrips(ctx, p, hosts, paths, reached); err != nil {
		return nil, err
	}
	return fabric.Describe(hosts, paths, reach, fabric.Measure{}), nil
}

// parseTargets reads hosts; no two may have one name, nor be the same.
func parseTargets(args []string) ([]target, error) {
	var targets []target
	names := make(map[string]int)
	for _, arg := range args {
		t, err := parseTarget(arg)
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
