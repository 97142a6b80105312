// Package report turns one record, or a prediction, into what people read: an HTML
// page, Markdown for a ticket, a picture, CSV for a spreadsheet, text for a terminal.
// A record in, bytes out. It must never measure, judge, or look at a clock, a file or a host.
//
// Plots are SVG from templates: they follow the page's light and dark colours, carry
// titles and tables, and need no fonts and no library.
package report

import (
	"slices"
	"sort"

	"github.com/linerate/linerate/record"
)

// Options say what a record alone cannot.
type Options struct {
	// Title is the page's title; "" makes one of the record's kind and hosts.
	Title string
	// RecordFile is the name a reader finds the record under, for the commands
	// that read it again; "" is record.json.
	RecordFile string
	// Repeat are the commands that give this record again; nil derives them
	// from the record.
	Repeat []string
}

// phaseOrder is the order trials are shown in: before, steps, after, and what
// has no phase last.
func phaseOrder(p record.Phase) int {
	switch p {
	case record.PhaseBefore:
		return 0
	case record.PhaseStep:
		return 1
	case record.PhaseAfter:
		return 2
	}
	return 3
}

// ordered are the record's trials in reading order; trials of one phase keep
// the record's order.
func ordered(r record.Record) []record.Trial {
	out := append([]record.Trial(nil), r.Trials...)
	sort.SliceStable(out, func(i, j int) bool { return phaseOrder(out[i].Phase) < phaseOrder(out[j].Phase) })
	return out
}

// phased reports whether the record compares a before with an after.
func phased(r record.Record) bool {
	return slices.ContainsFunc(r.Trials, func(t record.Trial) bool { return t.Phase == record.PhaseBefore || t.Phase == record.PhaseAfter })
}

// cause is what limited a trial: its finding's, or unknown.
func cause(t *record.Trial) record.Cause {
	if t == nil || t.Finding == nil || t.Finding.Cause == "" {
		return record.Unknown
	}
	return t.Finding.Cause
}

// kept counts the steps that stayed.
func kept(r record.Record) int {
	n := 0
	for _, s := range r.Steps {
		if s.Kept {
			n++
		}
	}
	return n
}
