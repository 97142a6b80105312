package predict

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/lab/benchmarks"
	"github.com/linerate/linerate/unit"
)

// validateFlags ask for the model to be judged by published tables.
type validateFlags struct{ on, format bool }

func (v *validateFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&v.on, "validate", false, "judge the model by published results: the program's own, or those of FILE")
	c.Flags().BoolVar(&v.format, "format", false, "with --validate: print the program's own tables, as an example of the format")
}

// args refuses what does not go with --validate.
func (v validateFlags) args(cmd *cobra.Command, args []string) error {
	if !v.on {
		return console.BadUsage("--format: goes with --validate", "`linerate predict --validate --format` prints the program's tables")
	}
	if len(args) > 1 {
		return console.BadUsage("predict --validate: want no argument, or one FILE of tables", "`linerate predict --validate --format` shows one")
	}
	for _, name := range console.FlagNames(cmd) {
		if name != "validate" && name != "format" && cmd.Flags().Changed(name) && cmd.InheritedFlags().Lookup(name) == nil {
			return console.BadUsage("--"+name+": does not go with --validate", "a table's rows say what was run: `linerate predict --validate --format` shows how")
		}
	}
	return nil
}

// validate judges the model and prints every row and what they come to.
func validateModel(ctx context.Context, con *console.Console, args []string, v validateFlags) error {
	if v.format {
		return con.PrintSource("published tables", benchmarks.Source())
	}
	tables, err := tablesOf(ctx, args)
	if err != nil {
		return err
	}
	rows, err := benchmarks.Judge(tables)
	if err != nil {
		return fileProblem(args, err)
	}
	profiles := benchmarks.JudgeProfiles(tables)
	sums := benchmarks.Summaries(rows)
	if con.JSON {
		return validateDocument.Print(con, validated{rows, profiles, sums})
	}
	for i, t := range tables {
		if i > 0 {
			fmt.Fprintln(con.Stdout)
		}
		printJudged(con, t, ofTable(rows, t.Name))
		printProfiles(con, t, profiles)
	}
	fmt.Fprintln(con.Stdout)
	for _, s := range sums {
		fmt.Fprint(con.Stdout, console.Wrapped("", s.String(), con.Width()))
	}
	for _, line := range benchmarks.ProfileSummaries(profiles) {
		fmt.Fprint(con.Stdout, console.Wrapped("", line, con.Width()))
	}
	return nil
}

func tablesOf(ctx context.Context, args []string) ([]benchmarks.Table, error) {
	if len(args) == 0 {
		return benchmarks.Builtin()
	}
	text, err := console.ReadNamed(ctx, "read tables", args[0], console.MostFabric)
	if err != nil {
		return nil, err
	}
	return benchmarks.Read(args[0], text)
}

// fileProblem is what is wrong with a table's fabric or changes, as bad input.
func fileProblem(args []string, err error) error {
	name := "internal/lab/benchmarks/data.yaml"
	if len(args) > 0 {
		name = args[0]
	}
	return console.BadUsage(name+": "+console.OneLine(err.Error()), "")
}

func ofTable(all []benchmarks.Judged, name string) []benchmarks.Judged {
	var own []benchmarks.Judged
	for _, j := range all {
		if j.Table == name {
			own = append(own, j)
		}
	}
	return own
}

// labelWidth is how wide a row's label may be; a longer one has its own line.
const labelWidth = 20

func printJudged(con *console.Console, t benchmarks.Table, rows []benchmarks.Judged) {
	fmt.Fprint(con.Stdout, console.Wrapped("", t.Name+": "+t.Title, con.Width()))
	u := scaleOfRows(rows)
	if len(rows) > 0 {
		fmt.Fprintf(con.Stdout, "  %-*s %3s  %9s  %9s  %7s  %s\n", labelWidth, "ROW, IN "+u.name, "N", "PUBLISHED", "PREDICTED", "ERROR", "LIMIT")
	}
	for _, j := range rows {
		label := labelOf(j, rows)
		if len([]rune(label)) > labelWidth {
			fmt.Fprint(con.Stdout, console.Wrapped("  ", label, con.Width()))
			label = ""
		}
		lead := fmt.Sprintf("  %-*s %3d  %9s  %9s  %7s  ", labelWidth, label, j.Streams, publishedText(j, u), predictedText(j, u), errorText(j))
		fmt.Fprint(con.Stdout, console.Wrapped(lead, verdictText(j), con.Width()))
		if j.Learned != "" {
			fmt.Fprint(con.Stdout, console.Wrapped("    ", j.Learned, con.Width()))
		}
	}
}

// printProfiles prints a cloud's worked examples.
func printProfiles(con *console.Console, t benchmarks.Table, all []benchmarks.JudgedProfile) {
	for _, p := range all {
		if p.Table != t.Name {
			continue
		}
		verdict := "exact"
		if !p.Exact {
			verdict = fmt.Sprintf("OFF: predicted %v, each %v; %s", p.PredictedNetwork, p.PredictedInterface, p.Why)
		}
		fmt.Fprint(con.Stdout, console.Wrapped("  ", fmt.Sprintf("%s, %d vCPUs, %s: network %v, each interface %v: %s",
			p.Provider, p.VCPUs, unit.Counted(p.Interfaces, "interface"), p.Network, p.PerInterface, verdict), con.Width()))
	}
}

// labelOf is what tells a row from the others of its table.
func labelOf(j benchmarks.Judged, rows []benchmarks.Judged) string {
	label, pair, direction := j.Step, false, false
	for _, o := range rows {
		if o.Step == j.Step {
			pair = pair || o.From != j.From || o.To != j.To
			direction = direction || o.Direction != j.Direction
		}
	}
	if pair {
		label += " " + j.From + "-" + j.To
	}
	if direction && j.Direction != flow.Forward {
		label += ", " + string(j.Direction)
	}
	return strings.TrimSpace(label)
}

// scaleOfRows is the unit that a table's published rates are one or more of.
func scaleOfRows(rows []benchmarks.Judged) scale {
	for _, j := range rows {
		if j.Published >= 1e9 {
			return scale{1e9, "Gbit/s"}
		}
	}
	return scale{1e6, "Mbit/s"}
}

func publishedText(j benchmarks.Judged, u scale) string {
	if j.Kind == benchmarks.KindRatio {
		return "x " + strconv.FormatFloat(j.Ratio, 'g', 3, 64)
	}
	return u.text(j.Published)
}

func predictedText(j benchmarks.Judged, u scale) string {
	switch {
	case j.Verdict == benchmarks.Unknown:
		return "unknown"
	case j.Kind == benchmarks.KindRatio:
		return "x " + strconv.FormatFloat(j.PredictedRatio, 'g', 3, 64)
	case j.Kind == benchmarks.KindRange && j.Low > 0 && j.High > 0:
		return u.text(j.Low) + "-" + u.text(j.High)
	}
	return u.text(j.Predicted)
}

// errorText is how far off the prediction is; a dash where there is none.
func errorText(j benchmarks.Judged) string {
	if j.Verdict == benchmarks.Unknown {
		return "-"
	}
	return fmt.Sprintf("%+.1f%%", 100*j.Error)
}

// verdictText is the limit, and what is wrong with the row where something is.
func verdictText(j benchmarks.Judged) string {
	switch j.Verdict {
	case benchmarks.Unknown:
		return "unknown: " + j.Why
	case benchmarks.Impossible:
		return "impossible"
	case benchmarks.OtherLimit:
		return fmt.Sprintf("%s, published as %s", j.Bound, j.Limit)
	case benchmarks.Within:
		return string(j.Bound)
	}
	return string(j.Bound) + ", " + string(j.Verdict)
}
