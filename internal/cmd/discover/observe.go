package discover

import (
	"context"
	"fmt"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/netstate"
)

// Observed is a host as it was found, or why not.
type Observed struct {
	console.Target
	Host  *fleet.Host // nil when it was not reached; else the caller's to close
	State netstate.Host
	Err   error
}

// observeAll reaches hosts and reads their state, several at a time, and says
// one line of each that fails, or that cannot do everything.
func ObserveAll(ctx context.Context, con *console.Console, p *progress.Progress, targets []console.Target) []Observed {
	out := make([]Observed, len(targets))
	for _, t := range targets {
		p.Stage("observe %s", t.Reach)
	}
	fleet.ForEach(len(targets), func(i int) { out[i] = ObserveOne(ctx, con, targets[i]) })
	for _, o := range out {
		if o.Err != nil {
			if len(out) > 1 && ctx.Err() == nil {
				p.Note(fmt.Sprintf("%s is left out: %v", o.Name, o.Err))
				p.Hint(console.HintFor(o.Err))
			}
			continue
		}
		p.Notes(o.Host)
	}
	return out
}

// observeOne reaches a host and reads its state.
func ObserveOne(ctx context.Context, con *console.Console, t console.Target) Observed {
	o := Observed{Target: t}
	if o.Host, o.Err = con.Dial(ctx, t); o.Err != nil {
		return o
	}
	reply, err := o.Host.Observe(ctx)
	if err != nil {
		o.Err = fmt.Errorf("observe %s: %w", o.Name, err)
	}
	o.State = reply.Host
	o.State.Name = o.Name
	return o
}

// observe reads the state of a host named on the command line.
func Observe(ctx context.Context, con *console.Console, reach string) (netstate.Host, error) {
	t, err := con.Target(reach)
	if err != nil {
		return netstate.Host{}, err
	}
	o := ObserveOne(ctx, con, t)
	if o.Host != nil {
		defer o.Host.Close()
		progress.New(con).Notes(o.Host)
	}
	return o.State, o.Err
}

// InUse is an observed host with what a file says of it, and with what carries
// traffic decided; a host of no file is named by the command.
func InUse(f fabric.Fabric, t console.Target, observed netstate.Host) netstate.Host {
	observed.Name = t.Name
	if _, ok := f.Host(t.Name); !ok {
		return fabric.InUse(fabric.Host{Name: t.Name, Reach: t.Reach}, observed)
	}
	return AsDeclared(f, observed)
}

// AsDeclared is an observed host with what the file has the word on.
func AsDeclared(f fabric.Fabric, observed netstate.Host) netstate.Host {
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
