package inspect

import (
	"context"
	"errors"
	"fmt"
	"strings"

	diagnosehost "github.com/linerate/linerate/diagnose/host"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/discover"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/internal/run/pathmtu"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
)

// pairHelp is what `inspect` says of several hosts.
const pairHelp = `With several HOSTs, or a fabric file, it reads each and what is between
them: MTUs, policies and buffers that do not go together, and whether packets
as large as the links allow get through unfragmented, each way. For that it
sends some tens of echoes between the hosts, and nothing else.
`

// inspectedPairs is the document of `inspect --json` for several hosts.
type inspectedPairs struct {
	Hosts    []inspected              `json:"hosts"`
	Probes   []diagnosehost.PathProbe `json:"probes"`
	Findings []diagnosehost.Finding   `json:"findings"` // of what is between hosts
	// Notes say what could not be looked at.
	Notes []string `json:"notes,omitempty"`
}

// several reports arguments that mean more than one host.
func several(args []string) bool { return len(args) > 1 || len(args) == 1 && isFabricName(args[0]) }

func isFabricName(arg string) bool {
	return strings.HasSuffix(arg, ".yaml") || strings.HasSuffix(arg, ".yml")
}

// inspectSeveral looks at the hosts named, or at those of a fabric file that
// say how to reach them, and at what is between them.
func inspectSeveral(ctx context.Context, con *console.Console, args []string, all bool) error {
	f, targets, err := inspectTargets(ctx, con, args)
	if err != nil {
		return err
	}
	p := progress.New(con)
	states := predict.Fabric{Hosts: map[string]netstate.Host{}, Paths: f.Paths}
	reached := map[string]*fleet.Host{}
	defer func() {
		for _, h := range reached {
			h.Close()
		}
	}()
	doc := inspectedPairs{}
	var left console.Missing
	for _, o := range discover.ObserveAll(ctx, con, p, targets) {
		if o.Host != nil {
			reached[o.Name] = o.Host
		}
		if o.Err != nil {
			left = append(left, o.Err)
			continue
		}
		states.Hosts[o.Name] = discover.AsDeclared(f, o.State)
		doc.Hosts = append(doc.Hosts, inspected{Host: o.State, Findings: diagnosehost.Judge(o.State)})
	}
	if ctx.Err() != nil || len(left) > 0 && len(doc.Hosts) < 2 {
		return errors.Join(ctx.Err(), left[0])
	}
	for _, err := range left {
		doc.Notes = append(doc.Notes, "left out: "+console.OneLine(err.Error()))
	}
	p.Stage("probe what is between %d hosts: small numbers of echoes", len(targets))
	if err := doc.probe(ctx, states, reached); err != nil {
		return err
	}
	if con.JSON {
		return errors.Join(pairDocument.Print(con, doc), left.Err())
	}
	return errors.Join(printPairs(con, doc, all), left.Err())
}

// inspectTargets is the fabric, empty where hosts are named, and its hosts.
func inspectTargets(ctx context.Context, con *console.Console, args []string) (fabric.Fabric, []console.Target, error) {
	if len(args) > 1 {
		targets, err := con.Targets(args)
		return fabric.Fabric{}, targets, err
	}
	f, err := console.ReadFabric(ctx, args[0])
	if err != nil {
		return f, nil, err
	}
	var targets []console.Target
	for _, h := range f.Hosts {
		if h.Reach != "" {
			targets = append(targets, console.Target{Name: h.Name, Reach: h.Reach})
		}
	}
	if len(targets) == 0 {
		return f, nil, console.BadUsage("inspect: "+args[0]+": no host says how to reach it", "write `reach: ssh://root@HOST` below hosts.NAME")
	}
	return f, targets, nil
}

// probe proves the ways between the hosts, and judges all.
func (d *inspectedPairs) probe(ctx context.Context, f predict.Fabric, reached map[string]*fleet.Host) error {
	pingers := make(map[string]ask.Host, len(reached))
	for name, h := range reached {
		pingers[name] = h
	}
	probes, err := pathmtu.Fabric(ctx, f, pingers)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d.Probes = probes
	if d.Probes == nil {
		d.Probes = []diagnosehost.PathProbe{}
	}
	var many interface{ Unwrap() []error }
	switch {
	case errors.As(err, &many):
		for _, e := range many.Unwrap() {
			d.Notes = append(d.Notes, e.Error())
		}
	case err != nil:
		d.Notes = append(d.Notes, err.Error())
	}
	for _, p := range probes {
		if !p.Answers {
			d.Notes = append(d.Notes, fmt.Sprintf("%s does not answer echoes from %s (%s): what its path takes is not known", p.To, p.From, p.Lane.Src))
		}
	}
	d.Findings = diagnosehost.Pairs(f, probes)
	return nil
}

func printPairs(con *console.Console, doc inspectedPairs, all bool) error {
	for i, h := range doc.Hosts {
		if i > 0 {
			fmt.Fprintln(con.Stdout)
		}
		if err := printInspected(con, h, all); err != nil {
			return err
		}
	}
	fmt.Fprint(con.Stdout, "\nbetween the hosts:\n")
	for _, p := range doc.Probes {
		fmt.Fprint(con.Stdout, console.Wrapped("  ", probeText(p), con.Width()))
	}
	for _, n := range doc.Notes {
		fmt.Fprint(con.Stdout, console.Wrapped("note: ", n, con.Width()))
	}
	printHostFindings(con, inspected{Findings: doc.Findings})
	return nil
}

func probeText(p diagnosehost.PathProbe) string {
	way := fmt.Sprintf("%s to %s, %s to %s: ", p.From, p.To, p.Lane.Src, p.Lane.Dst)
	switch {
	case !p.Answers:
		return way + "no answer"
	case p.Proven():
		return way + fmt.Sprintf("MTU %d proven", p.MTU)
	case p.Passes > 0:
		return way + fmt.Sprintf("no more than %d of %d bytes pass", p.Passes, p.MTU)
	}
	return way + fmt.Sprintf("packets of %d bytes do not pass", p.MTU)
}
