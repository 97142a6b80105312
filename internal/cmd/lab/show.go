package lab

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/cmd/console"
)

func newShow(con *console.Console) *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "print the file of a scenario, to make another of", Args: console.Exactly(1, "one NAME, as linerate lab list names them"),
		Long: `Prints the file of one of the program's own scenarios: its network, steps and
published numbers. It is a fabric file too, for predict and the others.

` + console.ExitHelp,
		Example: `  linerate lab show 45drives-bond > my-network.yaml
  linerate lab run my-network.yaml
  linerate predict my-network.yaml --buy 25G`,
		RunE: func(cmd *cobra.Command, args []string) error {
			what, err := Find(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if what.text == nil {
				return console.BadUsage(fmt.Sprintf("%s has no file: the program builds it", args[0]), "those with a file are named after it: nfs-lacp, failover, ...")
			}
			return con.PrintSource(what.argument, what.text)
		},
	}
}
