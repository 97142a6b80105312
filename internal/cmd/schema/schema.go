// Package schema is `linerate schema`: the JSON schemas of the files.
package schema

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/lab/scenario"
)

// published is one schema.
type published struct {
	name, about string
	text        func() ([]byte, error)
}

// all are the files' schemas, then those of the documents given, by name.
func all(documents []console.Described) []published {
	out := []published{
		{"fabric", "the fabric file", func() ([]byte, error) { return fabric.Schema(), nil }},
		{"scenario", "a scenario of `lab run`", func() ([]byte, error) { return scenario.Schema(), nil }},
	}
	files := len(out)
	for _, d := range documents {
		name, about, _ := d.Described()
		out = append(out, published{name, about, func() ([]byte, error) { return Of(d) }})
	}
	slices.SortFunc(out[files:], func(a, b published) int { return cmp.Compare(a.name, b.name) })
	return out
}

// New is `linerate schema`, which knows the files and the documents given.
func New(con *console.Console, documents []console.Described) *cobra.Command {
	return &cobra.Command{
		Use: "schema [NAME]", Short: "JSON schemas of the fabric file, the record and every --json document",
		Long: `Prints a JSON schema (draft 2020-12): of the fabric file, of the record, of a
fabric file that is a scenario of ` + "`lab run`" + `'s, or of what a command prints with
--json. ` + "`linerate schema list`" + ` has their names.
An editor that knows it completes and checks a fabric while it is written: put
"# yaml-language-server: $schema=fabric.schema.json" into its first line.

` + console.ExitHelp,
		Example: "  linerate schema > fabric.schema.json\n  linerate schema record > record.schema.json\n  linerate schema explain-paste",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			names := []cobra.Completion{cobra.CompletionWithDesc("list", "the names of all")}
			for _, s := range all(documents) {
				names = append(names, cobra.CompletionWithDesc(s.name, s.about))
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return console.BadUsage(console.CommandName(cmd)+": want one NAME", "`linerate schema list` has them")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			known := all(documents)
			name := known[0].name
			if len(args) > 0 {
				name = args[0]
			}
			if name == "list" {
				return list(con, known)
			}
			var names []string
			for _, s := range known {
				if s.name == name {
					text, err := s.text()
					if err != nil {
						return err
					}
					_, err = con.Stdout.Write(text)
					return err
				}
				names = append(names, s.name)
			}
			return console.BadUsage("schema: unknown schema "+name, console.OrMeant(name, names, "", "`linerate schema list` has them"))
		},
	}
}

// listed is what `schema list` prints.
type listed struct {
	Schemas []listedSchema `json:"schemas"`
}

type listedSchema struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

var listDocument = console.Document[listed]{Name: "schema-list", About: "`schema list`"}

// Documents are what the command prints with --json.
func Documents() []console.Described { return []console.Described{listDocument} }

func list(con *console.Console, known []published) error {
	var doc listed
	var rows [][]string
	for _, s := range known {
		doc.Schemas = append(doc.Schemas, listedSchema{s.name, s.about})
		rows = append(rows, []string{s.name, s.about})
	}
	if con.JSON {
		return listDocument.Print(con, doc)
	}
	for _, r := range rows {
		fmt.Fprint(con.Stdout, console.Wrapped(fmt.Sprintf("%-22s", r[0]), r[1], con.Width()))
	}
	return nil
}
