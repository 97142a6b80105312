package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/nats/results"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/record"
)

// busRun keeps a run on NATS besides its file, where hosts are reached so.
type busRun struct {
	run  *results.Run
	name string // as --resume takes it
}

// resume is what goes on with it; "" is none.
func (b busRun) resume() string {
	if b.name == "" {
		return ""
	}
	return onBus + b.name
}

// onBus begins a run's name on NATS: what --resume nats:RUN goes on with.
const onBus = "nats:"

// overBus reports whether a host of the fabric is reached by NATS.
func overBus(f fabric.Fabric) bool {
	return slices.ContainsFunc(f.Hosts, func(h fabric.Host) bool { return strings.HasPrefix(h.Reach, "nats:") })
}

// fromBus is the record of a run that was kept on NATS.
func (a *App) fromBus(ctx context.Context, run *runFlags) (record.Record, error) {
	name := strings.TrimPrefix(run.resume, onBus)
	if err := wire.CheckName("run", name); err != nil {
		return record.Record{}, usage("--resume "+run.resume+": "+err.Error(), "measure says a run's name when it starts, such as nats:20260301T101500-000Z")
	}
	conn, _, err := a.bus.Conn(ctx, false)
	if err != nil {
		return record.Record{}, err
	}
	if run.bus.run, err = results.Keeper(conn, name, a.logger()); err != nil {
		return record.Record{}, err
	}
	run.bus.name = name
	return run.bus.run.Read(ctx)
}

// keeping keeps the record as it grows, in its file and on NATS; nil where it
// is kept in memory alone.
func (a *App) keeping(ctx context.Context, f fabric.Fabric, p *progress, run *runFlags) func(record.Record) error {
	file := run.keep()
	if !overBus(f) {
		return file
	}
	return func(r record.Record) error {
		if file != nil {
			if err := file(r); err != nil {
				return err
			}
		}
		if run.bus.run == nil {
			conn, _, err := a.bus.Conn(ctx, false)
			if err != nil {
				return err
			}
			name := results.RunName(r.ID)
			if run.bus.run, err = results.Keeper(conn, name, a.logger()); err != nil {
				return err
			}
			run.bus.name = name
			p.say("        kept on NATS: --resume %s%s goes on with it", onBus, name)
		}
		// What was measured is kept also where the run is interrupted.
		return run.bus.run.Keep(context.WithoutCancel(ctx), r)
	}
}

// resumedFromBus is the record to go on with, checked like one of a file.
func (a *App) resumedFromBus(ctx context.Context, f fabric.Fabric, m campaign.Matrix, run *runFlags) (*record.Record, error) {
	old, err := a.fromBus(ctx, run)
	if err != nil {
		return nil, fmt.Errorf("--resume %s: %w", run.resume, err)
	}
	if err := m.Resumable(old, f); err != nil {
		return nil, usage("--resume "+run.resume+": "+err.Error(), "give the same fabric and flags as then, or measure anew")
	}
	return &old, nil
}
