package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/cmd/root"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/report"
)

// reference returns docs/reference, a page by file name. Tree is the project's
// directory, whose sources say what the keys of a record mean.
func reference(program *cobra.Command, tree string) (map[string]string, error) {
	fields, err := fieldComments(tree, "record", "netstate", "fabric", "flow")
	if err != nil {
		return nil, err
	}
	ofRecord, err := root.SchemaOf("record")
	if err != nil {
		return nil, err
	}
	pages := map[string]string{"commands.md": commandsPage(program)}
	for _, p := range []struct {
		file, title, intro string
		schema             []byte
		fields             map[string]string
	}{
		{"fabric.md", "The fabric file", "What a fabric file may say. `linerate schema fabric` prints the same for an editor.", fabric.Schema(), nil},
		{"scenario.md", "A scenario's keys", "A fabric file with the key `scenario`; [how to write one](../scenarios.md). `linerate schema scenario` prints the same for an editor.", scenario.Schema(), nil},
		{"record.md", "The record", "What `measure -o` and `tune -o` write, version 1. A key that is left out is zero, empty or unknown. `linerate schema record` prints the JSON schema.", ofRecord, fields},
	} {
		if pages[p.file], err = schemaPage(p.title, p.intro, p.schema, p.fields); err != nil {
			return nil, fmt.Errorf("write %s: %w", p.file, err)
		}
	}
	if pages["causes.md"], err = causesPage(tree); err != nil {
		return nil, err
	}
	pages["documents.md"] = documentsPage(tree)
	pages["profiles.md"] = profilesPage()
	pages["sysctls.md"] = sysctlsPage()
	pages["bondoptions.md"] = bondPage()
	return pages, nil
}

// writeReference writes the pages.
func writeReference(pages map[string]string, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// madeBy is what every page says of itself.
const madeBy = "Made from the code by `make reference`. A test compares the two.\n\n"

// commandsPage is every command with its flags.
func commandsPage(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Commands\n\n" + madeBy)
	for _, c := range shownCommands(root) {
		fmt.Fprintf(&b, "- [`%s`](#%s): %s\n", c.CommandPath(), anchor(c.CommandPath()), c.Short)
	}
	fmt.Fprintf(&b, "\nFlags of every command:\n\n%s", flagTable(root.PersistentFlags()))
	for _, c := range shownCommands(root) {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n```\n%s\n```\n", c.CommandPath(), cmp.Or(strings.TrimSpace(c.Long), c.Short), c.UseLine())
		if c.Example != "" {
			fmt.Fprintf(&b, "\n```\n%s\n```\n", unindented(c.Example))
		}
		if flags := c.LocalNonPersistentFlags(); c != root && flags.HasAvailableFlags() {
			b.WriteString("\n" + flagTable(flags))
		}
	}
	return b.String()
}

// shownCommands are the commands that help shows, depth first.
func shownCommands(root *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{root}
	for _, below := range root.Commands() {
		if below.IsAvailableCommand() {
			all = append(all, shownCommands(below)...)
		}
	}
	return all
}

func flagTable(flags *pflag.FlagSet) string {
	var b strings.Builder
	b.WriteString("| flag | means |\n|---|---|\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name, usage := pflag.UnquoteUsage(f)
		word := "--" + f.Name
		if f.Shorthand != "" {
			word = "-" + f.Shorthand + ", " + word
		}
		if name != "" {
			word += " " + name
		}
		if d := f.DefValue; d != "" && d != "false" && d != "0" && d != "[]" && d != "0s" {
			usage += " (default " + d + ")"
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", word, cell(usage))
	})
	return b.String()
}

// cell is text in a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", "\\|")
}

func unindented(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return strings.Join(lines, "\n")
}

// causesPage is the vocabulary of causes, each with an explanation as `explain`
// gives it: the one that its own test holds.
func causesPage(tree string) (string, error) {
	var b strings.Builder
	b.WriteString("# Causes\n\n" + madeBy + "What a result can be limited by: in predictions, findings, reports and metrics alike.\n\n| cause | limited because |\n|---|---|\n")
	for _, c := range record.Causes() {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", c, c, report.Meaning(c))
	}
	b.WriteString("\n[How often each is named rightly](../accuracy.md). One explanation of each follows: the cause and how sure it is, what speaks for it and against it with the source of every value, what else it may be, what to do, and what that should bring.\n")
	for _, c := range record.Causes() {
		text, err := os.ReadFile(filepath.Join(tree, "diagnose", "trial", "testdata", "golden", string(c)+".txt"))
		if err != nil {
			return "", fmt.Errorf("explain %s: %w", c, err)
		}
		fmt.Fprintf(&b, "\n## %s\n\n```\n%s\n```\n", c, strings.TrimSpace(string(text)))
	}
	return b.String(), nil
}
