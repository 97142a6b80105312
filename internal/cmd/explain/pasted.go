package explain

import (
	"bytes"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/diagnose/pasted"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/texts"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/evidence/resultfile"
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
	c.Flags().BoolVar(&f.all, "all", false, "each result by itself; of pasted text every finding, and what was read")
	c.Flags().BoolVar(&f.markdown, "markdown", false, "of pasted text: the answer as Markdown, for a reply")
}

// on reports flags that only pasted text takes.
func (f *pasteFlags) on() bool { return len(f.Hosts) > 0 || f.markdown }

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
func explainPasted(ctx context.Context, con *console.Console, all []piece.Text, f pasteFlags) error {
	one := all[0]
	type judged struct {
		c piece.Case
		a pasted.Answer
	}
	got, err := console.Beside(ctx, func() (judged, error) {
		c, err := texts.Case(con, "explain", all)
		if err != nil {
			return judged{}, err
		}
		return judged{c, pasted.Judge(c)}, nil
	})
	if err != nil && ctx.Err() == nil && len(all) == 1 && console.MayBeRecord(one.Bytes) {
		_, _, err = console.ParseRecord(one.Name, one.Bytes)
	}
	if err != nil {
		return err
	}
	c, answer := got.c, got.a
	if con.JSON {
		return pasteAnswer.Print(con, pastedJSON(c, answer))
	}
	if f.markdown {
		fmt.Fprint(con.Stdout, pasted.Markdown(answer))
		return nil
	}
	printAnswer(con, c, answer, f.all)
	return nil
}

// printAnswer writes the answer in its first line, then what it rests on.
func printAnswer(con *console.Console, c piece.Case, a pasted.Answer, all bool) {
	for _, l := range pasted.Lines(c, a, all) {
		fmt.Fprint(con.Stdout, console.Wrapped(l.Lead, l.Text, con.Width()))
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
