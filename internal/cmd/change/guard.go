package change

import (
	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/agent/pipe"
	"github.com/linerate/linerate/internal/cmd/console"
)

// NewGuard is the dead man that every change starts before its first step:
// apply.StartGuard runs it, as a unit of systemd or in a session of its own. It
// is not for people.
func NewGuard(con *console.Console) *cobra.Command {
	var guard pipe.Guard
	c := &cobra.Command{
		Use: "guard", Hidden: true, Args: console.NoArgs, Short: "roll a change back unless it is confirmed in time",
		RunE: func(cmd *cobra.Command, _ []string) error {
			guard.Log = con.Logger()
			return guard.Run(cmd.Context(), con.Stdout)
		},
	}
	c.Flags().StringVar(&guard.Dir, "dir", "", "journal directory")
	c.Flags().StringVar(&guard.ID, "id", "", "journal entry")
	c.Flags().StringVar(&guard.Namespace, "netns", "", "network namespace")
	c.Flags().BoolVar(&guard.Detach, "detach", false, "start it in a session of its own, say its process id and end")
	return c
}

// NewRecover is what the boot unit runs, before the network is configured. It
// is not for people: every command that changes a host recovers by itself.
func NewRecover(con *console.Console) *cobra.Command {
	var dir string
	var boot bool
	c := &cobra.Command{
		Use: "recover --boot", Hidden: true, Args: console.NoArgs, Short: "end the changes that a reboot interrupted",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !boot {
				return console.BadUsage("recover: want --boot", "the boot unit runs it; commands that change a host recover by themselves")
			}
			return pipe.Recover(cmd.Context(), dir, con.Logger(), con.Stdout)
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "journal directory")
	c.Flags().BoolVar(&boot, "boot", false, "the entries of earlier boots, before the network is up")
	return c
}
