package predict

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/measure"
	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/declared"
	"github.com/linerate/linerate/predict/whatif"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/report"
	"github.com/linerate/linerate/unit"
)

// pageFlag asks for the prediction as a file for people.
type pageFlag struct{ out console.Output }

func (p *pageFlag) add(c *cobra.Command) {
	p.out.Add(c, "write it as a page, a picture or Markdown: FILE.html, FILE.svg or FILE.md", Extensions()...)
}

// check refuses a file that no prediction is written to, before any work; other is
// the flag that prints another table, "" none.
func (p *pageFlag) check(con *console.Console, other string) error {
	switch {
	case p.out.Path == "" && p.out.Force:
		return console.BadUsage("predict: --force is about the file to write", "name it with -o, or leave --force out")
	case p.out.Path == "":
		return nil
	case other != "":
		return console.BadUsage("predict: -o does not go with "+other, "leave one of them out; --json has every number")
	}
	if formatOf(p.out.Path) == nil {
		return console.BadUsage(fmt.Sprintf("predict: cannot write %s: its extension is not one of .%s", p.out.Path, strings.Join(Extensions(), ", .")), "name the file prediction.html, prediction.svg or prediction.md")
	}
	return p.out.Check("predict -o", console.OtherText)
}

// pageFormat is how a prediction becomes a file.
type pageFormat struct {
	extension string
	write     func(report.Foreseen) ([]byte, error)
}

func pageFormats() []pageFormat {
	return []pageFormat{
		{"html", report.ForeseenHTML}, {"svg", report.ForeseenSVG},
		{"md", func(f report.Foreseen) ([]byte, error) { return report.ForeseenMarkdown(f), nil }},
	}
}

// Extensions are those of the files that a prediction is written to.
func Extensions() []string {
	var out []string
	for _, f := range pageFormats() {
		out = append(out, f.extension)
	}
	return out
}

// formatOf is the format that a file's name asks for; nil is none.
func formatOf(path string) *pageFormat {
	all := pageFormats()
	i := slices.IndexFunc(all, func(f pageFormat) bool { return strings.EqualFold(filepath.Ext(path), "."+f.extension) })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// write writes the page and says so.
func (p *pageFlag) write(ctx context.Context, con *console.Console, s *foresight, m fabric.Measure, all []predict.Prediction) error {
	content, err := formatOf(p.out.Path).write(s.foreseen(con, m, all))
	if err != nil {
		return err
	}
	if err := console.WriteFile(ctx, p.out.Path, content); err != nil {
		return err
	}
	if con.JSON {
		return pageDocument.Print(con, writtenPage{p.out.Path, s.name})
	}
	if !con.Quiet {
		fmt.Fprintln(con.Stderr, p.out.Path+" is written")
	}
	return nil
}

// foreseen is the prediction as a report shows it, with the change on paper that
// helps most where its headline looks.
func (s *foresight) foreseen(con *console.Console, m fabric.Measure, all []predict.Prediction) report.Foreseen {
	f := report.Foreseen{File: s.name, Text: s.text, Hosts: s.state.Hosts, Paths: s.state.Paths, Predictions: all, Linerate: con.Version}
	if p, ok := f.Leading(); ok {
		f.Better = s.better(m, p)
	}
	return f
}

// worthChanging is how much more than the rate a change on paper must bring.
const worthChanging = 1.02

// candidates are the changes on paper that remove a cause, the least first.
func candidates(p predict.Prediction) []string {
	more := fmt.Sprint(4 * p.Streams)
	switch p.Limit {
	case record.SingleLink, record.HashImbalance:
		return []string{"policy=layer3+4", "switch_hash=layer3+4", "policy=layer3+4,switch_hash=layer3+4", "policy=layer3+4,streams=" + more}
	case record.ReceiveWindow:
		return []string{"rmem=64Mi", "rmem=64Mi,wmem=64Mi", "streams=" + more}
	case record.SendBuffer:
		return []string{"wmem=64Mi", "rmem=64Mi,wmem=64Mi", "streams=" + more}
	case record.SenderCPU, record.ReceiverCPU:
		return []string{"streams=" + more, "mtu=9000"}
	case record.MTU:
		return []string{"mtu=9000"}
	case record.LineRate:
		return []string{"mtu=9000"}
	}
	return nil
}

// better is the first change on paper that brings as much as any other; none where
// no change brings more, or where it cannot be told.
func (s *foresight) better(m fabric.Measure, p predict.Prediction) report.Better {
	m.Streams, m.Directions = []int{p.Streams}, m.Directions[:0:0]
	m.Directions = append(m.Directions, p.Direction)
	var best report.Better
	most := worthChanging * p.Rate
	if p.Ceiling == 0 {
		return best
	}
	for _, text := range candidates(p) {
		changes, err := whatif.Parse(text)
		if err != nil {
			continue
		}
		rate, ok := s.supposedRate(changes, m, p)
		if ok && rate > most {
			best = report.Better{Change: text, Rate: rate, Command: "linerate predict " + plaintext.ShellWord(s.name) + " --what-if " + plaintext.ShellWord(text)}
			most = worthChanging * rate
		}
	}
	return best
}

// supposedRate is what a pair and direction would carry with changes.
func (s *foresight) supposedRate(changes whatif.Changes, m fabric.Measure, p predict.Prediction) (rate unit.BitRate, ok bool) {
	state, asked, _, err := changes.Apply(s.state, m)
	if err != nil {
		return 0, false
	}
	then := *s
	then.state, then.learned, then.use = state, nil, nil
	for _, paths := range declared.Pairs(state.Paths) {
		if paths[0].From != p.From || paths[0].To != p.To {
			continue
		}
		after, err := then.pair(paths, asked)
		if err == nil && len(after) > 0 && after[0].Ceiling > 0 {
			return after[0].Rate, true
		}
	}
	return 0, false
}

// Report writes the prediction of a fabric file into a file whose name says the
// format, or prints it where out names none: for `report FABRIC`.
func Report(ctx context.Context, con *console.Console, file string, out console.Output) error {
	p := pageFlag{out}
	if err := p.check(con, ""); err != nil {
		return err
	}
	f, err := foresee(ctx, con, []string{file}, liveFlag{}, calibrateFlag{})
	if err != nil {
		return err
	}
	if err := predict.KnownClouds(f.state); err != nil {
		return f.unpredictable(err)
	}
	m, err := overPrediction(&measure.MatrixFlags{}, f.measure)
	if err != nil {
		return err
	}
	if err := f.affordable(m); err != nil {
		return err
	}
	all, err := f.predictions(ctx, m)
	if err != nil {
		return err
	}
	if out.Path == "" {
		printForesight(con, f, all, ladderFlag{})
		return nil
	}
	return p.write(ctx, con, f, m, all)
}
