package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/linerate/linerate/internal/agent/nats/results"
	"github.com/linerate/linerate/internal/store"
	"github.com/linerate/linerate/record"
)

// everyKept is every run that is kept on NATS, for history add.
const everyKept = onBus + "all"

// addable is a record to be kept, under the name that it was read by.
type addable struct {
	name string
	rec  record.Record
	text []byte
}

// readAddable reads what is to be kept: files, and runs on NATS. One that is
// named must be there and readable; of nats:all those that are not are left out,
// with the reason: nobody's bad run keeps the others from being kept.
func (a *App) readAddable(ctx context.Context, names []string) (all []addable, left []error, err error) {
	for _, name := range names {
		if name == everyKept {
			kept, bad, err := a.readEvery(ctx)
			if err != nil {
				return nil, nil, err
			}
			all, left = append(all, kept...), append(left, bad...)
			continue
		}
		one, err := a.readOne(ctx, name)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, one)
	}
	return all, left, nil
}

// readEvery reads the runs that are kept on NATS.
func (a *App) readEvery(ctx context.Context) (all []addable, left []error, err error) {
	conn, _, err := a.bus.Conn(ctx, false)
	if err != nil {
		return nil, nil, err
	}
	runs, err := results.List(ctx, conn)
	if err != nil {
		return nil, nil, err
	}
	for _, run := range runs {
		one, err := a.readOne(ctx, onBus+run.String())
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err != nil:
			left = append(left, err)
		default:
			all = append(all, one)
		}
	}
	return all, left, nil
}

// readOne reads a record that can be kept: it says when it was measured.
func (a *App) readOne(ctx context.Context, name string) (addable, error) {
	read := readRecordText
	if strings.HasPrefix(name, onBus) {
		read = a.readKept
	}
	r, text, err := read(ctx, name)
	if err == nil && !store.Datable(r.Started) {
		err = usage(name+": "+store.ErrNoTime.Error(), "iperf3 -J and iperf -y C write the time; a history needs it")
	}
	return addable{name, r, text}, err
}

// readKept reads one run on NATS, and its record as measure would have written it.
func (a *App) readKept(ctx context.Context, name string) (r record.Record, text []byte, err error) {
	conn, _, err := a.bus.Conn(ctx, false)
	if err != nil {
		return r, nil, err
	}
	run, err := results.ParseKept(strings.TrimPrefix(name, onBus), conn.Who.Name)
	if err != nil {
		return r, nil, usage(name+": "+err.Error(), "nats:RUN, nats:USER/RUN or nats:all")
	}
	if r, err = results.Of(ctx, conn, run); err != nil {
		return r, nil, fmt.Errorf("%s: %w", name, err)
	}
	text, err = jsonText(r)
	return r, text, err
}
