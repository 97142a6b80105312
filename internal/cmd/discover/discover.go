// Package discover is `linerate discover`, and how other commands observe hosts
// that the command line names.
package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/describe"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/internal/cmd/texts"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
)

// New is `linerate discover`.
func New(con *console.Console) *cobra.Command {
	var out console.Output
	var lldp string
	var from []string
	var whose texts.Flags
	var bySSH []string
	c := &cobra.Command{
		Use: "discover HOST... | --from FILE...", Short: "write a fabric from live hosts, or from what was pasted of them",
		Long: `Reads hosts and writes the fabric file that describes them: links, bonds,
addresses, speeds, kernel, buffers, and the round trip between those that share
a subnet. What could not be found out stands in comments, and so does what the
file cannot represent, in those of ip(8): rules by interface, port or masked
mark, nexthop objects, routes of daemons. A plan of the file changes nothing,
also with --exact. Nothing is changed.

HOST is local: (this host), netns:NAME, ssh://user@host or nats:NAME. Hosts are
looked at side by side; one that is not reached is named, the others are
written, and the exit status is 1.

A switch that is named too, snmp://HOST, gnmi://HOST or --switch ssh://USER@HOST,
says which of its ports lead to the hosts, where they speak LLDP: the file has
it under switches. LINERATE_SWITCH_CREDENTIALS names the file with its community
or passwords; over ssh your keys count, and show commands alone are typed.

--from reads no host but the outputs of commands in a text, as explain does:
whoever has a thread, a ticket or an archive of a host gets its fabric.
` + texts.Help + console.SSHHelp + `
` + console.ExitHelp,
		Example: "  linerate discover ssh://root@192.0.2.11 ssh://root@192.0.2.12 -o fabric.yaml\n  linerate discover local:\n  linerate discover --from thread.txt -o fabric.yaml",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(from)+len(whose.Hosts) > 0 && (lldp != "" || len(bySSH) > 0):
				return console.BadUsage("discover: --lldp and --switch ask what is live", "leave them out, or --from")
			case len(from)+len(whose.Hosts)+len(args) == 0:
				return console.BadUsage(console.CommandName(cmd)+": want one HOST or more", "write local:, netns:NAME, ssh://user@host or nats:NAME; --from FILE reads text")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(from)+len(whose.Hosts) > 0 {
				return fromTexts(cmd.Context(), con, append(from, args...), whose, out)
			}
			wait, err := parseLLDP(lldp)
			if err != nil {
				return err
			}
			return writeDiscovered(cmd.Context(), con, args, bySSH, out, wait)
		},
	}
	out.Add(c, "fabric file to write (default: standard output)", "yaml", "yml")
	c.Flags().StringArrayVar(&from, "from", nil, "read these `FILE`s instead of hosts, or - for standard input")
	whose.Add(c)
	c.Flags().StringArrayVar(&bySSH, "switch", nil, "a switch to ask: `ssh://USER@HOST`, snmp://HOST or gnmi://HOST; may be repeated")
	c.Flags().StringVar(&lldp, "lldp", "", "listen that long for what the other ends of the cables say of themselves:\nwhich links are one cable, and which are on one switch; 35s hears most")
	return c
}

func writeDiscovered(ctx context.Context, con *console.Console, args, asked []string, out console.Output, lldp time.Duration) error {
	if err := out.Check("discover:", console.FabricFile); err != nil {
		return err
	}
	text, missing, err := Describe(ctx, con, args, asked, lldp)
	if err != nil {
		return err
	}
	return errors.Join(writeFabric(ctx, con, text, out), missing.Err())
}

// writeFabric writes the file that was asked for, else to standard output.
func writeFabric(ctx context.Context, con *console.Console, text []byte, out console.Output) error {
	if out.Path != "" {
		if err := console.WriteFile(ctx, out.Path, text); err != nil {
			return err
		}
	}
	switch {
	case con.JSON:
		return document.Print(con, discovered{out.Path, string(text)})
	case out.Path == "":
		_, err := con.Stdout.Write(text)
		return err
	case !con.Quiet && !console.IsStream(out.Path):
		fmt.Fprintf(con.Stderr, "%s is written; `linerate predict %s` comes next\n", out.Path, out.Path)
	}
	return nil
}

// fromTexts writes the fabric of what was pasted.
func fromTexts(ctx context.Context, con *console.Console, files []string, whose texts.Flags, out console.Output) error {
	if err := out.Check("discover:", console.FabricFile); err != nil {
		return err
	}
	hosts, paths, err := whose.States(ctx, con, "discover", files)
	if err != nil {
		return err
	}
	if len(hosts) == 0 {
		return console.BadUsage("discover: no link, route or setting of a host is in it", "paste what `ip -d address`, `cat /proc/net/bonding/*`, `ip route` and `sysctl net.ipv4.tcp_rmem net.ipv4.tcp_wmem` print")
	}
	text := describe.Write(hosts, paths, nil, fabric.Measure{})
	if _, err := fabric.Parse(cmp.Or(out.Path, "the fabric"), text); err != nil {
		return fmt.Errorf("discover: what was read makes no fabric: %w", err)
	}
	for _, h := range hosts {
		for _, l := range h.Links {
			if l.Bond != nil && l.Bond.Own == nil && (l.Bond.Mode.IsZero() || l.Bond.Unread("miimon")) && !con.Quiet {
				fmt.Fprint(con.Stderr, console.Wrapped("warning: ", fmt.Sprintf("not all of %s of %s was read (its comments say what): write its mode and mii-monitor-interval into the file before you render or apply it, or they are netplan's defaults", l.Name, h.Name), con.Width()))
			}
		}
	}
	return writeFabric(ctx, con, text, out)
}

// discover observes hosts and returns the fabric file that describes them, and
// which of them were not reached; none reached is an error. Switches are those of args
// that can be nothing else, and asked.
func Describe(ctx context.Context, con *console.Console, args, asked []string, lldp time.Duration) ([]byte, console.Missing, error) {
	args, too := apart(args)
	asked = append(too, asked...)
	targets, err := con.Targets(args)
	if err != nil {
		return nil, nil, err
	}
	p := progress.New(con)
	var hosts []netstate.Host
	reach := make(map[string]string)
	reached := make(map[string]*fleet.Host)
	defer func() {
		for _, h := range reached {
			h.Close()
		}
	}()
	var left console.Missing
	for _, o := range ObserveAll(ctx, con, p, targets) {
		if o.Host != nil {
			reached[o.Name] = o.Host
		}
		if o.Err != nil {
			left = append(left, o.Err)
			continue
		}
		hosts, reach[o.Name] = append(hosts, InUse(fabric.Fabric{}, o.Target, o.State)), o.Reach
	}
	if ctx.Err() != nil || len(hosts) == 0 {
		return nil, nil, errors.Join(ctx.Err(), left[0])
	}
	paths := fabric.PathsBetween(hosts)
	if err := RoundTrips(ctx, con, p, hosts, paths, reached); err != nil {
		return nil, nil, err
	}
	unread := switches(ctx, con, p, hosts, asked, paths)
	left = append(left, unread...)
	cables := cables(ctx, con, p, hosts, reached, lldp)
	return remarked(describe.Write(hosts, paths, reach, fabric.Measure{}), cables), left, ctx.Err()
}

// roundTrips measures every path's round trip. One that does not answer stays
// unknown, and Describe says so; only the end of ctx is an error.
func RoundTrips(ctx context.Context, con *console.Console, p *progress.Progress, hosts []netstate.Host, paths []fabric.Path, reached map[string]*fleet.Host) error {
	n := measure.Network{
		Endpoints: make(map[string]ask.Host), Machines: make(map[string]string),
		Fabric: predict.Fabric{Hosts: make(map[string]netstate.Host), Paths: paths},
	}
	for _, h := range hosts {
		n.Fabric.Hosts[h.Name] = h
		n.Endpoints[h.Name], n.Machines[h.Name] = reached[h.Name], reached[h.Name].Hello.Machine
	}
	for i, path := range paths {
		p.Stage("measure latency %s to %s", path.From, path.To)
		l, err := measure.Latency(ctx, n, path.From, path.To, measure.Pings{})
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), err)
		}
		switch {
		case l.RoundTrip() > 0:
			paths[i].RTT = l.RoundTrip().Round(time.Microsecond)
			p.Say("        %.3f ms (%.3f to %.3f)", l.AvgMS, l.MinMS, l.MaxMS)
		case err != nil:
			p.Say("        unknown: %s", console.OneLine(err.Error()))
		default:
			p.Say("        unknown: no answer to %d echoes", l.Sent)
		}
	}
	return nil
}
