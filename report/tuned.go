package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// settingRow is one value that a tune tried, with all hosts that have it in
// common.
type settingRow struct {
	Hosts, What, Old, New string
	Gain, Outcome         string
	Kept                  bool
}

// settingRows are a tune's values in the order they were tried; none in a
// record of something else.
func settingRows(r record.Record) []settingRow {
	if r.Tuning == nil {
		return nil
	}
	type group struct {
		step           int
		what, old, new string
		kept           bool
	}
	index := map[group]int{}
	var out []settingRow
	for _, s := range r.Tuning.Settings {
		g := group{s.Step, s.What, s.Old, s.New, s.Kept}
		host := orUnknown(s.Host)
		if i, ok := index[g]; ok {
			if !slices.Contains(strings.Split(out[i].Hosts, ", "), host) {
				out[i].Hosts += ", " + host
			}
			continue
		}
		index[g] = len(out)
		row := settingRow{Hosts: host, What: orUnknown(s.What), Old: orUnknown(s.Old), New: orUnknown(s.New), Gain: gainOf(r, s), Outcome: "rolled back", Kept: s.Kept}
		if s.Kept {
			row.Outcome = "kept"
		}
		out = append(out, row)
	}
	return out
}

// gainOf is what a setting gained: of a step that was never measured nothing is
// known, and a prediction says so.
func gainOf(r record.Record, s record.Setting) string {
	if !finite(s.Gain) {
		return unknown
	}
	if s.Predicted {
		return fmt.Sprintf("about %+.1f %%", 100*s.Gain)
	}
	if s.Step >= 0 && s.Step < len(r.Steps) && !positive(float64(r.Steps[s.Step].After)) {
		return unknown
	}
	return fmt.Sprintf("%+.1f %%", 100*s.Gain)
}

// tuneNotes say what a tune cost, what traffic it ends with, how to take it
// back, and what it left.
func tuneNotes(r record.Record) []fact {
	t := r.Tuning
	if t == nil {
		return nil
	}
	cost := unit.Counted(t.Windows, "measurement")
	if positive(t.Traffic) {
		cost += fmt.Sprintf(", %.0f s of traffic", t.Traffic)
	}
	out := []fact{{"Cost", cost}}
	if t.Stopped != "" {
		out = append(out, fact{"Ended by", t.Stopped})
	}
	if l := t.Load; l.Streams > 0 {
		words := unit.Counted(l.Streams, "stream")
		if l.Ports == "chosen" {
			words += " on chosen source ports"
		}
		if positive(float64(l.Pace)) {
			words += ", each paced at " + rate(l.Pace)
		}
		if l.ZeroCopy {
			words += ", sent without a copy"
		}
		out = append(out, fact{"Carries most", words})
	}
	if slices.ContainsFunc(t.Settings, func(s record.Setting) bool { return s.Kept }) && t.Group != "" {
		out = append(out, fact{"Roll it back", "linerate rollback " + plaintext.ShellWord(cmp.Or(r.Fabric.File, "FABRIC")) + " " + plaintext.ShellWord(t.Group)})
	}
	for _, l := range t.Left {
		out = append(out, fact{"Not tried", l})
	}
	return out
}

// worthExpecting is how much more than the rate an expectation must be to be
// said: less is within what a measurement is sure of.
const worthExpecting = 1.005

// beyond is what a finding says beside its cause: what speaks against it, what
// else it may be, what comes next, what is not known and what would settle it.
func beyond(f record.Finding) []fact {
	var out []fact
	for _, e := range f.Against {
		out = append(out, fact{"Against it", orUnknown(e.What) + ": " + orUnknown(e.Value)})
	}
	for _, a := range f.Also {
		sure := confidence(record.Finding{Confidence: a.Confidence})
		out = append(out, fact{"It may also be", fmt.Sprintf("%s, %s: %s", a.Cause, sure, cmp.Or(a.Summary, Meaning(a.Cause)))})
	}
	if f.Next != nil && float64(f.Expected) > worthExpecting*float64(f.Rate) {
		words := fmt.Sprintf("%s at %s", f.Next.Cause, rate(f.Next.Rate))
		if f.Next.Why != "" {
			words += " (" + f.Next.Why + ")"
		}
		out = append(out, fact{"Next in line", words})
	}
	if len(f.Missing) > 0 {
		out = append(out, fact{"Not known", strings.Join(f.Missing, "; ")})
	}
	if f.Decide.Text != "" {
		out = append(out, fact{"To be sure", f.Decide.Text})
	}
	return out
}

func markdownSettings(b *strings.Builder, r record.Record) {
	rows, notes := settingRows(r), tuneNotes(r)
	if len(rows)+len(notes) == 0 {
		return
	}
	b.WriteString("\n## Settings\n\n")
	if len(rows) > 0 {
		table := [][]string{{"host", "setting", "was", "became", "gain", "outcome"}}
		for _, s := range rows {
			table = append(table, []string{mark(s.Hosts), mark(s.What), mark(s.Old), mark(s.New), s.Gain, s.Outcome})
		}
		tableTo(b, "llllrl", table...)
		b.WriteString("\n")
	}
	markdownFacts(b, notes)
}

func markdownFacts(b *strings.Builder, facts []fact) {
	for _, f := range facts {
		fmt.Fprintf(b, "- %s: %s\n", f.Name, markProse(f.Value))
	}
}
