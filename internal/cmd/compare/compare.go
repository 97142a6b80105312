// Package compare is `linerate compare`: records before and after a change.
package compare

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/analysis/compare"
	"github.com/linerate/linerate/internal/analysis/history"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// opts are the flags of compare.
type opts struct {
	least string
	fail  bool
	// Of a comparison with a history.
	store, since string
	leastRuns    int
}

// compared is the document of `compare --json`.
type compared struct {
	Before    []string `json:"before"`
	After     []string `json:"after"`
	Level     float64  `json:"level_ratio"`
	MinEffect float64  `json:"min_effect_ratio"`
	// History is set where the earlier runs of a store were compared with.
	History *comparedHistory `json:"history,omitempty"`
	compare.Result
	Counts map[compare.Verdict]int `json:"verdicts_count"`
}

// level is how often all verdicts of a comparison together may be wrong.
const level = 0.05

// New is `linerate compare`.
func New(con *console.Console) *cobra.Command {
	var flags opts
	c := &cobra.Command{
		Use: "compare BEFORE AFTER | B1 B2 -- A1 A2 | RECORD | --since TIME", Short: "before and after, with significance",
		Long: `Compares what two records have measured, or the phases before and after of one
that tune or demo wrote. Results of the same hosts, direction, stream count,
protocol and setting are set side by side, and a test says whether chance
explains the difference: Welch's t over the blocks of each window, ranks where
the blocks are far from normal; with several records a side, before and after
"--", over the runs. All verdicts together are wrong at most 5 times in 100
(Holm). Differences below --min-effect are called the same.

Reads records, what iperf3 -J wrote and what iperf -y C wrote. Latency and
processors are shown beside, and what else differs between the two sides.

With --since it compares a record, or the newest run of the store, with the
earlier runs of its own paths there (see history): their median, and how much
they vary around it by their median absolute deviation, which a few bad runs do
not move. The verdicts of one run together are wrong at most once in 100.

` + console.ExitHelp + `
With --fail-on-regression 1 also says that something became worse.`,
		Example: "  linerate compare before.json after.json\n  linerate compare --since 30d --fail-on-regression\n  linerate compare b1.json b2.json b3.json -- a1.json a2.json a3.json\n  linerate compare demo/record.json --json",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			least, err := parseShare(flags.least)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("since") {
				return compareSince(cmd.Context(), con, args, flags, least)
			}
			for _, name := range []string{"store", "min-runs"} {
				if cmd.Flags().Changed(name) {
					return console.BadUsage("compare --"+name+": goes with --since", "`linerate compare --since 30d` compares the newest run with those before it")
				}
			}
			before, after, err := sides(args, cmd.ArgsLenAtDash())
			if err != nil {
				return err
			}
			return compareFiles(cmd.Context(), con, before, after, least, flags.fail)
		},
	}
	c.Flags().StringVar(&flags.least, "min-effect", "1%", "share of the rate below which a difference does not matter")
	c.Flags().BoolVar(&flags.fail, "fail-on-regression", false, "exit 1 when something became worse")
	c.Flags().StringVar(&flags.since, "since", "", "compare with the earlier runs of the store that are newer: 30d, 12h, or a date")
	c.Flags().StringVar(&flags.store, "store", "", "with --since: a file, postgres://..., or default (default: $"+console.EnvStore+", else your own)")
	c.Flags().IntVar(&flags.leastRuns, "min-runs", history.LeastRuns, "with --since: earlier runs that a verdict needs")
	return c
}

// sides are the files before and after; one file alone is both.
func sides(args []string, dash int) (before, after []string, err error) {
	const hint = "`linerate compare b1.json b2.json -- a1.json a2.json` compares several runs"
	switch {
	case dash >= 0 && (dash == 0 || dash == len(args)):
		return nil, nil, console.BadUsage("compare: no record on one side of --", hint)
	case dash > 0:
		return args[:dash], args[dash:], nil
	case len(args) == 0:
		return nil, nil, console.BadUsage("compare: want two RECORD files", hint)
	case len(args) == 1:
		return args, nil, nil
	case len(args) == 2:
		return args[:1], args[1:], nil
	}
	return nil, nil, console.BadUsage(fmt.Sprintf("compare: which of the %d records are before and which after?", len(args)), hint)
}

// parseShare reads "1%" or "0.01".
func parseShare(s string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v < 1) {
		return 0, console.BadUsage("--min-effect: want a share such as 1% or 0.01, not "+s, "")
	}
	return v, nil
}

func readRecords(ctx context.Context, files []string) ([]record.Record, error) {
	out, _, err := readRecordTexts(ctx, files)
	return out, err
}

// readRecordTexts reads records with their JSON, as readRecordText does.
func readRecordTexts(ctx context.Context, files []string) (records []record.Record, texts [][]byte, err error) {
	for _, file := range files {
		r, text, err := console.ReadRecordText(ctx, file)
		if err != nil {
			return nil, nil, err
		}
		records, texts = append(records, r), append(texts, text)
	}
	return records, texts, nil
}

func compareFiles(ctx context.Context, con *console.Console, before, after []string, least float64, fail bool) error {
	doc := compared{Before: before, After: after, Level: level, MinEffect: least, Counts: make(map[compare.Verdict]int)}
	options := compare.Options{Level: level, MinEffect: least}
	b, err := readRecords(ctx, before)
	if err != nil {
		return err
	}
	if after == nil {
		var ok bool
		if doc.Result, ok = compare.Phases(b[0], options); !ok {
			return console.BadUsage("compare "+before[0]+": it has no trials before and after a change", "name a second record to compare it with")
		}
		doc.After = before
	} else {
		as, err := readRecords(ctx, after)
		if err != nil {
			return err
		}
		doc.Result = compare.Records(b, as, options)
	}
	if len(doc.Rows) == 0 {
		hint := "results are of the same hosts, direction, stream count, protocol and setting"
		if apart := compare.Apart(doc.Unmatched); len(apart) > 0 {
			hint = strings.Join(apart, "; ")
		}
		return console.BadUsage(fmt.Sprintf("compare: nothing was measured on both sides (%d results only before, %d only after)", onSide(doc.Unmatched, "before"), onSide(doc.Unmatched, "after")), hint)
	}
	return concludeCompare(con, doc, fail)
}

// concludeCompare prints a comparison; with fail a result that became worse is an
// error.
func concludeCompare(con *console.Console, doc compared, fail bool) (err error) {
	for _, v := range compare.Verdicts() {
		doc.Counts[v] = doc.Count(v)
	}
	if con.JSON {
		err = document.Print(con, doc)
	} else {
		_, err = fmt.Fprint(con.Stdout, compareText(doc, con.Width()))
	}
	if err != nil {
		return err
	}
	if n := doc.Count(compare.Worse); fail && n > 0 {
		return fmt.Errorf("compare: %s became worse", unit.Counted(n, "result"))
	}
	return nil
}

func onSide(all []compare.Unmatched, side string) int {
	n := 0
	for _, u := range all {
		if u.Side == side {
			n++
		}
	}
	return n
}
