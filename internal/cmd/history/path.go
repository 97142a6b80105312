package history

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/linerate/linerate/internal/analysis/history"
	"github.com/linerate/linerate/internal/cmd/compare"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/store"
	"github.com/linerate/linerate/unit"
)

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
		return con.PrintJSON(doc)
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
	fmt.Fprint(con.Stdout, console.Outdented(title+": ", fmt.Sprintf("%s, median %v ±%.1f %%", unit.Counted(usual.Runs, "run"), usual.Median, 100*usual.Noise), con.Width()))
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
	return fmt.Sprintf("±%.1f %%", 50*float64((p.High-p.Low)/p.Goodput))
}

func ofCeiling(p history.Point) string {
	if p.Ceiling <= 0 {
		return "?"
	}
	return fmt.Sprintf("%.1f %% of %v", 100*float64(p.Goodput/p.Ceiling), p.Ceiling)
}

func trimBlanks(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) }
