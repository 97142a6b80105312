package cli

import (
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/agent"
	"github.com/linerate/linerate/internal/apply"
	"github.com/linerate/linerate/internal/kernel/act"
	"github.com/linerate/linerate/internal/kernel/netns"
)

// newGuard is the dead man that every change starts before its first step:
// apply.StartGuard runs it in a session of its own. It is not for people.
func newGuard(app *App) *cobra.Command {
	var dir, id, space string
	c := &cobra.Command{
		Use: "guard", Hidden: true, Args: none, Short: "put a change back unless it is confirmed in time",
		RunE: func(cmd *cobra.Command, _ []string) error {
			// It must outlive the terminal and the program that started it;
			// asked to end, it takes the change back at once.
			signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
			cfg := apply.Config{Kernel: act.Kernel{}, Dir: dir, Namespace: space, Log: app.logger()}
			return netns.Named(space).Do(func() error { return apply.Guard(cmd.Context(), cfg, id) })
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "journal directory")
	c.Flags().StringVar(&id, "id", "", "journal entry")
	c.Flags().StringVar(&space, "netns", "", "network namespace")
	return c
}

// newAgent answers a controller on standard input and output; ssh starts it.
func newAgent(app *App) *cobra.Command {
	var stdio bool
	var dir string
	c := &cobra.Command{
		Use: "agent --stdio", Hidden: true, Args: none, Short: "answer a controller on standard input and output",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !stdio {
				return usage("agent: want --stdio", "a controller starts it over ssh")
			}
			a := agent.New(agent.Config{Version: app.Version, Logger: app.logger(), JournalDir: dir, StartGuard: apply.StartGuard})
			return a.Serve(cmd.Context(), app.Stdin, app.Stdout)
		},
	}
	c.Flags().BoolVar(&stdio, "stdio", false, "speak on standard input and output")
	c.Flags().StringVar(&dir, "journal", "", "journal directory")
	return c
}
