package history

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/agent/nats/results"
	"github.com/linerate/linerate/internal/cmd/compare"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/store"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

func newAdd(con *console.Console, flags *opts) *cobra.Command {
	return &cobra.Command{
		Use: "add RECORD...", Short: "keep records; one that is kept already is kept once",
		Long: `Keeps records in the store, which is made when there is none: what measure,
tune and demo wrote, or iperf3 -J and iperf -y C. A record that is kept already
is not kept twice; of one that grew the longer is. nats:RUN is a run that is
kept on NATS, nats:USER/RUN another's, and nats:all every one: a fleet's own
store.

` + console.ExitHelp,
		Example: "  linerate history add record.json\n  linerate history add runs/*.json --store postgres://user@host/database\n  linerate history add nats:all",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return console.BadUsage(console.CommandName(cmd)+": want one RECORD file or more", console.WhatIsRecord)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return historyAdd(cmd.Context(), con, flags.store, args)
		},
	}
}

// addedFile is what became of one file.
type addedFile struct {
	File string `json:"file"`
	store.Added
}

// historyAdd reads all files before it keeps the first: a misspelt name leaves
// the store as it was.
func historyAdd(ctx context.Context, con *console.Console, place string, files []string) error {
	all, left, err := readAddable(ctx, con, files)
	if err != nil {
		return err
	}
	s, err := con.OpenStore(ctx, place, true)
	if err != nil {
		return err
	}
	defer s.Close()
	out := make([]addedFile, 0, len(all))
	for _, one := range all {
		added, err := s.Add(ctx, one.rec, one.text)
		if err != nil {
			return console.StoreHint(fmt.Errorf("%s: %w", one.name, err))
		}
		out = append(out, addedFile{one.name, added})
	}
	if !con.JSON {
		for _, f := range out {
			fmt.Fprint(con.Stdout, console.Outdented("", fmt.Sprintf("%s: %s, %s, %s", f.File, f.Run, f.State, unit.Counted(f.Trials, "trial")), con.Width()))
		}
		return leftOut(con, left)
	}
	if err := leftOut(con, left); err != nil {
		return err
	}
	return addDocument.Print(con, addedRuns{s.Place(), out})
}

// leftOut is the error of runs of nats:all that could not be read, which are
// named as warnings; nil for none.
func leftOut(con *console.Console, left []error) error {
	if len(left) == 0 {
		return nil
	}
	for _, err := range left[1:] {
		fmt.Fprintf(con.Stderr, "warning: left out: %v\n", err)
	}
	return fmt.Errorf("%s on NATS cannot be read (all others are kept): %w", unit.Counted(len(left), "run"), left[0])
}

func newShow(con *console.Console, flags *opts) *cobra.Command {
	var out console.Output
	c := &cobra.Command{
		Use: "show RUN", Short: "write a run's record back, as it came", Args: console.Exactly(1, "one RUN, as `linerate history` names it"),
		Long: `Writes a run's record, byte for byte as it was kept, to standard output or to
a file, for report, explain and compare to read.

` + console.ExitHelp,
		Example: "  linerate history show 20260301T030000.000Z -o record.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return historyShow(cmd.Context(), con, flags.store, args[0], out)
		},
	}
	out.Add(c, "file to write the record to (default: standard output)", "json")
	return c
}

func historyShow(ctx context.Context, con *console.Console, place, run string, out console.Output) error {
	if err := out.Check("history show -o", console.RecordFile); err != nil {
		return err
	}
	s, err := con.OpenStore(ctx, place, false)
	if err != nil {
		return err
	}
	defer s.Close()
	_, text, err := s.Record(ctx, run)
	if err != nil {
		return console.StoreHint(err)
	}
	if out.Path == "" {
		return con.PrintDocument(text)
	}
	if err := console.WriteFile(ctx, out.Path, text); err != nil {
		return err
	}
	if con.JSON {
		return showDocument.Print(con, writtenRun{run, out.Path})
	}
	if !con.Quiet {
		fmt.Fprintln(con.Stderr, out.Path+" is written")
	}
	return nil
}

func newForget(con *console.Console, flags *opts) *cobra.Command {
	var before string
	var dry bool
	c := &cobra.Command{
		Use: "forget --before TIME", Short: "remove old runs, for good", Args: console.NoArgs,
		Long: `Removes the runs that began before a time, with their records. What is removed
cannot be had back: ` + "`linerate history show RUN -o FILE`" + ` writes a record first.

` + console.ExitHelp,
		Example: "  linerate history forget --before 1y --dry-run\n  linerate history forget --before 2026-01-01",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return historyForget(cmd.Context(), con, flags.store, before, dry, time.Now())
		},
	}
	c.Flags().StringVar(&before, "before", "", "remove what began earlier: 1y ago, or a date")
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would be removed, remove nothing")
	return c
}

func historyForget(ctx context.Context, con *console.Console, place, before string, dry bool, now time.Time) (err error) {
	moment, err := console.ParseSince("before", before, now)
	if err == nil && moment.IsZero() {
		err = console.BadUsage("history forget: want --before", console.SinceHint)
	}
	if err != nil {
		return err
	}
	s, err := con.OpenStore(ctx, place, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	gone, err := s.Forget(ctx, moment, dry)
	if err != nil {
		return console.StoreHint(err)
	}
	if con.JSON {
		return forgetDocument.Print(con, forgotten{s.Place(), moment.UTC(), dry, gone})
	}
	word := "forgotten"
	if dry {
		word = "to be forgotten"
	}
	fmt.Fprintf(con.Stdout, "%s with %s %s, from before %s\n", unit.Counted(gone.Runs, "run"), unit.Counted(gone.Trials, "trial"), word, moment.UTC().Format(compare.Minutes))
	return nil
}

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
