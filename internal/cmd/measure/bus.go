package measure

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/nats/results"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/progress"
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
	return console.OnNATS + b.name
}

// overBus reports whether a host of the fabric is reached by NATS.
func overBus(f fabric.Fabric) bool {
	return slices.ContainsFunc(f.Hosts, func(h fabric.Host) bool { return strings.HasPrefix(h.Reach, "nats:") })
}

// fromBus is the record of a run that was kept on NATS.
func fromBus(ctx context.Context, con *console.Console, run *RunFlags) (record.Record, error) {
	name := strings.TrimPrefix(run.resume, console.OnNATS)
	if err := wire.CheckName("run", name); err != nil {
		return record.Record{}, console.BadUsage("--resume "+run.resume+": "+err.Error(), "measure says a run's name when it starts, such as nats:20260301T101500-000Z")
	}
	conn, _, err := con.Bus.Conn(ctx, false)
	if err != nil {
		return record.Record{}, err
	}
	if run.bus.run, err = results.Keeper(conn, name, con.Logger()); err != nil {
		return record.Record{}, err
	}
	run.bus.name = name
	return run.bus.run.Read(ctx)
}

// keeping keeps the record as it grows, in its file and on NATS; nil where it
// is kept in memory alone.
func keeping(ctx context.Context, con *console.Console, f fabric.Fabric, p *progress.Progress, run *RunFlags) func(record.Record) error {
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
			conn, _, err := con.Bus.Conn(ctx, false)
			if err != nil {
				return err
			}
			name := results.RunName(r.ID)
			if run.bus.run, err = results.Keeper(conn, name, con.Logger()); err != nil {
				return err
			}
			run.bus.name = name
			p.Say("        kept on NATS: --resume %s%s goes on with it", console.OnNATS, name)
		}
		// What was measured is kept also where the run is interrupted.
		return run.bus.run.Keep(context.WithoutCancel(ctx), r)
	}
}

// resumedFromBus is the record to go on with, checked like one of a file.
func resumedFromBus(ctx context.Context, con *console.Console, f fabric.Fabric, m campaign.Matrix, run *RunFlags) (*record.Record, error) {
	old, err := fromBus(ctx, con, run)
	if err != nil {
		return nil, fmt.Errorf("--resume %s: %w", run.resume, err)
	}
	if err := m.Resumable(old, f); err != nil {
		return nil, console.BadUsage("--resume "+run.resume+": "+err.Error(), "give the same fabric and flags as then, or measure anew")
	}
	return &old, nil
}
