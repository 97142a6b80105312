package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newLabShow(app *App) *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "print the file of a scenario, to make another of", Args: exactly(1, "one NAME, as linerate lab list names them"),
		Long: `Prints the file of one of the program's own scenarios: its network, steps and
published numbers. It is a fabric file too, for predict and the others.

` + exitHelp,
		Example: `  linerate lab show 45drives-bond > my-network.yaml
  linerate lab run my-network.yaml
  linerate predict my-network.yaml --buy 25G`,
		RunE: func(cmd *cobra.Command, args []string) error {
			what, err := findLab(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if what.text == nil {
				return usage(fmt.Sprintf("%s has no file: the program builds it", args[0]), "those with a file are named after it: nfs-lacp, failover, ...")
			}
			return app.printSource(what.argument, what.text)
		},
	}
}
