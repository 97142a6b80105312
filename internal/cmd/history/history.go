// Package history is `linerate history`: records that were kept.
package history

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/analysis/history"
	"github.com/linerate/linerate/internal/cmd/compare"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/metrics"
	"github.com/linerate/linerate/internal/store"
	"github.com/linerate/linerate/unit"
)

// opts are the flags of history, those of its subcommands too.
type opts struct {
	store, since, metrics     string
	from, to, direction, tool string
	protocol                  string
	streams, limit            int
}

// New is `linerate history`.
func New(con *console.Console) *cobra.Command {
	var flags opts
	c := console.Group("history", "stored runs: list them, one path over time, add, show, forget", newAdd(con, &flags), newShow(con, &flags), newForget(con, &flags))
	c.Long = `Lists the runs that are kept in a store, the newest first; with --from and --to
what that path carried over time, a table for each direction and stream count.
Runs that named the two hosts the other way round are shown turned.

The store is --store, else LINERATE_STORE, else your own: history.db in
/var/lib/linerate for root, in $XDG_STATE_HOME/linerate (~/.local/state) for
others. It is a file of SQLite, or a PostgreSQL database that several people
share: postgres://user@host/database. ` + "`measure`, `tune` and `demo`" + ` keep their
records there when --store or LINERATE_STORE says so.

` + console.ExitHelp
	c.Example = "  linerate history\n  linerate history --from rbx --to lim --direction forward --since 30d\n  linerate history add record.json\n  linerate history show 20260301T030000.000Z"
	c.RunE = func(cmd *cobra.Command, _ []string) error { return showHistory(cmd.Context(), con, flags, time.Now()) }
	c.PersistentFlags().StringVar(&flags.store, "store", "", "a file, postgres://..., or default")
	s := c.Flags()
	s.StringVar(&flags.since, "since", "", "only what is newer: 30d, 12h, or a date")
	s.IntVar(&flags.limit, "limit", defaultLimit, "the newest of each table, 0 all (JSON has all of a path)")
	s.StringVar(&flags.from, "from", "", "one host of a path, and")
	s.StringVar(&flags.to, "to", "", "the other")
	s.StringVar(&flags.direction, "direction", "", "of the path: forward, reverse or both")
	s.IntVar(&flags.streams, "streams", 0, "of the path: this stream count alone")
	s.StringVar(&flags.protocol, "protocol", "", "of the path: tcp, udp or mptcp")
	s.StringVar(&flags.tool, "tool", "", "of the path: linerate, iperf3 or iperf2")
	s.StringVar(&flags.metrics, "metrics", "", "write what paths carried (default: in 30 days) to this file, for\nPrometheus's node_exporter; - is standard output")
	return c
}

// defaultLimit is how many rows a table of a history has unless asked.
const defaultLimit = 20

// query is what the flags ask of a path; path is false where they ask for the
// runs.
func (f opts) query(now time.Time) (q store.Query, path bool, err error) {
	if q.Since, err = console.ParseSince("since", f.since, now); err != nil {
		return q, false, err
	}
	if f.direction != "" {
		if err := q.Direction.UnmarshalText([]byte(f.direction)); err != nil {
			return q, false, console.BadUsage("--direction: "+err.Error(), "")
		}
	}
	q.From, q.To, q.Streams, q.Protocol, q.Tool = f.from, f.to, f.streams, f.protocol, f.tool
	if f.limit < 0 || f.streams < 0 {
		return q, false, console.BadUsage("history: want no number below 0", "")
	}
	both, narrowed := f.from != "" && f.to != "", f.from != "" || f.to != "" || f.direction != "" || f.streams != 0 || f.protocol != "" || f.tool != ""
	if narrowed && !both {
		return q, false, console.BadUsage("history: want both hosts of the path", "such as --from rbx --to lim; `linerate history` names the hosts of each run")
	}
	return q, both, nil
}

func showHistory(ctx context.Context, con *console.Console, flags opts, now time.Time) error {
	q, path, err := flags.query(now)
	if err != nil {
		return err
	}
	s, err := con.OpenStore(ctx, flags.store, false)
	if err != nil {
		return err
	}
	defer s.Close()
	if flags.metrics != "" {
		if flags.since == "" {
			q.Since = now.Add(-metrics.PathsSince)
		}
		return asMetrics(ctx, con, s, q, flags.metrics)
	}
	if path {
		return ofPath(ctx, con, s, q, flags.limit)
	}
	return ofRuns(ctx, con, s, q.Span, flags.limit)
}

// listedRuns is the document of `history --json`.
type listedRuns struct {
	Store string      `json:"store"`
	Count int         `json:"runs_count"` // also those left out
	Runs  []store.Run `json:"runs"`
}

func ofRuns(ctx context.Context, con *console.Console, s *store.Store, span store.Span, limit int) error {
	runs, all, err := s.Runs(ctx, span, limit)
	if err != nil {
		return console.StoreHint(err)
	}
	if con.JSON {
		return runsDocument.Print(con, listedRuns{s.Place(), all, runs})
	}
	fmt.Fprintln(con.Stdout, compare.Clip(unit.Counted(all, "run")+" in "+s.Place(), con.Width()))
	var rows [][]string
	for _, r := range runs {
		trials := fmt.Sprint(r.Trials)
		if r.Missing > 0 {
			trials += fmt.Sprintf(" of %d", r.Trials+r.Missing)
		}
		rows = append(rows, []string{r.Name, r.Started.Format(compare.Minutes), trials, r.Hosts})
	}
	printTable(con, []string{"run", "started (UTC)", "trials", "hosts"}, rows)
	if left := all - len(runs); left > 0 {
		fmt.Fprintf(con.Stdout, "  and %s: --limit 0 shows all\n", unit.Counted(left, "earlier one"))
	}
	return nil
}

// printTable prints rows under their header, none longer than the terminal is
// wide.
func printTable(con *console.Console, header []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	for _, line := range compare.Table(header, rows) {
		fmt.Fprintln(con.Stdout, trimBlanks(compare.Clip(line, con.Width())))
	}
}

// pathQuery is what a path's document says was asked.
type pathQuery struct {
	From      string         `json:"from"`
	To        string         `json:"to"`
	Direction flow.Direction `json:"direction,omitempty"`
	Streams   int            `json:"streams,omitempty"`
	Since     *time.Time     `json:"since,omitempty"`
}

// asMetrics writes the newest results of paths beside what is usual for
// them, in one piece: a reader never sees half a file.
func asMetrics(ctx context.Context, con *console.Console, s *store.Store, q store.Query, file string) error {
	lines, err := s.Lines(ctx, q)
	if err != nil {
		return console.StoreHint(err)
	}
	var paths metrics.Paths
	for _, l := range lines {
		paths.AddLine(l)
	}
	if file == "-" {
		return metrics.Write(con.Stdout, metrics.OfThePaths(&paths))
	}
	var text bytes.Buffer
	if err := metrics.Write(&text, metrics.OfThePaths(&paths)); err != nil {
		return err
	}
	return console.WriteFile(ctx, file, text.Bytes())
}

// pathHistory is the document of `history --from A --to B --json`.
type pathHistory struct {
	Store string `json:"store"`
	pathQuery
	Lines []pathLine `json:"lines"`
}

// pathLine is one direction and stream count of a path over time.
type pathLine struct {
	history.Line
	history.Usual
}

func ofPath(ctx context.Context, con *console.Console, s *store.Store, q store.Query, limit int) error {
	lines, err := s.Lines(ctx, q)
	if err != nil {
		return console.StoreHint(err)
	}
	if con.JSON {
		doc := pathHistory{Store: s.Place(), pathQuery: pathQuery{From: q.From, To: q.To, Direction: q.Direction, Streams: q.Streams}, Lines: []pathLine{}}
		if !q.Since.IsZero() {
			since := q.Since.UTC()
			doc.Since = &since
		}
		for _, l := range lines {
			doc.Lines = append(doc.Lines, pathLine{l, l.Usual()})
		}
		return pathDocument.Print(con, doc)
	}
	if len(lines) == 0 {
		fmt.Fprintln(con.Stdout, compare.Clip(fmt.Sprintf("nothing is kept of %s to %s", q.From, q.To), con.Width()))
		return nil
	}
	for i, l := range lines {
		if i > 0 {
			fmt.Fprintln(con.Stdout)
		}
		printLine(con, l, limit)
	}
	return nil
}

// printLine prints the newest results of a line, the newest last.
func printLine(con *console.Console, l history.Line, limit int) {
	title := fmt.Sprintf("%s to %s, %s, %s, %s", l.From, l.To, l.Protocol, l.Direction, unit.Counted(l.Streams, "stream"))
	for _, word := range []string{string(l.Phase), l.Setting} {
		if word != "" {
			title += ", " + word
		}
	}
	if l.Tool != "linerate" {
		title += ", " + l.Tool
	}
	usual := l.Usual()
	fmt.Fprint(con.Stdout, console.Outdented(title+": ", fmt.Sprintf("%s, median %v +-%.1f %%", unit.Counted(usual.Runs, "run"), usual.Median, 100*usual.Noise), con.Width()))
	shown := l.Points
	if limit > 0 && len(shown) > limit {
		fmt.Fprintf(con.Stdout, "  after %s: --limit 0 shows all\n", unit.Counted(len(shown)-limit, "earlier one"))
		shown = shown[len(shown)-limit:]
	}
	var rows [][]string
	for _, p := range shown {
		rows = append(rows, []string{p.Started.Format(compare.Minutes), p.Goodput.String(), intervalText(p), ofCeiling(p), string(p.Cause)})
	}
	printTable(con, []string{"started (UTC)", "rate", "interval", "of ceiling", "finding"}, rows)
}

// intervalText is half the 95 % interval as a share of the rate.
func intervalText(p history.Point) string {
	if p.Goodput <= 0 || p.High <= p.Low {
		return "?"
	}
	return fmt.Sprintf("+-%.1f %%", 50*float64((p.High-p.Low)/p.Goodput))
}

func ofCeiling(p history.Point) string {
	if p.Ceiling <= 0 {
		return "?"
	}
	return fmt.Sprintf("%.1f %% of %v", 100*float64(p.Goodput/p.Ceiling), p.Ceiling)
}

func trimBlanks(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) }
