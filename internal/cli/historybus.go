package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/linerate/linerate/internal/bus/results"
	"github.com/linerate/linerate/record"
)

// everyKept is every run that is kept on NATS, for history add.
const everyKept = onBus + "all"

// withKept puts the runs that are kept on NATS in the place of nats:all.
func (a *App) withKept(ctx context.Context, files []string) ([]string, error) {
	var out []string
	for _, file := range files {
		if file != everyKept {
			out = append(out, file)
			continue
		}
		conn, _, err := a.bus.Conn(ctx, false)
		if err != nil {
			return nil, err
		}
		runs, err := results.List(ctx, conn)
		if err != nil {
			return nil, err
		}
		for _, run := range runs {
			out = append(out, onBus+run.String())
		}
	}
	return out, nil
}

// readAdded reads what is to be kept: files, and runs on NATS.
func (a *App) readAdded(ctx context.Context, files []string) (records []record.Record, texts [][]byte, err error) {
	for _, file := range files {
		read := readRecordText
		if strings.HasPrefix(file, onBus) {
			read = a.readKept
		}
		r, text, err := read(ctx, file)
		if err != nil {
			return nil, nil, err
		}
		records, texts = append(records, r), append(texts, text)
	}
	return records, texts, nil
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
