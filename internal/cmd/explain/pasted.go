package explain

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/diagnose/pasted"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/texts"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/evidence/resultfile"
	"github.com/linerate/linerate/unit"
)

const pasteHelp = `Of any other FILE, or - for standard input, the outputs of commands in it are
read, whatever stands around them: a forum post, a ticket, the scroll of a
terminal, several hosts and a switch in one text. Every value keeps its line;
lines that mean nothing to linerate are listed, and what would decide is named
with its command. --host NAME=FILE says whose a file is.
` + texts.Help

// pasteFlags are the flags of explain that are about pasted text.
type pasteFlags struct {
	texts.Flags
	all      bool
	markdown bool
}

func (f *pasteFlags) add(c *cobra.Command) {
	f.Flags.Add(c)
	c.Flags().BoolVar(&f.all, "all", false, "of pasted text: every finding, and what was read")
	c.Flags().BoolVar(&f.markdown, "markdown", false, "of pasted text: the answer as Markdown, for a reply")
}

// on reports flags that only pasted text takes.
func (f *pasteFlags) on() bool { return len(f.Hosts) > 0 || f.all || f.markdown }

// isRecord reports the one file that is a record, or another tool's result that is
// nothing but that.
func (f *pasteFlags) isRecord(all []piece.Text) bool {
	if len(all) != 1 || all[0].Whole() || f.on() {
		return false
	}
	_, foreign := resultfile.Detect(all[0].Bytes)
	return foreign || bytes.HasPrefix(bytes.TrimSpace(all[0].Bytes), []byte("{"))
}

// explainPasted answers from text.
func explainPasted(con *console.Console, all []piece.Text, f pasteFlags) error {
	one := all[0]
	c, err := texts.Case(con, "explain", all)
	if err != nil && len(all) == 1 && console.MayBeRecord(one.Bytes) {
		_, _, err = console.ParseRecord(one.Name, one.Bytes)
	}
	if err != nil {
		return err
	}
	answer := pasted.Judge(c)
	if con.JSON {
		return con.PrintJSON(pastedJSON(c, answer))
	}
	if f.markdown {
		printMarkdown(con, answer)
		return nil
	}
	printAnswer(con, c, answer, f.all)
	return nil
}

// printAnswer writes the answer in its first line, then what it rests on.
func printAnswer(con *console.Console, c piece.Case, a pasted.Answer, all bool) {
	say := func(lead, text string) { fmt.Fprint(con.Stdout, console.Wrapped(lead, text, con.Width())) }
	for i, f := range a.Findings {
		if i > 0 && !all {
			break
		}
		if i > 0 {
			fmt.Fprintln(con.Stdout)
		}
		printPasted(f, say)
	}
	if n := len(a.Findings); n > 1 && !all {
		var others []string
		for _, f := range a.Findings[1:] {
			others = append(others, fmt.Sprintf("%s at %s, %.0f %%", f.Cause, f.Where, 100*f.Confidence))
		}
		say("Also: ", strings.Join(others, "; ")+" (--all says more)")
	}
	if a.Findings[0].Confidence < 0.8 && a.Findings[0].Cause != "unknown" {
		for _, m := range a.Missing[:min(len(a.Missing), 3)] {
			say("To be sure: ", missingText(m))
		}
	}
	lines := 0
	for _, n := range c.NotRead {
		lines += n.Count()
	}
	say("", fmt.Sprintf("Read: %s; %s not recognised.", unit.Counted(len(c.Read), "output"), unit.Counted(lines, "line")))
	if all {
		for _, n := range c.NotRead {
			say("  ", n.Source.String()+": "+notReadWhy(n))
		}
	}
}

// notReadWhy says how many lines they are, where that is not what their numbers say.
func notReadWhy(n piece.NotRead) string {
	if n.Lines > 0 && n.Lines != n.To-n.From+1 {
		return unit.Counted(n.Lines, "line") + " of " + n.Why
	}
	return n.Why
}

func missingText(m pasted.Missing) string {
	return fmt.Sprintf("`%s` on %s: %s", m.Command, m.On(), m.Why)
}

func printPasted(f pasted.Finding, say func(lead, text string)) {
	sure := ""
	if f.Cause != "unknown" {
		sure = fmt.Sprintf(" (%s at %s, confidence %.0f %%)", f.Cause, f.Where, 100*f.Confidence)
	}
	say("", f.Summary+sure)
	for _, e := range f.Evidence {
		say("  - ", fmt.Sprintf("%s: %s (%s)", e.What, e.Value, e.Source))
	}
	if f.Remedy != "" {
		say("To do: ", f.Remedy)
	}
	if f.Expected > 0 {
		say("Expect: ", "about "+f.Expected.String()+" with several flows")
	}
}

// printMarkdown writes the first finding for a forum or a ticket.
func printMarkdown(con *console.Console, a pasted.Answer) {
	f := a.Findings[0]
	fmt.Fprintf(con.Stdout, "**%s**\n\n", f.Summary)
	for _, e := range f.Evidence {
		fmt.Fprintf(con.Stdout, "- %s: %s (%s)\n", e.What, e.Value, e.Source)
	}
	if f.Remedy != "" {
		fmt.Fprintf(con.Stdout, "\n%s\n", f.Remedy)
	}
	if f.Confidence < 0.8 {
		fmt.Fprint(con.Stdout, "\nTo be sure, please post:\n\n")
		for _, m := range a.Missing {
			fmt.Fprintf(con.Stdout, "- `%s` on %s (%s)\n", m.Command, m.On(), m.Why)
		}
	}
}

// What `explain FILE --json` prints beside the findings.
type (
	readJSON struct {
		File string `json:"file"`
		From int    `json:"from_line"`
		To   int    `json:"to_line"`
		Kind string `json:"kind"`
		Host string `json:"host"`
	}
	notReadJSON struct {
		File string `json:"file"`
		From int    `json:"from_line"`
		To   int    `json:"to_line"`
		// Lines is how many of them are not read: of a member of an archive others
		// between may be.
		Lines int    `json:"lines_count"`
		Why   string `json:"why"`
	}
	answerJSON struct {
		Findings []pasted.Finding `json:"findings"`
		Read     []readJSON       `json:"read"`
		NotRead  []notReadJSON    `json:"not_read"`
		Missing  []pasted.Missing `json:"missing"`
	}
)

func pastedJSON(c piece.Case, a pasted.Answer) answerJSON {
	out := answerJSON{Findings: a.Findings, Missing: a.Missing, Read: []readJSON{}, NotRead: []notReadJSON{}}
	if out.Missing == nil {
		out.Missing = []pasted.Missing{}
	}
	for _, r := range c.Read {
		out.Read = append(out.Read, readJSON{r.File, r.From, r.To, r.Kind, r.Host})
	}
	for _, n := range c.NotRead {
		out.NotRead = append(out.NotRead, notReadJSON{n.File, n.From, n.To, n.Count(), n.Why})
	}
	return out
}
