package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	diagnosehost "github.com/linerate/linerate/diagnose/host"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/run/pathmtu"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
)

// pairHelp is what `inspect` says of several hosts.
const pairHelp = `With several HOSTs, or a fabric file, it looks at each and at what is between
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
func (a *App) inspectSeveral(ctx context.Context, args []string, all bool) error {
	f, targets, err := a.inspectTargets(ctx, args)
	if err != nil {
		return err
	}
	p := newProgress(a)
	states := predict.Fabric{Hosts: map[string]netstate.Host{}, Paths: f.Paths}
	reached := map[string]*fleet.Host{}
	defer func() {
		for _, h := range reached {
			h.Close()
		}
	}()
	doc := inspectedPairs{}
	var left missing
	for _, o := range a.observeAll(ctx, p, targets) {
		if o.host != nil {
			reached[o.name] = o.host
		}
		if o.err != nil {
			left = append(left, o.err)
			continue
		}
		states.Hosts[o.name] = asDeclared(f, o.state)
		doc.Hosts = append(doc.Hosts, inspected{Host: o.state, Findings: diagnosehost.Judge(o.state)})
	}
	if ctx.Err() != nil || len(left) > 0 && len(doc.Hosts) < 2 {
		return errors.Join(ctx.Err(), left[0])
	}
	for _, err := range left {
		doc.Notes = append(doc.Notes, "left out: "+oneLine(err.Error()))
	}
	p.stage("probe what is between %d hosts: small numbers of echoes", len(targets))
	if err := doc.probe(ctx, states, reached); err != nil {
		return err
	}
	if a.json {
		return errors.Join(a.printJSON(doc), left.err())
	}
	return errors.Join(a.printPairs(doc, all), left.err())
}

// inspectTargets is the fabric, empty where hosts are named, and its hosts.
func (a *App) inspectTargets(ctx context.Context, args []string) (fabric.Fabric, []target, error) {
	if len(args) > 1 {
		targets, err := a.targets(args)
		return fabric.Fabric{}, targets, err
	}
	f, err := readFabric(ctx, args[0])
	if err != nil {
		return f, nil, err
	}
	var targets []target
	for _, h := range f.Hosts {
		if h.Reach != "" {
			targets = append(targets, target{h.Name, h.Reach})
		}
	}
	if len(targets) == 0 {
		return f, nil, usage("inspect: "+args[0]+": no host says how to reach it", "write `reach: ssh://root@HOST` below hosts.NAME")
	}
	return f, targets, nil
}

// inUse is an observed host with what a file says of it, and with what carries
// traffic decided; a host of no file is named by the command.
func inUse(f fabric.Fabric, t target, observed netstate.Host) netstate.Host {
	observed.Name = t.name
	if _, ok := f.Host(t.name); !ok {
		return fabric.InUse(fabric.Host{Name: t.name, Reach: t.reach}, observed)
	}
	return asDeclared(f, observed)
}

// asDeclared is an observed host with what the file has the word on.
func asDeclared(f fabric.Fabric, observed netstate.Host) netstate.Host {
	h, ok := f.Host(observed.Name)
	if !ok {
		return observed
	}
	declared, err := f.State(observed.Name)
	if err != nil {
		return observed
	}
	merged, _ := fabric.Merge(declared, h, observed)
	return merged
}

// probe proves the ways between the hosts, and judges all.
func (d *inspectedPairs) probe(ctx context.Context, f predict.Fabric, reached map[string]*fleet.Host) error {
	pingers := make(map[string]pathmtu.Pinger, len(reached))
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

func (a *App) printPairs(doc inspectedPairs, all bool) error {
	for i, h := range doc.Hosts {
		if i > 0 {
			fmt.Fprintln(a.Stdout)
		}
		if err := a.printInspected(h, all); err != nil {
			return err
		}
	}
	fmt.Fprint(a.Stdout, "\nbetween the hosts:\n")
	for _, p := range doc.Probes {
		fmt.Fprint(a.Stdout, wrapped("  ", probeText(p), a.width()))
	}
	for _, n := range doc.Notes {
		fmt.Fprint(a.Stdout, wrapped("note: ", n, a.width()))
	}
	a.printHostFindings(inspected{Findings: doc.Findings})
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
