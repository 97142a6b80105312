package lab

import (
	"encoding/json"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/lab/labreport"
)

func newReplicas() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "replicas RUN.json", Short: "write replicas.md and its charts from the rows of `lab run all`", Args: console.Exactly(1, "one RUN.json, made by `linerate lab run all -o RUN.json`"),
		Long: `Writes replicas.md and a chart for each scenario from what ` + "`linerate lab run all\n-o RUN.json`" + ` measured: published, reproduced, predicted, linerate's best, ceiling.

` + console.ExitHelp,
		Example: "  linerate lab replicas run.json -o docs",
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := console.ReadNamed(cmd.Context(), "read rows", args[0], console.MostRecord)
			if err != nil {
				return err
			}
			var doc allDocument
			if err := json.Unmarshal(text, &doc); err != nil {
				return console.BadUsage("read rows of "+args[0]+": "+err.Error(), "linerate lab run all -o RUN.json makes one")
			}
			if len(doc.Scenarios) == 0 {
				return console.BadUsage(args[0]+" has no scenarios", "linerate lab run all -o RUN.json makes one")
			}
			made := labreport.Of(doc.Scenarios)
			made.Charts["replicas.md"] = made.Text
			if err := console.MkDir("lab replicas -o", dir); err != nil {
				return err
			}
			for name, text := range made.Charts {
				if err := console.WriteFile(cmd.Context(), filepath.Join(dir, name), []byte(text)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().StringVarP(&dir, "output", "o", "docs", "directory to write to")
	return c
}
