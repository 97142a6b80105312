package cli

import (
	"encoding/json"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/lab/labreport"
)

func newLabReplicas() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "replicas RUN.json", Short: "write replicas.md and its charts from the rows of `lab run all`", Args: exactly(1, "one RUN.json, made by `linerate lab run all -o RUN.json`"),
		Long: `Writes replicas.md and a chart for each scenario from what ` + "`linerate lab run all\n-o RUN.json`" + ` measured: published, reproduced, predicted, linerate's best, ceiling.

` + exitHelp,
		Example: "  linerate lab replicas run.json -o docs",
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := readNamed(cmd.Context(), "read rows", args[0], mostRecord)
			if err != nil {
				return err
			}
			var doc allDocument
			if err := json.Unmarshal(text, &doc); err != nil {
				return usage("read rows of "+args[0]+": "+err.Error(), "linerate lab run all -o RUN.json makes one")
			}
			if len(doc.Scenarios) == 0 {
				return usage(args[0]+" has no scenarios", "linerate lab run all -o RUN.json makes one")
			}
			made := labreport.Of(doc.Scenarios)
			made.Charts["replicas.md"] = made.Text
			if err := mkDir("lab replicas -o", dir); err != nil {
				return err
			}
			for name, text := range made.Charts {
				if err := writeFile(cmd.Context(), filepath.Join(dir, name), []byte(text)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().StringVarP(&dir, "output", "o", "docs", "directory to write to")
	return c
}
