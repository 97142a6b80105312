// Package schema is `linerate schema`: the JSON schemas of the files.
package schema

import (
	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/record"
)

// schemas is the one table of published schemas.
var schemas = [...]struct {
	name string
	text func() ([]byte, error)
}{
	{"fabric", func() ([]byte, error) { return fabric.Schema(), nil }},
	{"record", record.JSONSchema},
	{"scenario", func() ([]byte, error) { return scenario.Schema(), nil }},
}

// New is `linerate schema`.
func New(con *console.Console) *cobra.Command {
	return &cobra.Command{
		Use: "schema [fabric|record|scenario]", Short: "JSON schemas of the fabric file, the record and the lab's scenarios",
		Long: `Prints the JSON schema (draft 2020-12) of the fabric file, of the record, or of
a fabric file that is a scenario of ` + "`lab run`" + `'s.
An editor that knows it completes and checks a fabric while it is written: put
"# yaml-language-server: $schema=fabric.schema.json" into its first line.

` + console.ExitHelp,
		Example: "  linerate schema > fabric.schema.json\n  linerate schema record > record.schema.json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return console.BadUsage(console.CommandName(cmd)+": want one of fabric, record and scenario", "")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			name := schemas[0].name
			if len(args) > 0 {
				name = args[0]
			}
			for _, s := range schemas {
				if s.name != name {
					continue
				}
				text, err := s.text()
				if err != nil {
					return err
				}
				_, err = con.Stdout.Write(text)
				return err
			}
			return console.BadUsage("schema: unknown schema "+name, "the schemas are fabric, record and scenario")
		},
	}
}
