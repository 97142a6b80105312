package pasted

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Line is one line of an answer: Text, which may be wrapped, after Lead.
type Line struct{ Lead, Text string }

// Headline is a finding's first line: what it says with the cause, the place and how
// sure that is; of an unknown one what it says.
func (f Finding) Headline() string {
	if f.Cause == record.Unknown {
		return f.Summary
	}
	return fmt.Sprintf("%s (%s at %s, confidence %.0f %%)", f.Summary, f.Cause, f.Where, 100*f.Confidence)
}

// Gain is what the remedy should gain; "" nobody can say.
func (f Finding) Gain() string {
	if f.Expected <= 0 {
		return ""
	}
	return "about " + f.Expected.String() + " with several flows"
}

// String is the command, for whom it is and why.
func (m Missing) String() string {
	return fmt.Sprintf("`%s` on %s: %s", m.Command, m.On(), m.Why)
}

// Ask is what to send next: of a cause that is named but not decided the most telling
// outputs, three at most. An unknown cause's remedy names them itself.
func (a Answer) Ask() []Missing {
	if a.Findings[0].Confidence >= decided || a.Findings[0].Cause == record.Unknown {
		return nil
	}
	return a.Missing[:min(len(a.Missing), 3)]
}

// ReadText says how many outputs were read, and how many lines were not.
func ReadText(c piece.Case) string {
	lines := 0
	for _, n := range c.NotRead {
		lines += n.Count()
	}
	return fmt.Sprintf("Read: %s; %s not recognised.", unit.Counted(len(c.Read), "output"), unit.Counted(lines, "line"))
}

// Lines is the answer as text: in its first line what limits, then what that rests on.
// All has every finding, and the lines that were not read with the reason.
func Lines(c piece.Case, a Answer, all bool) []Line {
	var out []Line
	say := func(lead, text string) { out = append(out, Line{lead, text}) }
	for i, f := range a.Findings {
		if i > 0 && !all {
			break
		}
		if i > 0 {
			say("", "")
		}
		say("", f.Headline())
		for _, e := range f.Evidence {
			say("  - ", evidenceText(e))
		}
		if f.Remedy != "" {
			say("To do: ", f.Remedy)
		}
		if gain := f.Gain(); gain != "" {
			say("Expect: ", gain)
		}
	}
	if n := len(a.Findings); n > 1 && !all {
		var others []string
		for _, f := range a.Findings[1:] {
			others = append(others, fmt.Sprintf("%s at %s, %.0f %%", f.Cause, f.Where, 100*f.Confidence))
		}
		say("Also: ", strings.Join(others, "; ")+" (--all says more)")
	}
	for _, m := range a.Ask() {
		say("To be sure: ", m.String())
	}
	say("", ReadText(c))
	if all {
		for _, n := range c.NotRead {
			say("  ", n.Source.String()+": "+notReadWhy(n))
		}
	}
	return out
}

// notReadWhy says how many lines they are, where that is not what their numbers say.
func notReadWhy(n piece.NotRead) string {
	if n.Lines > 0 && n.Lines != n.To-n.From+1 {
		return unit.Counted(n.Lines, "line") + " of " + n.Why
	}
	return n.Why
}

func evidenceText(e record.Evidence) string {
	return fmt.Sprintf("%s: %s (%s)", e.What, e.Value, e.Source)
}

// Markdown is the first finding for a forum or a ticket, with the outputs that are
// missing where it is not decided.
func Markdown(a Answer) string {
	var b strings.Builder
	f := a.Findings[0]
	fmt.Fprintf(&b, "**%s**\n\n", f.Summary)
	for _, e := range f.Evidence {
		fmt.Fprintf(&b, "- %s\n", evidenceText(e))
	}
	if f.Remedy != "" {
		fmt.Fprintf(&b, "\n%s\n", f.Remedy)
	}
	if f.Confidence < decided {
		b.WriteString("\nTo be sure, please post:\n\n")
		for _, m := range a.Missing {
			fmt.Fprintf(&b, "- `%s` on %s (%s)\n", m.Command, m.On(), m.Why)
		}
	}
	return b.String()
}
