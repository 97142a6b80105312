package report

import (
	"fmt"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// textDatagrams is what became of UDP's datagrams, a line a trial.
func textDatagrams(r record.Record, width int) []string {
	rows := [][]string{{"datagrams", "streams", "of bytes", "sent", "lost", "reordered", "jitter, ms"}}
	for _, t := range r.Trials {
		if t.UDP == nil || phased(r) {
			continue
		}
		u := *t.UDP
		name := fromTo(t.From, t.To, 23) + " " + fit(printable(string(t.Direction)), 8)
		rows = append(rows, []string{
			joinWith(" ", name, fit(printable(t.Variant), 16)), fmt.Sprint(t.Streams), fmt.Sprint(u.Payload), fmt.Sprint(u.Sent), lossWords(u), fmt.Sprint(u.Reordered), short(u.JitterMS),
		})
	}
	if len(rows) == 1 {
		return nil
	}
	return append([]string{""}, columns(rows, width)...)
}

// lossWords is the share lost: "0.12 %", "none".
func lossWords(u record.UDP) string {
	switch {
	case u.Sent == 0:
		return unknown
	case u.Lost == 0:
		return "none"
	case !finite(u.LossRatio) || u.LossRatio < 0:
		return unknown
	case u.LossRatio < 0.0001:
		return "< 0.01 %"
	}
	return fmt.Sprintf("%.2f %%", 100*u.LossRatio)
}

// textNotesMost is how many notes a terminal shows; the record has them all.
const textNotesMost = 8

// textNotes are the trials' own remarks: what speaks against a figure, or
// explains it. One that holds for several trials is said once.
func textNotes(r record.Record, width int) []string {
	var notes []string
	of := map[string][]string{}
	for _, t := range r.Trials {
		for _, n := range t.Notes {
			if of[n] == nil {
				notes = append(notes, n)
			}
			of[n] = append(of[n], fmt.Sprintf("%s %s, %s", fromTo(t.From, t.To, 35), t.Direction, unit.Counted(t.Streams, "stream")))
		}
	}
	if len(notes) == 0 {
		return nil
	}
	out := []string{"", "notes"}
	for i, n := range notes {
		if i == textNotesMost {
			return append(out, fmt.Sprintf("  and %s in the record", unit.Counted(len(notes)-i, "more note")))
		}
		where := of[n][0]
		if more := len(of[n]) - 1; more > 0 {
			where += fmt.Sprintf(" and %s", unit.Counted(more, "more trial"))
		}
		out = append(out, wrap("  ", "    ", where+": "+n, width)...)
	}
	return out
}
