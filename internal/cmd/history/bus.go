package history

import (
	"context"
	"fmt"
	"strings"

	"github.com/linerate/linerate/internal/agent/nats/results"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/store"
	"github.com/linerate/linerate/record"
)

// everyKept is every run that is kept on NATS, for history add.
const everyKept = console.OnNATS + "all"

// addable is a record to be kept, under the name that it was read by.
type addable struct {
	name string
	rec  record.Record
	text []byte
}

// readAddable reads what is to be kept: files, and runs on NATS. One that is
// named must be there and readable; of nats:all those that are not are left out,
// with the reason: nobody's bad run keeps the others from being kept.
func readAddable(ctx context.Context, con *console.Console, names []string) (all []addable, left []error, err error) {
	for _, name := range names {
		if name == everyKept {
			kept, bad, err := readEvery(ctx, con)
			if err != nil {
				return nil, nil, err
			}
			all, left = append(all, kept...), append(left, bad...)
			continue
		}
		one, err := readOne(ctx, con, name)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, one)
	}
	return all, left, nil
}

// readEvery reads the runs that are kept on NATS.
func readEvery(ctx context.Context, con *console.Console) (all []addable, left []error, err error) {
	conn, _, err := con.Bus.Conn(ctx, false)
	if err != nil {
		return nil, nil, err
	}
	runs, err := results.List(ctx, conn)
	if err != nil {
		return nil, nil, err
	}
	for _, run := range runs {
		one, err := readOne(ctx, con, console.OnNATS+run.String())
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
func readOne(ctx context.Context, con *console.Console, name string) (addable, error) {
	read := console.ReadRecordText
	if strings.HasPrefix(name, console.OnNATS) {
		read = func(ctx context.Context, name string) (record.Record, []byte, error) { return readKept(ctx, con, name) }
	}
	r, text, err := read(ctx, name)
	if err == nil && !store.Datable(r.Started) {
		err = console.BadUsage(name+": "+store.ErrNoTime.Error(), "iperf3 -J and iperf -y C write the time; a history needs it")
	}
	return addable{name, r, text}, err
}

// readKept reads one run on NATS, and its record as measure would have written it.
func readKept(ctx context.Context, con *console.Console, name string) (r record.Record, text []byte, err error) {
	conn, _, err := con.Bus.Conn(ctx, false)
	if err != nil {
		return r, nil, err
	}
	run, err := results.ParseKept(strings.TrimPrefix(name, console.OnNATS), conn.Who.Name)
	if err != nil {
		return r, nil, console.BadUsage(name+": "+err.Error(), "nats:RUN, nats:USER/RUN or nats:all")
	}
	if r, err = results.Of(ctx, conn, run); err != nil {
		return r, nil, fmt.Errorf("%s: %w", name, err)
	}
	text, err = console.JSONText(r)
	return r, text, err
}
