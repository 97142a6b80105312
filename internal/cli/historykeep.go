package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/store"
	"github.com/linerate/linerate/unit"
)

func newHistoryAdd(app *App, flags *historyFlags) *cobra.Command {
	return &cobra.Command{
		Use: "add RECORD...", Short: "keep records; one that is kept already is kept once",
		Long: `Keeps records in the store, which is made when there is none: what measure,
tune and demo wrote, or iperf3 -J and iperf -y C. A record that is kept already
is not kept twice; of one that grew the longer is. nats:RUN is a run that is
kept on NATS, nats:USER/RUN another's, and nats:all every one: a fleet's own
store.

` + exitHelp,
		Example: "  linerate history add record.json\n  linerate history add runs/*.json --store postgres://user@host/database\n  linerate history add nats:all",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(commandName(cmd)+": want one RECORD file or more", aRecord)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return app.historyAdd(cmd.Context(), flags.store, args) },
	}
}

// addedFile is what became of one file.
type addedFile struct {
	File string `json:"file"`
	store.Added
}

// historyAdd reads all files before it keeps the first: a misspelt name leaves
// the store as it was.
func (a *App) historyAdd(ctx context.Context, place string, files []string) error {
	all, left, err := a.readAddable(ctx, files)
	if err != nil {
		return err
	}
	s, err := a.openStore(ctx, place, true)
	if err != nil {
		return err
	}
	defer s.Close()
	out := make([]addedFile, 0, len(all))
	for _, one := range all {
		added, err := s.Add(ctx, one.rec, one.text)
		if err != nil {
			return storeHint(fmt.Errorf("%s: %w", one.name, err))
		}
		out = append(out, addedFile{one.name, added})
	}
	if !a.json {
		for _, f := range out {
			fmt.Fprintf(a.Stdout, "%s: %s, %s, %s\n", f.File, f.Run, f.State, unit.Counted(f.Trials, "trial"))
		}
		return a.leftOut(left)
	}
	if err := a.leftOut(left); err != nil {
		return err
	}
	return a.printJSON(map[string]any{"store": s.Place(), "added": out})
}

// leftOut is the error of runs of nats:all that could not be read, which are
// named as warnings; nil for none.
func (a *App) leftOut(left []error) error {
	if len(left) == 0 {
		return nil
	}
	for _, err := range left[1:] {
		fmt.Fprintf(a.Stderr, "warning: left out: %v\n", err)
	}
	return fmt.Errorf("%s on NATS cannot be read (all others are kept): %w", unit.Counted(len(left), "run"), left[0])
}

func newHistoryShow(app *App, flags *historyFlags) *cobra.Command {
	var out output
	c := &cobra.Command{
		Use: "show RUN", Short: "write a run's record back, as it came", Args: exactly(1, "one RUN, as `linerate history` names it"),
		Long: `Writes a run's record, byte for byte as it was kept, to standard output or to
a file, for report, explain and compare to read.

` + exitHelp,
		Example: "  linerate history show 20260301T030000.000Z -o record.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return app.historyShow(cmd.Context(), flags.store, args[0], out)
		},
	}
	out.add(c, "file to write the record to (default: standard output)")
	return c
}

func (a *App) historyShow(ctx context.Context, place, run string, out output) error {
	if err := out.check("history show -o", aRecordFile); err != nil {
		return err
	}
	s, err := a.openStore(ctx, place, false)
	if err != nil {
		return err
	}
	defer s.Close()
	_, text, err := s.Record(ctx, run)
	if err != nil {
		return storeHint(err)
	}
	if out.path == "" {
		return a.printDocument(text)
	}
	if err := writeFile(ctx, out.path, text); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"run": run, "record": out.path})
	}
	if !a.quiet {
		fmt.Fprintln(a.Stderr, out.path+" is written")
	}
	return nil
}

func newHistoryForget(app *App, flags *historyFlags) *cobra.Command {
	var before string
	var dry bool
	c := &cobra.Command{
		Use: "forget --before TIME", Short: "remove old runs, for good", Args: none,
		Long: `Removes the runs that began before a time, with their records. What is removed
cannot be had back: ` + "`linerate history show RUN -o FILE`" + ` writes a record first.

` + exitHelp,
		Example: "  linerate history forget --before 1y --dry-run\n  linerate history forget --before 2026-01-01",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return app.historyForget(cmd.Context(), flags.store, before, dry, time.Now())
		},
	}
	c.Flags().StringVar(&before, "before", "", "remove what began earlier: 1y ago, or a date")
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would be removed, remove nothing")
	return c
}

func (a *App) historyForget(ctx context.Context, place, before string, dry bool, now time.Time) (err error) {
	moment, err := parseSince("before", before, now)
	if err == nil && moment.IsZero() {
		err = usage("history forget: want --before", sinceHint)
	}
	if err != nil {
		return err
	}
	s, err := a.openStore(ctx, place, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	gone, err := s.Forget(ctx, moment, dry)
	if err != nil {
		return storeHint(err)
	}
	if a.json {
		return a.printJSON(struct {
			Store  string    `json:"store"`
			Before time.Time `json:"before"`
			DryRun bool      `json:"dry_run"`
			store.Forgotten
		}{s.Place(), moment.UTC(), dry, gone})
	}
	word := "forgotten"
	if dry {
		word = "to be forgotten"
	}
	fmt.Fprintf(a.Stdout, "%s with %s %s, from before %s\n", unit.Counted(gone.Runs, "run"), unit.Counted(gone.Trials, "trial"), word, moment.UTC().Format(minutes))
	return nil
}
