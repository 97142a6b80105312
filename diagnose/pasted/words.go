package pasted

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Line is one line of an answer: Text, which may be wrapped, after Lead.
type Line struct{ Lead, Text string }

// ReadText says how many outputs were read, and how many lines were not.
func ReadText(c piece.Case) string {
	lines := 0
	for _, n := range c.NotRead {
		lines += n.Count()
	}
	said := fmt.Sprintf("Read: %s; %s not recognised.", unit.Counted(len(c.Read), "output"), unit.Counted(lines, "line"))
	if slices.ContainsFunc(c.Read, func(r piece.Read) bool { return r.Kind == piece.LostIndentation }) {
		said += " The netplan file has lost its indentation: read by its keys alone. Post it as code to have it read whole."
	}
	return said
}

// Lines is the answer as text: in its first line what limits, then what that rests on.
// All has every finding, and the lines that were not read with the reason.
func Lines(c piece.Case, a scene.Answer, all bool) []Line {
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
func Markdown(a scene.Answer) string {
	var b strings.Builder
	f := a.Findings[0]
	fmt.Fprintf(&b, "**%s**\n\n", f.Summary)
	for _, e := range f.Evidence {
		fmt.Fprintf(&b, "- %s\n", evidenceText(e))
	}
	if f.Remedy != "" {
		fmt.Fprintf(&b, "\n%s\n", f.Remedy)
	}
	if f.Confidence < scene.Decided {
		b.WriteString("\nTo be sure, please post:\n\n")
		for _, m := range a.Missing {
			fmt.Fprintf(&b, "- `%s` on %s (%s)\n", m.Command, m.On(), m.Why)
		}
	}
	return b.String()
}
