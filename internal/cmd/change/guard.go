package change

import (
	"errors"
	"fmt"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/internal/kernel/act"
	"github.com/linerate/linerate/internal/kernel/netns"
)

// NewGuard is the dead man that every change starts before its first step:
// apply.StartGuard runs it, as a unit of systemd or in a session of its own. It
// is not for people.
func NewGuard(con *console.Console) *cobra.Command {
	var dir, id, space string
	var detach bool
	c := &cobra.Command{
		Use: "guard", Hidden: true, Args: console.NoArgs, Short: "put a change back unless it is confirmed in time",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if detach {
				args := []string{"guard", "--dir", dir, "--id", id}
				if space != "" {
					args = append(args, "--netns", space)
				}
				pid, err := apply.Detach(args)
				if err == nil {
					_, err = fmt.Fprintln(con.Stdout, pid)
				}
				return err
			}
			// It must outlive the terminal and the program that started it;
			// asked to end, it takes the change back at once.
			signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
			cfg := apply.Config{Kernel: act.Kernel{}, Dir: dir, Namespace: space, Log: con.Logger()}
			defer apply.OwnTransient().Leave("guard." + id)
			return netns.Named(space).Do(func() error { return apply.Guard(cmd.Context(), cfg, id) })
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "journal directory")
	c.Flags().StringVar(&id, "id", "", "journal entry")
	c.Flags().StringVar(&space, "netns", "", "network namespace")
	c.Flags().BoolVar(&detach, "detach", false, "start it in a session of its own, say its process id and end")
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
			a, err := apply.New(apply.Config{Kernel: act.Kernel{}, Dir: dir, Log: con.Logger()})
			if err != nil {
				return err
			}
			out, err := a.RecoverBoot(cmd.Context())
			for _, r := range out.Results {
				fmt.Fprintf(con.Stdout, "change %s: %s\n", r.ID, r.State)
			}
			for _, p := range out.Problems {
				err = errors.Join(err, p)
			}
			return err
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "journal directory")
	c.Flags().BoolVar(&boot, "boot", false, "the entries of earlier boots, before the network is up")
	return c
}
