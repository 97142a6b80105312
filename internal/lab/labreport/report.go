// Package labreport makes a document of what a lab showed beside what was
// published: a table for each scenario, and its chart drawn from the lab's rows.
// It must never show a number that is not in the outcomes it is given.
package labreport

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/unit"
)

// Document is outcomes as Markdown, with one chart for each scenario that has
// rates, by file name, beside it.
type Document struct {
	Text   string
	Charts map[string]string
}

// Of makes the document. What failed, or was not run, is said to be so.
func Of(all []scenario.Outcome) Document {
	d := Document{Charts: make(map[string]string)}
	var b strings.Builder
	b.WriteString("# Published results, reproduced\n\n    linerate lab run all -o run.json      # half an hour, in the lab\n    linerate lab report run.json -o docs\n\nMade by `linerate lab report` from the rows of `linerate lab run all`. Rates are\nGbit/s of payload at the published scale; round trips are ms. Rows marked *shown*\nare of a kind that is not scored; *reached* is at least 97 % of the ceiling by\nlinerate's own `tune`, *limited* at least 90 % of a lower limit that no setting removes. *Limited by*\nis what `explain` names from the kernel's evidence.\n")
	for _, o := range all {
		d.scenario(&b, o)
	}
	d.Text = b.String()
	return d
}

func (d *Document) scenario(b *strings.Builder, o scenario.Outcome) {
	fmt.Fprintf(b, "\n## %s\n\n", o.Scenario)
	for _, line := range []string{o.Title, o.Source} {
		if line != "" {
			fmt.Fprintf(b, "%s\n\n", escape(line))
		}
	}
	if o.Error != "" {
		fmt.Fprintf(b, "**Failed**: %s\n", escape(o.Error))
	}
	if len(o.Rows) == 0 {
		return
	}
	fmt.Fprintf(b, "%s, kernel %s, %s%s. Off: %d of %d rows.\n\n", o.BackEnd, o.Kernel, scenario.ScaleText(o.Scale, o.Slow), tools(o), o.Off(), len(o.Rows))
	if svg, ok := Chart(o); ok {
		name := "lab-" + o.Scenario + ".svg"
		d.Charts[name] = svg
		fmt.Fprintf(b, "![%s: published and reproduced](%s)\n\n", o.Scenario, name)
	}
	b.WriteString("| step | from, to | streams | tool | published | reproduced | predicted | linerate's best | ceiling | limited by | |\n|---|---|--:|---|--:|--:|--:|--:|--:|---|---|\n")
	step, way := "", ""
	for _, r := range o.Rows { // what is as in the row above is said once
		was, were := step, way
		step, way = escape(r.Step), fmt.Sprintf("%s, %s, %s", r.From, r.To, r.Direction)
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", unless(step, was), unless(way, were), streams(r), r.Tool,
			published(r), reproduced(r), gigabits(r.Predicted), gigabits(o.Best(r)), gigabits(r.Ceiling), r.Limit, verdict(r))
	}
	for _, r := range o.Rows {
		if below := r.Below(); below != "" {
			fmt.Fprintf(b, "\n*%s*, %s, %s, %s:\n\n%s", escape(r.Step), r.From, r.To, r.Direction, below)
		}
		if r.Tuned != nil {
			tuned(b, r)
		}
	}
}

// unless is a cell, empty where it is that of the row above.
func unless(cell, above string) string {
	if cell == above {
		return ""
	}
	return cell
}

// tuned says what a tune came to, and what it kept.
func tuned(b *strings.Builder, r scenario.Row) {
	t := r.Tuned
	fmt.Fprintf(b, "\n*%s*, by `tune` unaided: %s Gbit/s before, %s after, %.1f %% of the ceiling at MTU %d", escape(r.Step), gigabits(t.Before), gigabits(r.Measured), 100*t.Share, t.CeilingMTU)
	if t.LimitedBy != "" {
		fmt.Fprintf(b, "; limited by %s at %s Gbit/s", t.LimitedBy, gigabits(t.LimitedAt))
	}
	if len(t.Changes) == 0 {
		b.WriteString(". Nothing was kept.\n")
		return
	}
	b.WriteString(". Kept (sizes are the lab's):\n\n")
	for _, c := range t.Changes {
		fmt.Fprintf(b, "- %s\n", escape(c))
	}
}

func tools(o scenario.Outcome) string {
	var all []string
	for _, t := range []scenario.Tool{scenario.Linerate, scenario.IPerf3, scenario.IPerf2, scenario.Ping, scenario.NFS} {
		if v := o.Tools[t]; v != "" && t != scenario.Linerate {
			all = append(all, escape(v))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "; " + strings.Join(all, "; ")
}

func streams(r scenario.Row) string {
	if r.Streams == 0 {
		return ""
	}
	return fmt.Sprint(r.Streams)
}

func published(r scenario.Row) string {
	switch {
	case r.PublishedRTT > 0:
		return fmt.Sprintf("%.1f ms", r.PublishedRTT)
	case r.PublishedRatio != nil:
		return fmt.Sprintf("x %.2f", *r.PublishedRatio)
	case r.Published != nil:
		return gigabits(*r.Published)
	}
	return ""
}

func reproduced(r scenario.Row) string {
	switch {
	case r.Kind == scenario.Best:
		return "" // it is linerate's best
	case r.MeasuredRTT > 0:
		return fmt.Sprintf("%.1f ms", r.MeasuredRTT)
	case r.MeasuredRatio != nil:
		return fmt.Sprintf("x %.2f (%s)", *r.MeasuredRatio, gigabits(r.Measured))
	case r.Wire > 0:
		return fmt.Sprintf("%s (arrived: %s)", gigabits(r.Measured), gigabits(r.Wire))
	}
	return gigabits(r.Measured)
}

func verdict(r scenario.Row) string {
	words := []string{}
	if r.Verdict != scenario.Unpublished {
		words = append(words, verdictWord(r.Verdict))
	}
	if r.CPUBound {
		words = append(words, "lab's processor full")
	}
	return strings.Join(words, ", ")
}

// verdictWord is a verdict as the table shows it; the JSON has a word of its own for
// a row that another limit than the ceiling bounds.
func verdictWord(v scenario.Verdict) string {
	if v == scenario.Limited {
		return "limited"
	}
	return string(v)
}

func gigabits(r unit.BitRate) string {
	if r <= 0 {
		return ""
	}
	return fmt.Sprintf("%.3g", float64(r/unit.Gbps))
}

// escape keeps a text from being read as Markdown's table or markup.
func escape(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "`", "\\`").Replace(strings.Join(strings.Fields(s), " "))
}
