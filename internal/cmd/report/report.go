// Package report is `linerate report`: records as pages and drawings.
package report

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/diagnose/trial/decided"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/predict"
	"github.com/linerate/linerate/predict/declared"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/report"
	"github.com/linerate/linerate/unit"
)

// reportFormat turns records, read from the files named, into one file.
type reportFormat struct {
	extension string
	write     func(records []record.Record, files []string) ([]byte, error)
}

// formats is the one table of formats, by the file's extension.
var formats = [...]reportFormat{
	{".html", reportHTML}, {".md", markdown}, {".csv", reportCSV}, {".svg", picture},
}

// New is `linerate report`.
func New(con *console.Console) *cobra.Command {
	var out console.Output
	var plots string
	c := &cobra.Command{
		Use: "report RECORD... | FABRIC", Short: "a record as a page, Markdown, CSV, a picture or text",
		Long: `Turns records into a report for people: FILE's extension says which, .html (one
page that needs nothing else), .md, .csv or .svg (one picture); without -o text
on the terminal. What it comes to, what to do and the command stand first.
Several records become one Markdown or CSV file, one after the other. --plots
writes every drawing of the page as an SVG file of its own.

Of a FABRIC file the report is its prediction, as ` + "`predict -o`" + ` writes it.

` + console.ExitHelp,
		Example: "  linerate report record.json -o report.html\n  linerate report before.json after.json -o both.csv\n  linerate report fabric.yaml -o design.html",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return console.BadUsage(console.CommandName(cmd)+": want one RECORD file or more", "a record is the record.json that `linerate measure`, `tune` or `demo` wrote")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if len(args) == 1 && console.HoldsFabric(args[0]) {
				if plots != "" {
					return console.BadUsage("report: --plots draws a record, and "+args[0]+" is a fabric", "name a picture with -o design.svg")
				}
				return predict.Report(ctx, con, args[0], out)
			}
			if plots == "" {
				return writeReport(ctx, con, args, out)
			}
			if con.JSON && out.Path != "" {
				return console.BadUsage("report: one document at a time", "leave out --json, -o or --plots")
			}
			if err := writePlots(ctx, con, args, plots); err != nil || out.Path == "" {
				return err
			}
			return writeReport(ctx, con, args, out)
		},
	}
	c.Flags().StringVar(&plots, "plots", "", "directory to write every drawing to, as SVG")
	_ = c.MarkFlagDirname("plots")
	out.Add(c, "file to write: FILE.html, FILE.md, FILE.csv or FILE.svg", "html", "md", "csv", "svg")
	return c
}

// plots writes the drawings of each record into a directory; of several each
// name begins with the record's number.
func writePlots(ctx context.Context, con *console.Console, files []string, dir string) error {
	if err := console.MkDir("report --plots", dir); err != nil {
		return err
	}
	var written []string
	for i, file := range files {
		r, err := console.ReadRecord(ctx, file)
		if err != nil {
			return err
		}
		all, err := report.Plots(r)
		if err != nil {
			return err
		}
		for _, p := range all {
			name := p.Name + ".svg"
			if len(files) > 1 {
				name = fmt.Sprintf("%d-%s", i+1, name)
			}
			path := filepath.Join(dir, name)
			if err := console.WriteFile(ctx, path, p.SVG); err != nil {
				return err
			}
			written = append(written, path)
		}
	}
	if con.JSON {
		return plotsDocument.Print(con, writtenPlots{written, files})
	}
	if !con.Quiet {
		fmt.Fprintf(con.Stderr, "%s in %s\n", unit.Counted(len(written), "plot"), dir)
	}
	return nil
}

func writeReport(ctx context.Context, con *console.Console, files []string, out console.Output) error {
	format, err := formatOf(out.Path)
	if err != nil {
		return err
	}
	if format == nil && con.JSON {
		return console.BadUsage("report: the record is its own JSON", "name a file with -o, or read the record itself")
	}
	if err := out.Check("report -o", console.OtherText); err != nil {
		return err
	}
	var records []record.Record
	for _, file := range files {
		r, err := console.ReadRecord(ctx, file)
		if err != nil {
			return err
		}
		records = append(records, judged(r))
	}
	if format == nil {
		for i, r := range records {
			if i > 0 {
				fmt.Fprintln(con.Stdout)
			}
			fmt.Fprint(con.Stdout, report.Text(r, con.Width()))
		}
		return nil
	}
	content, err := format.write(records, files)
	if err != nil {
		return err
	}
	if err := console.WriteFile(ctx, out.Path, content); err != nil {
		return err
	}
	if con.JSON {
		return reportDocument.Print(con, writtenReport{out.Path, files})
	}
	if !con.Quiet {
		fmt.Fprintln(con.Stderr, out.Path+" is written")
	}
	return nil
}

// judged is a record whose results have the findings that `explain` gives them: those
// of other programs' files have none of their own.
func judged(r record.Record) record.Record {
	state := declared.Recorded(r)
	r.Trials = slices.Clone(r.Trials)
	for i := range r.Trials {
		t := &r.Trials[i]
		if _, _, probe := t.Probe(); probe || t.Finding != nil {
			continue
		}
		f := decided.Explained(state, r, *t)
		t.Finding = &f
	}
	return r
}

// formatOf is the format that a file's name asks for; nil without a file.
func formatOf(out string) (*reportFormat, error) {
	if out == "" {
		return nil, nil
	}
	var known []string
	for i, f := range formats {
		if strings.EqualFold(filepath.Ext(out), f.extension) {
			return &formats[i], nil
		}
		known = append(known, f.extension)
	}
	return nil, console.BadUsage(fmt.Sprintf("report: cannot write %s: its extension is not one of %s", out, strings.Join(known, ", ")),
		"name the file report.html, report.md, report.csv or report.svg")
}

func reportHTML(records []record.Record, files []string) ([]byte, error) {
	if len(records) > 1 {
		return nil, console.BadUsage(fmt.Sprintf("report: a page shows one record, and %d are named", len(records)), "write one page each, or .md or .csv for several")
	}
	return report.HTML(records[0], report.Options{RecordFile: files[0]})
}

func picture(records []record.Record, files []string) ([]byte, error) {
	if len(records) > 1 {
		return nil, console.BadUsage(fmt.Sprintf("report: a picture shows one record, and %d are named", len(records)), "write one picture each, or .md or .csv for several")
	}
	return report.Picture(records[0], report.Options{RecordFile: files[0]})
}

func markdown(records []record.Record, _ []string) ([]byte, error) {
	var pages [][]byte
	for _, r := range records {
		pages = append(pages, report.Markdown(r))
	}
	return bytes.Join(pages, []byte("\n")), nil
}

// reportCSV has one header: the column id tells the records apart.
func reportCSV(records []record.Record, _ []string) ([]byte, error) {
	var all []byte
	for i, r := range records {
		rows := report.CSV(r)
		if i > 0 {
			_, rows, _ = bytes.Cut(rows, []byte("\n"))
		}
		all = append(all, rows...)
	}
	return all, nil
}
