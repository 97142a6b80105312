package explain

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/diagnose/pasted"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/evidence/paste"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/evidence/resultfile"
	"github.com/linerate/linerate/unit"
)

const pasteHelp = `Of any other FILE, or - for standard input, the outputs of commands in it are
read, whatever stands around them: a forum post, a ticket, the scroll of a
terminal, several hosts and a switch in one text. Every value keeps its line;
lines that mean nothing to linerate are listed, and what would decide is named
with its command. --host NAME=FILE says whose a file is.

`

// pasteFlags are the flags of explain that are about pasted text.
type pasteFlags struct {
	hosts    []string
	all      bool
	markdown bool
}

func (f *pasteFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.hosts, "host", nil, "a file and whose it is, as `NAME=FILE` (again for others)")
	c.Flags().BoolVar(&f.all, "all", false, "of pasted text: every finding, and what was read")
	c.Flags().BoolVar(&f.markdown, "markdown", false, "of pasted text: the answer as Markdown, for a reply")
}

// on reports flags that only pasted text takes.
func (f *pasteFlags) on() bool { return len(f.hosts) > 0 || f.all || f.markdown }

// mostPasted bounds what is read of a text.
const mostPasted = 64 << 20

// readPasted reads the files of a question; records is true where the one file is
// a record, or another tool's result that is nothing but that.
func readPasted(ctx context.Context, con *console.Console, args []string, f pasteFlags) (texts []piece.Text, isRecord bool, err error) {
	for _, arg := range args {
		text, err := textOf(ctx, con, arg)
		if err != nil {
			return nil, false, err
		}
		texts = append(texts, piece.Text{Name: arg, Bytes: text})
	}
	for _, h := range f.hosts {
		name, file, ok := strings.Cut(h, "=")
		if !ok || name == "" || file == "" {
			return nil, false, console.BadUsage(fmt.Sprintf("explain: --host %q is no NAME=FILE", h), "--host nas=nas.txt")
		}
		text, err := textOf(ctx, con, file)
		if err != nil {
			return nil, false, err
		}
		texts = append(texts, piece.Text{Name: file, Host: name, Bytes: text})
	}
	if len(texts) == 1 && !f.on() {
		text := texts[0].Bytes
		_, foreign := resultfile.Detect(text)
		isRecord = foreign || bytes.HasPrefix(bytes.TrimSpace(text), []byte("{"))
	}
	return texts, isRecord, nil
}

// textOf is a file's text, or standard input's.
func textOf(ctx context.Context, con *console.Console, file string) ([]byte, error) {
	if file != "-" {
		return console.ReadNamed(ctx, "read record", file, console.MostRecord)
	}
	text, err := io.ReadAll(io.LimitReader(con.Stdin, mostPasted+1))
	if err != nil {
		return nil, fmt.Errorf("read standard input: %w", err)
	}
	if len(text) > mostPasted {
		return nil, console.BadUsage("read standard input: it has more than 64 MiB", "leave out what is no output of a command")
	}
	return text, nil
}

// explainPasted answers from text.
func explainPasted(con *console.Console, texts []piece.Text, f pasteFlags) error {
	one := texts[0].Name
	if len(texts) == 1 && !con.JSON {
		texts[0].Name = "" // "line 12" says where
	}
	c := paste.Parse(texts)
	if len(c.Read) == 0 {
		if len(texts) == 1 && console.MayBeRecord(texts[0].Bytes) {
			_, _, err := console.ParseRecord(one, texts[0].Bytes)
			return err
		}
		return console.BadUsage("explain: nothing in it is the output of a command, a configuration or a result that linerate reads",
			"paste what `cat /proc/net/bonding/bond0`, `ip -s -d link`, `iperf3 -c PEER -P 8 -V`, `ss -tin`, `ethtool`, `lspci -vv`, the network configuration or a switch's `show` commands print")
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
		lines += n.To - n.From + 1
	}
	say("", fmt.Sprintf("Read: %s; %s not recognised.", unit.Counted(len(c.Read), "output"), unit.Counted(lines, "line")))
	if all {
		for _, n := range c.NotRead {
			say("  ", n.Source.String()+": "+n.Why)
		}
	}
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
		Why  string `json:"why"`
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
		out.NotRead = append(out.NotRead, notReadJSON{n.File, n.From, n.To, n.Why})
	}
	return out
}
