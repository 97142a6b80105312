package compare

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/linerate/linerate/internal/analysis/compare"
	"github.com/linerate/linerate/internal/analysis/history"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/store"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// comparedHistory is what of a store a run was compared with.
type comparedHistory struct {
	Store     string    `json:"store"`
	Since     time.Time `json:"since"`
	Until     time.Time `json:"until"`
	Runs      int       `json:"runs_count"`
	LeastRuns int       `json:"least_runs_count"`
}

// compareSince compares a record, or the store's newest run, with the earlier
// runs of its own paths.
func compareSince(ctx context.Context, con *console.Console, args []string, flags opts, least float64) (err error) {
	if len(args) > 1 {
		return console.BadUsage("compare --since: want one RECORD, or none for the newest run", "`linerate compare --since 30d` compares the newest run with those before it")
	}
	if flags.leastRuns < 3 {
		return console.BadUsage(fmt.Sprintf("--min-runs: want 3 or more, not %d", flags.leastRuns), "fewer runs do not say how much runs vary")
	}
	// A wrong word is refused before a store is opened.
	if _, err := console.ParseSince("since", flags.since, time.Now()); err != nil {
		return err
	}
	s, err := con.OpenStore(ctx, flags.store, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	now, name, err := judgedRun(ctx, con, s, args)
	if err != nil {
		return err
	}
	since, err := console.ParseSince("since", flags.since, now.Started)
	if err != nil {
		return err
	}
	lines, err := pathsBefore(ctx, s, now, since)
	if err != nil {
		return err
	}
	doc := compared{Before: []string{}, After: []string{name}, Level: history.Level, MinEffect: least, Counts: make(map[compare.Verdict]int)}
	doc.Result = history.Against(now, lines, history.Options{MinEffect: least, LeastRuns: flags.leastRuns})
	doc.Before = history.Runs(lines)
	doc.History = &comparedHistory{Store: s.Place(), Since: since.UTC(), Until: now.Started.UTC(), Runs: len(doc.Before), LeastRuns: flags.leastRuns}
	if n := len(doc.Before); n > 0 {
		last, _, err := s.Record(ctx, doc.Before[n-1])
		if err != nil {
			return console.StoreHint(err)
		}
		doc.Differences = compare.Surroundings(last, now)
	}
	return concludeCompare(con, doc, flags.fail)
}

// judgedRun is the record that is named, or that of the store's newest run, and
// what it is called.
func judgedRun(ctx context.Context, con *console.Console, s *store.Store, args []string) (record.Record, string, error) {
	if len(args) == 1 {
		r, err := console.ReadRecord(ctx, args[0])
		if err == nil && !store.Datable(r.Started) {
			err = console.BadUsage(args[0]+": "+store.ErrNoTime.Error(), "a history needs it")
		}
		return r, args[0], err
	}
	runs, _, err := s.Runs(ctx, store.Span{}, 1)
	if err == nil && len(runs) == 0 {
		return record.Record{}, "", console.BadUsage("compare --since: no run is kept in "+s.Place(), "`linerate history add RECORD...` keeps some")
	}
	if err != nil {
		return record.Record{}, "", console.StoreHint(err)
	}
	r, _, err := s.Record(ctx, runs[0].Name)
	return r, runs[0].Name, console.StoreHint(err)
}

// pathsBefore is what a record's paths carried from a moment until the record
// was begun.
func pathsBefore(ctx context.Context, s *store.Store, r record.Record, since time.Time) ([]history.Line, error) {
	asked := make(map[[2]string]bool)
	var lines []history.Line
	for _, t := range r.Trials {
		pair := [2]string{min(t.From, t.To), max(t.From, t.To)}
		if asked[pair] {
			continue
		}
		asked[pair] = true
		of, err := s.Lines(ctx, store.Query{From: t.From, To: t.To, Span: store.Span{Since: since, Until: r.Started}})
		if err != nil {
			return nil, console.StoreHint(err)
		}
		lines = append(lines, of...)
	}
	return lines, nil
}

// historyText says what a run was compared with.
func historyText(doc compared, width int) []string {
	h := doc.History
	if len(doc.Rows) == 0 {
		return lines(console.Outdented("", fmt.Sprintf("nothing to compare %s with yet: no earlier run of its paths since %s is in %s", doc.After[0], h.Since.Format(Minutes), h.Store), width))
	}
	text := fmt.Sprintf("%s compared with the median of %s of its paths since %s", doc.After[0], unit.Counted(h.Runs, "earlier run"), h.Since.Format(Minutes))
	return lines(console.Outdented("", text, width))
}

// Minutes is a moment as tables have it.
const Minutes = "2006-01-02 15:04"
